"""Asking a person: the one way a decision can wait for somebody outside."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args
from uuid import uuid4

from reference_bridge.host.json_values import UNDEFINED, Json, js_string, member
from reference_bridge.host.results import Execution
from reference_bridge.host.session import Session
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Events

Outcome: TypeAlias = Literal["allowed-once", "rejected", "cancelled", "unavailable"]
Policy: TypeAlias = Literal["ask", "never"]

_OUTCOMES: Final = frozenset(get_args(Outcome))


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What the listeners of `approval/request` are asked."""

    execution: Execution
    tool_name: str
    call_id: str
    reason: Json
    """`UNDEFINED` where the asker gave none."""
    signal: AbortSignal


class ApprovalService:
    """Puts requests to the listeners of `approval/request`; whoever answers with an outcome decides.

    Policy `never` rejects everything before anybody is asked.
    """

    def __init__(self, policy: Policy = "ask") -> None:
        self.policy: Policy = policy

    async def request(self, request: ApprovalRequest, session: Session, events: Events) -> Outcome:
        """Ask, and log both question and outcome. No answerer, a throwing one, any other answer: `unavailable`.

        Raises `RuntimeError` outside of a turn: the log keeps no question that no turn encloses.
        """
        if not session.has_open_turn:
            raise RuntimeError("approval.request() outside an open turn: ask from inside the turn that needs to know")
        id = str(uuid4())
        asked: dict[str, Json] = {"id": id, "toolName": request.tool_name, "callId": request.call_id}
        if request.reason is not UNDEFINED:
            asked["reason"] = request.reason
        session.append("approval/asked", asked)
        outcome = await self._decide(request, events)
        session.append("approval/decided", {"id": id, "outcome": outcome})
        return outcome

    async def _decide(self, request: ApprovalRequest, events: Events) -> Outcome:
        if request.signal.aborted:
            return "cancelled"
        if self.policy == "never":
            return "rejected"
        # The one place where nobody is waited for: a person may never answer, so an abort answers for them.
        answer = asyncio.create_task(self._ask(request, events))
        abort = asyncio.create_task(request.signal.wait())
        try:
            await asyncio.wait({answer, abort}, return_when=asyncio.FIRST_COMPLETED)
            return answer.result() if answer.done() else "cancelled"
        finally:
            abort.cancel()
            answer.cancel()
            await asyncio.wait({answer, abort})

    async def _ask(self, request: ApprovalRequest, events: Events) -> Outcome:
        try:
            answer = await events.waterfall("approval/request", request.execution.scope, request, innermost=_nobody)
        except Exception:
            return "unavailable"
        return answer if isinstance(answer, str) and answer in _OUTCOMES else "unavailable"  # type: ignore[return-value]


async def _nobody() -> Outcome:
    return "unavailable"


class AskResolution:
    """Turns an `ask` decision into an allow or a deny."""

    def __init__(self, service: ApprovalService | None, events: Events) -> None:
        self._service = service
        self._events = events

    async def __call__(self, execution: Execution, ask: Json) -> tuple[Json, bool]:
        """The decision, and whether it is a denial because the approval was cancelled."""
        reason, tool = member(ask, "reason"), f'tool "{js_string(execution.name)}"'
        if self._service is None:
            unasked = reason is UNDEFINED or reason is None
            return _denied(f"{tool} requires approval (not yet supported)" if unasked else reason), False
        if execution.agent is None:
            return _denied(f"{tool} requires approval, but the call has no agent to route it through"), False
        request = ApprovalRequest(execution, execution.name, execution.call_id, reason, execution.signal)
        outcome = await self._service.request(request, execution.agent.session, self._events)
        if outcome == "allowed-once":
            return {"kind": "allow"}, False
        denials = {
            "rejected": f"the user rejected {tool}",
            "cancelled": f"approval for {tool} was cancelled",
            "unavailable": f"{tool} requires approval, but no approval channel is available",
        }
        return _denied(denials[outcome]), outcome == "cancelled"


def _denied(reason: Json) -> Json:
    return {"kind": "deny", "reason": reason}
