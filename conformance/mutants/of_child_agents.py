"""Defects of how packages stand to agents that work for other agents."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.dispatch import Dispatch, Subscription
from reference_bridge.bridge.packages import Instance
from reference_bridge.host import Agent


@mutant()
class ChildAgentsOnlyStart(Dispatch):
    """Tells packages of the starts of a child agent's calls and of nothing else of them."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        served = agent
        if agent is not None and agent.owner is not None and event == "tool_execution_start":
            served = agent.owner
        return super().subscriptions(served, event)


@mutant()
class RestrictionFollowsToChildAgents(ActiveTools):
    """Narrows an agent that is created to work for a narrowed one."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        names = list(wanted)
        super().apply(instance, agent, names)

        def narrow(new: Agent) -> None:
            if new.owner is agent:
                self.apply(instance, new, names)

        self._host.on("agent/start", narrow)


@mutant()
class ChildAgentsHeard(Dispatch):
    """Tells packages of everything that an agent does which works for the one they serve."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        return super().subscriptions(agent.owner if agent is not None and agent.owner is not None else agent, event)


@mutant()
class ChildAgentsUpdatesHeard(Dispatch):
    """Tells packages of the updates of the calls of an agent that works for the one they serve."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        if agent is not None and agent.owner is not None and event == "tool_execution_update":
            agent = agent.owner
        return super().subscriptions(agent, event)


@mutant()
class ChildAgentsJudged(Dispatch):
    """Asks who judges the calls of an agent about those of an agent that works for it."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        if agent is not None and agent.owner is not None and event == "tool_call":
            agent = agent.owner
        return super().subscriptions(agent, event)
