"""What becomes of an `ask`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reference_bridge.host import ApprovalService, ask
from tests.fast.small_host import Stage, call, calls, staged

UNAVAILABLE = 'Error: tool "g" requires approval, but no approval channel is available'


def asking(stage: Stage, answer: Any = None) -> None:
    def answerer(request: Any, next: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    stage.tool("g")
    stage.host.on("tools/pre-execute", lambda exec, next: ask("why"))
    if answer is not None:
        stage.host.on("approval/request", answerer)


@pytest.mark.parametrize(
    ("answer", "outcome", "text"),
    [
        (None, "unavailable", UNAVAILABLE),
        ("allowed-once", "allowed-once", "ran"),
        ("rejected", "rejected", 'Error: the user rejected tool "g"'),
        ("cancelled", "cancelled", 'Error: approval for tool "g" was cancelled'),
        ("unavailable", "unavailable", UNAVAILABLE),
        ("yes", "unavailable", UNAVAILABLE),
        (True, "unavailable", UNAVAILABLE),
        ([], "unavailable", UNAVAILABLE),
        (RuntimeError("x"), "unavailable", UNAVAILABLE),
    ],
)
def test_the_outcome_decides_and_is_logged(answer: Any, outcome: str, text: str) -> None:
    @staged(approval=ApprovalService())
    async def run(stage: Stage) -> None:
        stage.observe()
        asking(stage, answer)
        result = await stage.one("g")
        assert (result.text, result.code) == (text, None)
        logged = [event for event in stage.agent.session.events if event.type.startswith(("approval/", "tool/"))]
        assert [event.type for event in logged] == ["tool/call", "approval/asked", "approval/decided", "tool/result"]
        asked, decided = logged[1].data, logged[2].data
        assert asked == {"id": asked["id"], "toolName": "g", "callId": "c1", "reason": "why"}
        assert decided == {"id": asked["id"], "outcome": outcome}
        passed = "pre guard exec" if outcome == "allowed-once" else "pre"
        assert stage.stages("c1") == f"call {passed} post emit result"

    run()


@staged(approval=ApprovalService("never"))
async def test_policy_never_rejects_before_anybody_is_asked(stage: Stage) -> None:
    asking(stage, AssertionError("asked"))
    assert (await stage.one("g")).text == 'Error: the user rejected tool "g"'


@staged(approval=ApprovalService())
async def test_a_guard_may_still_deny_what_was_approved(stage: Stage) -> None:
    asking(stage, "allowed-once")
    stage.host.tools.guard(lambda exec: "for good")
    assert (await stage.one("g")).text == "Error: for good"


@staged(approval=ApprovalService())
async def test_a_call_without_an_agent_cannot_be_approved(stage: Stage) -> None:
    asking(stage, "allowed-once")
    result = await stage.host.tools.execute("x", "g", {})
    assert result.content[0]["text"] == (
        'Error: tool "g" requires approval, but the call has no agent to route it through'
    )


@staged(approval=ApprovalService())
async def test_nothing_is_asked_outside_of_a_turn(stage: Stage) -> None:
    asking(stage, "allowed-once")
    result = await stage.host.tools.execute("x", "g", {}, agent=stage.agent)
    assert result.content[0]["text"].startswith("Error: approval.request() outside an open turn")
    assert stage.agent.session.events == []


@staged()
async def test_without_a_service_the_asks_own_reason_denies(stage: Stage) -> None:
    asking(stage)
    assert (await stage.one("g")).text == "Error: why"


@staged(approval=ApprovalService())
async def test_a_cancel_answers_for_a_person_who_does_not(stage: Stage) -> None:
    asked = asyncio.Event()

    async def never(request: Any, next: Any) -> Any:
        asked.set()
        await asyncio.Event().wait()

    stage.observe()
    stage.tool("g")
    stage.host.on("tools/pre-execute", lambda exec, next: ask())
    stage.host.on("approval/request", never)
    stage.model.replies = [calls(call("g"))]
    stage.agent.followup("go")
    await asked.wait()
    stage.agent.cancel()
    await stage.agent.when_idle()
    assert stage.results[0].code == "ABORTED_BEFORE_DISPATCH"
    assert stage.stages("c1") == "call pre post emit result"
    assert stage.turn_ends == [{"kind": "aborted", "reason": {"kind": "user"}}]
