"""`tool_execution_start`, `tool_execution_update` and `tool_execution_end`: one start and one end a call, always."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Event
from reference_bridge.bridge.values import private_copy
from reference_bridge.host.loop import Agent
from reference_bridge.host.signals import AbortSignal


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call came to, in Pi's form: `result` has `content`, `details` and what else the tool answered with."""

    result: dict[str, Any]
    is_error: bool


class ExecutionEvents:
    """Tells packages that a call began, how it goes, and that it ended.

    Start and end hang on the two durable entries that every call of the loop has; the end is told earlier, where the
    pipeline still waits for it, whenever the call gets that far.
    """

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch
        self._tasks: dict[Agent | None, set[asyncio.Task[None]]] = {}

    def start(self, call: Call) -> None:
        """Tell of a call that was just logged. The log waits for nobody, so the handlers run beside it."""
        call.started = self._beside(call.agent, self._dispatch.tell(call.agent, self.start_event(call)))

    async def started(self, call: Call) -> None:
        """Wait until every start handler of the call is done."""
        if call.started is not None and not call.started.done():
            await asyncio.wait({call.started})

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        """Tell of a partial result, after the ones before it. What comes after the tool has answered is dropped."""
        if call.settled:
            return
        event = self.update_event(call, partial)
        before = call.updates[-1] if call.updates else None

        async def in_turn() -> None:
            if before is not None:
                await asyncio.wait({before})
            await self._dispatch.tell(call.agent, event, signal)

        call.updates.append(self._beside(call.agent, in_turn()))

    async def settle(self, call: Call) -> None:
        """Take no further updates and wait for the handlers of those there were."""
        call.settled = True
        if call.updates:
            await asyncio.wait({call.updates[-1]})

    async def end(self, call: Call, outcome: Outcome) -> None:
        """Tell how the call ended and wait for the handlers; only the first end of a call is told."""
        if call.logged is None or call.ended:
            return
        call.ended = True
        await self.started(call)
        await self._dispatch.tell(call.agent, self.end_event(call, outcome))

    def end_beside(self, call: Call, outcome: Outcome) -> None:
        """Tell it without being waited for: the pipeline has already let go of this call."""
        if not call.ended:
            self._beside(call.agent, self.end(call, outcome))

    async def drain(self, agent: Agent | None) -> None:
        """Wait until nothing of this agent's calls is still being told."""
        while tasks := self._tasks.get(agent):
            await asyncio.wait(set(tasks))

    async def cancel(self) -> None:
        """Give up what is still being told."""
        while tasks := [task for each in self._tasks.values() for task in each]:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def start_event(self, call: Call) -> Event:
        """What a start handler gets: exactly what the log says."""
        return {
            "type": "tool_execution_start",
            "toolCallId": call.call_id,
            "toolName": call.name,
            "args": call.logged_arguments,
        }

    def update_event(self, call: Call, partial: Any) -> Event:
        """What an update handler gets; the arguments are those of the start."""
        return {
            "type": "tool_execution_update",
            "toolCallId": call.call_id,
            "toolName": call.name,
            "args": call.logged_arguments,
            "partialResult": partial,
        }

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        """What an end handler gets; a copy, since the result itself is on its way to the log."""
        return {
            "type": "tool_execution_end",
            "toolCallId": call.call_id,
            "toolName": call.name,
            "result": private_copy(outcome.result),
            "isError": outcome.is_error,
        }

    def _beside(self, agent: Agent | None, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        tasks = self._tasks.setdefault(agent, set())
        tasks.add(task)

        def forget(ended: asyncio.Task[None]) -> None:
            tasks.discard(ended)
            if not tasks and self._tasks.get(agent) is tasks:
                del self._tasks[agent]

        task.add_done_callback(forget)
        return task
