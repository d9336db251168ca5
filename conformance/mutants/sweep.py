"""Random programs on every mutant: how many defects do invariants and the comparison with the reference find alone?"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from conformance.catalogue import load_catalogue
from conformance.drivers.driver import HarnessError
from conformance.garbage import spared
from conformance.invariants import judge
from conformance.mutants.ground import Ground, changed, close, connection
from conformance.mutants.registry import Mutant, load_mutants
from conformance.programs.differential import differ
from conformance.programs.likeness import first_difference, normal
from conformance.programs.operations import AnyOperation, encode
from conformance.programs.run import Connection, run_program
from conformance.programs.strategy import random_programs
from conformance.verdicts import Finding

UNSPOKEN = frozenset({"exec", "user_bash"})
"""Surfaces that programs do not speak; nor do they use the host's own seams."""
LEVELS = ("must", "should")
"""Whose rules name a difference: a departure from a should is told as such, and told it is."""
ELSEWHERE = 160
"""Programs that are run at most on a mutant with a mount of its own: those are few, and each mount takes a walk."""
TRACE = "its trace alone"
"""By what a mutant is told that no rule of the finding names: it differs from the reference all the same."""
WANTED = 0.8
"""The share of mutants that programs alone must catch."""


@dataclass(frozen=True)
class Kill:
    """What the programs found on a mutant: ``by`` is an invariant, a rule, a hang or the trace; ``program`` which did.

    ``ran`` counts the programs that were run, those only that reach what the mutant changes.
    """

    mutant: str
    by: str = ""
    program: Sequence[AnyOperation] = ()
    ran: int = 0

    @property
    def is_caught(self) -> bool:
        """Whether something names what is wrong; another trace alone does not."""
        return self.by not in ("", TRACE)

    @property
    def lack(self) -> str:
        """Why a mutant that is not caught needs an example."""
        if self.by == TRACE:
            return "it differs in what no rule speaks of, or leaves free where it differs"
        return "no program reaches what it changes" if not self.ran else f"none of {self.ran} programs tells it apart"


def sweep_one(mutant: Mutant, ground: Ground) -> Kill:
    """Run the programs on a mutant, those only that reach what it changes, until one catches it."""
    codes = changed(mutant)
    at = connection(mutant, ground.mount)
    unlike: Sequence[AnyOperation] = ()
    count = 0
    try:
        for number in ground.order:
            if codes is not None and codes.isdisjoint(ground.reached[number]):
                continue
            count += 1
            program = ground.programs[number]
            by, differs = _caught(at, program, ground, number)
            if by:
                return Kill(mutant.name, by, program, count)
            if differs and not unlike:
                unlike = program
    finally:
        close(at)
    return Kill(mutant.name, TRACE, unlike, count) if unlike else Kill(mutant.name, ran=count)


def _caught(at: Connection, program: Sequence[AnyOperation], ground: Ground, number: int) -> tuple[str, bool]:
    """Return by what a program catches a mutant ('' when it does not), and whether the trace is another one."""
    try:
        ran = run_program(at, program)
    except (HarnessError, Finding) as error:
        return f"it hangs or breaks ({type(error).__name__})", True
    if first_difference(ground.rows[number], normal(ran.trace)) is None:
        return "", False
    for each in judge(ran.trace, ran.context):
        if each.invariant not in ground.broken[number]:
            return f"invariant {each.invariant}", True
    difference = differ(program, ground.ran[number], ran, LEVELS)
    return (f"rule {difference.rule}" if difference is not None else ""), True


def spoken(mutants: Sequence[Mutant]) -> Iterator[Mutant]:
    """Yield the mutants of the surfaces that programs speak: named by a rule of one, or wrong everywhere."""
    surfaces: dict[str, set[str]] = {}
    for rule in load_catalogue().rules:
        for name in rule.kills:
            if "host-seams" not in rule.needs:
                surfaces.setdefault(name, set()).add(rule.surface)
    for mutant in mutants:
        if mutant.blanket or surfaces.get(mutant.name, set()) - UNSPOKEN:
            yield mutant


_grounds: dict[str | None, Ground] = {}


def _sweep_named(name: str) -> Kill:
    mutant = load_mutants()[name]
    try:
        return sweep_one(mutant, _grounds[mutant.mount])
    except Exception as error:
        error.add_note(f"while programs ran on the mutant {name}")
        raise


def main(argv: list[str]) -> int:
    """Sweep and print; 0 when programs alone catch enough, else 1."""
    parser = argparse.ArgumentParser(
        prog="bridge-conformance mutants --programs",
        description="Run random programs, and nothing else, on the mutants of every surface that they speak.",
        epilog=f"Exit status: 0 when at least {WANTED:.0%} of the mutants are caught, else 1.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these mutants; may hold *")
    parser.add_argument(
        "--examples",
        type=int,
        default=500,
        metavar="N",
        help="programs to draw for each mutant (500)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the programs (1)")
    parser.add_argument("-n", type=int, default=2, metavar="N", help="processes (2)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write what was found there, as JSON")
    parser.add_argument("-v", "--verbose", action="store_true", help="say of each mutant at once what became of it")
    given = parser.parse_args(argv)
    started = time.monotonic()
    chosen = [
        mutant
        for mutant in spoken(list(load_mutants().values()))
        if not given.names or any(fnmatchcase(mutant.name, pattern) for pattern in given.names)
    ]
    drawn = random_programs(given.examples, given.seed)
    first = Ground(drawn, None).walk()
    chief = [drawn[number] for number in first.order[:ELSEWHERE]]
    for mount in {mutant.mount for mutant in chosen}:
        # What is tried on few mutants need not be everything.
        _grounds[mount] = first if mount is None else Ground(chief, mount).walk()
    # A fork has programs and reference already; nothing of the loop they were made on is used again, and what is there
    # is no garbage: a child that looked through it would copy it, page by page.
    kills: list[Kill] = []
    fork = multiprocessing.get_context("fork")
    with spared(), ProcessPoolExecutor(max(1, given.n), mp_context=fork) as pool:
        try:
            for done in as_completed([pool.submit(_sweep_named, mutant.name) for mutant in chosen]):
                kill = done.result()
                kills.append(kill)
                if given.verbose:
                    print(f"{len(kills)}/{len(chosen)} {kill.mutant}: {kill.by or 'not caught'}", flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return _tell(kills, len(drawn), time.monotonic() - started, given.report)


def _tell(kills: list[Kill], drawn: int, seconds: float, report: Path | None) -> int:
    width = max((len(kill.mutant) for kill in kills), default=0)
    for kill in sorted(kills, key=lambda kill: (not kill.is_caught, kill.mutant)):
        if kill.is_caught:
            print(f"{kill.mutant:<{width}}  caught by {kill.by}, program {kill.ran} ({len(kill.program)} operations)")
        else:
            print(f"{kill.mutant:<{width}}  NEEDS AN EXAMPLE: {kill.lack}")
    caught = sum(kill.is_caught for kill in kills)
    share = caught / len(kills) if kills else 1.0
    ways = Counter(kill.by.partition(" ")[0] for kill in kills if kill.is_caught)
    alike = sum(not kill.by for kill in kills)
    told = len(kills) - caught - alike
    print(
        f"{caught} of {len(kills)} mutants caught by random programs alone ({share:.0%}): by an invariant "
        f"{ways['invariant']}, by a rule beside the reference {ways['rule']}, by breaking or hanging {ways['it']}; "
        f"of the others {told} by {TRACE}, {alike} by nothing; {drawn} programs each at most, "
        f"{seconds:.0f} s, {sum(os.times()[:4]):.0f} s of processor time"
    )
    if report is not None:
        rows = [
            {
                "mutant": kill.mutant,
                "by": kill.by or None,
                "needs": None if kill.is_caught else kill.lack,
                "program": json.loads(encode(kill.program)) if kill.by else None,
            }
            for kill in kills
        ]
        report.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if share >= WANTED else 1
