"""Defects of how several handlers of one start, update or end are told, and of which calls have updates and ends."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.host import Agent, Execution, ToolResult
from reference_bridge.host.decisions import Decision
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next


class _TellsAtOnce(Dispatch):
    """Enters the handlers of one event without waiting for each other; ``awaited`` says which are waited for."""

    event = ""

    def awaited(self, tasks: list[asyncio.Task[None]]) -> list[asyncio.Task[None]]:
        return tasks

    async def tell(self, agent: Agent | None, event: Event, signal: AbortSignal | None = None) -> None:
        if event["type"] != self.event:
            await super().tell(agent, event, signal)
            return

        async def one(subscription: Subscription) -> None:
            try:
                await subscription.call(event, agent, signal)
            except Exception as error:
                self.failed(subscription, event, error)

        tasks = [asyncio.create_task(one(each)) for each in self.subscriptions(agent, self.event)]
        self.__dict__.setdefault("_kept", []).extend(tasks)
        if tasks:
            await asyncio.wait(self.awaited(tasks))


@mutant()
class StartHandlersAtOnce(_TellsAtOnce):
    """Tells all handlers of a start at the same time."""

    event = "tool_execution_start"


@mutant()
class UpdateHandlersAtOnce(_TellsAtOnce):
    """Tells all handlers of an update at the same time."""

    event = "tool_execution_update"


@mutant()
class EndHandlersAtOnce(_TellsAtOnce):
    """Tells all handlers of an end at the same time."""

    event = "tool_execution_end"


class _WaitsForTheFirst(_TellsAtOnce):
    def awaited(self, tasks: list[asyncio.Task[None]]) -> list[asyncio.Task[None]]:
        return tasks[:1]


class _WaitsForTheLast(_TellsAtOnce):
    def awaited(self, tasks: list[asyncio.Task[None]]) -> list[asyncio.Task[None]]:
        return tasks[-1:]


@mutant()
class FirstStartHandlerAwaited(_WaitsForTheFirst):
    """Waits for the first handler of a start and for no further one."""

    event = "tool_execution_start"


@mutant()
class LastStartHandlerAwaited(_WaitsForTheLast):
    """Waits for the last handler of a start and for none before it."""

    event = "tool_execution_start"


@mutant()
class FirstUpdateHandlerAwaited(_WaitsForTheFirst):
    """Waits for the first handler of an update and for no further one."""

    event = "tool_execution_update"


@mutant()
class LastUpdateHandlerAwaited(_WaitsForTheLast):
    """Waits for the last handler of an update and for none before it."""

    event = "tool_execution_update"


@mutant()
class FirstEndHandlerAwaited(_WaitsForTheFirst):
    """Waits for the first handler of an end and for no further one."""

    event = "tool_execution_end"


@mutant()
class LastEndHandlerAwaited(_WaitsForTheLast):
    """Waits for the last handler of an end and for none before it."""

    event = "tool_execution_end"


@mutant()
class UpdatesEndWithTheId(ExecutionEvents):
    """Tells no update of a call whose id a call had that is over."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        if call.call_id not in self.__dict__.setdefault("_over", set()):
            super().update(call, partial, signal)

    async def settle(self, call: Call) -> None:
        await super().settle(call)
        self.__dict__.setdefault("_over", set()).add(call.call_id)


@mutant()
class UpdatesEndWithTheCancel(ExecutionEvents):
    """Tells nothing that a tool reports after the user has cancelled."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        if signal is None or not signal.aborted:
            super().update(call, partial, signal)


@mutant()
class NoEndForToolsTakenBack(Bridge):
    """Tells no end of a call whose tool was unregistered while it ran."""

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        call = self.calls.of(execution)
        if call.tool is not None and not any(entry.tool is call.tool for entry in self.registrations):
            call.ended = True
        return await super().after_body(execution, result, following)


@mutant()
class UpdatesOfAFailureNotAwaited(ToolRuns):
    """Does not wait for the update handlers of a tool that throws."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        try:
            return await super().execute(call, tool, execution)
        except Exception:
            call.updates.clear()
            raise


@mutant()
class UpdatesAfterAThrowTold(ExecutionEvents):
    """Tells what a tool reports after it has thrown."""

    async def settle(self, call: Call) -> None:
        await super().settle(call)
        call.settled = not isinstance(sys.exception(), Exception)
