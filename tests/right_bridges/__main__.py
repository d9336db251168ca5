"""``python -m tests.right_bridges``: everything the suite has, put to right bridges."""

from __future__ import annotations

import argparse
import sys
import time
from fnmatch import fnmatchcase
from typing import get_args

from tests.right_bridges.table import load_right_bridges
from tests.right_bridges.trial import Ask, Programs, first_of_each, scenarios


def main(argv: list[str]) -> int:
    """Print what was said against right bridges; 0 when nothing was, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.right_bridges",
        description="Prove that the suite accuses no bridge that is right: bridges that differ from the reference "
        "where they may are put on every stage, to every vector and to random programs.",
        epilog="Exit status: 0 nobody is accused, 1 somebody is, 4 wrong use.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these bridges; may hold *")
    parser.add_argument("--rule", action="append", default=[], metavar="ID", help="only these rules; may hold *")
    parser.add_argument(
        "--ask",
        choices=get_args(Ask),
        default="whole",
        help="ask each bridge everything, the rules that speak where it differs, or two of those",
    )
    parser.add_argument("--examples", type=int, default=300, metavar="N", help="random programs for each (300)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the programs (1)")
    parser.add_argument("--no-scenarios", action="store_true", help="random programs only")
    parser.add_argument("-n", type=int, default=2, metavar="N", help="processes (2; 0 for this one alone)")
    parser.add_argument("--list", action="store_true", help="print the bridges and the freedom of each, and stop")
    given = parser.parse_args(argv)
    bridges = load_right_bridges()
    chosen = [
        bridge
        for name, bridge in bridges.items()
        if not given.names or any(fnmatchcase(name, pattern) for pattern in given.names)
    ]
    strange = [name for name in given.names if not any(fnmatchcase(each, name) for each in bridges)]
    if strange:
        print(f"no right bridge is called {', '.join(strange)}; --list tells the names", file=sys.stderr)
        return 4
    if given.list:
        for bridge in chosen:
            print(f"{bridge.name}\n  {bridge.difference}\n  {bridge.freedom}")
            if bridge.departs:
                print(f"  departs from: {', '.join(sorted(bridge.departs))}")
        return 0
    started = time.monotonic()
    found = []
    if given.examples:
        programs = Programs(given.examples, given.seed)
        for bridge in chosen:
            found += first_of_each(programs.accusations(bridge))
    if not given.no_scenarios:
        found += list(scenarios(chosen, given.rule, ask=given.ask, processes=given.n))
    for each in found:
        print(each)
    print(f"{len(chosen)} right bridges, {len(found)} accusations, {time.monotonic() - started:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
