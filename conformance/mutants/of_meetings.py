"""Defects that show where agents, packages, other calls or the host's policy come into the middle of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.bridge import Bridge, Installed
from reference_bridge.bridge.calls import Call, Calls
from reference_bridge.bridge.context import Context
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.values import as_object, same_json
from reference_bridge.host import Agent, Execution, SessionEvent, ToolResult, allow
from reference_bridge.host.decisions import Decision
from reference_bridge.host.messages import text_block
from reference_bridge.host.waterfall import Next, settle

# --- votes ------------------------------------------------------------------------------------------------------------


@mutant()
class AnyAgentsStartDropsTheVotes(Bridge):
    """Forgets what calls of every agent wanted when an agent begins."""

    def agent_started(self, agent: Agent) -> None:
        self.votes = self.votes_type()
        super().agent_started(agent)


@mutant()
class AnyReloadDropsTheVotes(Bridge):
    """Forgets what calls of every agent wanted when a package is put in its place."""

    async def install(self, installed: Installed, at: int) -> None:
        self.votes = self.votes_type()
        await super().install(installed, at)


@mutant()
class CallsKnownByTheirPlace(Calls):
    """Takes the call of one agent for that of another at the same place of its log."""

    def open(self, agent: Agent, event: SessionEvent) -> Call:
        call = super().open(agent, event)
        self._logged["", event.seq] = self._logged.pop((agent.id, event.seq))
        return call

    def close(self, agent: Agent, event: SessionEvent) -> Call | None:
        return next(
            (call for seq in event.source_event_seqs or () if (call := self._logged.pop(("", seq), None))), None
        )


@mutant()
class VotesKeptByTheAgentsId(BatchVotes):
    """Counts the calls of an agent that has ended for a new one of its id."""

    def finalized(self, call: Call) -> None:
        self.move(call.agent)
        super().finalized(call)

    def move(self, agent: Agent | None) -> None:
        """Give the votes of an agent of this id to this one."""
        for known in [each for each in self._batches if agent is not None and each.id == agent.id]:
            self._batches[agent] = self._batches.pop(known)  # type: ignore[index]

    def forget(self, agent: Agent) -> None:
        return


@mutant()
class NestedWishesAreTheCallers(Bridge):
    """Takes the wish of a call that another tool makes for the wish of that tool's own call."""

    def left_pipeline(self, execution: Execution, result: ToolResult) -> None:
        call = self.calls.of(execution)
        if call.logged is None and call.agent is not None and call.asked_to_stop:
            for caller in self.calls.open_calls(call.agent):
                caller.asked_to_stop = True
        super().left_pipeline(execution, result)


# --- policy -----------------------------------------------------------------------------------------------------------


@mutant()
class ChangedCallsAreAllowed(Bridge):
    """Answers allow of its own where handlers changed the arguments of a package's tool."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        call = self.calls.of(execution)
        self.look_up(call, execution)
        before = deepcopy(call.input)

        async def unless_changed() -> Any:
            changed = call.tool is not None and call.invalid is None and not same_json(before, call.input)
            return allow() if changed else await following()

        return await super().before_call(execution, unless_changed)


@mutant()
class QuestionsEndTheCall(Bridge):
    """Tells the end of a call when the host's policy asks about it."""

    async def guarded(self, call: Call, following: Next) -> Any:
        answer = await super().guarded(call, following)
        if as_object(answer).get("kind") == "ask":
            await self.events.end(call, Outcome({"content": [text_block("a question")], "details": {}}, True))
        return answer


# --- results and ends -------------------------------------------------------------------------------------------------


@mutant()
class ResultsOfToolsThatAreGoneNotAsked(Bridge):
    """Asks no handler about the result of a tool that its agent no longer sees."""

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        call = self.calls.of(execution)
        call.executed = call.executed and self.visible(execution) is not None
        return await super().after_body(execution, result, following)


@mutant()
class EndsOfNativesSideBySideNotAwaited(Bridge):
    """Does not wait for the handlers of the end of a native call while another call is open."""

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        call = self.calls.of(execution)
        others = [] if call.agent is None else [each for each in self.calls.open_calls(call.agent) if each is not call]
        if call.tool is not None or not others:
            return await super().after_body(execution, result, following)
        decision: Decision = await self.guarded(call, following)
        outcome = await self.outcome(call, execution, result, decision)
        outcome, decision = await self.patches.apply(call, execution, outcome, decision)
        self.events.end_beside(call, outcome)
        return decision


@mutant()
class ResultsHandledForNobody(ResultPatches):
    """Makes what tool_result handlers call a call for no agent in particular."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        return await super().ask([_ForNobody(each) for each in subscriptions], call, event, execution)


class _ForNobody(Subscription):
    def __init__(self, subscription: Subscription) -> None:
        super().__init__(subscription.instance, subscription.handler)

    async def call(self, event: Event, agent: Agent | None, signal: Any) -> Any:
        return await settle(self.handler(event, Context(agent, signal)))
