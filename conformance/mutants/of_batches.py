"""Defects of the batch rule."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.tools import ToolRuns
from reference_bridge.bridge.values import as_object, is_truthy
from reference_bridge.host import Agent, PreStep
from reference_bridge.host.decisions import Decision
from reference_bridge.host.messages import Message
from reference_bridge.host.waterfall import Next


@mutant()
class AnyVoteStops(BatchVotes):
    """Stops when any call of the batch asked to."""

    def stops(self, agent: Agent, turn: int, step: int) -> bool:
        place, votes = self._batches.get(agent, (None, []))
        return place == (turn, step) and any(votes)


@mutant()
class VotesCountedPerPackage(BatchVotes):
    """Counts only the calls of packages' tools; a batch with an unknown name stops without it."""

    def finalized(self, call: Call) -> None:
        if call.tool is not None:
            super().finalized(call)


@mutant()
class OnlyBlocksVote(ToolRuns):
    """Overlooks terminate in a tool's own result."""

    def asks_to_stop(self, answer: Any) -> bool:
        return False


@mutant()
class OnlyResultsVote(ToolCallGate):
    """Overlooks terminate beside a block."""

    def read(self, answer: Any) -> Verdict | None:
        verdict = super().read(answer)
        return verdict and Verdict(verdict.reason)


class _CountsAsVotes(BatchVotes):
    def counts(self, call: Call) -> bool:
        raise NotImplementedError

    def finalized(self, call: Call) -> None:
        call.asked_to_stop = call.asked_to_stop or self.counts(call)
        super().finalized(call)


@mutant()
class UnfinishedCallsCountAsVotes(_CountsAsVotes):
    """Takes unknown and invalid calls for calls that asked to stop."""

    def counts(self, call: Call) -> bool:
        return call.invalid is not None or not call.known


@mutant()
class RefusedCallsCountAsVotes(_CountsAsVotes):
    """Takes a call refused for its changed arguments for one that asked to stop."""

    def counts(self, call: Call) -> bool:
        return call.known and call.tool is None and not call.executed


@mutant()
class DeniedCallsCountAsVotes(_CountsAsVotes):
    """Takes a call the host denied for one that asked to stop."""

    def counts(self, call: Call) -> bool:
        return not call.known and call.invalid is None and not call.prepared


@mutant()
class TruthyTerminateVotes(Bridge):
    """Takes any truthy terminate for a wish to stop."""

    class gate_type(ToolCallGate):
        def read(self, answer: Any) -> Verdict | None:
            verdict = super().read(answer)
            return verdict and Verdict(verdict.reason, is_truthy(as_object(answer).get("terminate")))

    class runs_type(ToolRuns):
        def asks_to_stop(self, answer: Any) -> bool:
            return is_truthy(as_object(answer).get("terminate"))


@mutant()
class SteeringLostAtTheStop(BatchVotes):
    """Stops without looking whether the user has said something."""

    async def enter(self, pre_step: PreStep, following: Next) -> Decision:
        if self.stops(pre_step.agent, pre_step.turn, pre_step.step - 1):
            return {"kind": "reject"}
        return await self.pass_on(following)


@mutant()
class FollowUpParkedAtTheStop(BatchVotes):
    """Leaves a follow-up waiting when it stops."""

    def take_waiting(self, agent: Agent) -> list[Message]:
        return []


@mutant()
class StopSticks(BatchVotes):
    """Rejects every step after the first batch that stopped, whatever the user says."""

    async def enter(self, pre_step: PreStep, following: Next) -> Decision:
        self._stuck = getattr(self, "_stuck", False) or self.stops(pre_step.agent, pre_step.turn, pre_step.step - 1)
        return {"kind": "reject"} if self._stuck else await self.pass_on(following)


@mutant()
class VoteOutlivesItsBatch(BatchVotes):
    """Lets the first vote for a stop decide about later batches too."""

    def stops(self, agent: Agent, turn: int, step: int) -> bool:
        place, votes = self._batches.get(agent, (None, []))
        self._stuck = getattr(self, "_stuck", False) or (place == (turn, step) and bool(votes) and all(votes))
        return self._stuck


@mutant()
class EarlierCallsCount(BatchVotes):
    """Never drops what calls of earlier batches wanted, so that one that did not ask keeps every later one going."""

    def finalized(self, call: Call) -> None:
        kept = self._batches.get(call.agent, (None, []))[1] if call.agent is not None else []
        super().finalized(call)
        if call.agent is not None and call.agent in self._batches:
            place, votes = self._batches[call.agent]
            self._batches[call.agent] = (place, [*kept, *votes[-1:]])


@mutant()
class VoteOutlivesACancel(BatchVotes):
    """Keeps the vote of a cancelled batch, and rejects the next prompt for it."""

    def finalized(self, call: Call) -> None:
        super().finalized(call)
        self._kept = call.asked_to_stop

    async def enter(self, pre_step: PreStep, following: Next) -> Decision:
        kept, self._kept = getattr(self, "_kept", False), False
        if kept and not self.stops(pre_step.agent, pre_step.turn, pre_step.step - 1):
            return {"kind": "reject"}
        return await super().enter(pre_step, following)


@mutant()
class VotesSharedBetweenAgents(BatchVotes):
    """Counts the calls of all agents as one batch."""

    def finalized(self, call: Call) -> None:
        if call.agent is not None:
            self._all = [*getattr(self, "_all", []), call.asked_to_stop]
        super().finalized(call)

    def stops(self, agent: Agent, turn: int, step: int) -> bool:
        place, votes = self._batches.get(agent, (None, []))
        return place == (turn, step) and bool(votes) and any(getattr(self, "_all", []))


@mutant()
class VotesKeptByCallId(BatchVotes):
    """Lets the last of several calls with one id decide for all of them."""

    def finalized(self, call: Call) -> None:
        wishes: dict[tuple[Agent | None, str], bool] = self.__dict__.setdefault("_wishes", {})
        super().finalized(call)
        kept = self._batches.get(call.agent) if call.agent is not None else None
        if kept is None or call.agent is None:
            return
        place, votes = kept
        if len(votes) == 1:
            wishes.clear()
        again = (call.agent, call.call_id) in wishes
        wishes[call.agent, call.call_id] = call.asked_to_stop
        if again:
            self._batches[call.agent] = (place, [*votes[:-2], call.asked_to_stop])
