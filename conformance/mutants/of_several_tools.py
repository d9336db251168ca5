"""Defects of bridges that were tried with packages of one tool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Entry, Refused, Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object
from reference_bridge.host import Json


@mutant()
class UnloadTakesOneTool(Registrations):
    """Takes the first tool of a removed package away and leaves the others."""

    def drop(self, instance: Instance) -> None:
        for entry in [each for each in self if each.tool.instance is instance][:1]:
            self.unregister(instance, entry.tool.name)


@mutant()
class UnloadTakesEverySecondTool(Registrations):
    """Takes tools of a removed package off the list that it walks through, and so every second one."""

    def drop(self, instance: Instance) -> None:
        for entry in [each for each in self if each.tool.instance is instance][::2]:
            self.unregister(instance, entry.tool.name)


@mutant()
class LastToolsModeCounts(Registrations):
    """Runs every tool beside others or alone as the one that was registered last says."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        made = super().entry(instance, name, definition)
        last: list[PiTool] = self.__dict__.setdefault("_last", [])
        last[:] = [made.tool]
        return replace(made, definition=replace(made.definition, is_concurrency_safe=lambda _: last[0].is_parallel))


@mutant()
class LastToolsPreparationCounts(Registrations):
    """Prepares the arguments of every tool as the last one that prepares any says."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        last: dict[str, Any] = self.__dict__.setdefault("_last", {})
        if "prepareArguments" in definition:
            last["prepareArguments"] = definition["prepareArguments"]
        return super().entry(instance, name, _Later(definition, last))


class _Later(dict[str, Any]):
    """A definition whose preparation is looked up when it is asked for."""

    def __init__(self, definition: dict[str, Any], last: dict[str, Any]) -> None:
        super().__init__(definition)
        self._last = last

    def get(self, key: str, default: Any = None) -> Any:
        return {**self, **self._last}.get(key, default)


@mutant()
class EmptyArgumentsNotPrepared(ToolRuns):
    """Does not prepare arguments without a member."""

    def validated(self, tool: PiTool, arguments: Json) -> Any:
        if arguments:
            return super().validated(tool, arguments)
        unprepared = {key: value for key, value in tool.definition.items() if key != "prepareArguments"}
        return super().validated(PiTool(tool.instance, tool.name, unprepared), arguments)


@mutant()
class OneRefusalReported(Registrations):
    """Says that a tool of a package was refused the first time, and nothing of the package's later ones."""

    def register(self, instance: Instance, definition: Any) -> None:
        name = as_object(definition).get("name", UNDEFINED)
        try:
            self.claim(instance, self.entry(instance, name, as_object(definition)))
        except Refused as refused:
            self._notices.warn_once(("refused", instance), f"tool {name} is not there: {refused}")


@mutant()
class FirstToRegisterWins(Registrations):
    """Gives a name that two packages want to the one that registers it first, whichever was loaded first."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        holder = self._entries.get((instance.agent, entry.tool.name))
        if holder is not None and holder.tool.instance.package is not instance.package:
            raise Refused(f"package {holder.tool.instance.package.name!r} has a tool of that name")
        super().claim(instance, entry)


@mutant()
class ThirdRegistrationIgnored(Registrations):
    """Ignores every registration of a name after its second."""

    def register(self, instance: Instance, definition: Any) -> None:
        counts: dict[Any, int] = self.__dict__.setdefault("_counts", {})
        key = (instance, str(as_object(definition).get("name")))
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= 2:
            super().register(instance, definition)


@mutant()
class WantedNamesStayAsTheyAre(Registrations):
    """Refuses, once another package has wanted a name, every further registration of it."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        wanted: set[Any] = self.__dict__.setdefault("_wanted", set())
        key = (instance.agent, entry.tool.name)
        if key in wanted:
            raise Refused("two packages want it")
        try:
            super().claim(instance, entry)
        except Refused:
            wanted.add(key)
            raise
