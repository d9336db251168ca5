"""Defects of what getActiveTools and getAllTools list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.packages import Instance
from reference_bridge.host import Agent, Scope
from reference_bridge.host.definitions import ToolDefinition


@mutant()
class ActiveListsOwnToolsOnly(ActiveTools):
    """Lists the packages' tools and leaves out the native ones."""

    def names(self, instance: Instance) -> list[str]:
        return [name for name, known in self.visible(instance).items() if self._tool_of(known) is not None]


@mutant()
class ActiveListsMigratedOnly(ActiveTools):
    """Lists only the tools of the package that asks, and the native ones."""

    def names(self, instance: Instance) -> list[str]:
        found = {name: self._tool_of(known) for name, known in self.visible(instance).items()}
        return [name for name, tool in found.items() if tool is None or tool.instance is instance]


@mutant()
class ActiveIgnoresRestrictions(ActiveTools):
    """Lists what is switched off as active."""

    def names(self, instance: Instance) -> list[str]:
        view = self._host.tools.view(self.scope(instance))
        return sorted(view.known_names)


@mutant()
class ActiveListIsStale(ActiveTools):
    """Lists, after a restriction, what was active before it."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        self._stale = list(self._host.tools.view(agent.scope).visible)
        super().apply(instance, agent, wanted)

    def names(self, instance: Instance) -> list[str]:
        return getattr(self, "_stale", None) or super().names(instance)


@mutant()
class ActiveListIsCached(ActiveTools):
    """Lists what was there when it was first asked or when an agent began."""

    def fulfil_intents(self, agent: Agent) -> bool:
        if not hasattr(self, "_first"):
            self._first = list(self._host.tools.view(agent.scope).visible)
        return super().fulfil_intents(agent)

    def names(self, instance: Instance) -> list[str]:
        return list(getattr(self, "_first", None) or super().names(instance))


@mutant()
class ActiveListIsShared(ActiveTools):
    """Returns the same list object to every caller."""

    def names(self, instance: Instance) -> list[str]:
        if not hasattr(self, "_list"):
            self._list = super().names(instance)
        return self._list


@mutant()
class ScopeLocalToolsLeak(ActiveTools):
    """Lists the tools of every agent's own scope."""

    def names(self, instance: Instance) -> list[str]:
        return sorted({name for agent in self._host.agents for name in self._host.tools.view(agent.scope).visible})


@mutant()
class ActiveListOfAnotherAgent(ActiveTools):
    """Lists what is active in the agent that was narrowed last."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        super().apply(instance, agent, wanted)
        self._last = agent

    def names(self, instance: Instance) -> list[str]:
        last = getattr(self, "_last", None)
        return super().names(instance) if last is None else list(self._host.tools.view(last.scope).visible)


@mutant()
class ActiveWhileLoadingCrashes(ActiveTools):
    """Throws when there is no agent yet."""

    def names(self, instance: Instance) -> list[str]:
        if self.agent_of(instance) is None:
            raise RuntimeError("there is no agent")
        return super().names(instance)


class _RowsChanged(ActiveTools):
    def row(self, row: dict[str, Any], definition: ToolDefinition | None) -> dict[str, Any] | None:
        return row

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        visible = self.visible(instance)
        rows = (self.row(row, visible.get(row["name"])) for row in super().all(instance))
        return [row for row in rows if row is not None]


@mutant()
class AllToolsShowsRegisteredText(_RowsChanged):
    """Shows a text of the bridge's own as the description."""

    def row(self, row: dict[str, Any], definition: ToolDefinition | None) -> dict[str, Any] | None:
        return {**row, "description": f"{row['name']} (a tool)"}


@mutant()
class AllToolsWithoutParameters(_RowsChanged):
    """Leaves the parameters out of the rows."""

    def row(self, row: dict[str, Any], definition: ToolDefinition | None) -> dict[str, Any] | None:
        return {key: value for key, value in row.items() if key != "parameters"}


@mutant()
class AllToolsOwnOnly(_RowsChanged):
    """Has rows for packages' tools only."""

    def row(self, row: dict[str, Any], definition: ToolDefinition | None) -> dict[str, Any] | None:
        return row if self._tool_of(definition) is not None else None


@mutant()
class GuidelinesInventedForNatives(_RowsChanged):
    """Puts guidelines into the rows of native tools."""

    def row(self, row: dict[str, Any], definition: ToolDefinition | None) -> dict[str, Any] | None:
        return {**row, "promptGuidelines": []} if self._tool_of(definition) is None else row


@mutant()
class GuidelinesKeptOnOwnTools(_RowsChanged):
    """Puts the registered guidelines into the rows of packages' tools."""

    def row(self, row: dict[str, Any], definition: ToolDefinition | None) -> dict[str, Any] | None:
        tool = self._tool_of(definition)
        return row if tool is None else {**row, "promptGuidelines": tool.definition.get("promptGuidelines", [])}


@mutant()
class SourceInfoMissing(_RowsChanged):
    """Leaves out where a tool comes from."""

    def row(self, row: dict[str, Any], definition: ToolDefinition | None) -> dict[str, Any] | None:
        return {key: value for key, value in row.items() if key != "sourceInfo"}


@mutant()
class AllToolsListsHiddenOnes(ActiveTools):
    """Has rows for tools that are switched off."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        rows = {row["name"]: row for row in super().all(instance)}
        for row in self._host.tools.schemas(None):
            rows.setdefault(row["name"], {**row, "sourceInfo": self.source(None)})
        return list(rows.values())


@mutant()
class AllToolsRowsAreShared(ActiveTools):
    """Returns the same row objects to every caller."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        if not hasattr(self, "_rows"):
            self._rows = super().all(instance)
        return list(self._rows)


@mutant()
class AllToolsOfAnotherAgent(ActiveTools):
    """Has rows for the first agent's scope, whoever asks."""

    def scope(self, instance: Instance) -> Scope | None:
        agents = list(self._host.agents)
        return agents[0].scope if agents else None


@mutant()
class OwnToolsCalledBuiltIn(ActiveTools):
    """Says of packages' tools that they are built in."""

    def source(self, definition: ToolDefinition | None) -> dict[str, str]:
        told = super().source(definition)
        return told if self._tool_of(definition) is None else {**told, "source": "builtin"}


@mutant()
class OthersToolsCalledBuiltIn(ActiveTools):
    """Says of the tools of packages other than the one that asks that they are built in."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        seen, rows = self.visible(instance), super().all(instance)
        for row in rows:
            tool = self._tool_of(seen.get(row["name"]))
            if tool is not None and tool.instance.package is not instance.package:
                row["sourceInfo"]["source"] = "builtin"
        return rows


@mutant()
class LateToolsCalledBuiltIn(ActiveTools):
    """Says of tools that packages registered after the first listing that they are built in."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        rows = super().all(instance)
        known: set[str] = self.__dict__.setdefault("_known", {row["name"] for row in rows})
        for row in rows:
            if row["name"] not in known:
                row["sourceInfo"]["source"] = "builtin"
        return rows
