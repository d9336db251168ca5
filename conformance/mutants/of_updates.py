"""Defects of tool_execution_update: updates that are lost, late, invented or told to some."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.mutants.of_starts import ThrowingObserver
from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Execution
from reference_bridge.host.decisions import Decision
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next


@mutant()
class UpdatesDropped(ExecutionEvents):
    """Tells nobody of updates."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        return


class _UpdateShows(ExecutionEvents):
    def shown(self, event: Event) -> dict[str, Any]:
        raise NotImplementedError

    def update_event(self, call: Call, partial: Any) -> Event:
        event = super().update_event(call, partial)
        return {**event, **self.shown(event)}


@mutant()
class UpdateWithoutDetails(_UpdateShows):
    """Hands on only the content of a partial result."""

    def shown(self, event: Event) -> dict[str, Any]:
        return {"partialResult": {"content": as_object(event["partialResult"]).get("content")}}


@mutant()
class UpdateWithoutArguments(_UpdateShows):
    """Gives an update no arguments."""

    def shown(self, event: Event) -> dict[str, Any]:
        return {"args": {}}


@mutant()
class UpdatesInReverse(ExecutionEvents):
    """Keeps updates back and tells them last first."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        self._kept = [(call, partial), *getattr(self, "_kept", [])]

    async def settle(self, call: Call) -> None:
        for kept, partial in getattr(self, "_kept", []):
            super().update(kept, partial)
        self._kept = []
        await super().settle(call)


@mutant()
class UpdateHandlersNotAwaited(ExecutionEvents):
    """Does not wait for update handlers."""

    async def settle(self, call: Call) -> None:
        call.settled = True


@mutant()
class FirstUpdateAwaited(ExecutionEvents):
    """Waits for the handlers of a call's first update and of no further one."""

    async def settle(self, call: Call) -> None:
        call.settled = True
        if call.updates:
            await asyncio.wait({call.updates[0]})


@mutant()
class LastUpdateAwaited(ExecutionEvents):
    """Tells of updates beside each other, and waits for the handlers of the last one alone."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        if not call.settled:
            event = self.update_event(call, partial)
            call.updates.append(self._beside(call.agent, self._dispatch.tell(call.agent, event, signal)))


@mutant()
class LateUpdatesDelivered(ExecutionEvents):
    """Tells of updates that come after the tool has answered."""

    async def settle(self, call: Call) -> None:
        if call.updates:
            await asyncio.wait({call.updates[-1]})


@mutant()
class UpdatesInventedForNatives(Bridge):
    """Makes up an update for a native tool's call."""

    async def around_body(self, execution: Execution, following: Next) -> Any:
        result = await super().around_body(execution, following)
        call = self.calls.of(execution)
        if call.known and call.tool is None:
            self.events.update(call, {"content": []})
        return result


@mutant()
class UpdatesInventedForBlockedCalls(Bridge):
    """Makes up an update for every call that is judged."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        self.events.update(self.calls.of(execution), {"content": []})
        return decision


@mutant()
class ThrowingUpdateHandlerEndsTheOthers(ThrowingObserver):
    """Tells later handlers nothing after an update handler threw."""

    event = "tool_execution_update"
    stops_all = True


@mutant()
class ThrowingUpdateHandlerUnreported(ThrowingObserver):
    """Says nothing of what an update handler throws."""

    event = "tool_execution_update"
    reports = False


@mutant()
class ThrowingUpdateHandlerFailsTheCall(Bridge):
    """Fails a call whose update handler threw."""

    class dispatch_type(ThrowingObserver):
        event = "tool_execution_update"
        fails = True

    class events_type(ExecutionEvents):
        async def settle(self, call: Call) -> None:
            await super().settle(call)
            if any(task.done() and task.exception() for task in call.updates):
                raise RuntimeError("an update handler failed")


@mutant()
class UpdatesForTheOwnerOnly(Bridge):
    """Tells updates to the package that owns the tool and to no other."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        subscriptions = self.dispatch.subscriptions

        def owners(agent: Any, event: str) -> list[Subscription]:
            found = subscriptions(agent, event)
            own = {entry.tool.instance for entry in self.registrations}
            return [each for each in found if each.instance in own] if event == "tool_execution_update" else found

        self.dispatch.subscriptions = owners  # type: ignore[method-assign]


@mutant()
class OddPartialFailsTheCall(ToolRuns):
    """Fails a call whose tool hands over a partial result that is no object."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        told = self._events.update

        def strict(call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
            if not isinstance(partial, dict):
                call.invalid = TypeError("the partial result is no object")
            told(call, partial, signal)

        self._events.update = strict  # type: ignore[method-assign]
        try:
            answer = await super().execute(call, tool, execution)
        finally:
            self._events.update = told  # type: ignore[method-assign]
        if call.invalid is not None:
            raise call.invalid
        return answer
