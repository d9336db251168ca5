"""Defects that show the second time: a later prompt, a later call of a tool, a name that is free again."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge, Installed
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import Instance, Package
from reference_bridge.bridge.registrations import Entry, Registrations
from reference_bridge.bridge.tools import PiTool
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Agent, Assembly, Host, PromptContext, Session, SessionEvent
from reference_bridge.host.definitions import ToolDefinition
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next

# --- lists of tools ---------------------------------------------------------------------------------------------------


@mutant()
class SecondListForgetsTheFirst(ActiveTools):
    """Restricts with a second list only what is visible, and what the first list had hidden is back."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        view = self._host.tools.view(agent.scope)
        super().apply(instance, agent, {*wanted, *(view.restrictable_names - view.visible.keys())})


@mutant()
class RestrictionLastsOnePrompt(Bridge):
    """Lifts an agent's restriction when its next turn begins."""

    def logged(self, session: Session, event: SessionEvent) -> None:
        agent = self.host.agents.get(session.id)
        if event.type == "turn/start" and event.data["turn"] > 1 and agent is not None:
            kept = self.active_tools._masks.pop(agent, None)
            if kept is not None:
                kept[1]()
        super().logged(session, event)


@mutant()
class AnyEndLiftsTheList(ActiveTools):
    """Lifts every restriction when a package is removed."""

    def drop(self, instance: Instance) -> None:
        for agent, (_, lift) in list(self._masks.items()):
            self._masks[agent] = (instance, lift)
        super().drop(instance)


@mutant(mount="root")
class EmptyIntentIgnored(ActiveTools):
    """Ignores an empty list that is set before there is an agent."""

    def set(self, instance: Instance, names: Any) -> None:
        if names or self.agent_of(instance) is not None:
            super().set(instance, names)


@mutant(mount="root")
class FirstIntentLasts(ActiveTools):
    """Applies, of several lists from before there was an agent, the first one."""

    def fulfil_intents(self, agent: Agent) -> bool:
        self._intents = dict(list(self._intents.items())[:1])
        return super().fulfil_intents(agent)


@mutant()
class EachToolNamedOnce(ActiveTools):
    """Names a tool that could not be switched off once, however many lists leave it out."""

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        named: set[str] = self.__dict__.setdefault("_named", set())
        super().report(instance, agent, wanted, remaining - named)
        named.update(remaining)


@mutant()
class OneToolNamed(ActiveTools):
    """Names one of the tools that could not be switched off."""

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        super().report(instance, agent, wanted, frozenset(sorted(remaining)[:1]))


@mutant()
class ListsWithoutTheUndescribed(ActiveTools):
    """Lists no tool that has no description."""

    def names(self, instance: Instance) -> list[str]:
        return [name for name, tool in self.visible(instance).items() if tool.description]

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        return [row for row in super().all(instance) if row["description"]]


@mutant()
class ListsWithoutTheAgentsOwn(ActiveTools):
    """Lists no native tool that is registered in the agent's own scope."""

    def visible(self, instance: Instance) -> dict[str, ToolDefinition]:
        view = self._host.tools.view(self.scope(instance))
        return {
            name: tool
            for name, tool in view.visible.items()
            if name in view.restrictable_names or self._tool_of(tool) is not None
        }

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        seen = self.visible(instance)
        return [row for row in super().all(instance) if row["name"] in seen]


@mutant()
class ListsWhatWasAskedFor(ActiveTools):
    """Lists as active what the last list asked for, and not what had to stay beside it."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        asked = self.__dict__.setdefault("_asked", {})[agent] = frozenset(wanted)
        super().apply(instance, agent, asked)

    def names(self, instance: Instance) -> list[str]:
        asked = self.__dict__.setdefault("_asked", {}).get(self.agent_of(instance))
        return [name for name in super().names(instance) if asked is None or name in asked]


@mutant()
class EachRequestIsAnnounced(Bridge):
    """Asks packages before every request what they ask for before the first one of a prompt."""

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        self._opening.add(context.agent)
        return await super().assemble(assembly, context, following)


@mutant()
class FirstPromptIsAnnounced(Bridge):
    """Asks packages before the first prompt of an agent and before no later one."""

    def logged(self, session: Session, event: SessionEvent) -> None:
        super().logged(session, event)
        agent = self.host.agents.get(session.id)
        if event.type == "turn/start" and event.data["turn"] > 1 and agent is not None:
            self._opening.discard(agent)


# --- registrations ----------------------------------------------------------------------------------------------------


class _FirstDefinition(Registrations):
    """Of a tool that is registered again, one field stays as it was."""

    field = ""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        kept: dict[Any, Any] = self.__dict__.setdefault("_kept", {})
        first = kept.setdefault((instance, name), definition.get(self.field))
        return super().entry(instance, name, {**definition, self.field: first})


@mutant()
class WayOfRunningKept(_FirstDefinition):
    """Keeps running a tool as its first registration said."""

    field = "executionMode"


@mutant()
class PreparationKept(_FirstDefinition):
    """Keeps preparing the arguments as a tool's first registration did."""

    field = "prepareArguments"


@mutant()
class CatalogueComparedByNames(Bridge):
    """Shows a tool that is registered again before the first request as it was before."""

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        listed = assembly.tools
        made = await super().assemble(assembly, context, following)
        if {row["name"] for row in listed} == {row["name"] for row in made.tools}:
            made.tools = listed
        return made


# --- names ------------------------------------------------------------------------------------------------------------


@mutant()
class OnceMigratedStaysMigrated(Registrations):
    """Takes a native tool for a package's when a package had its name before."""

    def tool_of(self, definition: ToolDefinition | None) -> PiTool | None:
        known: dict[str, PiTool] = self.__dict__.setdefault("_known", {})
        tool = super().tool_of(definition)
        if definition is None:
            return None
        if tool is not None:
            known[definition.name] = tool
        return tool or known.get(definition.name)


@mutant()
class UnloadKeepsTheNames(Registrations):
    """Refuses for ever a name that a package had which is gone."""

    def drop(self, instance: Instance) -> None:
        gone = self.__dict__.setdefault("_gone", set())
        gone.update(entry.tool.name for entry in self if entry.tool.instance is instance)
        super().drop(instance)

    def register(self, instance: Instance, definition: Any) -> None:
        if definition.get("name") not in self.__dict__.get("_gone", ()):
            super().register(instance, definition)


@mutant(mount="root")
class RegisteredAgainIsActiveAgain(Bridge):
    """Switches a tool on again that is registered once more."""

    def __init__(self, host: Host, mount: Any = "root") -> None:
        super().__init__(host, mount)
        register = self.registrations.register

        def registered(instance: Instance, definition: Any) -> None:
            register(instance, definition)
            name = as_object(definition).get("name")
            for agent, (owner, lift) in list(self.active_tools._masks.items()):
                view = self.host.tools.view(agent.scope)
                denied = view.restrictable_names - view.visible.keys() - {name}
                lift()
                self.active_tools._masks[agent] = (owner, self.host.tools.restrict(agent.scope, deny=sorted(denied)))

        self.registrations.register = registered  # type: ignore[method-assign]


# --- packages ---------------------------------------------------------------------------------------------------------


@mutant()
class RemovedPackagesListenOn(Bridge):
    """Takes away the tools of a removed package and leaves its handlers."""

    def unload(self, name: str) -> None:
        kept = self.find(name)
        super().unload(name)
        for instance in kept.instances:
            instance.active = True
        self.installed.append(Installed(Package(f"{name} (removed)", kept.package.factory), kept.instances))


@mutant()
class FailedPackagesListenOn(Bridge):
    """Takes away the tools of a package whose factory throws and leaves its handlers."""

    async def install(self, installed: Installed, at: int) -> None:
        made: list[Instance] = []
        factory = installed.package.factory

        def watched(pi: Any) -> Any:
            made.append(pi._instance)
            return factory(pi)

        watching = Installed(Package(installed.package.name, watched), installed.instances)
        try:
            await super().install(watching, at)
        except Exception:
            for instance in made:
                instance.active = True
            self.installed.append(Installed(Package(f"{installed.package.name} (failed)", factory), made))
            raise


@mutant()
class ReloadDoublesTheHandlers(Bridge):
    """Keeps the handlers of a package's earlier run beside those of its reload."""

    async def reload(self, name: str, replacement: Package | None = None) -> None:
        earlier = [instance.handlers for instance in self.find(name).instances]
        await super().reload(name, replacement)
        for instance, handlers in zip(self.find(name).instances, earlier, strict=False):
            for event, kept in handlers.items():
                instance.handlers.setdefault(event, []).extend(kept)


# --- what is told -----------------------------------------------------------------------------------------------------


@mutant()
class FailuresReportedOnce(Notices):
    """Says what a package's handler of an event throws the first time, and nothing of what it throws later."""

    def handler_failed(self, package: str, event: str, text: str) -> None:
        self.warn_once((package, event), f"a {event} handler of package {package!r} failed: {text}")


@mutant()
class OneCallHasUpdates(ExecutionEvents):
    """Tells of the updates of a tool's first call."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        first: dict[tuple[Any, str], Call] = self.__dict__.setdefault("_first", {})
        if first.setdefault((call.agent, call.name), call) is call:
            super().update(call, partial, signal)


@mutant()
class UpdatesKeptUntilTheAnswer(ExecutionEvents):
    """Tells of a call's updates when its tool has answered, and of none when it threw."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        if not call.settled:
            kept: dict[Call, list[Any]] = self.__dict__.setdefault("_kept", {})
            kept.setdefault(call, []).append((partial, signal))

    async def settle(self, call: Call) -> None:
        threw = sys.exc_info()[0] is not None
        for partial, signal in self.__dict__.setdefault("_kept", {}).pop(call, []):
            if not threw:
                super().update(call, partial, signal)
        await super().settle(call)


@mutant()
class ToolsInFirstPromptOnly(Bridge):
    """Lists packages' tools in the requests of an agent's first prompt, and in those of no later one."""

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        prompts: dict[Agent, int] = self.__dict__.setdefault("_prompts", {})
        prompts[context.agent] = prompts.get(context.agent, 0) + (context.agent in self._opening)
        made = await super().assemble(assembly, context, following)
        if prompts[context.agent] > 1:
            own = {tool.name for tool in self.active_of(context.agent)}
            made.tools = [row for row in made.tools if row["name"] not in own]
        return made
