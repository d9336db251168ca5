"""Pi's batch rule on a host that has none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fast.small_bridge import Bridged, bridged, pi_tool, result
from tests.fast.small_host import OK, call, calls

KINDS = {
    "T": {"terminate": True},
    "plain": {},
    "one": {"terminate": 1},
    "yes": {"terminate": "true"},
}


def gate(event: Any, ctx: Any) -> Any:
    """Blocks calls whose text says so."""
    wanted = event["input"].get("text", "") if isinstance(event["input"], dict) else ""
    if wanted.startswith("blocked"):
        return {"block": True, "reason": "r", "terminate": wanted == "blocked+T"}
    return {"terminate": True}


def body(id: str, params: Any, *_: Any) -> Any:
    if params["text"] == "throws":
        raise RuntimeError("boom")
    return result("ran", **KINDS[params["text"]])


def batch(*kinds: str) -> Any:
    made = []
    for at, kind in enumerate(kinds, 1):
        name = "ghost" if kind == "unknown" else "t"
        args = {"text": kind, "n": "x"} if kind == "invalid" else {"text": kind}
        made.append(call(name, args, id=f"c{at}"))
    return calls(*made)


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
@pytest.mark.parametrize(
    "kinds", [["T"], ["T", "T"], ["T", "blocked+T"], ["blocked+T"], ["blocked+T", "blocked+T"]], ids="-".join
)
@bridged()
async def test_the_loop_stops_if_every_call_asked_to(stage: Bridged, kinds: list[str], mode: str) -> None:
    await stage.load("p", pi_tool("t", body, executionMode=mode), tool_call=gate)
    await stage.turn(batch(*kinds), OK)
    assert stage.requests == 1
    await stage.turn(prompt="again")
    assert (stage.requests, stage.said) == (2, ["go", "again"])


@pytest.mark.parametrize(
    "kinds",
    [
        ["T", "plain"],
        ["plain", "T"],
        ["T", "blocked"],
        ["blocked+T", "plain"],
        ["blocked+T", "blocked"],
        ["T", "throws"],
        ["T", "unknown"],
        ["T", "invalid"],
        ["blocked+T", "invalid"],
        ["blocked+T", "unknown"],
        ["unknown"],
        ["throws"],
        ["one"],
        ["yes"],
    ],
    ids="-".join,
)
@bridged()
async def test_the_loop_goes_on_if_one_call_did_not_ask(stage: Bridged, kinds: list[str]) -> None:
    await stage.load("p", pi_tool("t", body), tool_call=gate)
    await stage.turn(batch(*kinds), OK)
    assert stage.requests == 2


@bridged()
async def test_votes_of_two_packages_count_once_a_call(stage: Bridged) -> None:
    await stage.load("a", pi_tool("t", body), tool_call=gate)
    await stage.load("b", tool_call=gate)
    await stage.turn(batch("blocked+T", "plain"), OK)
    assert stage.requests == 2


@bridged()
async def test_a_denied_or_refused_call_did_not_ask(stage: Bridged) -> None:
    def mutate(event: Any, ctx: Any) -> Any:
        event["input"]["text"] = "other"
        return {"terminate": True}

    stage.tool("native")
    await stage.load("p", tool_call=mutate)
    await stage.turn(calls(call("native")), OK)
    assert stage.requests == 2


@bridged()
async def test_a_block_that_the_host_overrules_has_no_vote(stage: Bridged) -> None:
    async def overrules(exec: Any, following: Any) -> Any:
        await following()
        return {"kind": "allow"}

    stage.tool("native")
    stage.host.on("tools/pre-execute", overrules, prepend=True)
    await stage.load("p", pi_tool("t"), tool_call=lambda event, ctx: {"block": True, "terminate": True})
    await stage.turn(calls(call("t")), calls(call("native", id="c2")), OK)
    assert ([each.text for each in stage.results], stage.requests) == (["t ran", "ran"], 3)


@bridged()
async def test_a_result_patch_has_no_vote(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t", body), tool_result=lambda event, ctx: {"terminate": True})
    await stage.turn(batch("plain"), OK)
    assert stage.requests == 2
    await stage.load("q", tool_result=lambda event, ctx: {"terminate": False, "isError": True})
    await stage.turn(batch("T"), OK)
    assert stage.requests == 3


@pytest.mark.parametrize("how", ["steer", "followup"])
@bridged()
async def test_input_that_came_before_the_end_of_a_stopping_batch_is_answered(stage: Bridged, how: str) -> None:
    def says(event: Any, ctx: Any) -> Any:
        getattr(stage.agent, how)("wait")
        return {"block": True, "reason": "r", "terminate": True}

    await stage.load("p", pi_tool("t"), tool_call=says)
    await stage.turn(calls(call("t")), OK)
    assert (stage.requests, stage.said) == (2, ["go", "wait"])
    assert not stage.agent.inbox.has_pending


@bridged()
async def test_each_waiting_prompt_is_answered_once_and_in_order(stage: Bridged) -> None:
    def says(event: Any, ctx: Any) -> Any:
        for words in ("one", "two"):
            stage.agent.followup(words)
        stage.agent.steer("first")
        return {"block": True, "terminate": True}

    await stage.load("p", pi_tool("t"), tool_call=says)
    await stage.turn(calls(call("t")), OK, OK)
    assert (stage.requests, stage.said) == (3, ["go", "first", "one", "two"])


@bridged()
async def test_a_vote_does_not_outlive_its_batch_after_a_cancel(stage: Bridged) -> None:
    def cancels(event: Any, ctx: Any) -> Any:
        ctx.abort()
        return {"block": True, "terminate": True}

    await stage.load("p", pi_tool("t"), tool_call=cancels)
    await stage.turn(calls(call("t")))
    await stage.turn(OK, prompt="again")
    assert (stage.requests, stage.said) == (2, ["go", "again"])


@bridged()
async def test_a_vote_of_one_step_does_not_count_in_the_next(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t", body), tool_call=gate)
    await stage.turn(batch("plain"), batch("T"))
    assert stage.requests == 2
    await stage.turn(batch("T", "plain"), batch("plain"), OK, prompt="again")
    assert stage.requests == 5


@bridged()
async def test_the_agents_of_one_bridge_vote_apart(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t", body), tool_call=gate)
    other = await stage.host.agents.create("a2", stage.model)
    await stage.bridge.ready(other)
    await stage.turn(batch("T"))
    stage.model.replies += [batch("plain"), OK]
    other.followup("go")
    await other.when_idle()
    assert stage.requests == 3


@bridged()
async def test_a_native_that_concludes_the_turn_is_left_alone(stage: Bridged) -> None:
    def concludes(args: Any, exec: Any) -> str:
        exec.conclude_turn()
        return "done"

    stage.tool("native", concludes)
    await stage.load("p", pi_tool("t", body), tool_call=gate)
    await stage.turn(calls(call("native"), call("t", {"text": "plain"}, id="c2")))
    assert stage.requests == 1
