"""What `tool_call` handlers may do to a call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reference_bridge.bridge.values import UNDEFINED
from reference_bridge.host import Thrown, ask, deny
from tests.fast.small_bridge import Bridged, bridged, pi_tool
from tests.fast.small_host import OK, call, calls


def answering(answer: Any) -> Any:
    return lambda event, ctx: answer


def throwing(error: Exception) -> Any:
    def handler(event: Any, ctx: Any) -> None:
        raise error

    return handler


@bridged()
async def test_the_first_block_decides_and_nobody_after_it_is_asked(stage: Bridged) -> None:
    asked: list[str] = []
    await stage.load("a", pi_tool("t"), tool_call=[answering(UNDEFINED), answering({"block": True, "reason": "first"})])
    await stage.load("b", tool_call=lambda event, ctx: asked.append("b"))
    done = await stage.one("t")
    assert (done.is_error, done.text, asked) == (True, "Error: first", [])


@pytest.mark.parametrize("block", [1, "no", [], {}])
@bridged()
async def test_any_truthy_block_blocks(stage: Bridged, block: Any) -> None:
    await stage.load("p", pi_tool("t"), tool_call=answering({"block": block, "reason": "r"}))
    assert (await stage.one("t")).text == "Error: r"


@pytest.mark.parametrize(
    "answer", [{"block": 0}, {"block": ""}, {"reason": "r"}, {"block": UNDEFINED}, True, "block", []]
)
@bridged()
async def test_nothing_else_blocks(stage: Bridged, answer: Any) -> None:
    await stage.load("p", pi_tool("t"), tool_call=answering(answer))
    assert (await stage.one("t")).text == "t ran"


@pytest.mark.parametrize("reason", [UNDEFINED, "", None, 7, {"why": "x"}])
@bridged()
async def test_a_block_always_has_a_reason_the_model_can_read(stage: Bridged, reason: Any) -> None:
    await stage.load("p", pi_tool("t"), tool_call=answering({"block": True, "reason": reason}))
    done = await stage.one("t")
    assert done.is_error
    assert len(done.text) > len("Error: ")


@pytest.mark.parametrize(
    ("error", "words"), [(RuntimeError("boom"), "boom"), (Thrown("str"), "str"), (Thrown(UNDEFINED), "undefined")]
)
@bridged()
async def test_a_gate_that_throws_blocks_with_what_it_threw(stage: Bridged, error: Exception, words: str) -> None:
    ran: list[str] = []
    await stage.load("p", pi_tool("t", lambda *_: ran.append("t")), tool_call=throwing(error), watch=True)
    done = await stage.one("t")
    assert done.is_error
    assert words in done.text
    assert (ran, stage.notices, stage.order()) == ([], [], ["start", "end"])


@bridged()
async def test_a_handler_that_cannot_be_called_blocks_every_call(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t"), tool_call=UNDEFINED)
    assert "handler is not a function" in (await stage.one("t")).text


@bridged()
async def test_a_judge_that_is_stuck_when_the_turn_is_cancelled_is_given_up(stage: Bridged) -> None:
    left: list[str] = []

    async def stuck(event: Any, ctx: Any) -> None:
        stage.agent.cancel()
        try:
            await asyncio.Event().wait()
        finally:
            left.append("stuck")

    ran: list[str] = []
    await stage.load("p", pi_tool("t", lambda *_: ran.append("t")), tool_call=stuck)
    done = await stage.one("t")
    assert "no answer" in done.text
    assert (ran, left) == ([], ["stuck"])


@bridged()
async def test_a_judge_that_answers_soon_after_a_cancel_is_heard(stage: Bridged) -> None:
    async def late(event: Any, ctx: Any) -> dict[str, Any]:
        stage.agent.cancel()
        await asyncio.sleep(0)
        return {"block": True, "reason": "still no"}

    await stage.load("p", pi_tool("t"), tool_call=late)
    assert (await stage.one("t")).text == "Error: still no"


@bridged()
async def test_handlers_see_prepared_and_coerced_arguments_and_the_log_the_raw_ones(stage: Bridged) -> None:
    ran: list[Any] = []
    tool = pi_tool("t", lambda id, params, *_: ran.append(params), prepareArguments=lambda given: {"n": given["old"]})
    await stage.load("p", tool, watch=True)
    await stage.one("t", {"old": "7"})
    assert stage.told("tool_call")[0]["input"] == {"n": 7} == ran[0]
    assert stage.told("tool_execution_start")[0]["args"] == {"old": "7"}
    logged = next(event for event in stage.agent.session.events if event.type == "tool/call")
    assert logged.data["arguments"] == '{"old": "7"}'


@pytest.mark.parametrize("change", [{"n": "x"}, {"text": {"bad": 1}}, {"extra": True}])
@bridged()
async def test_changed_arguments_reach_a_tool_of_any_package_unchecked(stage: Bridged, change: Any) -> None:
    ran: list[Any] = []
    await stage.load("owner", pi_tool("t", lambda id, params, *_: ran.append(dict(params))))
    await stage.load("other", tool_call=lambda event, ctx: event["input"].update(change), watch=True)
    await stage.one("t", {"text": "x"})
    assert ran == [{"text": "x", **change}]
    assert stage.told("tool_result")[0]["input"] == ran[0]
    assert stage.told("tool_execution_start")[0]["args"] == {"text": "x"}


@bridged()
async def test_a_replaced_input_changes_nothing(stage: Bridged) -> None:
    ran: list[Any] = []
    await stage.load(
        "p",
        pi_tool("t", lambda id, params, *_: ran.append(params)),
        tool_call=lambda event, ctx: event.update(input={"text": "other"}),
    )
    await stage.one("t", {"text": "x"})
    assert ran == [{"text": "x"}]


@pytest.mark.parametrize(
    "change",
    [
        lambda given: given.update(text="y"),
        lambda given: given.pop("text"),
        lambda given: given.update(more=None),
        lambda given: given["deep"].append(1),
        lambda given: given.update(n=True),
    ],
)
@bridged()
async def test_a_native_tool_never_runs_with_changed_arguments(stage: Bridged, change: Any) -> None:
    ran: list[Any] = []
    stage.tool("native", lambda args, exec: ran.append(args))
    await stage.load("p", tool_call=lambda event, ctx: change(event["input"]) and None, watch=True)
    done = await stage.one("native", {"text": "x", "deep": [], "n": 1})
    assert done.is_error
    assert "native" in done.text
    assert "may not be changed" in done.text
    assert (ran, stage.order()) == ([], ["start", "call", "end"])
    assert stage.told("tool_execution_end")[0]["isError"] is True


@bridged()
async def test_a_native_tool_runs_if_its_arguments_only_look_different(stage: Bridged) -> None:
    def reorder(event: Any, ctx: Any) -> None:
        event["input"]["b"] = event["input"].pop("b")
        event["input"]["a"] = 1.0
        event["input"]["nothing"] = UNDEFINED

    stage.tool("native", "ran")
    await stage.load("p", tool_call=reorder)
    assert (await stage.one("native", {"b": 2, "a": 1})).text == "ran"


@bridged()
async def test_a_block_beside_a_change_wins(stage: Bridged) -> None:
    def both(event: Any, ctx: Any) -> Any:
        event["input"]["text"] = "y"
        return {"block": True, "reason": "blocked"}

    stage.tool("native", "ran")
    await stage.load("p", tool_call=both)
    assert (await stage.one("native")).text == "Error: blocked"


@bridged()
async def test_nobody_is_asked_about_invalid_arguments_or_unknown_names(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t"), watch=True)
    first, second = await stage.turn(calls(call("t", {"n": "x"}), call("ghost", id="c2")), OK)
    assert 'Validation failed for tool "t"' in first.text
    assert "ghost" in second.text
    assert stage.order("c1") == stage.order("c2") == ["start", "end"]


@bridged()
async def test_a_prepare_that_throws_ends_the_call_with_its_message(stage: Bridged) -> None:
    def prepare(given: Any) -> Any:
        raise ValueError("cannot prepare")

    await stage.load("p", pi_tool("t", prepareArguments=prepare), watch=True)
    assert (await stage.one("t")).text == "Error: cannot prepare"
    assert stage.order() == ["start", "end"]


@bridged()
async def test_two_calls_share_no_argument_object(stage: Bridged) -> None:
    ran: list[Any] = []

    def body(id: str, params: Any, *_: Any) -> None:
        ran.append(dict(params))
        params["text"] = "spoiled"

    await stage.load("p", pi_tool("t", body))
    await stage.turn(calls(call("t", {"text": "x"}), call("t", {"text": "x"}, id="c2")), OK)
    assert ran == [{"text": "x"}, {"text": "x"}]


@bridged()
async def test_the_bridge_hands_on_what_the_host_decides(stage: Bridged) -> None:
    seen: list[Any] = []
    decisions = [deny("inner"), ask("please"), {"kind": "allow", "extra": 1}]

    async def outer(exec: Any, following: Any) -> Any:
        seen.append(await following())
        return seen[-1]

    async def inner(exec: Any, following: Any) -> Any:
        return decisions.pop(0)

    stage.host.on("tools/pre-execute", outer, prepend=True)
    await stage.load("p", pi_tool("t"), watch=True)
    stage.host.on("tools/pre-execute", inner)
    wanted = list(decisions)
    await stage.turn(calls(call("t"), call("t", id="c2"), call("t", id="c3")), OK)
    assert [given is want for given, want in zip(seen, wanted, strict=True)] == [True, True, True]


@bridged()
async def test_inner_policy_is_not_asked_about_a_blocked_call(stage: Bridged) -> None:
    asked: list[str] = []

    async def inner(exec: Any, following: Any) -> Any:
        asked.append(exec.name)
        return await following()

    stage.host.on("tools/pre-execute", inner)
    await stage.load("p", pi_tool("t"), tool_call=answering({"block": True, "reason": "r"}))
    await stage.one("t")
    assert asked == []


@bridged()
async def test_host_policy_sees_the_arguments_as_the_model_wrote_them(stage: Bridged) -> None:
    seen: list[Any] = []

    async def inner(exec: Any, following: Any) -> Any:
        seen.append(dict(exec.arguments))
        return await following()

    stage.host.on("tools/pre-execute", inner)
    await stage.load("p", pi_tool("t"))
    await stage.one("t", {"n": "7"})
    assert seen == [{"n": "7"}]


@bridged()
async def test_a_tool_that_is_registered_while_its_call_is_decided_does_not_run_unjudged(stage: Bridged) -> None:
    made: list[Any] = []

    def inner(execution: Any, following: Any) -> Any:
        if not stage.host.tools.get("late"):
            made[0].register_tool(pi_tool("late"))
        return following()

    stage.host.on("tools/pre-execute", inner)
    await stage.load("p", factory=made.append, tool_call=answering({"block": True, "reason": "never"}), watch=True)
    done = await stage.one("late")
    assert (done.is_error, done.text) == (True, "Error: never")
    assert stage.order() == ["start", "end"]
