"""Pi's batch rule: the loop stops after a batch if every call in it asked to stop."""

from __future__ import annotations

from reference_bridge.bridge.calls import Call
from reference_bridge.host.decisions import Decision
from reference_bridge.host.loop import Agent, PreStep
from reference_bridge.host.messages import Message
from reference_bridge.host.waterfall import Next


class BatchVotes:
    """Counts, agent by agent, the calls of the batch at hand that are over, and those that asked to stop.

    The votes belong to one batch: they are dropped when the next one begins, also if that is another turn's.
    """

    def __init__(self) -> None:
        self._batches: dict[Agent, tuple[tuple[int, int], list[bool]]] = {}

    def finalized(self, call: Call) -> None:
        """Count a call that is over, once."""
        if call.agent is None or call.logged is None:
            return
        place = (call.logged.data["turn"], call.logged.data["step"])
        current, votes = self._batches.get(call.agent, (place, []))
        if current != place:
            votes = []
        self._batches[call.agent] = (place, [*votes, call.asked_to_stop])

    def stops(self, agent: Agent, turn: int, step: int) -> bool:
        """Whether the batch of this step has calls, and all of them asked to stop."""
        place, votes = self._batches.get(agent, (None, []))
        return place == (turn, step) and bool(votes) and all(votes)

    async def enter(self, pre_step: PreStep, following: Next) -> Decision:
        """Answer the host's question whether the next step may be entered.

        A rejected step loses the messages taken for it, and prompts that wait are not started. So where somebody has
        said something the turn goes on with it, as on Pi.
        """
        if not self.stops(pre_step.agent, pre_step.turn, pre_step.step - 1):
            return await self.pass_on(following)
        waiting = self.take_waiting(pre_step.agent)
        if not pre_step.messages and not waiting:
            return {"kind": "reject"}
        decision = await self.pass_on(following)
        if waiting and decision.get("kind") == "enter":
            return {**decision, "messages": [*decision["messages"], *waiting]}
        return decision

    async def pass_on(self, following: Next) -> Decision:
        """What everybody else decides."""
        decision: Decision = await following()
        return decision

    def take_waiting(self, agent: Agent) -> list[Message]:
        """Take what came too late for this step, and the first prompt that waits for a turn of its own."""
        inbox = agent.inbox
        waiting = [*inbox.next_step, *inbox.next_turn[:1]]
        return [message for message in waiting if inbox.remove(message["id"])]

    def forget(self, agent: Agent) -> None:
        """Drop the votes of an agent that is gone."""
        self._batches.pop(agent, None)
