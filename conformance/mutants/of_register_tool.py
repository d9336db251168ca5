"""Defects of registerTool: policy, tools beside each other, when a tool is there, and with which package it goes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge, Installed
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import Instance, current_agent
from reference_bridge.bridge.registrations import Entry, Refused, Registrations
from reference_bridge.bridge.tools import PiTool
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Agent, Assembly, Execution, Json, PromptContext, deny
from reference_bridge.host.decisions import Decision
from reference_bridge.host.waterfall import Next


@mutant()
class PackageToolsSkipPolicy(Bridge):
    """Allows calls of packages' tools whatever the host's policy says."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        return decision if self.calls.of(execution).tool is None else {"kind": "allow"}


@mutant()
class AskTakenForAllow(Bridge):
    """Allows what the host's policy wants to ask the user about."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        return {"kind": "allow"} if as_object(decision).get("kind") == "ask" else decision


@mutant()
class AskTakenForDeny(Bridge):
    """Denies what the host's policy wants to ask the user about."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        return deny("nobody was asked") if as_object(decision).get("kind") == "ask" else decision


@mutant()
class SequentialModeIgnored(Registrations):
    """Runs every package's tool beside its neighbours."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        return super().entry(instance, name, {**definition, "executionMode": "parallel"})


@mutant()
class ParallelModeIgnored(Registrations):
    """Runs every package's tool alone."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        return super().entry(instance, name, {**definition, "executionMode": "sequential"})


@mutant()
class UnmarkedBatchRefusesTheSecond(Bridge):
    """Denies the second call in a batch of tools that say nothing of how they run."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        call = self.calls.of(execution)
        if call.tool is None or call.logged is None or "executionMode" in call.tool.definition:
            return decision
        place = (call.agent, call.logged.data["turn"], call.logged.data["step"])
        before, self._last = getattr(self, "_last", None), place
        return deny("one at a time") if before == place else decision


@mutant()
class MissingLabelRefused(Registrations):
    """Refuses a tool without a label."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        if not isinstance(definition.get("label"), str):
            raise Refused("it has no label")
        return super().entry(instance, name, definition)


@mutant()
class LateRegistrationIgnored(Registrations):
    """Ignores a tool that is registered once there is an agent."""

    def register(self, instance: Instance, definition: Any) -> None:
        if not list(self._host.agents):
            super().register(instance, definition)


class _Waiting(Registrations):
    waits = False

    def register(self, instance: Instance, definition: Any) -> None:
        self._waiting = [*getattr(self, "_waiting", []), (instance, definition)]
        if not self.waits:
            self.let_in()

    def let_in(self) -> None:
        waiting, self._waiting = getattr(self, "_waiting", []), []
        for instance, definition in waiting:
            super().register(instance, definition)


class _RegistersLate(Bridge):
    registrations: _Waiting

    class registrations_type(_Waiting):
        pass

    def is_time(self, agent: Agent) -> bool:
        raise NotImplementedError

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        if self.is_time(context.agent):
            self.registrations.waits = False
            self.registrations.let_in()
        made = await super().assemble(assembly, context, following)
        self.registrations.waits = True
        return made


@mutant()
class LateRegistrationWaitsForAPrompt(_RegistersLate):
    """Lets a tool that is registered during a turn wait for the next turn."""

    def is_time(self, agent: Agent) -> bool:
        return agent in self._opening


@mutant()
class RegistrationNotActiveAtOnce(_RegistersLate):
    """Lets a tool that is registered during a turn wait for the next request."""

    def is_time(self, agent: Agent) -> bool:
        return True


@mutant()
class RegistrationNeedsAHandler(Registrations):
    """Throws when a tool is registered outside of any agent's work."""

    def register(self, instance: Instance, definition: Any) -> None:
        if list(self._host.agents) and current_agent() is None:
            raise RuntimeError("no agent is working")
        super().register(instance, definition)


class _KeepsTheOld(Registrations):
    def mixed(self, new: Entry, old: Entry) -> Entry:
        raise NotImplementedError

    def claim(self, instance: Instance, entry: Entry) -> None:
        old = self.owned(instance, entry.tool.name)
        super().claim(instance, entry if old is None else self.mixed(entry, old))

    def with_member(self, new: Entry, old: Entry, member: str) -> Entry:
        kept = {**new.tool.definition, member: old.tool.definition.get(member)}
        made = self.entry(new.tool.instance, new.tool.name, kept)
        # Only what runs is the old one: the catalogue has the new rows.
        made.definition = replace(made.definition, parameters=new.definition.parameters)
        return made


@mutant()
class ReRegistrationKeepsTheSchema(_KeepsTheOld):
    """Keeps the description and the parameters the model saw when a tool is registered again."""

    def mixed(self, new: Entry, old: Entry) -> Entry:
        row = {"description": old.definition.description, "parameters": old.definition.parameters}
        new.definition = replace(new.definition, **row)
        return new


@mutant()
class ReRegistrationKeepsTheBehaviour(_KeepsTheOld):
    """Keeps running the old code when a tool is registered again."""

    def mixed(self, new: Entry, old: Entry) -> Entry:
        return self.with_member(new, old, "execute")


@mutant()
class ReRegistrationValidatesTheOldSchema(_KeepsTheOld):
    """Keeps checking calls against the old schema when a tool is registered again."""

    def mixed(self, new: Entry, old: Entry) -> Entry:
        return self.with_member(new, old, "parameters")


@mutant()
class ReRegistrationAbortsTheRunningCall(Bridge):
    """Fails a running call whose tool was registered again."""

    async def run_tool(self, tool: PiTool, execution: Execution) -> Json:
        value = await super().run_tool(tool, execution)
        entry = self.registrations.owned(tool.instance, tool.name)
        if entry is not None and entry.tool is not tool:
            raise RuntimeError("the tool was replaced while it ran")
        return value


@mutant()
class FailedFactoryLeavesItsTools(Bridge):
    """Leaves what a factory registered before it threw."""

    async def run_factory(self, installed: Installed, agent: Agent | None) -> None:
        drop = self.registrations.drop
        self.registrations.drop = lambda instance: None  # type: ignore[method-assign]
        try:
            await super().run_factory(installed, agent)
        finally:
            self.registrations.drop = drop  # type: ignore[method-assign]


@mutant()
class FailedFactorySilent(Bridge):
    """Says nothing of a package whose factory throws."""

    class notices_type(Notices):
        def warn(self, text: str) -> None:
            if "failed to load" not in text:
                super().warn(text)

    async def install(self, installed: Installed, at: int) -> None:
        with suppress(Exception):
            await super().install(installed, at)


@mutant()
class FailedFactoryStopsTheOthers(Bridge):
    """Loads no package after one whose factory threw."""

    async def run_factory(self, installed: Installed, agent: Agent | None) -> None:
        if getattr(self, "_failed", False):
            raise RuntimeError("an earlier package failed")
        self._failed = True
        await super().run_factory(installed, agent)
        self._failed = False


@mutant()
class UnloadedPackageKeepsItsTools(Bridge):
    """Leaves the tools of a package that is unloaded."""

    def unload(self, name: str) -> None:
        drop = self.registrations.drop
        self.registrations.drop = lambda instance: None  # type: ignore[method-assign]
        super().unload(name)
        self.registrations.drop = drop  # type: ignore[method-assign]
