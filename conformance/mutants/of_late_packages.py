"""Defects of bridges that do not know whom a package serves that was loaded while its agent was there."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge, Installed
from reference_bridge.bridge.dispatch import Dispatch, Event
from reference_bridge.bridge.packages import Instance, current_agent
from reference_bridge.host import Agent
from reference_bridge.host.signals import AbortSignal

_LATE = "_loaded_while_agents_were_there"


class _NoAgentBeside(ActiveTools):
    """Takes no agent to be meant outside of the work of one, by an instance that came late; its wishes wait."""

    def agent_of(self, instance: Instance) -> Agent | None:
        if instance in self.__dict__.get(_LATE, ()) and current_agent() is None:
            return None
        return super().agent_of(instance)

    def fulfil_intents(self, agent: Agent) -> bool:
        kept = {each: self._intents.pop(each) for each in self.__dict__.get(_LATE, ()) if each in self._intents}
        fulfilled = super().fulfil_intents(agent)
        self._intents.update(kept)
        return fulfilled


class _MarksTheLate(Bridge):
    """Knows which instances came while agents were there."""

    active_tools_type = _NoAgentBeside

    async def install(self, installed: Installed, at: int) -> None:
        late = bool(list(self.host.agents))
        await super().install(installed, at)
        if late:
            for part in (self.active_tools, self.dispatch):
                part.__dict__.setdefault(_LATE, set()).update(installed.instances)


@mutant()
class LatePackagesKnowNoAgent(_MarksTheLate):
    """Keeps for nobody a list that a package loaded later sets between two prompts."""


@mutant()
class LatePackagesStartForNobody(_MarksTheLate):
    """Tells a package that was loaded later of the start of a call as if it were no agent's."""

    class dispatch_type(Dispatch):
        async def tell(self, agent: Agent | None, event: Event, signal: AbortSignal | None = None) -> None:
            late: set[Any] = self.__dict__.get(_LATE, set())
            for subscription in self.subscriptions(agent, event["type"]):
                nobody = event["type"] == "tool_execution_start" and subscription.instance in late
                try:
                    await subscription.call(event, None if nobody else agent, signal)
                except Exception as error:
                    self.failed(subscription, event, error)
