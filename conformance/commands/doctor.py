"""Prints a checkup of one implementation, before any verdict is taken."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from conformance.doctor.checkup import Checkup
from conformance.doctor.findings import Finding, usable
from conformance.drivers.driver import HarnessError
from conformance.drivers.envelope import printable
from conformance.drivers.specs import SpecError, make_driver, parse

WIDTH = max(map(len, ("ok", "warning", "trouble", "left out")))
CHECK = 22
"""Characters of the columns before the text."""


def main(argv: list[str]) -> int:
    """Check one implementation and return 0 when it is usable, 1 when it is not, 4 for a wrong specification."""
    parsing = argparse.ArgumentParser(
        prog="bridge-conformance doctor",
        description="Check that an implementation can be talked to, before any verdict: handshake, framing, flush, big "
        "and split messages, overlapping requests, the end of input, TERM, and every capability once.",
        epilog="Exit status: 0 usable (warnings do not count), 1 not usable, 4 wrong use.",
    )
    parsing.add_argument("--bridge", required=True, metavar="SPEC", help="as for run: stdio:COMMAND, py:…, pi, …")
    parsing.add_argument("--env", action="append", default=[], metavar="NAME", help="variable it may see; repeatable")
    parsing.add_argument(
        "--timeout", type=float, default=5.0, metavar="SECONDS", help="how long an answer may take (5; a handshake 30)"
    )
    try:
        given = parsing.parse_args(argv)
    except SystemExit as stop:
        raise SystemExit(4 if stop.code else 0) from None
    try:
        # Its name is known to whoever asked; errors then read as sentences about it.
        spec = replace(parse(given.bridge, Path.cwd()), label="it")
        driver = make_driver(spec, given.env)
        waiting = [driver]
        checkup = Checkup(lambda: waiting.pop() if waiting else make_driver(spec, given.env), spec.mount, given.timeout)
        print(f"doctor: {printable(spec.text)}", flush=True)
        return report(checkup.findings())
    except (SpecError, HarnessError) as error:
        print(error, file=sys.stderr)
        return 4


def report(findings: Iterable[Finding]) -> int:
    """Print findings as they come, then the word for the whole; return the exit status."""
    seen = []
    for finding in findings:
        seen.append(finding)
        for line in lines(finding):
            print(line, flush=True)
    counts = {state: sum(each.state == state for each in seen) for state in ("trouble", "warning")}
    good = usable(seen)
    rest = [f"{count} {word}{'' if count == 1 else 's'}" for word, count in counts.items() if count]
    print(f"{'usable' if good else 'not usable'}{': ' if rest else ''}{', '.join(rest)}")
    return 0 if good else 1


def lines(finding: Finding) -> list[str]:
    """The lines of one finding, safe to print whatever the implementation said."""
    text = printable(finding.text).splitlines() or [""]
    head = f"  {finding.state:<{WIDTH}}  {finding.check:<{CHECK}}  "
    indent = " " * (WIDTH + 4)
    made = [head + text[0], *(indent + line for line in text[1:])]
    if finding.mend:
        made.append(f"{indent}mend: {printable(finding.mend)}")
    return made
