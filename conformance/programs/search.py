"""Runs random programs until one breaks something, makes it smaller, and counts what was reached."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, event, given, seed, settings, target

from conformance.deadlines import Deadlines
from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import Driver, HarnessError
from conformance.invariants import Broken, Call, Story, judge
from conformance.programs.clock import patient_runner
from conformance.programs.operations import AnyOperation, encode
from conformance.programs.run import Connection, Ran, run_program
from conformance.programs.shrink import shrink
from conformance.programs.strategy import programs

Judge = Callable[[Sequence[AnyOperation], Ran], list[Broken]]
"""Says what a program that was carried out breaks."""


@dataclass(frozen=True)
class FoundBreach:
    """A program that breaks something, as small as it was made, and what came of it."""

    program: list[AnyOperation]
    ran: Ran
    broken: list[Broken]
    first: list[AnyOperation]
    """The program as it was drawn."""

    def sentences(self) -> list[Broken]:
        """What is broken, each with the program behind it."""
        shown = f"\nprogram of {len(self.program)} operation(s): {encode(self.program).decode()}"
        return [Broken(each.invariant, each.rules, each.sentence + shown) for each in self.broken]


@dataclass
class Statistics:
    """What a search did: programs, calls of the model, and how often each situation was met."""

    programs: int = 0
    calls: int = 0
    situations: Counter[str] = field(default_factory=Counter)

    def add(self, story: Story) -> set[str]:
        """Count one program, and return the situations in it."""
        self.programs += 1
        found = set()
        for call in story.calls:
            self.calls += 1
            found.add(situation(story, call))
        self.situations.update(found)
        return found

    def merge(self, other: Statistics) -> None:
        """Count what another search did, too."""
        self.programs += other.programs
        self.calls += other.calls
        self.situations.update(other.situations)

    def __str__(self) -> str:
        return f"{self.programs} programs, {self.calls} calls, {len(self.situations)} situations"


def situation(story: Story, call: Call) -> str:
    """Return what became of a call, in a few words that tell it from calls of another kind."""
    result, bodies = call.result, call.bodies
    gates = [story.reply(gate) for gate in call.handled("tool_call")]
    words = [
        "migrated" if call.of("tool.enter") else "native" if bodies else "not run",
        "no result" if result is None else "error" if result["isError"] else "success",
        "cut" if call.batch.cut else "whole",
        f"{min(len(call.batch.calls), 3)} calls",
    ]
    words += ["judged"] if gates else []
    words += ["changed"] if any(reply.get("ops") for reply in gates) else []
    answers = [reply.get("returns") for reply in gates]
    words += ["blocked"] if any(isinstance(answer, dict) and answer.get("block") for answer in answers) else []
    words += ["patched"] if any(story.reply(each) for each in call.handled("tool_result")) else []
    words += ["updated"] if call.handled("tool_execution_update") else []
    words += ["policy"] if call.of("policy") else []
    words += ["same id"] if call.occurrence > 1 else []
    return ", ".join(words)


def own_connection(driver: Driver, mount: str | None = None) -> Connection:
    """Start a driver and return the connection: on a patient loop where the implementation is in this process."""
    runner = patient_runner() if isinstance(driver, InProcessDriver) else asyncio.Runner()
    hello = runner.run(driver.start())
    return Connection(runner, driver, hello, mount or (hello.mounts[0] if hello.mounts else None))


def search(
    at: Connection,
    examples: int,
    number: int,
    statistics: Statistics | None = None,
    judges: Sequence[Judge] = (),
    deadlines: Deadlines | None = None,
) -> FoundBreach | None:
    """Run ``examples`` random programs of seed ``number`` and return the first that breaks an invariant, made smaller.

    ``judges`` are asked beside the invariants. A connection that breaks is told at once, and nothing is run after it.
    Raises what :func:`~conformance.programs.run.run_program` raises.
    """
    counted = statistics or Statistics()
    ended: list[BaseException] = []
    found: list[tuple[list[AnyOperation], Ran, list[Broken]]] = []

    def breaks(program: Sequence[AnyOperation]) -> tuple[Ran, list[Broken]]:
        ran = run_program(at, program, deadlines)
        broken = judge(ran.trace, ran.context)
        for each in judges:
            broken += each(program, ran)
        return ran, broken

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(at.hello.capabilities, at.waits_cost_nothing))
    def run(program: list[AnyOperation]) -> None:
        if found or ended:
            raise _Found  # Hypothesis asks once more; whoever is dead is not.
        try:
            ran, broken = breaks(program)
        except (HarnessError, AssertionError) as error:
            ended.append(error)
            raise _Found from None
        reached = counted.add(Story(ran.trace))
        for words in reached:
            event(words)
        target(float(len(reached)))  # For the statistics only: climbing would make every program a long one.
        if broken:
            found.append((program, ran, broken))
            raise _Found

    with contextlib.suppress(_Found):
        run()
    if ended:
        raise ended[0]
    if not found:
        return None
    first, ran, broken = found[0]
    wanted = {each.invariant for each in broken}
    small = shrink(first, lambda program: bool(wanted & {each.invariant for each in breaks(program)[1]}))
    again = breaks(small)
    if wanted & {each.invariant for each in again[1]}:
        return FoundBreach(small, *again, first)
    # Not everybody does the same twice: what was seen once was seen, and no smaller program stands for it.
    return FoundBreach(first, ran, broken, first)


class _Found(Exception):
    """Ends a Hypothesis test at its first finding."""
