"""Right bridges and hosts that take their time, or do things in another of the orders that are free."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.host import Agent, Execution, Host, HostOptions, Session, SessionEvent
from reference_bridge.host.pipeline import Pipeline, Step
from reference_bridge.host.results import CallRequest, ToolResult
from reference_bridge.host.scheduler import Batch
from reference_bridge.host.signals import AbortSignal
from tests.right_bridges.table import right

ORDERS = ("*awaited*", "*order*", "*before-the*", "*handlers-wait*", "*follows-the-durable*", "*told-while*")


async def _turns(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


class _Slow(Subscription):
    async def call(self, event: Event, agent: Agent | None, signal: AbortSignal | None) -> Any:
        await _turns()
        answer = await super().call(event, agent, signal)
        await _turns()
        return answer


class _SlowDispatch(Dispatch):
    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        return [_Slow(each.instance, each.handler) for each in super().subscriptions(agent, event)]


@right(*ORDERS, "tool_call.*", "tool_execution_*")
class HandlersInTheirOwnTime(_SlowDispatch):
    """Lets some turns of its loop pass before it calls a handler and after the handler has answered.

    Free: rules say what comes before what, never how soon.
    """


class _Milliseconds(Subscription):
    async def call(self, event: Event, agent: Agent | None, signal: AbortSignal | None) -> Any:
        await asyncio.sleep(0.002)
        answer = await super().call(event, agent, signal)
        await asyncio.sleep(0.001)
        return answer


class _MillisecondsDispatch(Dispatch):
    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        return [_Milliseconds(each.instance, each.handler) for each in super().subscriptions(agent, event)]


class _MillisecondsRuns(ToolRuns):
    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        await asyncio.sleep(0.002)
        return await super().execute(call, tool, execution)


@right(*ORDERS, "tool_result.*")
class AFewMillisecondsACall(Bridge):
    """Takes a few milliseconds for each call of a package's code, as one that talks to another process does.

    Free: rules say what comes before what, never how soon.
    """

    dispatch_type = _MillisecondsDispatch
    runs_type = _MillisecondsRuns


@right(*ORDERS)
class HandlersInTasksOfTheirOwn(Dispatch):
    """Runs each handler in a task of its own.

    Free: no rule speaks of how the code of a package is run.
    """

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        class InATask(Subscription):
            async def call(self, event: Event, agent: Agent | None, signal: AbortSignal | None) -> Any:
                return await asyncio.create_task(super().call(event, agent, signal))

        return [InATask(each.instance, each.handler) for each in super().subscriptions(agent, event)]


@right(*ORDERS, "tool_execution_start.*")
class StartsToldAtTheGate(Bridge):
    """Tells of a start when the call comes to the gate, not yet when it is logged, but for those that never come there.

    Free: `tool_execution_start.follows-the-durable-record` asks that the start be told after the record and
    `tool_execution_start.awaited-before-the-call-is-judged` before the judges; where in between is open.
    """

    def logged(self, session: Session, event: SessionEvent) -> None:
        agent = self.host.agents.get(session.id)
        if agent is None or event.type != "tool/call":
            super().logged(session, event)
            return
        call = self.calls.open(agent, event)
        call.started = asyncio.create_task(self._told_late(call))
        self.events._tasks.setdefault(agent, set()).add(call.started)
        call.started.add_done_callback(lambda task: self.events._tasks.get(agent, set()).discard(task))

    async def _told_late(self, call: Call) -> None:
        await _turns(8)
        await self.events._dispatch.tell(call.agent, self.events.start_event(call))


@right(*ORDERS, "tool_execution_update.*")
class UpdatesToldLater(ExecutionEvents):
    """Tells of an update some turns of its loop after the tool sent it.

    Free: `tool_execution_update.told-while-the-tool-runs` asks that it be told while the tool runs, and no sooner.
    """

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        if call.settled:
            return
        event = self.update_event(call, partial)
        before = call.updates[-1] if call.updates else None

        async def in_turn() -> None:
            await _turns(6)
            if before is not None:
                await asyncio.wait({before})
            await self._dispatch.tell(call.agent, event, signal)

        call.updates.append(self._beside(call.agent, in_turn()))


OBSERVERS = tuple(f"tool_execution_{event}.handlers-wait-for-each-other" for event in ("start", "update", "end"))


@right(*ORDERS, "tool_execution_*", departs=OBSERVERS)
class ObserversBesideEachOther(Dispatch):
    """Tells all observing handlers of an event at once, in load order, and waits for the last of them.

    Free: `tool_execution_start.handlers-wait-for-each-other`, `tool_execution_update.handlers-wait-for-each-other` and
    `tool_execution_end.handlers-wait-for-each-other` are shoulds; only the order in which they are entered is a must.
    """

    async def tell(self, agent: Agent | None, event: Event, signal: AbortSignal | None = None) -> None:
        async def one(subscription: Subscription) -> None:
            try:
                await subscription.call(event, agent, signal)
            except Exception as error:
                self.failed(subscription, event, error)

        await asyncio.gather(*(one(each) for each in self.subscriptions(agent, event["type"])))


@right(*ORDERS, "tool_call.*", "tool_result.*", "registerTool.a-denial*", "registerTool.a-permission*")
class AroundTheHostsOwnListeners(Bridge):
    """Listens as the outermost where the body runs and after it, so that the host's own listeners are inside of it.

    Free: no rule says where in these waterfalls a bridge stands.
    """

    def attach(self) -> None:
        super().attach()
        for event in ("tools/execute", "tools/post-execute"):
            listeners = self.host.events._listeners[event]
            ours = [each for each in listeners if getattr(each[1], "__self__", None) is self]
            listeners[:] = [*ours, *(each for each in listeners if each not in ours)]


class _CommittedWhenDone(Batch):
    """Commits a call as soon as its body is done; what is logged waits for its turn."""

    async def _run_group(self, group: Sequence[tuple[Any, CallRequest]]) -> int:
        done: dict[int, ToolResult] = {}
        logged = 0
        started = 0
        seqs: list[int] = []
        tasks: set[asyncio.Task[None]] = set()
        places = asyncio.Semaphore(self._pool_size)

        def log_ready() -> None:
            nonlocal logged
            while logged in done:
                call, _ = group[logged]
                result = done.pop(logged)
                self._log.result(call, result, seqs[logged])
                for context in result.additional_contexts:
                    self._accept_context(context)
                self._concluded = self._concluded or result.concludes_turn
                logged += 1

        async def finish(index: int, step: Step) -> None:
            try:
                if step.stage == "dispatch":
                    step = await self._pipeline.dispatch(step.execution)
                done[index] = await self._pipeline.commit(step)
            finally:
                places.release()
            log_ready()

        try:
            while started < len(group) and not self._signal.aborted:
                if started and not self._pipeline.is_parallel(group[started][1]):
                    break
                await places.acquire()
                if self._signal.aborted:
                    break
                call, request = group[started]
                seqs.append(self._log.call(call))
                step = await self._pipeline.prepare(request)
                task = asyncio.create_task(finish(started, step))
                tasks.add(task)
                started += 1
                await asyncio.sleep(0)
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return started


@right(*ORDERS, "tool_result.*", "registerTool.parallel-tools-overlap")
class ResultsJudgedAsTheyCome(_CommittedWhenDone):
    """Shows the results of calls that run beside each other as they come, and logs them in the order of the calls.

    Free: whether `tool_result` and the end of siblings follow completion or the model's order is the host's to decide;
    `tool_result.durable-results-in-model-order` is about the log.
    """


class _GatesFirst(Batch):
    """Asks about all calls of a group before any body of it runs."""

    async def _run_group(self, group: Sequence[tuple[Any, CallRequest]]) -> int:
        steps: list[tuple[int, Step]] = []
        for index, (call, request) in enumerate(group):
            if self._signal.aborted or (index and not self._pipeline.is_parallel(request)):
                break
            steps.append((self._log.call(call), await self._pipeline.prepare(request)))

        async def body(step: Step) -> Step:
            if step.stage != "dispatch":
                return step
            settled = await self._pipeline.dispatch(step.execution)
            await asyncio.sleep(0)
            return settled

        settled = await asyncio.gather(*(body(step) for _, step in steps))
        for (call, _), (seq, _), step in zip(group, steps, settled, strict=False):
            result = await self._pipeline.commit(step)
            self._log.result(call, result, seq)
            for context in result.additional_contexts:
                self._accept_context(context)
            self._concluded = self._concluded or result.concludes_turn
        return len(steps)


@right(*ORDERS, "tool_call.*", "registerTool.parallel-tools-overlap")
class AllJudgedBeforeAnyRuns(_GatesFirst):
    """Asks about all calls that run beside each other before any of their bodies runs.

    Free: Pi does so and the host does not; no rule speaks of more than the start, the gate and the body of one call.
    """


class _SlowLog(Pipeline):
    async def commit(self, step: Step) -> ToolResult:
        await asyncio.sleep(0.001)
        result = await super().commit(step)
        await _turns(4)
        return result


class _SlowLogTools(Host.tools_type):  # type: ignore[misc]
    pipeline_type = _SlowLog


@right(*ORDERS, "tool_result.*")
class ResultsLoggedLate(Host):
    """Writes a result to the log some time after everybody was asked about it.

    Free: rules have handlers done before the result is in the log; nothing asks that it be there at once.
    """

    tools_type = _SlowLogTools


@right(*ORDERS, "registerTool.parallel*", "registerTool.*batch*")
class APoolOfTwo(Host):
    """Runs no more than two calls beside each other.

    Free: the size of the pool is the host's; `registerTool.parallel-tools-overlap` asks that two calls overlap.
    """

    def __init__(self, options: HostOptions | None = None) -> None:
        from dataclasses import replace

        super().__init__(replace(options or HostOptions(), max_parallel_tool_calls=2))


@right("registerTool.a-question*", "tool_call.*", "tool_result.allowed*")
class AUserWhoThinks(Host):
    """Asks a user who takes a while to answer.

    Free: no rule says how long a question of the host may take.
    """

    def __init__(self, options: HostOptions | None = None) -> None:
        super().__init__(options)

        async def thinks(request: object, following: Any) -> Any:
            await asyncio.sleep(0.02)
            return await following()

        self.on("approval/request", thinks)


@right("tool_call.*", "setActiveTools.*", "registerTool.*")
class StepsPreparedSlowly(Bridge):
    """Takes its time before each request and between two turns.

    Free: no rule says how soon a request follows what came before it.
    """

    async def assemble(self, assembly: Any, context: Any, following: Any) -> Any:
        await asyncio.sleep(0.001)
        assembly = await super().assemble(assembly, context, following)
        await _turns()
        return assembly

    async def before_step(self, pre_step: Any, following: Any) -> Any:
        await _turns()
        return await super().before_step(pre_step, following)
