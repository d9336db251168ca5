"""Defects of hosts that keep something from one question, turn or agent to the next, or take too little for nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.host import Execution
from reference_bridge.host.approval import AskResolution
from reference_bridge.host.inbox import Inbox, Target
from reference_bridge.host.json_values import UNDEFINED, Json, member
from reference_bridge.host.loop import Agent
from reference_bridge.host.messages import Message
from reference_bridge.host.model import ToolCall
from reference_bridge.host.pipeline import Pipeline, Step
from reference_bridge.host.results import CallRequest, ToolResult
from reference_bridge.host.scheduler import Batch
from reference_bridge.host.scopes import Disposer, Scope
from reference_bridge.host.tools import Tools
from reference_bridge.host.waterfall import Events, Listener

# --- questions and reasons --------------------------------------------------------------------------------------------


class _Remembers(AskResolution):
    kind = "allow"

    async def __call__(self, execution: Execution, ask: Json) -> tuple[Json, bool]:
        known: dict[object, tuple[Json, bool]] = self.__dict__.setdefault("_known", {})
        key = (execution.agent, execution.name)
        if key not in known:
            answer = await super().__call__(execution, ask)
            if member(answer[0], "kind") != self.kind or self._service is None:
                return answer
            known[key] = answer
        return known[key]


@mutant()
class AllowedOnceIsRemembered(_Remembers):
    """Asks no more about a tool that the user allowed once."""


@mutant()
class RejectionsAreRemembered(_Remembers):
    """Asks no more about a tool that the user rejected."""

    kind = "deny"


@mutant()
class EmptyQuestionsGetAText(AskResolution):
    """Takes the empty reason of a question for none, and denies with a text of its own."""

    async def __call__(self, execution: Execution, ask: Json) -> tuple[Json, bool]:
        return await super().__call__(execution, {"kind": "ask"} if member(ask, "reason") == "" else ask)


@mutant()
class EmptyGuardReasonsPass(Tools):
    """Lets a call pass that a guard denies with an empty reason."""

    def guard_reason(self, execution: Execution) -> Any:
        reason = super().guard_reason(execution)
        return UNDEFINED if reason == "" else reason


# --- cancels and input ------------------------------------------------------------------------------------------------


class _HearsOfCancels(Agent):
    def is_ending(self) -> bool:
        """Whether a cancelled turn is not over yet."""
        return self._activity is not None and self._activity.abort.signal.aborted


@mutant()
class InputBehindACancelIsLost(_HearsOfCancels):
    """Drops what is said while a cancelled turn ends."""

    def _send(self, target: Target, message: str | Message) -> None:
        if not self.is_ending():
            super()._send(target, message)


@mutant()
class InputBehindACancelWaits(_HearsOfCancels):
    """Keeps what is said while a cancelled turn ends until somebody says something else."""

    def _send(self, target: Target, message: str | Message) -> None:
        super()._send(target, message)
        if self.is_ending() and self._activity is not None:
            self._activity.wake_again = False


@mutant()
class IdleCancelsHitTheNextTurn(Agent):
    """Cancels the next turn of an agent that was cancelled while it rested."""

    def cancel(self, cause: Json = None, *, keep_inbox: bool = False) -> None:
        self.__dict__["_is_due"] = self._activity is None
        super().cancel(cause, keep_inbox=keep_inbox)

    def _wake(self) -> None:
        super()._wake()
        if self.__dict__.pop("_is_due", False):
            self.cancel(keep_inbox=True)


@mutant()
class LastCauseCounts(Agent):
    """Ends a turn with the cause of the last cancel."""

    def cancel(self, cause: Json = None, *, keep_inbox: bool = False) -> None:
        super().cancel(cause, keep_inbox=keep_inbox)
        if self._activity is not None and cause is not None:
            self._activity.abort.signal._reason = cause


@mutant()
class SteeringBeforeTheLastAnswerIsLost(Agent):
    """Ends a turn with the first answer without calls, and drops what was steered before."""

    def steer(self, message: str | Message) -> None:
        types = [event.type for event in self.session.events]
        if self._activity is None or "assistant/message" in types[len(types) - types[::-1].index("turn/start") :]:
            super().steer(message)


@mutant()
class KeptInputIsAnsweredLast(Agent):
    """Takes the prompt that came last first, where one was left by a cancel."""

    def _send(self, target: Target, message: str | Message) -> None:
        left = list(self.inbox.next_turn) if self._activity is None else []
        for each in left:
            self.inbox.remove(each["id"])
        super()._send(target, message)
        for each in left:
            self.inbox.add("next-turn", each)


@mutant()
class InjectingWakes(Agent):
    """Opens a turn with what is injected while the agent rests."""

    def inject(self, message: str | Message) -> None:
        self.steer(message)


@mutant()
class EqualInputIsTakenOnce(Inbox):
    """Drops input that says the same as what waits already."""

    def add(self, target: Target, message: Message) -> None:
        waiting = [each.get("content") for queue in self._queues.values() for each in queue]
        if message.get("content") not in waiting:
            super().add(target, message)


# --- listeners --------------------------------------------------------------------------------------------------------


@mutant()
class SecondFrontListenerComesSecond(Events):
    """Puts a listener that wants to be the first behind those that wanted so before."""

    def on(self, event: str, listener: Listener, *, scope: Scope | None = None, prepend: bool = False) -> Disposer:
        dispose = super().on(event, listener, scope=scope, prepend=prepend)
        if prepend:
            fronts: Counter[str] = self.__dict__.setdefault("_fronts", Counter())
            listeners = self._listeners[event]
            listeners.insert(fronts[event], listeners.pop(0))
            fronts[event] += 1
        return dispose


# --- deferred context -------------------------------------------------------------------------------------------------


class _DecidesOnContexts(Pipeline):
    def contexts(self, before: ToolResult, after: ToolResult) -> Sequence[Message]:
        """What joins the next step, of what a body left and what a listener after it made of that."""
        raise NotImplementedError

    async def _post_execute(self, execution: Execution, result: ToolResult) -> ToolResult:
        decided = await super()._post_execute(execution, result)
        if decided is result:
            return decided
        return decided.with_changes(additional_contexts=list(self.contexts(result, decided)))


@mutant()
class BlocksKeepDeferredContext(_DecidesOnContexts):
    """Keeps the context that a body deferred when a listener blocks its result."""

    def contexts(self, before: ToolResult, after: ToolResult) -> Sequence[Message]:
        kept = before.additional_contexts if after.is_error and not before.is_error else ()
        return [*kept, *after.additional_contexts]


@mutant()
class ReplacementsLoseDeferredContext(_DecidesOnContexts):
    """Loses the context that a body deferred when a listener replaces its result."""

    def contexts(self, before: ToolResult, after: ToolResult) -> Sequence[Message]:
        lost = [] if after.content == before.content else list(before.additional_contexts)
        return [each for each in after.additional_contexts if each not in lost]


# --- agents and pools -------------------------------------------------------------------------------------------------


@mutant()
class PolicyWaitsForOtherAgents(Pipeline):
    """Asks about one call at a time, of all agents together."""

    async def prepare(self, request: CallRequest) -> Step:
        if request.parent is not None:
            return await super().prepare(request)
        async with self.__dict__.setdefault("_policy", asyncio.Lock()):
            return await super().prepare(request)


@mutant()
class BodiesWaitForOtherAgents(Pipeline):
    """Runs the bodies of one agent at a time."""

    async def dispatch(self, execution: Execution) -> Step:
        bodies: Counter[object] = self.__dict__.setdefault("_bodies", Counter())
        freed: asyncio.Condition = self.__dict__.setdefault("_freed", asyncio.Condition())
        async with freed:
            await freed.wait_for(lambda: not any(n for agent, n in bodies.items() if agent is not execution.agent))
            bodies[execution.agent] += 1
        try:
            return await super().dispatch(execution)
        finally:
            async with freed:
                bodies[execution.agent] -= 1
                freed.notify_all()


@mutant()
class FullPoolsAreEmptiedFirst(Batch):
    """Starts the eleventh marked call when the ten before it are done."""

    async def _run_group(self, group: Sequence[tuple[ToolCall, CallRequest]]) -> int:
        return await super()._run_group(group[: self._pool_size])
