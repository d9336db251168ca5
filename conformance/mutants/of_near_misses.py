"""Defects of ids and names that are nearly another's, and of values and handlers that are not quite what is usual."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.tools import ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object, private_copy, same_json
from reference_bridge.host import Agent, Execution, Json
from reference_bridge.host.signals import AbortSignal

# --- ids and names ----------------------------------------------------------------------------------------------------


class _EndsById(ExecutionEvents):
    def key(self, id: str) -> Hashable:
        raise NotImplementedError

    async def end(self, call: Call, outcome: Outcome) -> None:
        if call.logged is not None:
            place = (call.agent, call.logged.data["turn"], call.logged.data["step"], self.key(call.call_id))
            first: Call = self.__dict__.setdefault("first", {}).setdefault(place, call)
            call.ended = call.ended or first.call_id != call.call_id
        await super().end(call, outcome)


@mutant()
class IdsKnownByTheirNumber(_EndsById):
    """Takes two ids of a message that stand for the same number for one, and tells one end."""

    def key(self, id: str) -> Hashable:
        try:
            return float(id)
        except ValueError:
            return id


@mutant()
class IdsKnownInAnyCase(_EndsById):
    """Takes two ids of a message that differ in their case for one, and tells one end."""

    def key(self, id: str) -> Hashable:
        return id.lower()


@mutant()
class IdsThatObjectsHaveUnheard(ExecutionEvents):
    """Takes a call for one that has ended whose id is the name of what every object has."""

    def start(self, call: Call) -> None:
        if call.call_id in ("__proto__", "constructor", "toString"):
            call.ended = True
        else:
            super().start(call)


@mutant()
class NativesKnownInAnyCase(ToolCallGate):
    """Takes a native tool for a package's that has its name in another case, and passes over changed arguments."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        if call.tool is not None:
            self.__dict__.setdefault("names", set()).add(call.name.lower())
        return await super().judge(call, execution)

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        return None if call.name.lower() in self.__dict__.get("names", ()) else super().refusal(call, logged)


# --- values -----------------------------------------------------------------------------------------------------------


@mutant()
class AssignedInputRunsOnceChanged(ToolCallGate):
    """Takes the object that a handler put in the place of the arguments for theirs once another handler changed it."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        found, before = event["input"], private_copy(event["input"])
        verdict = await super().ask_one(subscription, call, event, signal)
        if found is event["input"] and not same_json(found, before):
            call.input = found
        return verdict


@mutant()
class ResultsWithoutContentDoNotVote(ToolRuns):
    """Counts no wish to stop of a result that has no content."""

    def asks_to_stop(self, answer: Any) -> bool:
        return super().asks_to_stop(answer) and bool(as_object(answer).get("content"))


@mutant()
class StartsOfNoObjectAreEmpty(ExecutionEvents):
    """Tells the start of a call whose arguments are no object with an empty one."""

    def start_event(self, call: Call) -> Event:
        event = super().start_event(call)
        return event if isinstance(event["args"], dict) else {**event, "args": {}}


@mutant()
class DetailsPatchUndoesTheText(ResultPatches):
    """Goes back to the content the tool gave where a handler gives details alone."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        event = super().event(call, outcome)
        self.__dict__.setdefault("given", {})[call] = private_copy(event["content"])
        return event

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        if answer.get("details", UNDEFINED) is not UNDEFINED and "content" not in answer:
            event["content"] = private_copy(self.__dict__["given"][call])
        return super().patch(subscription, call, event, answer)


# --- handlers that are no function ------------------------------------------------------------------------------------


@mutant()
class JudgesThatAreNoFunctionPass(ToolCallGate):
    """Passes over a subscription to tool_call that is no function."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        return await super().ask_one(subscription, call, event, signal) if callable(subscription.handler) else None


@mutant()
class WhatIsNoFunctionSilencesTheRest(Dispatch):
    """Tells nobody of an event after a subscription that is no function."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        found = super().subscriptions(agent, event)
        if event == "tool_call":
            return found
        ends = next((at for at, each in enumerate(found) if not callable(each.handler)), len(found))
        return found[: ends + 1]
