"""Random programs on every mutant: how many defects do invariants and the comparison with the reference find alone?"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property, wraps
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from conformance.catalogue import load_catalogue
from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import HarnessError
from conformance.garbage import spared
from conformance.invariants import Call, Story, judge
from conformance.mutants.registry import Mutant, load_mutants
from conformance.programs.differential import differ
from conformance.programs.likeness import Row, first_difference, normal
from conformance.programs.operations import AnyOperation, encode
from conformance.programs.run import Connection, Ran, run_program
from conformance.programs.search import own_connection, situation
from conformance.programs.strategy import random_programs
from conformance.verdicts import Finding
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.host import Host

UNSPOKEN = frozenset({"exec", "user_bash"})
"""Surfaces that programs do not speak; nor do they use the host's own seams."""
LEVELS = ("must", "should")
"""Whose rules name a difference: a departure from a should is told as such, and told it is."""
ELSEWHERE = 160
"""Programs that are run at most on a mutant with a mount of its own: those are few, and each mount takes a walk."""
TRACE = "its trace alone"
"""By what a mutant is told that no rule of the finding names: it differs from the reference all the same."""
TYPICAL = 60
"""Events of a program beyond which it has to reach more to be tried early."""
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


@dataclass
class Ground:
    """The programs with what the reference makes of them on one mount, and which of its code each one reached."""

    programs: list[list[AnyOperation]]
    mount: str | None
    ran: list[Ran] = field(default_factory=list)
    reached: list[frozenset[CodeType]] = field(default_factory=list)
    broken: list[frozenset[str]] = field(default_factory=list)

    @cached_property
    def rows(self) -> list[list[Row]]:
        """The traces as they are compared."""
        return [normal(ran.trace) for ran in self.ran]

    @cached_property
    def order(self) -> list[int]:
        """The programs, those first that reach much that none before them reached, in one of three regards in turn."""
        stories = [Story(ran.trace) for ran in self.ran]
        size = [1 + len(ran.trace.events) / TYPICAL for ran in self.ran]
        regards: list[list[frozenset[Any]]] = [
            [
                codes | {each for call in story.calls for each in (situation(story, call), *_meetings(story, call))}
                for codes, story in zip(self.reached, stories, strict=True)
            ],
            [frozenset(_asked(story)) for story in stories],
            [frozenset(_done(story)) for story in stories],
        ]
        turns = zip(*(_by_reach(reach, size) for reach in regards), strict=True)
        return list(dict.fromkeys(number for turn in turns for number in turn))

    def walk(self) -> Ground:
        """Run every program on the reference."""
        at = _connection(Mutant("reference", ""), self.mount)
        with _Reached(_changeable()) as reached:
            for program in self.programs:
                ran = run_program(at, program)
                self.ran.append(ran)
                self.reached.append(reached.of())
                self.broken.append(frozenset(each.invariant for each in judge(ran.trace, ran.context)))
        _close(at)
        assert len(self.rows) == len(self.order) == len(self.programs)
        return self


def _by_reach(reach: Sequence[frozenset[Any]], size: Sequence[float]) -> list[int]:
    """Return the numbers in the order of what is reached anew for the size; when all is reached, so again."""
    found: list[int] = []
    seen: set[Any] = set()
    left = set(range(len(reach)))
    while left:
        best = max(left, key=lambda number: (len(reach[number] - seen) / size[number], -number))
        if seen and reach[best] <= seen:
            seen = set()
            continue
        found.append(best)
        left.discard(best)
        seen |= reach[best]
    return found


def _asked(story: Story) -> Iterator[tuple[str, str]]:
    """Yield what arguments packages' tools were asked with, each with the schema of the tool."""
    for call in story.calls:
        for event in story.registrations.get(call.name, [])[-1:]:
            yield str(event["args"][0].get("parameters")), call.text


def _done(story: Story) -> Iterator[tuple[str, ...]]:
    """Yield what operator and packages did one after the other: lists, names taken back, reloads, further agents."""
    acts = []
    for event in story.events:
        if event.kind == "operator":
            acts.append(str(event["act"]))
        elif event.kind == "api.call" and event["call"] != "on":
            about = (event["args"] or [None])[0]
            acts.append(f"{event['call']} {about.get('name') if isinstance(about, dict) else about}")
        elif event.kind in ("agent.created", "agent.disposed", "turn.start"):
            acts.append(f"{event.kind} {event.agent}")
    yield from ((each,) for each in acts)
    yield from pairwise(acts)


def _meetings(story: Story, call: Call) -> Iterator[tuple[str, ...]]:
    """Yield which replies met at a call: what each two handlers of one event said, and its body and a patch."""
    bodies = [f"body {_kind(story.reply(body))}" for body in call.bodies]
    for event in ("tool_call", "tool_result"):
        said = [f"{event} {_kind(story.reply(each))}" for each in call.handled(event)]
        yield from pairwise(said)
        yield from ((body, each) for body in bodies for each in said)


def _kind(reply: dict[str, Any]) -> str:
    """Return of what kind a reply is: which members it returns, sets or throws, and those that are no text."""
    returned = reply.get("returns")
    if isinstance(returned, dict):
        words = [
            f"{key} {value if isinstance(value, bool | None) else type(value).__name__}"
            for key, value in returned.items()
        ]
    else:
        words = [type(returned).__name__] if "returns" in reply else []
    words += [f"{op.get('op')} {op.get('path', [None])[0]}" for op in reply.get("ops") or ()]
    return ", ".join([*words, *(["throws"] if "throws" in reply else [])])


class _Reached:
    """Notes which of some functions of the reference are entered: a mutant differs only where one it replaces is.

    Each of them is wrapped where it stands. To be told of every call of the interpreter takes three times as long.
    """

    def __init__(self, codes: frozenset[CodeType]) -> None:
        self.found: set[CodeType] = set()
        self._places: list[tuple[type, str, Any]] = []
        known: set[CodeType] = set()
        for owner in dict.fromkeys(each for part in _parts() for each in part.__mro__ if each is not object):
            for name, value in vars(owner).items():
                code = _code(value)
                if code in codes and isinstance(value, FunctionType | property):
                    self._places.append((owner, name, value))
                    known.add(code)
        self.unseen = codes - known
        """Functions that are not watched: they count as entered."""

    def __enter__(self) -> _Reached:
        for owner, name, value in self._places:
            setattr(owner, name, self._watched(value))
        return self

    def __exit__(self, *error: object) -> None:
        for owner, name, value in self._places:
            setattr(owner, name, value)

    def of(self) -> frozenset[CodeType]:
        """Return what was entered since the last time."""
        found = self.unseen | self.found
        self.found = set()
        return found

    def _watched(self, value: Any) -> Any:
        code = _code(value)
        assert code is not None
        if isinstance(value, property):
            assert value.fget is not None
            return property(self._noting(value.fget, code), value.fset, value.fdel, value.__doc__)
        return self._noting(value, code)

    def _noting(self, function: Callable[..., Any], code: CodeType) -> Callable[..., Any]:
        @wraps(function)
        def noting(*values: Any, **named: Any) -> Any:
            self.found.add(code)
            return function(*values, **named)

        return noting


def _parts() -> list[type]:
    """Return the classes of the reference that a mutant may put another in the place of."""
    return [Host, Bridge, *(part for name, part in vars(Bridge).items() if name.endswith("_type"))]


@cache
def _changeable() -> frozenset[CodeType]:
    """Return the code that some mutant replaces."""
    return frozenset(code for mutant in load_mutants().values() for code in changed(mutant) or ())


def changed(mutant: Mutant) -> frozenset[CodeType] | None:
    """Return the code of the reference's functions that a mutant replaces; ``None`` when it changes anything else."""
    pairs: list[tuple[type, type]] = [(mutant.host_type, Host), (mutant.bridge_type, Bridge)]
    for name, part in vars(Bridge).items():
        other = getattr(mutant.bridge_type, name)
        if name.endswith("_type") and isinstance(part, type) and other is not part:
            pairs.append((other, part))
    found: set[CodeType] = set()
    for made, base in pairs:
        for owner in made.__mro__[: made.__mro__.index(base)] if base in made.__mro__ else [made]:
            for name, value in vars(owner).items():
                if name in _IGNORED or (name.endswith("_type") and base is Bridge):
                    continue
                code = _code(getattr(base, name, None))
                if code is None and (hasattr(base, name) or not isinstance(value, FunctionType)):
                    return None
                if name == "__init__":
                    return None
                if code is not None:
                    found.add(code)
    return frozenset(found) if found else None


_IGNORED = frozenset({"__module__", "__doc__", "__qualname__", "__dict__", "__weakref__", "__annotations__"})


def _code(value: Any) -> CodeType | None:
    function = value.fget if isinstance(value, property) else value
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def sweep_one(mutant: Mutant, ground: Ground) -> Kill:
    """Run the programs on a mutant, those only that reach what it changes, until one catches it."""
    codes = changed(mutant)
    at = _connection(mutant, ground.mount)
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
        _close(at)
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


def _connection(mutant: Mutant, mount: str | None) -> Connection:
    return own_connection(InProcessDriver(mutant.name, lambda suite: mutant.make_backend(suite, mount)))


def _close(at: Connection) -> None:
    at.runner.run(at.driver.close())
    at.runner.close()


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
