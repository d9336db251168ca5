"""Right bridges that serve agents by other instances, in other scopes, or under other ids."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast
from uuid import uuid4

from conformance.drivers.backend import Suite
from conformance.drivers.protocol import Initialize, InitializeResult, TraceNote
from conformance.drivers.reference.backend import ReferenceBackend
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge, Installed
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Entry, Registrations
from reference_bridge.host import RUN_CODE, Agent, Host
from tests.right_bridges.table import right

EVERYTHING = ("registerTool.*", "unregisterTool.*", "*etA*Tools.*", "tool_*")


class _OnEachScope(Registrations):
    def place(self, entry: Entry) -> None:
        agent = entry.tool.instance.agent
        if agent is not None:
            super().place(entry)
            return
        if entry.tool.name == RUN_CODE:
            raise ValueError("the name is reserved")  # As every scope would say.
        entry.shadows = True
        for each in self._host.agents:
            if each.owner is None:
                self.place_in(entry, each.scope)

    def agent_started(self, agent: Agent) -> None:
        if agent.owner is None:
            super().agent_started(agent)


class _ListedEverywhere(ActiveTools):
    """Before there is an agent the packages' tools stand nowhere; they are listed all the same."""

    registrations: Registrations

    def visible(self, instance: Instance) -> dict[str, Any]:
        seen = super().visible(instance)
        if self.agent_of(instance) is None:
            seen |= {each.tool.name: each.definition for each in self.registrations}
        return seen


class _OnEachScopeBridge(Bridge):
    registrations_type = _OnEachScope
    active_tools_type = _ListedEverywhere

    def __init__(self, host: Host, mount: Any = "root") -> None:
        super().__init__(host, mount)
        cast(_ListedEverywhere, self.active_tools).registrations = self.registrations


@right(*EVERYTHING)
class OneInstanceOnEachScope(ReferenceBackend):
    """Runs one instance of a package for all agents, and registers its tools on the scope of each agent.

    Free: where a bridge registers is its own affair; it does not declare that packages' tools can be switched off, and
    `setActiveTools.own-tools-go-or-are-named` has a side for it.
    """

    parts = {"bridge_type": _OnEachScopeBridge}  # noqa: RUF012 - read once

    def _initialize(self, message: Initialize) -> InitializeResult:
        hello = super()._initialize(message)
        hello.capabilities.remove("package-tools-restrictable")
        return hello


@right(*EVERYTHING, mount="engine")
class AnInstanceForEachAgent(Bridge):
    """Runs an instance of each package for each agent, whose tools stand on the agent's own scope.

    Free: a bridge may make one instance an agent; rules look at instances that serve an agent.
    """


class _AnchoredBridge(Bridge):
    async def install(self, installed: Installed, at: int) -> None:
        self.installed.insert(at, installed)
        try:
            await self.run_factory(installed, None)
            for agent in [agent for agent in self.host.agents if agent.owner is None]:
                await self.run_factory(installed, agent)
        except Exception:
            self.unload(installed.package.name)
            raise

    def instances(self, agent: Agent | None) -> Any:
        return (each for each in super().instances(agent) if each.agent is not None)


class _AnchoredRegistrations(Registrations):
    def register(self, instance: Instance, definition: Any) -> None:
        if instance.agent is not None:
            super().register(instance, definition)


class _AnchoredLists(ActiveTools):
    def set(self, instance: Instance, names: Any) -> None:
        if instance.agent is None:
            self.wanted(names)
            return
        super().set(instance, names)


class _WithAnAnchor(_AnchoredBridge):
    registrations_type = _AnchoredRegistrations
    active_tools_type = _AnchoredLists


class _TellsOfAnchors:
    """A suite that is told of instances that serve nobody as anchors."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite

    def __getattr__(self, name: str) -> Any:
        return getattr(self._suite, name)

    def note(self, message: TraceNote) -> None:
        if message.kind == "instance.created" and message.agent is None:
            message = TraceNote(kind="instance.created", data={**message.data, "role": "anchor"})
        self._suite.note(message)


@right(*EVERYTHING, mount="engine")
class OneInstanceMoreAsAnchor(ReferenceBackend):
    """Runs one more instance of each package, which serves no agent and registers nothing, to see whether it loads.

    Free: a bridge may make one instance an agent and one more as anchor; rules look at those that serve an agent.
    """

    parts = {"bridge_type": _WithAnAnchor}  # noqa: RUF012 - read once

    def __init__(self, suite: Suite, *more: Any) -> None:
        super().__init__(cast(Suite, _TellsOfAnchors(suite)), *more)


class _RandomNumbers:
    """Ids nobody can guess, of letters and of any length."""

    def __iter__(self) -> _RandomNumbers:
        return self

    def __next__(self) -> str:
        return str(uuid4())


@right("*payload*", "tool_execution_*", "registerTool.execute*")
class IdsThatAreNoNumbers(ReferenceBackend):
    """Names invocations, instances and API calls by random words.

    Free: what an id looks like says nothing; rules ask which are equal.
    """

    def __init__(self, *more: Any) -> None:
        super().__init__(*more)
        self._numbers = cast(Any, _RandomNumbers())


class _ServesChildren(Bridge):
    def instances(self, agent: Agent | None) -> Iterator[Instance]:
        for installed in list(self.installed):
            yield from [instance for instance in installed.instances if instance.serves(agent)]


class _InstancesForChildren(_ServesChildren):
    def agent_started(self, agent: Agent) -> None:
        super().agent_started(agent)
        if agent.owner is not None and self.installed:
            self._starting[agent] = asyncio.create_task(self.serve(agent))

    async def install(self, installed: Installed, at: int) -> None:
        await super().install(installed, at)
        for agent in self.host.agents:
            if agent.owner is not None:
                await self.run_factory(installed, agent)


@right("*child-agent*", "*call*agent*", mount="engine")
class ChildAgentsHaveInstances(_InstancesForChildren):
    """Runs an instance of each package for an agent that works for another, too.

    Free: no rule says that such an agent has no packages; its creator's instances hear nothing of it.
    """


@right(
    "*child-agent*",
    "*call*agent*",
    mount="root",
    departs=(
        "tool_execution_start.a-child-agents-calls-are-its-own",
        "tool_call.a-child-agents-calls-are-judged-by-no-other",
    ),
)
class ChildAgentsAreHeardByAll(_ServesChildren):
    """Tells the one instance of a package of the calls of agents that work for others as of any other's.

    Free: that its handlers do not hear them is a should, by `tool_execution_start.a-child-agents-calls-are-its-own` and
    `tool_call.a-child-agents-calls-are-judged-by-no-other`.
    """
