"""Defects of a bridge that minds one list and meets another: of another package, another agent, or from loading."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.values import as_object, json_text
from reference_bridge.host import Agent


@mutant()
class ListedToolsNamedToo(ActiveTools):
    """Names every tool that cannot be switched off, those in the list as well."""

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        view = self._host.tools.view(agent.scope)
        fixed = frozenset(view.visible) - frozenset(view.restrictable_names)
        super().report(instance, agent, wanted, fixed if remaining else remaining)


@mutant()
class OneAgentsListIsReported(ActiveTools):
    """Says nothing of a list for an agent when it said the same of it for another."""

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        said: set[tuple[frozenset[str], frozenset[str]]] = self.__dict__.setdefault("_said", set())
        if (wanted, remaining) not in said:
            said.add((wanted, remaining))
            super().report(instance, agent, wanted, remaining)


@mutant()
class ListFromLoadingComesBack(ActiveTools):
    """Applies a list that was set before there was an agent with every prompt."""

    def fulfil_intents(self, agent: Agent) -> bool:
        kept = {each: wanted for each, wanted in self._intents.items() if each.serves(agent) and agent.owner is None}
        due = super().fulfil_intents(agent)
        self._again().update(kept)
        return due

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        super().apply(instance, agent, wanted)
        self._host.on("session/event", lambda session, event: self._reapply(agent, session.id, event.type))

    def _reapply(self, agent: Agent, session: str, kind: str) -> None:
        if session == agent.id and kind == "turn/start":
            for instance, wanted in list(self._again().items()):
                super().apply(instance, agent, wanted)

    def _again(self) -> dict[Instance, list[str]]:
        again: dict[Instance, list[str]] = self.__dict__.setdefault("_kept", {})
        return again


@mutant()
class ListGoesWithTheFirstWhoSetOne(ActiveTools):
    """Takes an agent's list for one of the package that set its first, and lifts it with that package's end."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        before = self._masks.get(agent)
        super().apply(instance, agent, wanted)
        if before is not None and agent in self._masks:
            self._masks[agent] = (before[0], self._masks[agent][1])


@mutant()
class OtherPackagesToolsStaySilently(ActiveTools):
    """Never switches off a tool of another package, and says nothing."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        tools = [self._tool_of(each) for each in self._host.tools.view(agent.scope).visible.values()]
        others = [tool.name for tool in tools if tool is not None and tool.instance.package is not instance.package]
        super().apply(instance, agent, [*wanted, *others])


@mutant()
class ThirdListIgnored(ActiveTools):
    """Applies the first two lists that are set for an agent, and no later one."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        counts: dict[Agent, int] = self.__dict__.setdefault("_counts", {})
        counts[agent] = counts.get(agent, 0) + 1
        if counts[agent] <= 2:
            super().apply(instance, agent, wanted)


@mutant()
class AllToolsByDescription(ActiveTools):
    """Has one row for tools that are described alike."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        return list({row["description"]: row for row in super().all(instance)}.values())


@mutant()
class AllToolsInAscii(ActiveTools):
    """Has no row for a tool whose name is not ASCII."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        return [row for row in super().all(instance) if row["name"].isascii()]


@mutant()
class AllToolsAsFirstAsked(ActiveTools):
    """Keeps a tool's row as it was when it was first asked for."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        known: dict[Any, dict[str, Any]] = self.__dict__.setdefault("_known", {})
        return [dict(known.setdefault((instance, row["name"]), dict(row))) for row in super().all(instance)]


@mutant()
class NativesWithoutParameters(ActiveTools):
    """Has rows of native tools without what their schemas say."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        visible = self.visible(instance)
        rows = super().all(instance)
        natives = [row["name"] for row in rows if self._tool_of(visible.get(row["name"])) is None]
        empty = {"type": "object", "properties": {}}
        return [{**row, "parameters": empty} if row["name"] in natives else row for row in rows]


@mutant()
class ActiveNamesInOneCase(ActiveTools):
    """Lists one of the names that differ by case."""

    def names(self, instance: Instance) -> list[str]:
        return list({name.lower(): name for name in super().names(instance)}.values())


@mutant()
class EntriesThatAreNoTextFailTheCall(ActiveTools):
    """Throws where an entry of a list is no text."""

    def wanted(self, names: Any) -> list[str]:
        if isinstance(names, list) and not all(isinstance(name, str) for name in names):
            raise TypeError("the names of tools must be texts")
        return super().wanted(names)


@mutant()
class EntriesBecomeTexts(ActiveTools):
    """Makes texts of the entries of a list, so that null switches on the tool of that name."""

    def wanted(self, names: Any) -> list[str]:
        return super().wanted(
            [name if isinstance(name, str) else json_text(name) for name in names] if isinstance(names, list) else names
        )


@mutant()
class RowsTakenForNames(ActiveTools):
    """Takes a row of getAllTools in a list for the name in it."""

    def wanted(self, names: Any) -> list[str]:
        given = [as_object(name).get("name", name) for name in names] if isinstance(names, list) else names
        return super().wanted(given)
