"""What the suite makes of implementations that ask it for an answer and do not wait for it."""

from __future__ import annotations

import asyncio

from conformance.drivers.protocol import Message, Outcome, PackageHandle
from conformance.peer import StagePeer
from conformance.plan import PackagePlan, Plan
from conformance.scripts import AnyAct, Behaviour, Hold


async def nothing(act: AnyAct, invocation: str, message: Message) -> Outcome | None:
    return None


def test_an_answer_that_nobody_waits_for_any_more_is_no_fault_of_the_suite() -> None:
    async def scenario() -> StagePeer:
        guard = PackagePlan("guard", handling={"tool_call": [Behaviour(acts=[Hold(kinds=["tool.enter"])])]})
        peer = StagePeer(Plan(packages={"guard": guard}), nothing, window=60)
        asked = PackageHandle("guard", "guard@root", "tool_call", "tool_call", {"toolName": "read_note"}, "1")
        answer = peer.answer(asked, 1)
        answer.send(None)
        answer.close()  # as an implementation does that lets go of the coroutine it began
        return peer

    peer = asyncio.run(scenario())
    assert peer.fault is None
    assert peer.watch.owed == 0
