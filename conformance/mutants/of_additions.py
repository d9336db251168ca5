"""Defects that show with what a package adds while an agent is at work, and with what a call leaves to a later one."""

from __future__ import annotations

from conformance.mutants.registry import mutant
from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Subscription
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object, same_json
from reference_bridge.host import AbortController, AbortSignal, Agent, Execution, Json, Session, SessionEvent

# --- handlers ---------------------------------------------------------------------------------------------------------


class _KnowsLateOnes(Dispatch):
    """Tells apart the handlers that were there when a turn began, and those that were added in one."""

    def __init__(self, instances: object, notices: Notices) -> None:
        super().__init__(instances, notices)  # type: ignore[arg-type]
        self._early: set[int] = set()
        self._late: dict[int, object] = {}

    def begin(self, agent: Agent) -> None:
        """Take in who is there as a turn begins."""
        handlers = [each for instance in self._instances(agent) for many in instance.handlers.values() for each in many]
        self._early |= {id(each) for each in handlers} - self._late.keys()

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        return [each for each in super().subscriptions(agent, event) if self.hears(each, agent)]

    def hears(self, subscription: Subscription, agent: Agent | None) -> bool:
        if id(subscription.handler) in self._early:
            return True
        turn = None if agent is None else agent.session.latest("turn/start").get("turn")
        is_new = id(subscription.handler) not in self._late
        return self.late_one_hears(is_new, turn, self._late.setdefault(id(subscription.handler), turn))

    def late_one_hears(self, is_new: bool, turn: object, first: object) -> bool:
        """Whether one hears that was added at work: ``first`` is the turn of its first event."""
        raise NotImplementedError


class _NotesTurns(Bridge):
    def logged(self, session: Session, event: SessionEvent) -> None:
        agent = self.host.agents.get(session.id)
        if agent is not None and event.type == "turn/start" and isinstance(self.dispatch, _KnowsLateOnes):
            self.dispatch.begin(agent)
        super().logged(session, event)


@mutant()
class LateHandlersHearOnce(_NotesTurns):
    """Tells a handler that was added while an agent was at work of the first event only."""

    class dispatch_type(_KnowsLateOnes):
        def late_one_hears(self, is_new: bool, turn: object, first: object) -> bool:
            return is_new


@mutant()
class LateHandlersHearOneTurn(_NotesTurns):
    """Forgets a handler that was added while an agent was at work with the end of that turn."""

    class dispatch_type(_KnowsLateOnes):
        def late_one_hears(self, is_new: bool, turn: object, first: object) -> bool:
            return turn == first


@mutant()
class LateHandlersHearFromTheNextTurn(_NotesTurns):
    """Tells a handler that was added while an agent was at work of nothing before the next prompt."""

    class dispatch_type(_KnowsLateOnes):
        def late_one_hears(self, is_new: bool, turn: object, first: object) -> bool:
            return turn != first


# --- votes and signals ------------------------------------------------------------------------------------------------


@mutant()
class VotesInheritedByCallId(BatchVotes):
    """Keeps the wish to stop by call id, so that a call with that id in a later step has it, too."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: set[tuple[Agent | None, str]] = set()

    def finalized(self, call: Call) -> None:
        key = (call.agent, call.call_id)
        if call.asked_to_stop:
            self._asked.add(key)
        call.asked_to_stop = key in self._asked
        super().finalized(call)


@mutant()
class OnlyTrueBlocksVote(ToolCallGate):
    """Counts the wish to stop only beside a block that is true itself, not a 1 or a text."""

    def read(self, answer: object) -> Verdict | None:
        verdict = super().read(answer)
        if verdict is None or as_object(answer).get("block") is True:
            return verdict
        return Verdict(verdict.reason)


class _KeepsAborted(ToolRuns):
    """Hands on the signal of an earlier call, once that was aborted."""

    def key(self, call: Call, tool: PiTool) -> object:
        raise NotImplementedError

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> object:
        kept: dict[object, AbortSignal] = self.__dict__.setdefault("_kept", {})
        key, own = self.key(call, tool), execution.signal
        execution.signal = kept.get(key, own)
        try:
            return await super().execute(call, tool, execution)
        finally:
            if own.aborted:
                kept[key] = own
            execution.signal = own


@mutant()
class AbortedSignalIsHandedOn(_KeepsAborted):
    """Hands a tool the aborted signal of its earlier call, although the new turn was not cancelled."""

    def key(self, call: Call, tool: PiTool) -> object:
        return call.agent, tool.name


@mutant()
class AbortedSignalIsEverybodys(_KeepsAborted):
    """Hands every tool the aborted signal of a turn that was cancelled, for whichever agent it runs."""

    def key(self, call: Call, tool: PiTool) -> object:
        return None


# --- more than a few --------------------------------------------------------------------------------------------------


class _CountsSome(BatchVotes):
    def counted(self, votes: list[bool]) -> bool:
        raise NotImplementedError

    def stops(self, agent: Agent, turn: int, step: int) -> bool:
        place, votes = self._batches.get(agent, (None, []))
        return place == (turn, step) and bool(votes) and self.counted(votes)


@mutant()
class FirstTenVote(_CountsSome):
    """Stops the loop when the first ten calls of a batch asked to."""

    def counted(self, votes: list[bool]) -> bool:
        return all(votes[:10])


@mutant()
class LastTenVote(_CountsSome):
    """Stops the loop when the last ten calls of a batch asked to."""

    def counted(self, votes: list[bool]) -> bool:
        return all(votes[-10:])


@mutant()
class MoreThanTenNeverStop(_CountsSome):
    """Stops the loop after no batch of more than ten calls."""

    def counted(self, votes: list[bool]) -> bool:
        return all(votes) and len(votes) <= 10


class _ComparesAPart(ToolCallGate):
    def part(self, value: object, depth: int = 0) -> object:
        """What is compared of a native tool's arguments."""
        if isinstance(value, dict):
            return {key: self.part(item, depth + 1) for key, item in value.items()}
        return [self.part(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        if same_json(self.part(call.input), self.part(logged)):
            return None
        return super().refusal(call, logged)


@mutant()
class FarInUncompared(_ComparesAPart):
    """Compares a native tool's arguments three levels deep, as what is printed of them."""

    def part(self, value: object, depth: int = 0) -> object:
        return "…" if depth > 3 and isinstance(value, dict | list | tuple) else super().part(value, depth)


@mutant()
class LongListsUncompared(_ComparesAPart):
    """Compares the first hundred items of a list in a native tool's arguments."""

    def part(self, value: object, depth: int = 0) -> object:
        return super().part(value[:100] if isinstance(value, list | tuple) else value, depth)


@mutant()
class LongTextsUncompared(_ComparesAPart):
    """Compares the first ten thousand letters of a text in a native tool's arguments."""

    def part(self, value: object, depth: int = 0) -> object:
        return value[:10000] if isinstance(value, str) else super().part(value, depth)


# --- several agents, several bodies -----------------------------------------------------------------------------------


class _PassesCancelsOn(Bridge):
    def passes_on(self, cause: object) -> bool:
        """Whether a cancel of this cause hits every agent."""
        raise NotImplementedError

    def agent_started(self, agent: Agent) -> None:
        super().agent_started(agent)
        own = agent.cancel

        def cancel(cause: Json = None, *, keep_inbox: bool = False) -> None:
            own(cause, keep_inbox=keep_inbox)
            for other in self.host.agents if self.passes_on(cause) else ():
                if other is not agent:
                    type(other).cancel(other, cause)

        agent.cancel = cancel  # type: ignore[method-assign]


@mutant()
class CancelsAreForEveryAgent(_PassesCancelsOn):
    """Cancels the turns of all agents when the user cancels one."""

    def passes_on(self, cause: object) -> bool:
        return bool(as_object(cause).get("kind", "user") == "user")


@mutant()
class AbortsAreForEveryAgent(_PassesCancelsOn):
    """Cancels the turns of all agents when a package cancels one."""

    def passes_on(self, cause: object) -> bool:
        return bool(as_object(cause).get("kind") == "hook")


@mutant()
class LastBodyHearsOfTheCancel(ToolRuns):
    """Aborts the signal of the body that began last, and no other's, when the turn is cancelled."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> object:
        last: dict[Agent | None, AbortController] = self.__dict__.setdefault("_last", {})
        given, own = execution.signal, AbortController()
        last[call.agent] = own

        def hear() -> None:
            if last.get(call.agent) is own:
                own.abort(given.reason)

        given.add_listener(hear)
        execution.signal = own.signal
        try:
            return await super().execute(call, tool, execution)
        finally:
            execution.signal = given
            given.remove_listener(hear)


@mutant()
class EndedAgentsTakeCallsAlong(Bridge):
    """Forgets the calls of every agent when one is ended."""

    def agent_ended(self, agent: Agent) -> None:
        super().agent_ended(agent)
        for other in self.host.agents:
            for call in self.calls.open_calls(other):
                call.ended = True
