"""Defects of bridges that keep one thing for all agents at work, or catch what handlers throw only after a wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.context import Context
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Agent, Execution
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import is_awaitable, settle

# --- one thing for all agents -----------------------------------------------------------------------------------------


@mutant()
class OneVerdictAtATime(ToolCallGate):
    """Keeps the verdict about a call where the next agent's call overwrites it."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        self._verdict: Verdict | None = None
        verdict = await super().judge(call, execution)
        self._verdict = verdict or self._verdict
        return self._verdict


@mutant()
class OnePatchAtATime(ResultPatches):
    """Keeps the result that is being patched where the next agent's result overwrites it."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        self._event = event
        return await super().ask(subscriptions, call, event, execution)

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        return super().patch(subscription, call, self._event, answer)


# --- handlers that never wait -----------------------------------------------------------------------------------------


class _PlainThrowsEscape(Dispatch):
    event = ""

    async def tell(self, agent: Agent | None, event: Event, signal: AbortSignal | None = None) -> None:
        if event["type"] != self.event:
            await super().tell(agent, event, signal)
            return
        for subscription in self.subscriptions(agent, self.event):
            pending = subscription.handler(event, Context(agent, signal))
            try:
                await settle(pending)
            except Exception as error:
                self.failed(subscription, event, error)


@mutant()
class PlainThrowsOfStartsEscape(_PlainThrowsEscape):
    """Tells nobody after a start handler that throws without waiting."""

    event = "tool_execution_start"


@mutant()
class PlainThrowsOfUpdatesEscape(_PlainThrowsEscape):
    """Tells nobody after an update handler that throws without waiting."""

    event = "tool_execution_update"


@mutant()
class PlainThrowsOfEndsEscape(_PlainThrowsEscape):
    """Lets what an end handler throws without waiting end the call."""

    event = "tool_execution_end"


class _AsksByHand(ResultPatches):
    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        answered = False
        for subscription in subscriptions:
            pending = subscription.handler(event, Context(call.agent, execution.signal))
            try:
                answer = self.heard(pending, await settle(pending))
            except Exception as error:
                self._dispatch.failed(subscription, event, error)
            else:
                answered = self.patch(subscription, call, event, as_object(answer)) or answered
        return answered

    def heard(self, pending: Any, answer: Any) -> Any:
        return answer


@mutant()
class PlainThrowsOfResultsEscape(_AsksByHand):
    """Lets what a tool_result handler throws without waiting end the call."""


@mutant()
class PlainPatchesUnheard(_AsksByHand):
    """Takes only the patches of tool_result handlers that have waited."""

    def heard(self, pending: Any, answer: Any) -> Any:
        return answer if is_awaitable(pending) else None
