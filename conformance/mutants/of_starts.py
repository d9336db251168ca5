"""Defects of tool_execution_start: whether a start is told, when, to whom, and what it says."""

from __future__ import annotations

import contextlib
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Agent, Execution, Session, SessionEvent
from reference_bridge.host.decisions import Decision
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next


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


class ThrowingObserver(Dispatch):
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
class ThrowingStartSilencesItsPackage(ThrowingObserver):
    """Tells the further start handlers of a package nothing after one of them threw."""

    event = "tool_execution_start"
    stops_package = True


@mutant()
class ThrowingStartSilencesLaterPackages(ThrowingObserver):
    """Tells later packages nothing after a start handler threw."""

    event = "tool_execution_start"
    stops_all = True


@mutant()
class ThrowingStartFailsTheCall(Bridge):
    """Fails a call whose start handler threw."""

    class dispatch_type(ThrowingObserver):
        event = "tool_execution_start"
        fails = True

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        call = self.calls.of(execution)
        await self.events.started(call)
        if call.started is not None and call.started.exception() is not None:
            raise RuntimeError("a start handler failed")
        return await super().before_call(execution, following)


@mutant()
class ThrowingObserverNotReported(ThrowingObserver):
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


@mutant()
class AResumedLogIsToldAgain(Bridge):
    """Reads the log of a new agent from its beginning, so that a resumed session tells its old calls once more."""

    def agent_started(self, agent: Agent) -> None:
        super().agent_started(agent)
        for event in list(agent.session.events):
            self.logged(agent.session, event)


@mutant()
class EndsOfAResumedLogAreToldAgain(Bridge):
    """Catches up with the log of a new agent: of the calls that a resumed session holds the ends are told once more."""

    def agent_started(self, agent: Agent) -> None:
        super().agent_started(agent)
        for event in list(agent.session.events):
            if event.type == "tool/call":
                self.calls.open(agent, event)
            elif event.type == "tool/result":
                call = self.calls.close(agent, event)
                if call is not None:
                    self.events.end_beside(call, self.logged_outcome(event))
