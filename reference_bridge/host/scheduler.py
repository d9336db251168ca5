"""Runs the calls of one batch: exclusive ones alone, neighbours that declare themselves safe together.

Only bodies overlap. Calls are logged and asked about one after the other in model order, and their results are
committed in model order too, whichever body ends first. Parallel calls share a pool; an exclusive call is a barrier.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from reference_bridge.host.json_values import UNDEFINED, Json, parse_json
from reference_bridge.host.messages import Message, tool_result_message
from reference_bridge.host.model import ToolCall
from reference_bridge.host.pipeline import Pipeline, Step
from reference_bridge.host.results import CallRequest, ToolResult, aborted_result
from reference_bridge.host.session import Session
from reference_bridge.host.signals import AbortSignal


def parse_arguments(text: str) -> Json:
    """What the model's argument text stands for: its JSON value, `{}` if empty, the text itself if not JSON."""
    if not text:
        return {}
    try:
        return parse_json(text)
    except ValueError:
        return text


class BatchLog:
    """Writes the calls and results of one step."""

    def __init__(self, session: Session, turn: int, step: int) -> None:
        self._session = session
        self._position = {"turn": turn, "step": step}

    def call(self, call: ToolCall) -> int:
        """Log the start of `call`, arguments as the model wrote them; gives the event's `seq`."""
        data = {**self._position, "callId": call.id, "name": call.name, "arguments": call.arguments_text}
        return self._session.append("tool/call", data).seq

    def result(self, call: ToolCall, result: ToolResult, call_seq: int) -> None:
        """Log the end of `call`: its content, and the identity of its error if it has one. Never its value."""
        message = tool_result_message(call.id, result.content, result.is_error)
        data: dict[str, Json] = {**self._position, "message": message}
        if result.error is not None and result.error.info is not None:
            data["error"] = result.error.info
        if result.meta is not UNDEFINED:
            data["meta"] = result.meta
        self._session.append("tool/result", data, surface_op="append", source_event_seqs=[call_seq])

    def skipped(self, call: ToolCall) -> None:
        """Log a call that a cancel kept from starting: a pair for the model's sake, with no policy and no emit."""
        self.result(call, aborted_result(started=False).finalized(), self.call(call))


class Batch:
    """The calls of one reply, on their way."""

    def __init__(
        self,
        pipeline: Pipeline,
        log: BatchLog,
        calls: Sequence[tuple[ToolCall, CallRequest]],
        signal: AbortSignal,
        pool_size: int,
        accept_context: Callable[[Message], None],
    ) -> None:
        self._pipeline = pipeline
        self._log = log
        self._calls = calls
        self._signal = signal
        self._pool_size = pool_size
        self._accept_context = accept_context
        self._concluded = False

    async def run(self) -> bool:
        """Run all calls; answers whether a successful one asked to conclude the turn."""
        at = 0
        while at < len(self._calls):
            parallel = self._pipeline.is_parallel(self._calls[at][1])
            at += await self._run_group(self._calls[at:] if parallel else self._calls[at : at + 1])
            if self._signal.aborted:
                for call, _ in self._calls[at:]:
                    self._log.skipped(call)
                break
        return self._concluded

    async def _run_group(self, group: Sequence[tuple[ToolCall, CallRequest]]) -> int:
        """Run as many calls of `group` as may overlap; answers how many were started."""
        started, committed = 0, 0
        call_seqs: list[int] = []
        settled: dict[int, Step] = {}
        bodies: dict[int, asyncio.Task[None]] = {}
        ended: asyncio.Queue[int] = asyncio.Queue()

        async def run_body(index: int, step: Step) -> None:
            try:
                outcome = await self._pipeline.dispatch(step.execution)
                # Even an instant body settles only after the next call had its turn to start.
                await asyncio.sleep(0)
                settled[index] = outcome
            finally:
                ended.put_nowait(index)

        async def start(index: int) -> None:
            call, request = group[index]
            call_seqs.append(self._log.call(call))
            step = await self._pipeline.prepare(request)
            if step.stage == "dispatch":
                bodies[index] = asyncio.create_task(run_body(index, step))
                # The body starts before the next call is logged.
                await asyncio.sleep(0)
            else:
                settled[index] = step

        async def commit_ready() -> None:
            nonlocal committed
            while committed in settled:
                call, _ = group[committed]
                result = await self._pipeline.commit(settled.pop(committed))
                self._log.result(call, result, call_seqs[committed])
                for context in result.additional_contexts:
                    self._accept_context(context)
                self._concluded = self._concluded or result.concludes_turn
                committed += 1

        async def fill_pool() -> None:
            nonlocal started
            while started < len(group) and len(bodies) < self._pool_size and not self._signal.aborted:
                # The first was classified by whoever made the group; later ones are, each time there is room.
                if started and not self._pipeline.is_parallel(group[started][1]):
                    return
                await start(started)
                started += 1
                await commit_ready()

        try:
            await fill_pool()
            while bodies:
                index = await ended.get()
                await bodies.pop(index)
                await commit_ready()
                await fill_pool()
        finally:
            # Only left over when this task is cancelled or the log refuses: no body outlives its batch.
            for body in bodies.values():
                body.cancel()
            await asyncio.gather(*bodies.values(), return_exceptions=True)
        return started
