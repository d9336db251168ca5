"""One start and one end for every call, whichever way it goes, and who waits for them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reference_bridge.host import UNDEFINED, Thrown, deny
from tests.fast.small_bridge import Bridged, bridged, pi_tool, result
from tests.fast.small_host import OK, call, calls

FULL = ["start", "call", "result", "end"]


def raising(error: Exception) -> Any:
    async def raises(*_: Any) -> Any:
        raise error

    return raises


@bridged()
async def test_an_executed_call_is_told_in_this_order(stage: Bridged) -> None:
    stage.tool("native")
    await stage.load("p", pi_tool("t"), watch=True)
    await stage.turn(calls(call("t"), call("native", id="c2")), OK)
    assert stage.order("c1") == stage.order("c2") == FULL


@bridged()
async def test_every_package_is_told_in_load_order(stage: Bridged) -> None:
    await stage.load("a", pi_tool("t"), watch=True)
    await stage.load("b", watch=True)
    await stage.one("t")
    told = [(name, kind) for name, kind, _ in stage.seen]
    kinds = ("tool_execution_start", "tool_call", "tool_result", "tool_execution_end")
    assert told == [(name, kind) for kind in kinds for name in "ab"]


@bridged()
async def test_the_gate_waits_for_slow_start_handlers(stage: Bridged) -> None:
    order: list[str] = []
    go = asyncio.Event()

    async def slow(event: Any, ctx: Any) -> None:
        order.append("start")
        await go.wait()
        order.append("started")

    await stage.load(
        "p",
        pi_tool("t", lambda *_: order.append("body")),
        tool_execution_start=[slow, lambda event, ctx: order.append("second")],
        tool_call=lambda event, ctx: order.append("call"),
    )
    stage.model.replies += [calls(call("t")), OK]
    stage.agent.followup("go")
    for _ in range(50):
        await asyncio.sleep(0)
    assert order == ["start"]
    go.set()
    await stage.agent.when_idle()
    assert order == ["start", "started", "second", "call", "body"]


@bridged()
async def test_the_log_waits_for_slow_end_handlers(stage: Bridged) -> None:
    logged_before: list[bool] = []

    async def slow(event: Any, ctx: Any) -> None:
        await asyncio.sleep(0)
        logged_before.append(bool(stage.results))

    await stage.load("p", pi_tool("t"), tool_execution_end=slow)
    await stage.one("t")
    assert logged_before == [False]


@bridged()
async def test_throwing_observers_are_reported_once_each_and_silence_nobody(stage: Bridged) -> None:
    ran: list[str] = []

    def throws(event: Any, ctx: Any) -> None:
        raise RuntimeError(f"bad {event['type']}")

    events = ("tool_execution_start", "tool_execution_update", "tool_result", "tool_execution_end")

    async def body(id: str, params: Any, signal: Any, on_update: Any, ctx: Any) -> Any:
        on_update("part")
        return result("fine")

    handlers = {event: [throws, lambda event, ctx: ran.append(event["type"])] for event in events}
    await stage.load("p", pi_tool("t", body), **handlers)
    done = await stage.one("t")
    assert (done.is_error, done.text) == (False, "fine")
    assert ran == list(events)
    assert len(stage.notices) == 4
    assert all(any(f"bad {event}" in notice for notice in stage.notices) for event in events)


@pytest.mark.parametrize("raw", ["{bad", "", "   "])
@bridged()
async def test_the_start_of_a_text_that_is_no_object_shows_an_empty_one(stage: Bridged, raw: str) -> None:
    stage.tool("native")
    await stage.load("p", watch=True)
    await stage.one("native", raw=raw)
    assert stage.told("tool_execution_start")[0]["args"] == {}
    assert stage.order() == FULL


@bridged()
async def test_writes_to_start_and_end_harm_nothing(stage: Bridged) -> None:
    def spoil(event: Any, ctx: Any) -> None:
        event.get("args", {})["injected"] = True
        event.get("result", {}).update(content=[], terminate=True)

    ran: list[Any] = []
    await stage.load(
        "p", pi_tool("t", lambda id, params, *_: ran.append(params) or result("fine")),
        tool_execution_start=spoil, tool_execution_end=spoil,
    )  # fmt: skip
    assert (await stage.one("t")).text == "fine"
    assert (ran, stage.requests) == ([{}], 2)


@pytest.mark.parametrize("place", ["before", "after"])
@bridged()
async def test_a_call_that_a_listener_ends_has_one_end(stage: Bridged, place: str) -> None:
    await stage.load("p", pi_tool("t"), watch=True)
    for listener in (raising(RuntimeError("policy broke")), lambda exec, following: deny("denied")):
        dispose = stage.host.on("tools/pre-execute", listener, prepend=place == "before")
        done = await stage.one("t")
        assert done.is_error
        asked = ["start", "end"] if place == "before" else ["start", "call", "end"]
        assert stage.order() == asked
        stage.seen.clear()
        dispose()


@bridged()
async def test_a_listener_that_answers_nothing_still_leaves_one_end(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t"), watch=True)
    stage.host.on("tools/pre-execute", lambda exec, following: UNDEFINED)
    await stage.one("t")
    assert stage.order() == ["start", "call", "end"]


@bridged()
async def test_guards_leave_one_end(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t"), watch=True)
    for guard in (lambda exec: "guarded", lambda exec: 1 / 0):
        dispose = stage.host.tools.guard(guard)
        await stage.one("t")
        assert stage.order() == ["start", "call", "end"]
        stage.seen.clear()
        dispose()


@pytest.mark.parametrize("place", ["before", "after"])
@bridged()
async def test_a_wrapper_that_throws_leaves_one_end_and_no_result_event(stage: Bridged, place: str) -> None:
    await stage.load("p", pi_tool("t"), watch=True)
    stage.host.on("tools/execute", raising(RuntimeError("wrapper broke")), prepend=place == "before")
    assert "wrapper broke" in (await stage.one("t")).text
    assert stage.order() == ["start", "call", "end"]


@bridged()
async def test_the_end_of_a_listener_that_throws_is_awaited_before_the_result_is_logged(stage: Bridged) -> None:
    logged: list[int] = []

    async def slow(event: Any, ctx: Any) -> None:
        await asyncio.sleep(0)
        logged.append(len(stage.results))

    await stage.load("p", pi_tool("t"), tool_execution_end=slow)
    dispose = stage.host.on("tools/pre-execute", raising(RuntimeError("broke")))
    await stage.one("t")
    dispose()
    stage.host.on("tools/post-execute", raising(RuntimeError("broke")))
    await stage.one("t")
    assert logged == [0, 1]


@bridged()
async def test_arguments_that_are_not_lossless_leave_one_end(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t"), watch=True)
    done = await stage.one("t", raw='{"n": -0}')
    await stage.bridge.settled(stage.agent)
    assert done.is_error
    assert stage.order() == ["start", "end"]


@bridged()
async def test_an_end_nobody_waited_for_still_comes_before_the_next_request(stage: Bridged) -> None:
    asked: list[int] = []

    async def slow(event: Any, ctx: Any) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        asked.append(stage.requests)

    await stage.load("p", pi_tool("t"), tool_execution_end=slow)
    stage.host.tools.guard(lambda exec: 1 / 0)
    await stage.one("t")
    assert asked == [1]


@bridged()
async def test_a_cancel_in_a_body_leaves_one_end_for_every_call(stage: Bridged) -> None:
    async def body(id: str, params: Any, signal: Any, *_: Any) -> Any:
        stage.agent.cancel()
        return result("too late")

    await stage.load("p", pi_tool("t", body), watch=True)
    await stage.turn(calls(call("t"), call("t", id="c2"), call("ghost", id="c3")))
    await stage.bridge.settled(stage.agent)
    assert stage.order("c1") == FULL
    assert stage.told("tool_execution_end")[0]["isError"] is True
    assert stage.order("c2") == stage.order("c3") == ["start", "end"]


@bridged()
async def test_a_cancel_in_the_gate_leaves_one_end(stage: Bridged) -> None:
    ran: list[str] = []
    await stage.load(
        "p", pi_tool("t", lambda *_: ran.append("t")), tool_call=lambda event, ctx: ctx.abort(), watch=True
    )
    done = (await stage.turn(call("t")))[0]
    assert (done.code, ran, stage.order()) == ("ABORTED_BEFORE_DISPATCH", [], ["start", "call", "end"])


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
@bridged()
async def test_equal_call_ids_are_two_calls(stage: Bridged, mode: str) -> None:
    async def body(id: str, params: Any, *_: Any) -> Any:
        await asyncio.sleep(0)
        return result(params["text"])

    await stage.load("p", pi_tool("t", body, executionMode=mode), watch=True)
    await stage.turn(calls(call("t", {"text": "x"}), call("t", {"text": "y"})), OK)
    assert sorted(stage.order()) == sorted(FULL * 2)
    assert [given["input"]["text"] for given in stage.told("tool_result")] == ["x", "y"]
    assert [end["result"]["content"][0]["text"] for end in stage.told("tool_execution_end")] == ["x", "y"]
    assert [start["args"]["text"] for start in stage.told("tool_execution_start")] == ["x", "y"]


@bridged()
async def test_a_call_made_by_another_tool_has_no_start_and_no_end(stage: Bridged) -> None:
    async def body(args: Any, exec: Any) -> Any:
        return (await stage.host.tools.execute("inner", "t", {}, agent=exec.agent)).content[0]["text"]

    stage.tool("outer", body)
    await stage.load("p", pi_tool("t"), watch=True)
    assert (await stage.one("outer")).text == "t ran"
    assert stage.order("inner") == ["call", "result"]


@bridged()
async def test_the_end_carries_the_durable_result(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t", raising(RuntimeError("boom"))), watch=True)
    done = await stage.one("t")
    end = stage.told("tool_execution_end")[0]
    assert (end["result"]["content"], end["isError"]) == ([{"type": "text", "text": done.text}], True)


@pytest.mark.parametrize(("thrown", "words"), [(RuntimeError("multi\nline"), "multi\nline"), (Thrown("str"), "str")])
@bridged()
async def test_what_a_tool_throws_reaches_model_and_handlers(stage: Bridged, thrown: Exception, words: str) -> None:
    await stage.load("p", pi_tool("t", raising(thrown)), watch=True)
    done = await stage.one("t")
    assert words in done.text
    seen = stage.told("tool_result")[0]
    assert (seen["isError"], words in seen["content"][0]["text"]) == (True, True)


@bridged()
async def test_packages_hear_nothing_of_agents_that_work_for_another(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t"), watch=True)
    stage.tool("native")
    child = await stage.host.agents.create("child", stage.model, owner=stage.agent)
    stage.model.replies += [calls(call("native")), OK]
    child.followup("go")
    await child.when_idle()
    assert stage.seen == []
