"""Defects of when packages begin, and of what ends with an agent, a package or a factory that throws."""

from __future__ import annotations

import asyncio

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge, Installed
from reference_bridge.bridge.packages import Instance
from reference_bridge.host import Agent


@mutant()
class FailedFactoryLeavesItsList(ActiveTools):
    """Applies the list that a package set before its factory threw."""

    def drop(self, instance: Instance) -> None:
        kept = self._intents.get(instance)
        super().drop(instance)
        if kept is not None:
            self._intents[instance] = kept

    def fulfil_intents(self, agent: Agent) -> bool:
        for instance in [each for each in self._intents if not each.active and each.agent in (None, agent)]:
            self.apply(instance, agent, self._intents.pop(instance))
        return super().fulfil_intents(agent)


@mutant()
class FactoriesNotAwaited(Bridge):
    """Does not wait for what a factory does after its first wait."""

    async def run_factory(self, installed: Installed, agent: Agent | None) -> None:
        running = asyncio.ensure_future(super().run_factory(installed, agent))
        self.__dict__.setdefault("_running", []).append(running)
        await asyncio.wait({running}, timeout=0.05)
        if running.done():
            await running


@mutant()
class PackagesEndWithAnAgent(Bridge):
    """Takes packages for gone when one of several agents ends."""

    def agent_ended(self, agent: Agent) -> None:
        for installed in self.installed:
            for instance in list(installed.instances):
                self.retire(instance)
        super().agent_ended(agent)


@mutant()
class ListEndsWithAnyAgent(ActiveTools):
    """Lifts every agent's list when one agent ends."""

    def forget(self, agent: Agent) -> None:
        for other in [each for each in self._masks if each is not agent]:
            self._masks.pop(other)[1]()
        super().forget(agent)


@mutant()
class UnloadTakesPackagesOfLikeNames(Bridge):
    """Removes, with a package, those whose names begin with its name."""

    def unload(self, name: str) -> None:
        super().unload(name)
        for installed in [each for each in self.installed if each.package.name.startswith(name)]:
            super().unload(installed.package.name)
