"""Defects of tools that come at work: what an error, a cancel or an agent's end takes of them, and what they lack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.packages import Instance, current_agent
from reference_bridge.bridge.registrations import Entry, Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object
from reference_bridge.host import GLOBAL, Agent, Execution, Json
from reference_bridge.host.definitions import ToolDefinition


class _Late(Registrations):
    """Knows which tools were registered in the work of an agent."""

    def register(self, instance: Instance, definition: Any) -> None:
        super().register(instance, definition)
        entry, agent = self.owned(instance, as_object(definition).get("name")), current_agent()
        if entry is not None and agent is not None:
            self.late.setdefault(agent, []).append(entry)

    @property
    def late(self) -> dict[Agent, list[Entry]]:
        """The entries by the agent in whose work they came."""
        entries: dict[Agent, list[Entry]] = self.__dict__.setdefault("_late", {})
        return entries

    def withdraw(self, entries: list[Entry]) -> None:
        """Take tools away that are still there."""
        for entry in entries:
            key = entry.tool.instance.agent, entry.tool.name
            if self._entries.get(key) is entry:
                del self._entries[key]
                entry.remove()


class _TakesBack(Bridge):
    """Takes back what a body registered, where something became of the call."""

    registrations: _Late
    registrations_type = _Late

    async def run_tool(self, tool: PiTool, execution: Execution) -> Json:
        agent = execution.agent
        before = list(self.registrations.late.get(agent, ())) if agent is not None else []
        failed = True
        try:
            answer = await super().run_tool(tool, execution)
            failed = False
        finally:
            if agent is not None and self.is_undone(failed, execution):
                now = self.registrations.late.get(agent, [])
                self.registrations.withdraw([entry for entry in now if entry not in before])
        return answer

    def is_undone(self, failed: bool, execution: Execution) -> bool:
        """Whether the call leaves nothing behind."""
        raise NotImplementedError


@mutant()
class ErrorsTakeRegistrationsBack(_TakesBack):
    """Takes back what a tool registered when it throws."""

    def is_undone(self, failed: bool, execution: Execution) -> bool:
        return failed


@mutant()
class CancelsTakeRegistrationsBack(_TakesBack):
    """Takes back what a tool registered when its turn is cancelled meanwhile."""

    def is_undone(self, failed: bool, execution: Execution) -> bool:
        return execution.signal.aborted


@mutant()
class LateToolsGoWithAnAgent(_Late):
    """Takes away, with an agent, what was registered in its work."""

    def agent_ended(self, agent: Agent) -> None:
        super().agent_ended(agent)
        self.withdraw(self.late.pop(agent, []))


@mutant()
class LateToolsMissLaterAgents(Registrations):
    """Registers a tool that comes at work for the agents that are there, and not for those that come later."""

    def place(self, entry: Entry) -> None:
        known = self._host.tools.view(GLOBAL).known_names
        if entry.tool.instance.agent is None and current_agent() is not None and entry.tool.name not in known:
            for agent in self._host.agents:
                self.place_in(entry, agent.scope)
        else:
            super().place(entry)


@mutant()
class LateToolsRunAlone(Registrations):
    """Runs a tool that comes at work alone, whatever it says."""

    def register(self, instance: Instance, definition: Any) -> None:
        if current_agent() is not None and isinstance(definition, dict):
            definition = {key: value for key, value in definition.items() if key != "executionMode"}
        super().register(instance, definition)


@mutant()
class LateToolsAreNotPrepared(Registrations):
    """Asks no prepareArguments of a tool that comes at work."""

    def register(self, instance: Instance, definition: Any) -> None:
        if current_agent() is not None and isinstance(definition, dict):
            definition = {key: value for key, value in definition.items() if key != "prepareArguments"}
        super().register(instance, definition)


def _is_late(bridge: Bridge, tool: PiTool | None) -> bool:
    registrations = bridge.registrations
    late = registrations.late.values() if isinstance(registrations, _Late) else ()
    return any(entry.tool is tool for entries in late for entry in entries)


@mutant()
class LateToolsAreNotJudged(Bridge):
    """Asks nobody about a call of a tool that came at work."""

    registrations_type = _Late

    def look_up(self, call: Call, execution: Execution) -> None:
        super().look_up(call, execution)
        if _is_late(self, call.tool):
            call.known = False


@mutant()
class LateToolsReportNothing(Bridge):
    """Tells nobody of the updates of a tool that came at work."""

    registrations_type = _Late

    async def run_tool(self, tool: PiTool, execution: Execution) -> Json:
        if _is_late(self, tool):
            self.calls.of(execution).settled = True
        return await super().run_tool(tool, execution)


@mutant()
class ErrorsLiftTheList(Bridge):
    """Lifts the list that a tool set when the tool throws."""

    async def run_tool(self, tool: PiTool, execution: Execution) -> Json:
        masks, agent = self.active_tools._masks, execution.agent
        before = masks.get(agent) if agent is not None else None
        try:
            return await super().run_tool(tool, execution)
        except Exception:
            if agent is not None and agent in masks and masks[agent] is not before:
                masks.pop(agent)[1]()
            raise


@mutant()
class ListsFromLoadingSparePackages(ActiveTools):
    """Switches natives off, and no package's tool, by a list that was set while loading, and says nothing."""

    def fulfil_intents(self, agent: Agent) -> bool:
        visible = self._host.tools.view(agent.scope).visible
        own = [name for name, each in visible.items() if self._tool_of(each) is not None]
        for instance, names in list(self._intents.items()):
            self._intents[instance] = [*names, *own]
        return super().fulfil_intents(agent)


@mutant()
class NothingActiveReadsAsEverything(ActiveTools):
    """Names every tool there is where none is active."""

    def visible(self, instance: Instance) -> dict[str, ToolDefinition]:
        return super().visible(instance) or dict(self._host.tools.view(GLOBAL).visible)


@mutant()
class InvalidCallsRetireATool(ToolRuns):
    """Gives a tool up after three calls in a row that did not pass."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        failures: dict[PiTool, int] = self.__dict__.setdefault("_failures", {})
        if failures.get(tool, 0) >= 3:
            raise RuntimeError(f"{tool.name} was called wrongly too often")
        failures[tool] = failures.get(tool, 0) + 1
        passed = super().validated(tool, arguments)
        failures[tool] = 0
        return passed


@mutant()
class FirstPackageIsPrepared(ToolRuns):
    """Asks no prepareArguments of any package but the one whose tool was called first."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        first = self.__dict__.setdefault("_first", tool.instance.package)
        if tool.instance.package is not first:
            rest = {key: value for key, value in tool.definition.items() if key != "prepareArguments"}
            tool = replace(tool, definition=rest)
        return super().validated(tool, arguments)


@mutant()
class NativesSchemaStaysInTheCatalogue(Registrations):
    """Shows the model the schema of the native tool whose name a package's tool has."""

    def place(self, entry: Entry) -> None:
        native = self._host.tools.view(GLOBAL).visible.get(entry.tool.name)
        if native is not None:
            entry.definition = replace(entry.definition, parameters=native.parameters)
        super().place(entry)


@mutant()
class NoPromptTextsInPlaceOfNatives(Bridge):
    """Leaves a tool that has a native tool's name out of the prompt."""

    def active_of(self, agent: Agent) -> list[PiTool]:
        natives = self.host.tools.view(GLOBAL).visible
        hidden = {name for name, each in natives.items() if self.registrations.tool_of(each) is None}
        return [tool for tool in super().active_of(agent) if tool.name not in hidden]
