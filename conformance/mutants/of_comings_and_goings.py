"""Defects that show when agents and packages come and go beside others, and in what is empty or told twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.bridge import Bridge, Installed
from reference_bridge.bridge.calls import Call, Calls
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.packages import Instance, Package
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Agent, Execution, Session, SessionEvent, allow, deny
from reference_bridge.host.decisions import Decision
from reference_bridge.host.waterfall import Next

# --- agents -----------------------------------------------------------------------------------------------------------


class _ServesSome(Bridge):
    def serves(self, agent: Agent) -> bool:
        raise NotImplementedError

    def instances(self, agent: Agent | None) -> Iterator[Instance]:
        if agent is None or self.serves(agent):
            yield from super().instances(agent)


@mutant()
class LatecomersAreNotServed(_ServesSome):
    """Tells packages nothing of agents that were not there when the first call was made."""

    def logged(self, session: Session, event: SessionEvent) -> None:
        if event.type == "tool/call" and "_there" not in self.__dict__:
            self._there = set(self.host.agents)
        super().logged(session, event)

    def serves(self, agent: Agent) -> bool:
        return agent in self.__dict__.get("_there", (agent,))


@mutant()
class IdsOfEndedAgentsAreDeaf(_ServesSome):
    """Tells packages nothing of an agent with the id of one that has ended."""

    def agent_ended(self, agent: Agent) -> None:
        super().agent_ended(agent)
        self.__dict__.setdefault("_ended", set()).add(agent.id)

    def serves(self, agent: Agent) -> bool:
        return agent.id not in self.__dict__.get("_ended", ())


@mutant()
class AnyAgentsEndTakesTheHandlers(Bridge):
    """Drops every handler of every package when an agent ends."""

    def agent_ended(self, agent: Agent) -> None:
        super().agent_ended(agent)
        for installed in self.installed:
            for instance in installed.instances:
                instance.handlers.clear()


@mutant()
class AnyAgentsEndDropsTheCalls(Calls):
    """Lets go of every agent's running calls when an agent ends."""

    def drop(self, agent: Agent) -> None:
        self._logged.clear()
        self._running.clear()


@mutant()
class AnyAgentsEndDropsTheVotes(BatchVotes):
    """Forgets what calls of every agent wanted when an agent ends."""

    def forget(self, agent: Agent) -> None:
        self._batches.clear()


# --- packages ---------------------------------------------------------------------------------------------------------


@mutant()
class ReloadedPackagesComeLast(Bridge):
    """Puts a package that is reloaded behind those that were not."""

    async def reload(self, name: str, replacement: Package | None = None) -> None:
        installed = self.find(name)
        self.unload(name)
        await self.install(Installed(replacement or installed.package), len(self.installed))


@mutant()
class OneFailureOfAnEventTold(Dispatch):
    """Reports what the first handler of an event throws, and nothing of what further ones throw."""

    def failed(self, subscription: Subscription, event: Event, error: Exception) -> None:
        if self.__dict__.get("_told") is not event:
            self._told = event
            super().failed(subscription, event, error)


# --- what is empty ----------------------------------------------------------------------------------------------------


def _filled(value: Any) -> Any:
    return {key: item for key, item in value.items() if item} if isinstance(value, dict) else value


@mutant()
class EmptyArgumentsLostInStarts(ExecutionEvents):
    """Gives a start no argument that is null, false, zero or empty."""

    def start_event(self, call: Call) -> Event:
        event = super().start_event(call)
        return {**event, "args": _filled(event["args"])}


@mutant()
class EmptyArgumentsLost(ToolRuns):
    """Hands on no argument that is null, false, zero or empty."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        return _filled(super().validated(tool, arguments))


# --- the user, the operator and the host's policy ---------------------------------------------------------------------


@mutant()
class SteeringSkipsTheRest(Bridge):
    """Denies the calls of a message that come after something the user has said."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        waits = execution.agent is not None and execution.agent.inbox.has_pending
        return deny("skipped, since the user has said something") if waits else decision


@mutant()
class RemovalSilencesTheNext(Bridge):
    """Drops the handlers of the packages that were loaded after one that is removed."""

    def unload(self, name: str) -> None:
        at = self.installed.index(self.find(name))
        super().unload(name)
        for installed in self.installed[at:]:
            for instance in installed.instances:
                instance.handlers.clear()


class _ChangesWhatFollows(Bridge):
    def change(self, decision: Decision) -> Decision:
        return decision

    async def failed(self, error: Exception) -> Decision:
        raise error

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        async def changed() -> Decision:
            try:
                decision: Decision = await following()
            except Exception as error:
                return await self.failed(error)
            return self.change(decision)

        return await super().before_call(execution, changed)


@mutant()
class InnerQuestionsLoseTheirWords(_ChangesWhatFollows):
    """Hands on a question of the host's policy without its reason."""

    def change(self, decision: Decision) -> Decision:
        return {"kind": "ask"} if as_object(decision).get("kind") == "ask" else decision


@mutant()
class InnerThrowsAllow(_ChangesWhatFollows):
    """Lets the call run where a listener of the host throws."""

    async def failed(self, error: Exception) -> Decision:
        return allow()


# --- packages that come back ------------------------------------------------------------------------------------------


@mutant()
class ARemovedPackageStaysRemoved(Bridge):
    """Takes a package that it knew before for one that is there, and loads nothing."""

    async def load(self, package: Package) -> None:
        known = self.__dict__.setdefault("_known", set())
        if package.name not in known:
            known.add(package.name)
            await super().load(package)


@mutant()
class RemovedNamesStayTaken(Registrations):
    """Refuses the name of a tool that went with its package."""

    def drop(self, instance: Instance) -> None:
        taken = {entry.tool.name for entry in self if entry.tool.instance is instance}
        self.__dict__.setdefault("_taken", set()).update(taken)
        super().drop(instance)

    def register(self, instance: Instance, definition: Any) -> None:
        if as_object(definition).get("name") not in self.__dict__.get("_taken", ()):
            super().register(instance, definition)


@mutant()
class RemovedHandlersComeBackToo(Bridge):
    """Wakes the handlers of a removed package when it is loaded again, beside those of its new factory."""

    def unload(self, name: str) -> None:
        self.__dict__.setdefault("_asleep", {})[name] = list(self.find(name).instances)
        super().unload(name)

    async def install(self, installed: Installed, at: int) -> None:
        await super().install(installed, at)
        for instance in self.__dict__.get("_asleep", {}).pop(installed.package.name, []):
            instance.active = True
            installed.instances.append(instance)
