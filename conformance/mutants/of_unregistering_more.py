"""Defects of unregisterTool that show with a second tool, a late one, or a name with more than letters."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.packages import Instance, current_agent
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Assembly, PromptContext
from reference_bridge.host.waterfall import Next


@mutant()
class UnregisterTakesLikeNames(Registrations):
    """Takes away, with a tool, the package's tools whose names begin with its name."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        gone = super().unregister(instance, name)
        for entry in [each for each in self if gone and each.tool.instance is instance]:
            if entry.tool.name.startswith(name):
                super().unregister(instance, entry.tool.name)
        return gone


@mutant()
class UnregisterOfPlainNamesOnly(Registrations):
    """Takes a name that is not of letters, digits and underscores for nobody's."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        return (
            isinstance(name, str) and bool(re.fullmatch("[A-Za-z0-9_]+", name)) and super().unregister(instance, name)
        )


@mutant()
class UnregisterOfEarlyToolsOnly(Registrations):
    """Keeps no handle of a tool that is registered while an agent works."""

    def register(self, instance: Instance, definition: Any) -> None:
        super().register(instance, definition)
        if current_agent() is not None:
            self._late().add((instance, as_object(definition).get("name")))

    def unregister(self, instance: Instance, name: Any) -> bool:
        return (instance, name) not in self._late() and super().unregister(instance, name)

    def _late(self) -> set[Any]:
        late: set[Any] = self.__dict__.setdefault("_registered_late", set())
        return late


@mutant()
class UnregisterTakesOneTool(Registrations):
    """Takes one tool of a package away, and of each later one only says so."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        taken: set[Instance] = self.__dict__.setdefault("_taken", set())
        if instance in taken and instance.active:
            return self.owned(instance, name) is not None
        gone = super().unregister(instance, name)
        if gone:
            taken.add(instance)
        return gone


@mutant()
class CatalogueTakenAgainWhenLonger(Bridge):
    """Shows the tools of before the prompt was announced where there are fewer now."""

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        before = assembly.tools
        made = await super().assemble(assembly, context, following)
        if len(made.tools) < len(before):
            made.tools = before
        return made


@mutant()
class UnregisterLiftsTheList(Bridge):
    """Switches everything on again when a tool is taken back."""

    class registrations_type(Registrations):
        lift: Callable[[], None] | None = None

        def unregister(self, instance: Instance, name: Any) -> bool:
            gone = super().unregister(instance, name)
            if gone and self.lift is not None:
                self.lift()
            return gone

    def attach(self) -> None:
        super().attach()
        if isinstance(self.registrations, UnregisterLiftsTheList.registrations_type):
            self.registrations.lift = self._lift

    def _lift(self) -> None:
        for agent in list(self.active_tools._masks):
            self.active_tools._masks.pop(agent)[1]()


@mutant()
class UnregisterOfNoNameTakesOne(Registrations):
    """Takes the empty name for that of the package's latest tool."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        own = [entry.tool.name for entry in self if entry.tool.instance is instance]
        return super().unregister(instance, own[-1] if name == "" and own else name)


@mutant(mount="root")
class ShadowLiftedForOneAgent(Registrations):
    """Uncovers what a tool shadowed for one agent, and leaves the tool to the others."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        entry = self.owned(instance, name)
        if entry is not None and entry.shadows:
            for scope in list(entry.placed)[1:]:
                del entry.placed[scope]
        return super().unregister(instance, name)
