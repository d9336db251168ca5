"""Defects of the host's loop: batches, cancels, and what opens, steers and ends a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.host import AbortSignal, Agent, Message, Scope, ToolCall, ToolResult
from reference_bridge.host.inbox import Inbox
from reference_bridge.host.json_values import UNDEFINED
from reference_bridge.host.pipeline import Pipeline, Step
from reference_bridge.host.results import CallRequest, Execution, aborted_result
from reference_bridge.host.scheduler import Batch, BatchLog
from reference_bridge.host.tools import Tools
from reference_bridge.host.waterfall import Events, Next

# --- batches


@mutant()
class EverythingIsParallel(Pipeline):
    """Lets every call overlap its neighbours."""

    def is_parallel(self, request: CallRequest) -> bool:
        return True


@mutant()
class NothingIsParallel(Pipeline):
    """Lets no call overlap another."""

    def is_parallel(self, request: CallRequest) -> bool:
        return False


@mutant()
class ParallelCallsOverlapWhole(Batch):
    """Lets all stages of neighbouring calls overlap, and logs their results as they come."""

    async def run(self) -> bool:
        if len(self._calls) < 2 or not all(self._pipeline.is_parallel(request) for _, request in self._calls):
            return await super().run()
        rest = (self._signal, self._pool_size, self._accept_context)
        concluded = await asyncio.gather(
            *(Batch(self._pipeline, self._log, [call], *rest).run() for call in self._calls)
        )
        return any(concluded)


@mutant()
class ExclusiveCallsJoinTheirNeighbours(Pipeline):
    """Lets a call overlap its neighbours that comes after one that may."""

    def is_parallel(self, request: CallRequest) -> bool:
        may = super().is_parallel(request)
        batches: set[int] = self.__dict__.setdefault("_parallel", set())
        if may:
            batches.add(id(request.signal))
        return may or id(request.signal) in batches


@mutant()
class PoolWithoutABound(Batch):
    """Runs as many bodies at the same time as there are."""

    def __init__(
        self, pipeline: Pipeline, log: BatchLog, calls: Any, signal: AbortSignal, size: int, accept: Any
    ) -> None:
        super().__init__(pipeline, log, calls, signal, 1000, accept)


@mutant()
class FailureStopsTheBatch(Pipeline):
    """Runs no call after one that failed."""

    async def commit(self, step: Step) -> ToolResult:
        result = await super().commit(step)
        if result.is_error:
            self.__dict__.setdefault("_failed", set()).add(id(step.execution._state.caller_signal))
        return result

    async def prepare(self, request: CallRequest) -> Step:
        step = await super().prepare(request)
        if step.stage == "dispatch" and id(request.signal) in self.__dict__.get("_failed", ()):
            return Step("post-execute", step.execution, ToolResult.failure("an earlier call failed").finalized())
        return step


@mutant()
class EqualIdsRunOnce(Batch):
    """Runs the first of two calls with the same id."""

    def __init__(
        self, pipeline: Pipeline, log: BatchLog, calls: Sequence[tuple[ToolCall, CallRequest]], *rest: Any
    ) -> None:
        super().__init__(
            pipeline, log, list({call.id: (call, request) for call, request in reversed(calls)}.values())[::-1], *rest
        )


# --- cancels


@mutant()
class SuccessAfterACancelStands(Pipeline):
    """Keeps what a body answers after the cancel."""

    async def dispatch(self, execution: Execution) -> Step:
        execution.signal = execution._state.caller_signal = AbortSignal()
        return await super().dispatch(execution)


@mutant()
class CancelledBodiesAreAbandoned(Pipeline):
    """Ends a call at the cancel without waiting for its body."""

    async def dispatch(self, execution: Execution) -> Step:
        signal = execution._state.caller_signal
        body = asyncio.ensure_future(super().dispatch(execution))
        abort = asyncio.ensure_future(signal.wait())
        await asyncio.wait({body, abort}, return_when=asyncio.FIRST_COMPLETED)
        abort.cancel()
        await asyncio.wait({abort})
        return (
            body.result() if body.done() else Step("post-execute", execution, aborted_result(started=True).finalized())
        )


@mutant()
class SkippedCallsVanish(BatchLog):
    """Logs nothing of calls that a cancel kept from starting."""

    def skipped(self, call: ToolCall) -> None:
        return None


@mutant()
class CancelSkipsTheGuards(Tools):
    """Asks no guard about a call that was cancelled while it was judged."""

    def guard_reason(self, execution: Execution) -> Any:
        return UNDEFINED if execution.signal.aborted else super().guard_reason(execution)


@mutant()
class AbortWinsOverADenial(Pipeline):
    """Tells a call as aborted that was denied after the cancel."""

    async def prepare(self, request: CallRequest) -> Step:
        step = await super().prepare(request)
        if request.signal.aborted and step.stage == "post-execute":
            return Step("post-execute", step.execution, aborted_result(started=False).finalized())
        return step


@mutant()
class CancelKeepsTheInbox(Inbox):
    """Keeps what waits when the user cancels."""

    def clear(self) -> None:
        return None


@mutant()
class KeepInboxIgnored(Agent):
    """Throws away what waits although the cancel says to keep it."""

    def cancel(self, cause: Any = None, *, keep_inbox: bool = False) -> None:
        super().cancel(cause)


# --- turns


@mutant()
class ConclusionsIgnored(Batch):
    """Goes on although a call concluded the turn."""

    async def run(self) -> bool:
        await super().run()
        return False


@mutant(hangs=True)  # The request that the context would have caused never comes.
class DeferredContextIsLost(Batch):
    """Drops the context that a call defers."""

    def __init__(
        self, pipeline: Pipeline, log: BatchLog, calls: Any, signal: AbortSignal, size: int, accept: Any
    ) -> None:
        def lose(message: Message) -> None:
            return None

        super().__init__(pipeline, log, calls, signal, size, lose)


@mutant()
class FollowUpsJoinTheTurn(Agent):
    """Puts a prompt for a turn of its own into the turn at hand."""

    def followup(self, message: str | Message) -> None:
        self._send("next-step", message)


@mutant()
class RejectedStepCompletes(Agent):
    """Ends a turn whose step was rejected as completed."""

    async def _run_steps(self, *args: Any) -> tuple[dict[str, Any], bool]:
        reason, goes_on = await super()._run_steps(*args)
        return ({"kind": "completed"}, goes_on) if reason["kind"] == "blocked" else (reason, goes_on)


class _PreStep(Events):
    async def waterfall(self, event: str, target: Scope | None, *args: Any, innermost: Next) -> Any:
        asked = super().waterfall(event, target, *args, innermost=innermost)
        return await (self.entered(asked, *args) if event == "agent/pre-step" else asked)

    async def entered(self, asked: Any, *args: Any) -> Any:
        raise NotImplementedError


@mutant()
class ThrowingPreStepEnters(_PreStep):
    """Enters a step although a listener before it threw."""

    async def entered(self, asked: Any, *args: Any) -> Any:
        try:
            return await asked
        except Exception:
            return {"kind": "enter", "messages": args[0].messages}


@mutant()
class RewrittenMessagesIgnored(_PreStep):
    """Enters a step with the messages as they were."""

    async def entered(self, asked: Any, *args: Any) -> Any:
        decision = await asked
        return {**decision, "messages": args[0].messages} if decision.get("kind") == "enter" else decision


@mutant()
class TurnStoppingNotAwaited(Events):
    """Ends a turn without waiting for the listeners that are told of it."""

    async def serial(self, event: str, target: Scope | None, *args: Any) -> None:
        self.emit(event, target, *args)
