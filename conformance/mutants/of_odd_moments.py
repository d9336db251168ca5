"""Defects that show where packages are slow, pictures alike, updates shorter, or the host has decided before."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from conformance.mutants.registry import mutant
from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.exec import Exec, Options
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import json_text
from reference_bridge.host import AbortController, AbortSignal, Agent, Assembly, Execution, Json, PreStep, ToolResult
from reference_bridge.host.decisions import Decision
from reference_bridge.host.messages import Message
from reference_bridge.host.subprocess import Child
from reference_bridge.host.waterfall import Next

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


class _SaysWhoRuns(ToolRuns):
    """Knows for which agents bodies are running."""

    running: Final[Counter[Agent | None]] = Counter()

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        self.running[call.agent] += 1
        try:
            return await super().execute(call, tool, execution)
        finally:
            self.running[call.agent] -= 1


@mutant()
class ExecKnowsTheFolderInToolsOnly(Bridge):
    """Runs a program that no tool asks for in the folder of the process."""

    runs_type = _SaysWhoRuns

    class exec_type(Exec):
        def folder(self, agent: Agent | None, cwd: Any) -> str:
            return super().folder(agent if _SaysWhoRuns.running[agent] else None, cwd)


# --- lists, stops and arguments ---------------------------------------------------------------------------------------


@mutant()
class RemovalMovesTheList(ToolCallGate):
    """Goes through the handlers by their number, which another has once a package before it is gone."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        number = 0
        while number < len(there := self._dispatch.subscriptions(call.agent, "tool_call")):
            verdict = await self.ask_one(there[number], call, event, signal)
            if verdict is not None:
                return verdict
            number += 1
        return None


@mutant()
class RemovalMovesTheListOfResults(ResultPatches):
    """Goes through the tool_result handlers by their number, which another has once a package before it is gone."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        answered, number = False, 0
        while number < len(there := self._dispatch.subscriptions(call.agent, "tool_result")):
            answered = await super().ask([there[number]], call, event, execution) or answered
            number += 1
        return answered


@mutant()
class EmptyArgumentsAreOneObject(ToolRuns):
    """Hands all calls without arguments the same empty object."""

    def prepare(self, call: Call, tool: PiTool, arguments: Json) -> None:
        super().prepare(call, tool, arguments)
        if arguments == {} and call.input == {}:
            call.input = self.__dict__.setdefault("_empty", call.input)


@mutant()
class NativeTextCompared(ToolCallGate):
    """Refuses a native tool's call whose arguments the model wrote in another way than a program would."""

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        written = "".join(str(call.logged.data["arguments"]).split()) if call.logged is not None else "{}"
        if call.tool is None and written not in ("", "{}", "".join(json_text(logged).split())):
            return Verdict(f"the arguments of {call.name!r} may not be changed")
        return super().refusal(call, logged)


@mutant()
class AnAgentStopsOnce(BatchVotes):
    """Stops the loop of an agent the first time that all calls of a batch ask for it."""

    def stops(self, agent: Agent, turn: int, step: int) -> bool:
        stopped: dict[Agent, tuple[int, int]] = self.__dict__.setdefault("_stopped", {})
        return super().stops(agent, turn, step) and stopped.setdefault(agent, (turn, step)) == (turn, step)


class _HeedsSomeInput(Bridge):
    """Rejects the step after a stop unless some of what waits counts; what counts was there at a certain moment."""

    def counts(self, agent: Agent, message: str) -> bool:
        raise NotImplementedError

    def waiting(self, agent: Agent) -> set[str]:
        return {str(each["id"]) for each in [*agent.inbox.next_step, *agent.inbox.next_turn]}

    async def before_step(self, pre_step: PreStep, following: Next) -> Decision:
        agent = pre_step.agent
        heard = self.waiting(agent) | {str(each["id"]) for each in pre_step.messages}
        if self.votes.stops(agent, pre_step.turn, pre_step.step - 1):
            await self.events.drain(agent)
            if not any(self.counts(agent, message) for message in heard):
                return {"kind": "reject"}
        return await super().before_step(pre_step, following)


@mutant()
class LateInputLostAtTheStop(_HeedsSomeInput):
    """Answers at a stop only what was said before the last body ended."""

    def counts(self, agent: Agent, message: str) -> bool:
        early: dict[Agent, set[str]] = self.__dict__.setdefault("_early", {})
        return message in early.get(agent, set())

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        early: dict[Agent, set[str]] = self.__dict__.setdefault("_early", {})
        if execution.agent is not None:
            early[execution.agent] = self.waiting(execution.agent)
        return await super().after_body(execution, result, following)


@mutant()
class EarlyInputLostAtTheStop(_HeedsSomeInput):
    """Answers at a stop only what was said since the batch began."""

    def counts(self, agent: Agent, message: str) -> bool:
        old: dict[Agent, set[str]] = self.__dict__.setdefault("_old", {})
        return message not in old.get(agent, set())

    async def before_step(self, pre_step: PreStep, following: Next) -> Decision:
        decision = await super().before_step(pre_step, following)
        old: dict[Agent, set[str]] = self.__dict__.setdefault("_old", {})
        old[pre_step.agent] = self.waiting(pre_step.agent)
        return decision


# --- observers --------------------------------------------------------------------------------------------------------


@mutant()
class RemovalMovesTheListOfObservers(Dispatch):
    """Goes through observing handlers by their number, which another has once a package before it is gone."""

    async def tell(self, agent: Agent | None, event: Event, signal: AbortSignal | None = None) -> None:
        number = 0
        while number < len(there := self.subscriptions(agent, event["type"])):
            try:
                await there[number].call(event, agent, signal)
            except Exception as error:
                self.failed(there[number], event, error)
            number += 1


class _InTurn(Subscription):
    async def call(self, event: Event, agent: Agent | None, signal: AbortSignal | None) -> Any:
        busy: dict[object, tuple[Agent | None, asyncio.Lock]] = _BUSY
        served, lock = busy.setdefault(self.instance.package, (agent, asyncio.Lock()))
        if lock.locked() and served is agent:
            return await Subscription.call(self, event, agent, signal)
        async with lock:
            busy[self.instance.package] = (agent, lock)
            return await Subscription.call(self, event, agent, signal)


_BUSY: Final[dict[object, tuple[Agent | None, asyncio.Lock]]] = {}
"""Which agent a package's handlers are busy with."""


@mutant()
class HandlersServeOneAgentAtATime(Dispatch):
    """Lets a package's handlers wait while one of them is busy with another agent's call."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        return [_InTurn(each.instance, each.handler) for each in super().subscriptions(agent, event)]


@mutant()
class UpdatesGoByTheCallId(ExecutionEvents):
    """Tells an update as one of the call that was last started with the id."""

    def start(self, call: Call) -> None:
        last: dict[str, Call] = self.__dict__.setdefault("_last", {})
        last[call.call_id] = call
        super().start(call)

    def update_event(self, call: Call, partial: Any) -> Event:
        last: dict[str, Call] = self.__dict__.setdefault("_last", {})
        return super().update_event(last.get(call.call_id, call), partial)


@mutant()
class CancelledStartsDoNotEnd(Bridge):
    """Tells no end of a call that was cancelled while its start was told."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        call = self.calls.of(execution)
        await self.events.started(call)
        call.ended = call.ended or execution.signal.aborted
        return await super().before_call(execution, following)


@mutant()
class SixteenBlocksKept(Contents):
    """Keeps the first sixteen blocks of a content."""

    def blocks(self, content: Any) -> list[Any]:
        return super().blocks(content)[:16]


@mutant()
class TurnsEndAfterTwentyFiveSteps(Agent):
    """Ends a turn after twenty-five steps."""

    async def _run_step(
        self, activity: Any, assembly: Assembly, messages: list[Message], signal: AbortSignal
    ) -> dict[str, Json] | None:
        reason = await super()._run_step(activity, assembly, messages, signal)
        return {"kind": "completed"} if reason is None and activity.step >= 25 else reason
