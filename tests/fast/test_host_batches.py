"""How the calls of one reply are scheduled, and in which order they are logged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reference_bridge.host import ModelFailure, ModelReply, define_tool
from reference_bridge.host.results import CallRequest
from reference_bridge.host.signals import AbortSignal
from tests.fast.small_host import OK, Stage, call, calls, show, staged


class Gates:
    """Bodies that say when they start and end only when they are let."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._open: dict[int, asyncio.Event] = {}
        self._started: dict[int, asyncio.Event] = {}
        self.running = 0
        self.most = 0

    def _event(self, events: dict[int, asyncio.Event], index: int) -> asyncio.Event:
        return events.setdefault(index, asyncio.Event())

    async def body(self, args: Any, exec: Any) -> str:
        index = args["i"]
        self.running += 1
        self.most = max(self.most, self.running)
        self._stage.note(f"start{index}")
        self._event(self._started, index).set()
        await self._event(self._open, index).wait()
        self._stage.note(f"end{index}")
        self.running -= 1
        return f"r{index}"

    async def started(self, *indexes: int) -> None:
        for index in indexes:
            await self._event(self._started, index).wait()

    def let(self, *indexes: int) -> None:
        for index in indexes:
            self._event(self._open, index).set()


def safe(args: Any) -> bool:
    return True


def numbered(name: str, *indexes: int) -> list[Any]:
    return [call(name, {"i": index}, id=f"c{index}") for index in indexes]


async def began(stage: Stage, *made: Any) -> Gates:
    gates = Gates(stage)
    stage.observe()
    stage.tool("p", gates.body, is_concurrency_safe=safe)
    stage.tool("e", gates.body)
    stage.model.replies = [calls(*made), OK]
    stage.agent.followup("go")
    return gates


def only(stage: Stage, *prefixes: str) -> list[str]:
    return [kind for kind in stage.trace if kind.startswith(prefixes)]


@staged()
async def test_calls_are_exclusive_unless_they_say_otherwise(stage: Stage) -> None:
    gates = await began(stage, *numbered("e", 1, 2))
    await gates.started(1)
    gates.let(2)
    gates.let(1)
    await stage.agent.when_idle()
    assert only(stage, "start", "end", "tool/") == [
        "tool/call#c1",
        "start1",
        "end1",
        "tool/result#c1",
        "tool/call#c2",
        "start2",
        "end2",
        "tool/result#c2",
    ]


@staged()
async def test_parallel_bodies_overlap_and_everything_else_keeps_model_order(stage: Stage) -> None:
    gates = await began(stage, *numbered("p", 1, 2, 3))
    await gates.started(1, 2, 3)
    for index in (3, 2, 1):
        gates.let(index)
        await asyncio.sleep(0)
    await stage.agent.when_idle()
    assert only(stage, "start", "end") == ["start1", "start2", "start3", "end3", "end2", "end1"]
    assert only(stage, "tool/call", "pre", "start") == [
        *("tool/call#c1", "pre#c1", "start1"),
        *("tool/call#c2", "pre#c2", "start2"),
        *("tool/call#c3", "pre#c3", "start3"),
    ]
    assert only(stage, "post", "emit", "tool/result") == [
        f"{stage_name}#c{index}" for index in (1, 2, 3) for stage_name in ("post", "emit", "tool/result")
    ]


@staged()
async def test_an_exclusive_call_is_a_barrier_both_ways(stage: Stage) -> None:
    gates = await began(stage, *numbered("p", 1, 2), *numbered("e", 3), *numbered("p", 4, 5))
    gates.let(1, 2, 3, 4, 5)
    await stage.agent.when_idle()
    kinds = only(stage, "start", "end")
    assert [sorted(kinds[:4]), kinds[4:6], sorted(kinds[6:])] == [
        ["end1", "end2", "start1", "start2"],
        ["start3", "end3"],
        ["end4", "end5", "start4", "start5"],
    ]


@staged()
async def test_an_instant_body_settles_after_the_next_call_has_started(stage: Stage) -> None:
    stage.observe()
    stage.tool("p", is_concurrency_safe=safe)
    await stage.turn(calls(*numbered("p", 1, 2, 3)), OK)
    assert only(stage, "tool/") == [
        *("tool/call#c1", "tool/call#c2", "tool/result#c1"),
        *("tool/call#c3", "tool/result#c2", "tool/result#c3"),
    ]


@pytest.mark.parametrize(("options", "most"), [({}, 10), ({"max_parallel_tool_calls": 2}, 2)])
def test_the_pool_has_so_many_places(options: dict[str, int], most: int) -> None:
    @staged(**options)
    async def run(stage: Stage) -> None:
        gates = await began(stage, *numbered("p", *range(14)))
        await gates.started(*range(most))
        for _ in range(20):
            await asyncio.sleep(0)
        assert gates.running == most
        gates.let(*range(14))
        await stage.agent.when_idle()
        assert gates.most == most
        assert [result.id for result in stage.results] == [f"c{index}" for index in range(14)]

    run()


@staged(max_parallel_tool_calls=2)
async def test_a_settled_call_frees_its_place_before_its_result_is_committed(stage: Stage) -> None:
    gates = await began(stage, *numbered("p", 1, 2, 3))
    await gates.started(1, 2)
    gates.let(2)
    await gates.started(3)
    assert "tool/result#c1" not in stage.trace
    gates.let(1, 3)
    await stage.agent.when_idle()


@staged()
async def test_a_slow_policy_delays_commits_but_stops_no_body(stage: Stage) -> None:
    slow = asyncio.Event()
    ended = asyncio.Event()

    async def policy(exec: Any, next: Any) -> Any:
        if exec.arguments["i"] == 2:
            await slow.wait()
        return await next()

    stage.host.on("tools/pre-execute", policy)
    stage.host.on("tools/execute", lambda exec, next: watch(exec, next))

    async def watch(exec: Any, next: Any) -> Any:
        result = await next()
        ended.set()
        return result

    gates = await began(stage, *numbered("p", 1, 2))
    gates.let(1, 2)
    await ended.wait()
    assert "tool/result#c1" not in stage.trace
    slow.set()
    await stage.agent.when_idle()
    kinds = stage.trace
    assert kinds.index("end1") < kinds.index("start2") < kinds.index("tool/result#c1")


@pytest.mark.parametrize(
    ("answer", "parallel"),
    [
        (lambda args: True, True),
        (lambda args: 1, False),
        (lambda args: asyncio.sleep(0), False),
        (lambda args: 1 / 0, False),
        (None, False),
    ],
)
@staged()
async def test_only_true_itself_is_parallel(stage: Stage, answer: Callable[[Any], Any] | None, parallel: bool) -> None:
    stage.tool("x", is_concurrency_safe=answer)
    request = CallRequest("z", "x", {}, AbortSignal(), agent=stage.agent)
    assert stage.host.tools.pipeline.is_parallel(request) is parallel
    ghost = CallRequest("z", "ghost", {}, AbortSignal(), agent=stage.agent)
    assert stage.host.tools.pipeline.is_parallel(ghost) is False


@staged()
async def test_a_defined_tool_is_exclusive_for_arguments_it_would_refuse(stage: Stage) -> None:
    defined = define_tool(
        name="d",
        description="d",
        parameters={"s": {"type": "string", "required": True}},
        execute=lambda args, exec: "x",
        render=show,
        is_concurrency_safe=lambda args: True,
    )
    stage.host.tools.register(defined)

    def parallel(arguments: Any) -> bool:
        return stage.host.tools.pipeline.is_parallel(CallRequest("z", "d", arguments, AbortSignal()))

    assert [parallel({}), parallel({"s": "x"})] == [False, True]


@staged()
async def test_a_later_call_is_classified_each_time_there_is_room(stage: Stage) -> None:
    asked: list[int] = []

    def classify(args: Any) -> bool:
        asked.append(args["i"])
        return bool(args["safe"])

    stage.tool("p", is_concurrency_safe=classify)
    made = [call("p", {"i": i, "safe": i != 3}, id=str(i)) for i in (1, 2, 3, 4)]
    await stage.turn(calls(*made), OK)
    assert asked == [1, 2, 3, 3, 3, 3, 4]


@staged()
async def test_classification_comes_before_the_call_is_logged(stage: Stage) -> None:
    stage.observe()
    stage.tool("p", is_concurrency_safe=lambda args: stage.note("classify"))
    await stage.one("p")
    assert stage.trace.index("classify") < stage.trace.index("tool/call#c1")


@staged()
async def test_failing_denied_and_unknown_siblings_do_not_stop_the_batch(stage: Stage) -> None:
    def bad(args: Any, exec: Any) -> Any:
        raise RuntimeError("bad")

    async def policy(exec: Any, next: Any) -> Any:
        return {"kind": "deny", "reason": "d"} if exec.arguments.get("deny") else await next()

    stage.tool("ok", "fine")
    stage.tool("bad", bad)
    stage.host.on("tools/pre-execute", policy)
    results = await stage.turn(
        calls(call("bad", id="1"), call("ok", {"deny": True}, id="2"), call("ghost", id="3"), call("ok", id="4")), OK
    )
    assert [result.text for result in results] == ["Error: bad", "Error: d", 'Error: unknown tool "ghost"', "fine"]
    assert stage.turn_ends == [{"kind": "completed"}]


@staged()
async def test_a_denied_call_waits_for_its_place_in_the_commit_order(stage: Stage) -> None:
    async def policy(exec: Any, next: Any) -> Any:
        return {"kind": "deny", "reason": "d"} if exec.arguments["i"] == 2 else await next()

    gates = await began(stage, *numbered("p", 1, 2, 3))
    stage.host.on("tools/pre-execute", policy)
    await gates.started(1, 3)
    gates.let(3)
    await asyncio.sleep(0)
    gates.let(1)
    await stage.agent.when_idle()
    assert [(result.id, result.is_error) for result in stage.results] == [("c1", False), ("c2", True), ("c3", False)]
    assert only(stage, "post") == ["post#c1", "post#c2", "post#c3"]


@staged()
async def test_calls_of_one_id_both_run_and_are_told_apart_by_their_sources(stage: Stage) -> None:
    runs: list[int] = []

    def body(args: Any, exec: Any) -> str:
        runs.append(1)
        return f"run{len(runs)}"

    stage.tool("g", body)
    first, second = await stage.turn(calls(call("g", id="same"), call("g", id="same")), OK)
    logged = [event.seq for event in stage.agent.session.events if event.type == "tool/call"]
    assert [(r.id, r.text, r.event.source_event_seqs) for r in (first, second)] == [
        ("same", "run1", (logged[0],)),
        ("same", "run2", (logged[1],)),
    ]


@staged()
async def test_calls_of_a_reply_cut_by_length_are_neither_run_nor_logged(stage: Stage) -> None:
    stage.observe()
    stage.tool("g")
    await stage.turn(ModelReply(calls=[call("g")], finish="max-tokens"))
    assert only(stage, "tool/") == []
    assert "assistant/message" in stage.trace
    assert stage.turn_ends == [{"kind": "max-tokens"}]


@staged()
async def test_calls_run_whatever_else_the_finish_reason_says(stage: Stage) -> None:
    stage.tool("g")
    await stage.turn(ModelReply(calls=[call("g")], finish="stop"), ModelReply(text="no calls", finish="tool-calls"))
    assert [result.text for result in stage.results] == ["ran"]
    assert stage.turn_ends == [{"kind": "completed"}]


@pytest.mark.parametrize(
    ("replies", "error"),
    [
        ([], {"message": "script exhausted", "code": "UNKNOWN"}),
        (
            [ModelReply(finish="error", failure=ModelFailure("overloaded", "OVERLOADED"))],
            {"message": "overloaded", "code": "OVERLOADED"},
        ),
    ],
)
@staged()
async def test_a_failed_request_ends_the_turn_with_an_error(stage: Stage, replies: Any, error: Any) -> None:
    stage.tool("g")
    await stage.turn(calls(call("g")), *replies)
    assert stage.turn_ends == [{"kind": "error", "error": error}]
    assert [result.text for result in stage.results] == ["ran"]


@staged()
async def test_an_agent_without_a_model_ends_its_turn_with_an_error(stage: Stage) -> None:
    agent = await stage.host.agents.create("y", None, provider="ghost")
    agent.followup("go")
    await agent.when_idle()
    assert agent.session.events[-1].data["reason"] == {
        "kind": "error",
        "error": {"message": 'no adapter registered for provider "ghost"', "code": "NO_ADAPTER"},
    }
