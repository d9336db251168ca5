"""Defects of when an end is told and what it says, of progress, and of what both may change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.mutants.of_end_events import EndShows
from conformance.mutants.of_updates import ThrowingUpdateHandlerFailsTheCall
from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Agent, Execution, Session, SessionEvent
from reference_bridge.host.decisions import Decision
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next

# --- end --------------------------------------------------------------------------------------------------------------


@mutant()
class EndWithoutDetails(EndShows):
    """Leaves the details of a result out of its end."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"result": {"content": event["result"]["content"]}}


@mutant()
class EndWithoutATextForErrors(EndShows):
    """Tells the end of a failure without its text."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"result": {"content": []}} if event["isError"] else {}


@mutant()
class NoEndForCancelledCalls(Bridge):
    """Tells no end of a call that was cancelled on its way."""

    async def outcome(self, call: Call, execution: Execution, result: Any, decision: Decision) -> Outcome:
        call.ended = call.ended or execution.signal.aborted
        return await super().outcome(call, execution, result, decision)


@mutant()
class CancelledSuccessEndsTwice(Bridge):
    """Tells the end of a cancelled call once more when its result is in the log."""

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        decision = await super().after_body(execution, result, following)
        if execution.signal.aborted:
            self.calls.of(execution).ended = False
        return decision


@mutant()
class NestedCallsEndOnly(ExecutionEvents):
    """Tells an end, and no start, of a call that another tool made."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        if call.logged is None and not call.ended:
            call.ended = True
            await self._dispatch.tell(call.agent, self.end_event(call, outcome))
            return
        await super().end(call, outcome)


@mutant()
class CutCallsRun(Bridge):
    """Runs the calls of a message that its length limit cut off."""

    def agent_started(self, agent: Agent) -> None:
        requests, ask = agent._requests, agent._requests.ask

        async def whole(*args: Any) -> Any:
            reply = await ask(*args)
            return replace(reply, finish="tool-calls") if reply.finish == "max-tokens" else reply

        requests.ask = whole  # type: ignore[method-assign, assignment]
        super().agent_started(agent)


@mutant()
class LateEndsNotAwaited(Bridge):
    """Asks the model again without waiting for ends that are told beside the pipeline."""

    async def before_step(self, pre_step: Any, following: Next) -> Decision:
        return await self.votes.enter(pre_step, following)


@mutant()
class AllStartsFirst(Bridge):
    """Tells the starts of all calls of a message at once."""

    class events_type(ExecutionEvents):
        def start(self, call: Call) -> None:
            return

    def logged(self, session: Session, event: SessionEvent) -> None:
        agent = self.host.agents.get(session.id)
        if event.type == "assistant/message" and agent is not None:
            for block in event.data["message"]["content"]:
                if block.get("type") == "tool-call":
                    told = self.events.start_event(Call(agent, block["id"], block["name"]))
                    self.events._beside(agent, self.dispatch.tell(agent, told))
        super().logged(session, event)


@mutant()
class EndHandlersInReverse(Dispatch):
    """Tells ends to the packages loaded last first."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        found = super().subscriptions(agent, event)
        return found[::-1] if event == "tool_execution_end" else found


@mutant()
class EndWritesReachTheLog(Bridge):
    """Logs what an end handler wrote into the result it was shown."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        made, self._shown = self.events.end_event, dict[str, Event]()

        def end_event(call: Call, outcome: Outcome) -> Event:
            self._shown[call.call_id] = made(call, outcome)
            return self._shown[call.call_id]

        self.events.end_event = end_event  # type: ignore[method-assign]

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        decision = await super().after_body(execution, result, following)
        return {**decision, "content": self._shown[execution.call_id]["result"]["content"]}


# --- progress ---------------------------------------------------------------------------------------------------------


@mutant()
class UpdatesOfTheFirstCall(ExecutionEvents):
    """Gives each update of a message's calls the id of the first one."""

    def start(self, call: Call) -> None:
        self._first = getattr(self, "_first", call.call_id)
        super().start(call)

    def update_event(self, call: Call, partial: Any) -> Event:
        return {**super().update_event(call, partial), "toolCallId": self._first}


@mutant()
class UpdatesInTheResult(ToolRuns):
    """Adds the partial results of a tool to its result."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        told, partials = self._events.update, list[Any]()

        def kept(call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
            partials.extend(as_object(partial).get("content", []))
            told(call, partial, signal)

        self._events.update = kept  # type: ignore[method-assign]
        try:
            answer = await super().execute(call, tool, execution)
        finally:
            self._events.update = told  # type: ignore[method-assign]
        return {**as_object(answer), "content": [*partials, *as_object(answer).get("content", [])]}


@mutant()
class UpdateAnswerFailsTheCall(ThrowingUpdateHandlerFailsTheCall):
    """Fails a call whose update handler answers with isError."""

    class dispatch_type(Dispatch):
        async def tell(self, agent: Agent | None, event: Event, signal: AbortSignal | None = None) -> None:
            if event["type"] != "tool_execution_update":
                await super().tell(agent, event, signal)
                return
            for subscription in self.subscriptions(agent, event["type"]):
                if as_object(await subscription.call(event, agent, signal)).get("isError"):
                    raise RuntimeError("an update handler says that this is an error")
