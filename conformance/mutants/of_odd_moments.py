"""Defects that show where packages are slow, pictures alike, updates shorter, or the host has decided before."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.exec import Exec, Options
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.host import AbortController, AbortSignal, Agent
from reference_bridge.host.decisions import Decision
from reference_bridge.host.subprocess import Child

PATIENCE: Final = 0.8
"""Seconds that these defects wait for a handler."""


@mutant()
class SlowGatesGivenUp(ToolCallGate):
    """Lets a call run whose handler needs more than a second to judge it."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        asking = asyncio.ensure_future(super().ask_one(subscription, call, event, signal))
        done, _ = await asyncio.wait({asking}, timeout=PATIENCE)
        return asking.result() if done else None


class _Impatient(Subscription):
    async def call(self, event: Event, agent: Agent | None, signal: AbortSignal | None) -> Any:
        calling = asyncio.ensure_future(Subscription.call(self, event, agent, signal))
        done, _ = await asyncio.wait({calling}, timeout=PATIENCE)
        return calling.result() if done else None


class _GivesUp(Dispatch):
    events: tuple[str, ...]

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        found = super().subscriptions(agent, event)
        return [_Impatient(each.instance, each.handler) for each in found] if event in self.events else found


@mutant()
class SlowResultsGivenUp(_GivesUp):
    """Takes no patch that a handler needs more than a second for."""

    events = ("tool_result",)


@mutant()
class SlowObserversGivenUp(_GivesUp):
    """Waits no more than a second for a handler of start, update or end."""

    events = ("tool_execution_start", "tool_execution_update", "tool_execution_end")


@mutant()
class UpdatesLaidOverEachOther(ExecutionEvents):
    """Lays each update over the earlier ones of its call."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        whole: dict[Call, dict[str, Any]] = self.__dict__.setdefault("_whole", {})
        if isinstance(partial, dict):
            partial = whole[call] = {**whole.get(call, {}), **partial}
        super().update(call, partial, signal)


@mutant()
class PicturesKnownByTheirBeginning(Contents):
    """Takes a picture for the one before it that began alike."""

    async def _store(self, picture: Block, pictures: Pictures) -> Block:
        stored: dict[str, tuple[Block, Block]] = self.__dict__.setdefault("_stored", {})
        beginning = str(picture.get("data"))[:40]
        if beginning not in stored:
            stored[beginning] = (dict(picture), await super()._store(picture, pictures))
        pictures.known.append(stored[beginning])
        return stored[beginning][1]


@mutant()
class ValueKeptBesideAPatch(ResultPatches):
    """Leaves in the decision the value that the host put in place of a result which a package patches."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        left, decided = await super().decide(call, outcome, decision, content, fails)
        if "value" in decision and decided.get("kind") == "accept":
            return left, {**decided, "value": decision["value"]}
        return left, decided


@mutant()
class PatchesUndoTheHostsRefusal(ResultPatches):
    """Makes a success of a result that the host refused, where a package gives it another text."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        left, decided = await super().decide(call, outcome, decision, content, fails)
        if decision.get("kind") == "block" and decided is not decision:
            return Outcome(left.result, False), {"kind": "accept", "content": decided["feedback"]}
        return left, decided


# --- programs ---------------------------------------------------------------------------------------------------------


@mutant()
class ExecOneAtATime(Exec):
    """Starts a program when the one before it has ended."""

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        async with self.__dict__.setdefault("_lock", asyncio.Lock()):
            return await super().run(agent, command, args, options)


@mutant()
class ExecLastChildHearsTheSignal(Exec):
    """Puts the handler of a child in the one place that a signal has for it, where another child's was."""

    async def watched(self, child: Child, asked: Options, stop: AbortController) -> dict[str, Any]:
        place: dict[AbortSignal, AbortController] = self.__dict__.setdefault("_place", {})
        if asked.signal is None or asked.signal.aborted:
            return await super().watched(child, asked, stop)
        own = AbortController()
        if asked.signal not in place:
            given = asked.signal
            given.add_listener(lambda: place[given].abort())
        place[asked.signal] = own
        return await super().watched(child, Options(asked.cwd, asked.timeout, own.signal), stop)
