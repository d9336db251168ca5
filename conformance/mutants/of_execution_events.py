"""Defects of tool_execution_start, tool_execution_update and tool_execution_end."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

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

# --- start ------------------------------------------------------------------------------------------------------------


class _StartShows(ExecutionEvents):
    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        raise NotImplementedError

    def start_event(self, call: Call) -> Event:
        event = super().start_event(call)
        return {**event, **self.shown(call, event)}


@mutant()
class StartNamesTheWrongCall(_StartShows):
    """Gives a start the tool's name for its id."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"toolCallId": call.name}


@mutant()
class StartArgumentsAsText(_StartShows):
    """Gives a start its arguments as text."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"args": call.logged.data["arguments"] if call.logged else ""}


@mutant()
class StartShowsCoercedArguments(_StartShows):
    """Gives a start numbers for texts that read as numbers."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        def coerced(value: Any) -> Any:
            return float(value) if isinstance(value, str) and value.isdigit() else value

        return {"args": {key: coerced(value) for key, value in as_object(event["args"]).items()}}


@mutant()
class StartShowsPreparedArguments(Bridge):
    """Gives a start the arguments after prepareArguments."""

    class events_type(_StartShows):
        bridge: Any = None

        def shown(self, call: Call, event: Event) -> dict[str, Any]:
            definition = self.bridge.host.tools.get(call.name, call.agent.scope if call.agent else None)
            tool = self.bridge.registrations.tool_of(definition)
            prepare = tool.definition.get("prepareArguments") if tool else None
            return {"args": prepare(dict(as_object(event["args"])))} if prepare else {}

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.events.bridge = self  # type: ignore[attr-defined]


@mutant()
class StartDropsUnknownArguments(_StartShows):
    """Gives a start only the arguments whose values are texts, numbers or booleans."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        plain = as_object(event["args"]).items()
        return {"args": {key: value for key, value in plain if not isinstance(value, dict | list)}}


@mutant()
class StartShowsEmptyText(_StartShows):
    """Gives a start an empty text where the model wrote no arguments."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"args": ""} if call.logged and not call.logged.data["arguments"] else {}


class _StartsSome(ExecutionEvents):
    def starts(self, call: Call) -> bool:
        raise NotImplementedError

    def start(self, call: Call) -> None:
        if self.starts(call):
            super().start(call)


@mutant()
class BadArgumentTextStartsNothing(_StartsSome):
    """Starts no call whose arguments are no JSON object that can be given back."""

    def starts(self, call: Call) -> bool:
        text = call.logged.data["arguments"] if call.logged else ""
        return text.startswith("{") and text.endswith("}") and "e999" not in text and "-0" not in text


@mutant()
class NativeCallsStartNothing(Bridge):
    """Starts no native tool's call."""

    def logged(self, session: Session, event: SessionEvent) -> None:
        agent = self.host.agents.get(session.id)
        if event.type == "tool/call" and agent is not None:
            definition = self.host.tools.get(event.data["name"], agent.scope)
            if definition is not None and self.registrations.tool_of(definition) is None:
                self.calls.open(agent, event)
                return
        super().logged(session, event)


@mutant()
class UnknownCallsStartNothing(Bridge):
    """Starts no call of a name that no tool has."""

    def logged(self, session: Session, event: SessionEvent) -> None:
        agent = self.host.agents.get(session.id)
        if event.type == "tool/call" and agent and self.host.tools.get(event.data["name"], agent.scope) is None:
            self.calls.open(agent, event)
            return
        super().logged(session, event)


@mutant()
class StartFromTheBody(Bridge):
    """Tells a start when the body is entered, so that calls without one have none."""

    class events_type(ExecutionEvents):
        def start(self, call: Call) -> None:
            return

    async def around_body(self, execution: Execution, following: Next) -> Any:
        call = self.calls.of(execution)
        await self.dispatch.tell(call.agent, self.events.start_event(call))
        return await super().around_body(execution, following)


@mutant()
class EveryStartToldTwice(ExecutionEvents):
    """Tells every start twice."""

    def start(self, call: Call) -> None:
        async def twice() -> None:
            await self._dispatch.tell(call.agent, self.start_event(call))
            await self._dispatch.tell(call.agent, self.start_event(call))

        call.started = self._beside(call.agent, twice())


@mutant()
class StartBeforeTheLog(Bridge):
    """Tells a start when the model's message is logged, before the call's own record."""

    class events_type(ExecutionEvents):
        def start(self, call: Call) -> None:
            return

    def logged(self, session: Session, event: SessionEvent) -> None:
        agent = self.host.agents.get(session.id)
        if event.type == "assistant/message" and agent is not None:
            for block in event.data["message"]["content"]:
                if block.get("type") == "tool-call":
                    record = Call(agent, block["id"], block["name"])
                    told = {**self.events.start_event(record), "args": {}}
                    telling = self.dispatch.tell(agent, told)
                    # Its first part runs at once, before the call is logged.
                    with contextlib.suppress(StopIteration):
                        telling.send(None)
                    telling.close()
        super().logged(session, event)


@mutant()
class StartNotAwaited(ExecutionEvents):
    """Does not wait for start handlers."""

    async def started(self, call: Call) -> None:
        return


@mutant()
class StartHandlersInReverse(Dispatch):
    """Tells starts to the packages loaded last first."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        found = super().subscriptions(agent, event)
        return found[::-1] if event == "tool_execution_start" else found


@mutant()
class StartAnswerBlocks(Bridge):
    """Takes a start handler's answer for a judgement."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        ask = self.gate.ask
        blocked: dict[str, Any] = {}

        async def tell(agent: Any, event: Event, signal: Any = None) -> None:
            for each in self.dispatch.subscriptions(agent, event["type"]):
                try:
                    answer = await each.call(event, agent, signal)
                except Exception as error:
                    self.dispatch.failed(each, event, error)
                else:
                    if event["type"] == "tool_execution_start" and as_object(answer).get("block"):
                        blocked[event["toolCallId"]] = answer

        async def judged(call: Call, event: Event, signal: Any = None) -> Any:
            verdict = await ask(call, event, signal)
            return verdict or (self.gate.read(blocked[call.call_id]) if call.call_id in blocked else None)

        self.dispatch.tell = tell  # type: ignore[method-assign]
        self.gate.ask = judged  # type: ignore[method-assign]


class _ThrowingObserver(Dispatch):
    event = ""
    stops_package = False
    stops_all = False
    reports = True
    fails = False

    async def tell(self, agent: Agent | None, event: Event, signal: AbortSignal | None = None) -> None:
        if event["type"] != self.event:
            await super().tell(agent, event, signal)
            return
        silenced: list[Any] = []
        for subscription in self.subscriptions(agent, event["type"]):
            if subscription.instance in silenced:
                continue
            try:
                await subscription.call(event, agent, signal)
            except Exception as error:
                if self.reports:
                    self.failed(subscription, event, error)
                if self.fails:
                    raise
                if self.stops_all:
                    return
                if self.stops_package:
                    silenced.append(subscription.instance)


@mutant()
class ThrowingStartSilencesItsPackage(_ThrowingObserver):
    """Tells the further start handlers of a package nothing after one of them threw."""

    event = "tool_execution_start"
    stops_package = True


@mutant()
class ThrowingStartSilencesLaterPackages(_ThrowingObserver):
    """Tells later packages nothing after a start handler threw."""

    event = "tool_execution_start"
    stops_all = True


@mutant()
class ThrowingStartFailsTheCall(Bridge):
    """Fails a call whose start handler threw."""

    class dispatch_type(_ThrowingObserver):
        event = "tool_execution_start"
        fails = True

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        call = self.calls.of(execution)
        await self.events.started(call)
        if call.started is not None and call.started.exception() is not None:
            raise RuntimeError("a start handler failed")
        return await super().before_call(execution, following)


@mutant()
class ThrowingObserverNotReported(_ThrowingObserver):
    """Says nothing of what a start handler throws."""

    event = "tool_execution_start"
    reports = False


@mutant()
class StartWritesReachTheTool(Bridge):
    """Runs a tool with what a start handler wrote into the start's arguments."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        made = self.events.start_event
        look_up = self.look_up
        shown: dict[int, Any] = {}

        def start_event(call: Call) -> Event:
            event = made(call)
            shown[id(call)] = event["args"]
            return event

        def written(call: Call, execution: Execution) -> None:
            if id(call) in shown:
                execution.arguments = shown[id(call)]
            look_up(call, execution)

        self.events.start_event = start_event  # type: ignore[method-assign]
        self.look_up = written  # type: ignore[method-assign]


# --- update -----------------------------------------------------------------------------------------------------------


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
class ThrowingUpdateHandlerEndsTheOthers(_ThrowingObserver):
    """Tells later handlers nothing after an update handler threw."""

    event = "tool_execution_update"
    stops_all = True


@mutant()
class ThrowingUpdateHandlerUnreported(_ThrowingObserver):
    """Says nothing of what an update handler throws."""

    event = "tool_execution_update"
    reports = False


@mutant()
class ThrowingUpdateHandlerFailsTheCall(Bridge):
    """Fails a call whose update handler threw."""

    class dispatch_type(_ThrowingObserver):
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


# --- end --------------------------------------------------------------------------------------------------------------


class _EndShows(ExecutionEvents):
    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        raise NotImplementedError

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        event = super().end_event(call, outcome)
        return {**event, **self.shown(call, event)}


@mutant()
class EndWithoutAResult(_EndShows):
    """Gives an end an empty result."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"result": {}}


class _EndsSome(ExecutionEvents):
    def ends(self, call: Call, outcome: Outcome) -> bool:
        raise NotImplementedError

    async def end(self, call: Call, outcome: Outcome) -> None:
        if self.ends(call, outcome):
            await super().end(call, outcome)


@mutant()
class NoEndForBlockedCalls(_EndsSome):
    """Tells no end of a call that a package blocked."""

    def ends(self, call: Call, outcome: Outcome) -> bool:
        return call.executed or call.invalid is not None or not call.known


@mutant()
class NoEndForUnknownCalls(_EndsSome):
    """Tells no end of a call that no tool has."""

    def ends(self, call: Call, outcome: Outcome) -> bool:
        return call.known


@mutant()
class NoEndForInvalidCalls(_EndsSome):
    """Tells no end of a call whose arguments did not pass."""

    def ends(self, call: Call, outcome: Outcome) -> bool:
        return call.invalid is None


@mutant()
class NoEndForRefusedCalls(_EndsSome):
    """Tells no end of a native call that was refused."""

    def ends(self, call: Call, outcome: Outcome) -> bool:
        return not (call.known and call.tool is None and not call.executed)


@mutant()
class NoEndForDeniedCalls(_EndsSome):
    """Tells no end of a migrated tool's call that did not run though its arguments passed."""

    def ends(self, call: Call, outcome: Outcome) -> bool:
        return call.executed or call.invalid is not None or not (call.known and call.tool is not None)


@mutant()
class NoEndWhereTheHostThrows(Bridge):
    """Tells no end of a call that a listener or guard of the host ends by throwing."""

    async def guarded(self, call: Call, following: Next) -> Any:
        try:
            return await following()
        except Exception:
            call.ended = True
            raise

    class events_type(ExecutionEvents):
        def end_beside(self, call: Call, outcome: Outcome) -> None:
            return


@mutant()
class EveryEventOfAnEndTwice(ExecutionEvents):
    """Tells every end twice."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        if call.logged is not None and not call.ended:
            await self._dispatch.tell(call.agent, self.end_event(call, outcome))
        await super().end(call, outcome)


@mutant()
class StartWithoutAnEndAfterACancel(Bridge):
    """Tells the start, and no end, of calls that a cancel kept from starting."""

    class events_type(ExecutionEvents):
        def end_beside(self, call: Call, outcome: Outcome) -> None:
            return


@mutant()
class EndBeforeResult(Bridge):
    """Tells the end of a call before the tool_result handlers are asked."""

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        call = self.calls.of(execution)
        decision: Decision = await self.guarded(call, following)
        outcome = await self.outcome(call, execution, result, decision)
        await self.events.end(call, outcome)
        _, decision = await self.patches.apply(call, execution, outcome, decision)
        return decision


@mutant()
class EndCarriesTheUnpatchedResult(Bridge):
    """Tells an end with the result as it was before the handlers patched it."""

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        call = self.calls.of(execution)
        decision: Decision = await self.guarded(call, following)
        outcome = await self.outcome(call, execution, result, decision)
        _, decision = await self.patches.apply(call, execution, outcome, decision)
        await self.events.end(call, outcome)
        return decision


@mutant()
class EndErrorFlagIsStale(_EndShows):
    """Tells an end whose error flag is that of the body."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"isError": False} if call.executed else {}


@mutant()
class EndBesideTheLog(ExecutionEvents):
    """Does not wait for end handlers before the result is logged."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        self._beside(call.agent, super().end(call, outcome))
        await asyncio.sleep(0)


@mutant()
class EndOfDeniedCallsBesideTheLog(ExecutionEvents):
    """Does not wait for the end handlers of calls that did not run."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        if call.executed:
            await super().end(call, outcome)
        else:
            self._beside(call.agent, super().end(call, outcome))
            await asyncio.sleep(0)


@mutant()
class EndHandlersNotAwaited(Bridge):
    """Waits for end handlers neither before the log nor before the next request."""

    events_type = EndBesideTheLog

    async def before_step(self, pre_step: Any, following: Next) -> Decision:
        return await self.votes.enter(pre_step, following)


@mutant()
class EndToldFirst(Bridge):
    """Tells the end of a call right after its start."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        await self.events.end(self.calls.of(execution), Outcome({"content": []}, False))
        return await super().before_call(execution, following)


@mutant()
class BlockedCallsAreToldAsResults(Bridge):
    """Asks tool_result handlers about blocked calls, too."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        if as_object(decision).get("kind") == "deny":
            self.calls.of(execution).executed = True
        return decision


@mutant()
class OneEndForABatch(ExecutionEvents):
    """Tells one end for each call id, however many calls have it."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        ended: set[str] = getattr(self, "_ended", set())
        if call.call_id not in ended:
            self._ended = {*ended, call.call_id}
            await super().end(call, outcome)


@mutant()
class ThrowingEndHandlerEndsTheOthers(_ThrowingObserver):
    """Tells later handlers nothing after an end handler threw."""

    event = "tool_execution_end"
    stops_all = True


@mutant()
class ThrowingEndHandlerFailsTheCall(_ThrowingObserver):
    """Fails a call whose end handler threw."""

    event = "tool_execution_end"
    fails = True


@mutant()
class ThrowingEndHandlerUnreported(_ThrowingObserver):
    """Says nothing of what an end handler throws."""

    event = "tool_execution_end"
    reports = False


@mutant()
class EndAnswerReplacesTheResult(Bridge):
    """Takes what an end handler returns for the result."""

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        decision = await super().after_body(execution, result, following)
        call = self.calls.of(execution)
        for each in self.dispatch.subscriptions(call.agent, "tool_execution_end"):
            if each.instance.package.name == "forger":
                answer = as_object(await each.call({"type": "tool_execution_end"}, call.agent, None))
                return {"kind": "accept", "content": answer.get("content", [])}
        return decision
