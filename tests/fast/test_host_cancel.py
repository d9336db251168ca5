"""What a cancel stops, what it waits for, and what it leaves behind."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.fast.small_host import OK, Stage, call, calls, staged

ABORTED = {"name": "AbortError", "code": "ABORTED"}
BEFORE = {"name": "AbortError", "code": "ABORTED_BEFORE_DISPATCH"}


class Waiting:
    """A tool whose body says that it started and waits for the abort."""

    def __init__(self, stage: Stage, then: Exception | None = None) -> None:
        self.started = asyncio.Event()
        self._then = then
        stage.tool("slow", self.body)

    async def body(self, args: Any, exec: Any) -> str:
        self.started.set()
        await exec.signal.wait()
        if self._then is not None:
            raise self._then
        return "late success"


def errors(stage: Stage) -> list[Any]:
    return [result.event.data.get("error") for result in stage.results]


async def cancelled_in_body(stage: Stage, *made: Any, then: Exception | None = None, **how: Any) -> None:
    slow = Waiting(stage, then)
    stage.model.replies = [calls(*made)]
    stage.agent.followup("go")
    await slow.started.wait()
    stage.agent.cancel(**how)
    await stage.agent.when_idle()


@staged()
async def test_a_cancel_in_the_body_aborts_its_success_and_skips_the_rest(stage: Stage) -> None:
    stage.observe()
    stage.tool("next")
    cause = {"kind": "hook", "reason": "stop it"}
    await cancelled_in_body(stage, call("slow", id="1"), call("next", id="2"), call("ghost", id="3"), cause=cause)
    assert errors(stage) == [ABORTED, BEFORE, BEFORE]
    assert [result.text for result in stage.results] == [
        "Error: tool call aborted",
        "Error: tool call aborted before dispatch",
        "Error: tool call aborted before dispatch",
    ]
    assert stage.turn_ends == [{"kind": "aborted", "reason": cause}]
    assert stage.stages("1") == "call pre guard exec post emit result"
    assert [stage.stages(id) for id in ("2", "3")] == ["call result", "call result"]
    assert "turn-stopping" not in stage.trace
    types = [event.type for event in stage.agent.session.events]
    assert types[-2:] == ["step/end", "turn/end"]


@staged()
async def test_a_body_that_raises_on_abort_keeps_its_own_text(stage: Stage) -> None:
    await cancelled_in_body(stage, call("slow"), then=RuntimeError("own abort text"))
    assert stage.results[0].text == "Error: own abort text"
    assert errors(stage) == [None]


@staged()
async def test_a_body_that_ignores_the_signal_is_awaited(stage: Stage) -> None:
    started, release = asyncio.Event(), asyncio.Event()
    ended: list[str] = []

    async def deaf(args: Any, exec: Any) -> str:
        started.set()
        await release.wait()
        ended.append("body")
        return "x"

    stage.tool("deaf", deaf)
    stage.host.on("agent/status", lambda change: ended.append(change.status))
    stage.model.replies = [calls(call("deaf"))]
    stage.agent.followup("go")
    await started.wait()
    stage.agent.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    assert stage.agent.status == "running"
    release.set()
    await stage.agent.when_idle()
    assert ended == ["running", "body", "idle"]
    assert errors(stage) == [ABORTED]


@staged()
async def test_a_cancel_in_pre_execute_keeps_the_body_from_running_but_not_the_guards(stage: Stage) -> None:
    async def policy(exec: Any, next: Any) -> Any:
        stage.agent.cancel()
        return await next()

    stage.observe()
    stage.tool("g", lambda args, exec: stage.note("body#1"))
    stage.host.on("tools/pre-execute", policy)
    await stage.turn(calls(call("g", id="1"), call("g", id="2")))
    assert errors(stage) == [BEFORE, BEFORE]
    assert stage.stages("1") == "call pre guard post emit result"
    assert stage.stages("2") == "call result"


@staged()
async def test_a_denial_decided_after_the_cancel_wins(stage: Stage) -> None:
    asked, release = asyncio.Event(), asyncio.Event()

    async def policy(exec: Any, next: Any) -> Any:
        asked.set()
        await release.wait()
        return {"kind": "deny", "reason": "decided after cancel"}

    stage.tool("g")
    stage.host.on("tools/pre-execute", policy)
    stage.model.replies = [calls(call("g"))]
    stage.agent.followup("go")
    await asked.wait()
    stage.agent.cancel()
    release.set()
    await stage.agent.when_idle()
    assert stage.results[0].text == "Error: decided after cancel"
    assert stage.turn_ends == [{"kind": "aborted", "reason": {"kind": "user"}}]


@staged()
async def test_a_guards_denial_after_the_cancel_wins(stage: Stage) -> None:
    async def policy(exec: Any, next: Any) -> Any:
        stage.agent.cancel()
        return await next()

    stage.tool("g")
    stage.host.on("tools/pre-execute", policy)
    stage.host.tools.guard(lambda exec: "guard after cancel")
    await stage.turn(calls(call("g")))
    assert stage.results[0].text == "Error: guard after cancel"


@staged()
async def test_one_signal_is_shared_by_everything_in_a_turn_and_carries_the_cause(stage: Stage) -> None:
    signals: list[Any] = []
    slow = Waiting(stage)

    async def policy(exec: Any, next: Any) -> Any:
        signals.append(exec.signal)
        return await next()

    stage.tool("g", lambda args, exec: signals.append(exec.signal))
    stage.host.on("tools/pre-execute", policy)
    stage.host.on("agent/pre-step", lambda step, next: (signals.append(step.signal), next())[1])
    stage.model.replies = [calls(call("g", id="1"), call("slow", id="2"))]
    stage.agent.followup("go")
    await slow.started.wait()
    stage.agent.cancel({"kind": "hook", "reason": "x"})
    await stage.agent.when_idle()
    assert len({id(signal) for signal in signals}) == 1
    assert signals[0].reason == {"kind": "hook", "reason": "x"}

    await stage.turn(call("g", id="3"))
    assert signals[-1] is not signals[0]
    assert not signals[-1].aborted


@staged()
async def test_each_turn_has_a_signal_of_its_own(stage: Stage) -> None:
    signals: list[Any] = []
    stage.tool("g", lambda args, exec: signals.append(exec.signal))
    stage.model.replies = [calls(call("g")), OK] * 2
    stage.agent.followup("one")
    stage.agent.followup("two")
    await stage.agent.when_idle()
    assert signals[0] is not signals[1]


@staged()
async def test_a_cancel_clears_the_inbox(stage: Stage) -> None:
    slow = Waiting(stage)
    stage.model.replies = [calls(call("slow"))]
    stage.agent.followup("go")
    await slow.started.wait()
    stage.agent.followup("queued")
    stage.agent.steer("steered")
    stage.agent.cancel()
    await stage.agent.when_idle()
    inbox = stage.agent.inbox
    assert (list(inbox.next_turn), list(inbox.next_step), len(stage.turn_ends)) == ([], [], 1)


@staged()
async def test_a_kept_inbox_is_parked_until_the_next_prompt(stage: Stage) -> None:
    slow = Waiting(stage)
    stage.model.replies = [calls(call("slow"))]
    stage.agent.followup("go")
    await slow.started.wait()
    stage.agent.followup("queued")
    stage.agent.cancel(keep_inbox=True)
    await stage.agent.when_idle()
    assert (len(stage.agent.inbox.next_turn), len(stage.turn_ends), stage.agent.status) == (1, 1, "idle")
    await stage.turn(OK, OK, prompt="later")
    assert stage.said == ["go", "queued", "later"]


@pytest.mark.parametrize("send", ["followup", "steer"])
@staged()
async def test_input_behind_a_cancel_under_way_gets_a_turn_of_its_own(stage: Stage, send: str) -> None:
    slow = Waiting(stage)
    stage.model.replies = [calls(call("slow")), OK]
    stage.agent.followup("go")
    await slow.started.wait()
    stage.agent.cancel()
    getattr(stage.agent, send)("again")
    await stage.agent.when_idle()
    assert [reason["kind"] for reason in stage.turn_ends] == ["aborted", "completed"]
    assert stage.said == ["go", "again"]
    queued = [e.data["target"] for e in stage.agent.session.events if e.type == "agent/inbox/spliced"]
    assert set(queued) == {"next-turn"}


@staged()
async def test_a_cancel_during_the_model_request_drops_the_reply(stage: Stage) -> None:
    asked, release = asyncio.Event(), asyncio.Event()

    class Slow:
        async def respond(self, request: Any, signal: Any) -> Any:
            asked.set()
            await release.wait()
            return calls(call("g"))

    stage.tool("g")
    agent = await stage.host.agents.create("b", Slow())
    agent.followup("go")
    await asked.wait()
    agent.cancel()
    release.set()
    await agent.when_idle()
    types = [event.type for event in agent.session.events]
    assert "assistant/message" not in types
    assert "tool/call" not in types
    assert agent.session.events[-1].data["reason"] == {"kind": "aborted", "reason": {"kind": "user"}}


@staged()
async def test_a_cancel_of_an_idle_agent_does_nothing(stage: Stage) -> None:
    stage.agent.cancel()
    assert stage.agent.session.events == []


@staged()
async def test_disposing_an_agent_cancels_its_turn_and_waits_for_it(stage: Stage) -> None:
    slow = Waiting(stage)
    stage.model.replies = [calls(call("slow"))]
    stage.agent.followup("go")
    await slow.started.wait()
    await stage.agent.dispose()
    assert stage.turn_ends == [{"kind": "aborted", "reason": {"kind": "disposed"}}]
    assert errors(stage) == [ABORTED]
    await stage.agent.dispose()


@staged()
async def test_closing_a_host_can_be_given_up_and_then_leaves_nothing_running(stage: Stage) -> None:
    started = asyncio.Event()

    async def forever(args: Any, exec: Any) -> str:
        started.set()
        await asyncio.Event().wait()
        return "never"

    stage.tool("forever", forever)
    stage.model.replies = [calls(call("forever"))]
    stage.agent.followup("go")
    await started.wait()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await stage.host.close()
    assert len(asyncio.all_tasks()) == 1
    assert stage.turn_ends == [{"kind": "aborted", "reason": {"kind": "disposed"}}]
