"""Random programs as values: drawn, carried out, counted, made smaller."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import AdapterGone, HarnessError
from conformance.drivers.protocol import AgentPrompt, Message, ModelAnswer, NativeSpec, ToolCall
from conformance.drivers.reference import make_backend
from conformance.invariants import Broken
from conformance.mutants import load_mutants, sweep
from conformance.mutants.ground import Ground, changed
from conformance.mutants.sweep import sweep_one
from conformance.programs.clock import patient_runner
from conformance.programs.drawing import MOST
from conformance.programs.likeness import first_difference, normal
from conformance.programs.makers import EVERYTHING
from conformance.programs.operations import (
    AddNative,
    AnyOperation,
    CancelTurn,
    Prompt,
    Turn,
    decode,
    encode,
    from_json,
    to_json,
)
from conformance.programs.run import Connection, run_program
from conformance.programs.search import Statistics, own_connection, search
from conformance.programs.shrink import shrink
from conformance.programs.strategy import programs, random_programs
from conformance.properties import MOST_AT_ONCE, SHARDS, shares
from conformance.scripts import Cancel, Timed

LOOK = AddNative(native=NativeSpec(name="look"))


def drawn(
    count: int, number: int = 1, capabilities: frozenset[str] = EVERYTHING, waits: bool = True
) -> list[list[AnyOperation]]:
    found: list[list[AnyOperation]] = []

    @seed(number)
    @settings(max_examples=count, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(programs(capabilities, waits))
    def keep(program: list[AnyOperation]) -> None:
        found.append(program)

    keep()
    return found


@pytest.fixture(scope="module")
def reference() -> Iterator[Connection]:
    at = own_connection(InProcessDriver("reference", lambda suite: make_backend(suite, "root")))
    yield at
    at.runner.run(at.driver.close())
    at.runner.close()


def asks(*names: str, agent: str = "main") -> Turn:
    calls = [ToolCall(id=str(number), name=name, arguments="{}") for number, name in enumerate(names, 1)]
    return Turn(agent=agent, messages=[ModelAnswer(calls=calls)])


def test_programs_are_short_and_about_five_operations_long() -> None:
    lengths = [len(program) for program in drawn(100)]
    assert max(lengths) <= MOST
    assert min(lengths) >= 1
    assert 3.5 < sum(lengths) / len(lengths) < 6.5


def test_equal_seeds_draw_equal_programs_and_others_others() -> None:
    assert drawn(20, 5) == drawn(20, 5)
    assert drawn(20, 5) != drawn(20, 6)


def test_programs_of_plain_random_numbers_are_as_long_and_the_same_for_the_same_number() -> None:
    lengths = [len(program) for program in random_programs(200, 1)]
    assert max(lengths) <= MOST
    assert 4 < sum(lengths) / len(lengths) < 6.5
    assert random_programs(20, 5) == random_programs(20, 5)
    assert random_programs(20, 5) != random_programs(20, 6)
    few = frozenset({"native-tools", "cancel"})
    operations = {row["op"] for program in random_programs(80, 3, few) for row in to_json(program)}
    assert operations <= {"package", "native", "prompt", "pi", "cancel"}


def test_a_program_is_the_same_after_a_round_trip_through_json() -> None:
    for program in drawn(40, 2):
        assert decode(encode(program)) == program == from_json(to_json(program))


def test_nothing_is_drawn_that_a_side_cannot_do() -> None:
    few = frozenset({"native-tools", "cancel"})
    operations = {row["op"] for program in drawn(80, 3, few) for row in to_json(program)}
    assert operations <= {"package", "native", "prompt", "pi", "cancel"}


def test_only_on_a_clock_that_jumps_somebody_takes_a_second_over_an_answer() -> None:
    def longest(waits: bool) -> int:
        written = b"".join(encode(program) for program in drawn(300, 5, waits=waits))
        return max(map(int, re.findall(rb'"delayMs":(\d+)', written)))

    assert longest(waits=True) >= 1_000
    assert longest(waits=False) <= 20


def test_the_same_program_leaves_the_same_trace(reference: Connection) -> None:
    for program in drawn(30, 4):
        traces = [normal(run_program(reference, program).trace) for _ in range(2)]
        assert first_difference(*traces) is None


def test_an_act_happens_at_its_moment(reference: Connection) -> None:
    cancel = Timed(when="body", call="1", acts=[Cancel()])
    program: list[AnyOperation] = [LOOK, Prompt(turns=[asks("look", "look")], meanwhile=[cancel])]
    trace = run_program(reference, program).trace
    ran = [event.call_id for event in trace.of("native.enter")]
    assert ran == ["1"]
    assert trace.of("turn.end")[0]["reason"] == "aborted"


def test_an_operation_on_what_is_not_there_is_left_out_and_named(reference: Connection) -> None:
    ran = run_program(reference, [CancelTurn(agent="nobody"), Prompt()])
    assert ran.skipped == ["agent nobody: it is not there"]
    assert len(ran.trace.of("model.request")) == 1


def test_a_program_that_fails_is_made_as_small_as_the_failure_allows(reference: Connection) -> None:
    big = next(program for program in drawn(200, 8) if len(program) > 6)
    program = [*big, LOOK, Prompt(turns=[asks("ghost", "look", "stow")])]
    counted = []

    def fails(candidate: list[AnyOperation]) -> bool:
        counted.append(candidate)
        return any(event["name"] == "ghost" for event in run_program(reference, candidate).trace.of("log.call"))

    small = shrink(program, fails)
    assert len(small) == 1
    assert [call.name for call in small[0].turns[0].messages[0].calls] == ["ghost"]  # type: ignore[union-attr]


def test_shrinking_ends_when_the_connection_breaks() -> None:
    asked = []

    def fails(candidate: list[AnyOperation]) -> bool:
        asked.append(candidate)
        raise AdapterGone("it is gone")

    program: list[AnyOperation] = [LOOK, Prompt(), Prompt()]
    assert shrink(program, fails) == program
    assert len(asked) == 1


class Dead(InProcessDriver):
    """A driver whose implementation is gone from the third program on."""

    asked = 0

    async def request(self, message: Message) -> Any:
        if isinstance(message, AgentPrompt):
            self.asked += 1
            if self.asked >= 3:
                raise AdapterGone("it is gone")
        return await super().request(message)


def test_a_dead_driver_ends_the_search_at_once() -> None:
    driver = Dead("dead", lambda suite: make_backend(suite, "root"))
    at = own_connection(driver, "root")
    with pytest.raises(HarnessError, match="gone"):
        search(at, 50, 1)
    assert driver.asked == 3
    at.runner.close()


def test_a_search_finds_a_defect_and_says_by_which_program() -> None:
    mutant = load_mutants()["block-ignored"]
    at = own_connection(InProcessDriver("mutant", mutant.make_backend), "root")
    statistics = Statistics()
    found = search(at, 400, 3, statistics)
    at.runner.run(at.driver.close())
    at.runner.close()
    assert found is not None
    named = {each.invariant for each in found.broken}
    assert named & {"what-is-blocked-does-not-run", "what-is-blocked-by-any-truth-does-not-run"}
    assert len(found.program) <= 3
    assert statistics.programs > 0
    assert statistics.situations


def test_shards_share_the_budget_and_no_seed() -> None:
    rows = [row for shard in range(1, SHARDS + 1) for row in shares(shard, 50_003, 7)]
    assert sum(count for count, _ in rows) == 50_003
    assert max(count for count, _ in rows) <= MOST_AT_ONCE
    assert len({number for _, number in rows}) == len(rows)


def test_time_on_a_patient_loop_passes_without_waiting() -> None:
    async def sleep() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.sleep(3600)
        return loop.time() - began

    with patient_runner() as runner:
        assert runner.run(sleep()) == pytest.approx(3600, rel=1e-3)


def test_a_mutant_runs_only_programs_that_reach_what_it_changes() -> None:
    mutants = load_mutants()
    ground = Ground(random_programs(12, 1), None).walk()
    codes = changed(mutants["block-ignored"])
    assert codes
    reaching = sum(not codes.isdisjoint(reached) for reached in ground.reached)
    assert sweep_one(mutants["block-ignored"], ground).ran <= reaching < len(ground.programs)
    assert sweep_one(mutants["refuses-everything"], ground).by


def test_what_is_seen_only_once_is_told_as_it_was_seen(reference: Connection) -> None:
    asked = 0

    def fickle(program: Any, ran: Any) -> list[Broken]:
        nonlocal asked
        asked += 1
        return [Broken("moody", (), "it was in a mood")] if asked == 3 else []

    found = search(reference, 10, 1, judges=[fickle])

    assert found is not None
    assert [each.invariant for each in found.broken] == ["moody"]
    assert found.program == found.first


@pytest.mark.parametrize("error", [RuntimeError("the ground gave way"), GeneratorExit()])
def test_a_sweep_that_breaks_in_one_process_ends_with_what_broke(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def breaks(*given: object) -> None:
        raise error

    monkeypatch.setattr(sweep, "sweep_one", breaks)

    with pytest.raises(type(error)):
        sweep.main(["block-ignored", "end-before-result", "--examples", "2", "-n", "1"])
