"""Defects of bridges that have enough at some point: of letters, of calls, of failures, or of nothing at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Contents
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.values import as_object, private_copy, same_json
from reference_bridge.host import AbortSignal, Agent, Execution
from reference_bridge.host.decisions import Decision

# --- letters ----------------------------------------------------------------------------------------------------------


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return value[:10000] if isinstance(value, str) else value


@mutant()
class VeryLongReasonsCut(ToolCallGate):
    """Cuts the reason of a block after four thousand letters."""

    def reason_text(self, reason: Any) -> str:
        return super().reason_text(reason)[:4096]


@mutant()
class LongPatchesCut(ResultPatches):
    """Cuts the texts of a patch after ten thousand letters."""

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        return super().patch(subscription, call, event, _cut(answer))


@mutant()
class LongTextsCutForJudges(ResultPatches):
    """Shows tool_result handlers the first ten thousand letters of each text."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        event = super().event(call, outcome)
        return {**event, "content": _cut(event["content"])}


@mutant()
class LongTextsCutInEnds(ExecutionEvents):
    """Tells the first ten thousand letters of each text of a result at its end."""

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        return {**super().end_event(call, outcome), "result": _cut(super().end_event(call, outcome)["result"])}


@mutant()
class LongUpdatesCut(ExecutionEvents):
    """Tells the first ten thousand letters of each text of an update."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        super().update(call, _cut(partial), signal)


@mutant()
class EqualUpdatesToldOnce(ExecutionEvents):
    """Tells of no update that is equal to the one before it."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        last: dict[Call, Any] = self.__dict__.setdefault("_last", {})
        if call not in last or not same_json(last[call], partial):
            last[call] = private_copy(partial)
            super().update(call, partial, signal)


@mutant()
class OnlySixteenUpdates(ExecutionEvents):
    """Tells of the first sixteen updates of a call."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        if len(call.updates) < 16:
            super().update(call, partial, signal)


# --- nothing ----------------------------------------------------------------------------------------------------------


class _SparesSome(ResultPatches):
    def is_spared(self, content: Sequence[Any]) -> bool:
        raise NotImplementedError

    async def apply(
        self, call: Call, execution: Execution, outcome: Outcome, decision: Decision
    ) -> tuple[Outcome, Decision]:
        if self.is_spared(outcome.result["content"]):
            return outcome, decision
        return await super().apply(call, execution, outcome, decision)


@mutant()
class EmptyResultsUnpatched(_SparesSome):
    """Asks nobody about a result that has no content."""

    def is_spared(self, content: Sequence[Any]) -> bool:
        return not content


@mutant()
class EmptyTextsUnpatched(_SparesSome):
    """Asks nobody about a result that has nothing but empty texts."""

    def is_spared(self, content: Sequence[Any]) -> bool:
        return bool(content) and all(as_object(block).get("text") == "" for block in content)


# --- calls ------------------------------------------------------------------------------------------------------------


def _place_in_message(known: dict[object, list[Call]], call: Call) -> int:
    """How many calls of the same message were met before this one."""
    if call.logged is None:
        return 0
    met = known.setdefault((call.agent, call.logged.data["turn"], call.logged.data["step"]), [])
    if call not in met:
        met.append(call)
    return met.index(call)


class _Counts:
    def place(self, call: Call) -> int:
        return _place_in_message(self.__dict__.setdefault("_met", {}), call)


@mutant()
class FirstTenJudged(_Counts, ToolCallGate):
    """Asks about the first ten calls of a message only."""

    def is_asked(self, call: Call) -> bool:
        return super().is_asked(call) and self.place(call) < 10


@mutant()
class FirstTenPatched(_Counts, ResultPatches):
    """Asks about the results of the first ten calls of a message only."""

    def is_asked(self, call: Call) -> bool:
        return super().is_asked(call) and self.place(call) < 10


@mutant()
class FirstTenTold(_Counts, ExecutionEvents):
    """Tells of start and end of the first ten calls of a message only."""

    def start(self, call: Call) -> None:
        if self.place(call) < 10:
            super().start(call)
        else:
            call.ended = True


@mutant()
class FirstTenUpdate(_Counts, ExecutionEvents):
    """Tells of updates of the first ten calls of a message only."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        if self.place(call) < 10:
            super().update(call, partial, signal)


@mutant()
class BlocksGiveUp(ToolCallGate):
    """Lets a tool run that was blocked five times already, so that the model gets on."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        verdict = await super().ask(call, event, signal)
        counts: Counter[object] = self.__dict__.setdefault("_blocks", Counter())
        if verdict is not None:
            counts[call.agent, call.name] += 1
        return verdict if counts[call.agent, call.name] <= 5 else None


# --- failures ---------------------------------------------------------------------------------------------------------

PATIENCE = 5


@mutant()
class FailingHandlersDropped(Dispatch):
    """Tells a handler that failed five times nothing more."""

    def failed(self, subscription: Subscription, event: Event, error: Exception) -> None:
        super().failed(subscription, event, error)
        self._failures()[id(subscription.handler)] += 1

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        failures = self._failures()
        return [each for each in super().subscriptions(agent, event) if failures[id(each.handler)] < PATIENCE]

    def _failures(self) -> Counter[int]:
        counts: Counter[int] = self.__dict__.setdefault("_counts", Counter())
        return counts


@mutant()
class UpdatesEndWithAThrow(Dispatch):
    """Tells a handler that threw about an update of a call of no further update of it."""

    async def tell(self, agent: Agent | None, event: Event, signal: AbortSignal | None = None) -> None:
        threw: set[object] = self.__dict__.setdefault("_threw", set())
        for subscription in self.subscriptions(agent, event["type"]):
            key = (id(subscription.handler), event["toolCallId"]) if "partialResult" in event else None
            if key is not None and key in threw:
                continue
            try:
                await subscription.call(event, agent, signal)
            except Exception as error:
                threw.add(key)
                self.failed(subscription, event, error)


@mutant()
class FailingGatesDropped(ToolCallGate):
    """Asks a gate that threw five times no more, and lets the calls run."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        counts: Counter[int] = self.__dict__.setdefault("_counts", Counter())
        if counts[id(subscription.handler)] >= PATIENCE:
            return None
        try:
            answer = await subscription.call(event, call.agent, signal)
        except Exception as error:
            counts[id(subscription.handler)] += 1
            return self.thrown(error)
        return self.read(answer)


# --- handlers ---------------------------------------------------------------------------------------------------------


@mutant()
class ThirdHandlerSeesTheFirst(ResultPatches):
    """Shows a third tool_result handler what the first one left, and not what the second made of it."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        answered = await super().ask(subscriptions[:1], call, event, execution)
        first = dict(event)
        answered = await super().ask(subscriptions[1:2], call, event, execution) or answered
        second = dict(event)
        for subscription in subscriptions[2:]:
            event.update(first)
            if await super().ask([subscription], call, event, execution):
                second, answered = dict(event), True
        event.update(second)
        return answered


@mutant()
class TextsCutForTheHost(Contents):
    """Hands the host the first two hundred thousand letters of a text."""

    def blocks(self, content: Any) -> list[Any]:
        blocks = super().blocks(content)
        return [
            {**block, "text": block["text"][:200_000]} if isinstance(as_object(block).get("text"), str) else block
            for block in blocks
        ]
