"""Defects of bridges that read an event's own fields at the wrong moment, or let handlers rename a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.values import UNDEFINED
from reference_bridge.host import Execution
from reference_bridge.host.decisions import Decision
from reference_bridge.host.signals import AbortSignal

# --- tool_call --------------------------------------------------------------------------------------------------------


@mutant()
class AssignedNamesRenameTheCall(ToolCallGate):
    """Goes on with the name and the id that handlers assigned to their event."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        verdict = await super().ask(call, event, signal)
        call.name, call.call_id = event["toolName"], event["toolCallId"]
        return verdict


# --- tool_result ------------------------------------------------------------------------------------------------------


class _Keeps(ResultPatches):
    """Takes back, after each handler, what it assigned to these fields."""

    kept: Sequence[str] = ()

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        shown = self.__dict__.setdefault("_shown", {}).setdefault(call, {})
        for name in self.kept:
            event[name] = shown.get(name, event[name])
        answered = super().patch(subscription, call, event, answer)
        shown.update({name: event[name] for name in self.kept})
        return answered

    def event(self, call: Call, outcome: Outcome) -> Event:
        event = super().event(call, outcome)
        self.__dict__.setdefault("_shown", {})[call] = {name: event[name] for name in self.kept}
        return event


@mutant()
class AssignedResultsAreLost(_Keeps):
    """Takes the content of a result from what handlers answer alone."""

    kept = ("content",)


@mutant()
class AssignedErrorFlagsAreLost(_Keeps):
    """Takes whether a result is an error from what handlers answer alone."""

    kept = ("isError",)


@mutant()
class AssignedAfterThePatchIsLost(ResultPatches):
    """Takes the fields of a result as they are when the last patch is answered."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        patched: dict[Call, Event] = self.__dict__.setdefault("_patched", {})
        answered = await super().ask(subscriptions, call, event, execution)
        event.update(patched.pop(call, {}))
        return answered

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        answered = super().patch(subscription, call, event, answer)
        if answered:
            self.__dict__.setdefault("_patched", {})[call] = dict(event)
        return answered


@mutant()
class AssignedResultsCountAlone(ResultPatches):
    """Takes what handlers assigned to the fields of a result, whether anybody answered or not."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        await super().ask(subscriptions, call, event, execution)
        return True


@mutant()
class EmptyErrorsOfAHandlerKeepTheText(ResultPatches):
    """Leaves a result that a handler empties and makes an error the text it had."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        kept = content if content or not fails else outcome.result.get("content", UNDEFINED)
        return await super().decide(call, outcome, decision, kept, fails)
