"""Defects of unregisterTool: what goes, when it goes, what is answered, and what comes back."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Entry, Refused, Registrations
from reference_bridge.bridge.tools import PiTool
from reference_bridge.bridge.values import UNDEFINED, as_object
from reference_bridge.host import GLOBAL, Assembly, Execution, Json, PreStep, PromptContext, ToolDefinition
from reference_bridge.host.decisions import Decision
from reference_bridge.host.waterfall import Next


@mutant()
class UnregisterLeavesTheTool(Registrations):
    """Answers true and leaves the tool."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        return self.owned(instance, name) is not None


@mutant()
class UnregisterAnswersNothing(Registrations):
    """Takes the tool away and answers nothing."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        super().unregister(instance, name)
        return UNDEFINED  # type: ignore[return-value]


@mutant()
class UnregisterTakesAll(Registrations):
    """Takes every tool of the package away with one of them."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        found = super().unregister(instance, name)
        if found:
            self.drop(instance)
        return found


@mutant()
class UnregisterTakesNatives(Registrations):
    """Takes a native tool away as well."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        if super().unregister(instance, name):
            return True
        native = self._host.tools.get(name, GLOBAL) if isinstance(name, str) else None
        if native is None or self.tool_of(native) is not None:
            return False
        del self._host.tools._layers[GLOBAL].tools[name]
        return True


@mutant()
class UnregisterAlwaysTrue(Registrations):
    """Answers true whatever the name."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        super().unregister(instance, name)
        return True


@mutant()
class UnregisterTakesForeignTools(Registrations):
    """Takes another package's tool away."""

    def owned(self, instance: Instance, name: Any) -> Entry | None:
        return self._entries.get((instance.agent, name)) if isinstance(name, str) else None


@mutant()
class UnregisterUnknownThrows(Registrations):
    """Throws for a name that no tool of the package has."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        if isinstance(name, str) and self.owned(instance, name) is None:
            raise LookupError(f"no tool {name!r} is registered")
        return super().unregister(instance, name)


@mutant()
class UnregisterOfNothingThrows(Registrations):
    """Throws for what is no name at all."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        if not isinstance(name, str):
            raise TypeError("the name is no text")
        return super().unregister(instance, name)


@mutant()
class UnregisterTrimsNames(Registrations):
    """Takes away the tool whose name is the given one without the blanks around it."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        return super().unregister(instance, name.strip() if isinstance(name, str) else name)


@mutant()
class UnregisterTrueAgain(Registrations):
    """Answers true again for a tool that is gone already."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        gone: list[tuple[Instance, Any]] = getattr(self, "_gone", [])
        if super().unregister(instance, name):
            self._gone = [*gone, (instance, name)]
            return True
        return (instance, name) in gone


class _AskedForIsOwn(Registrations):
    """Answers true for every name the package ever asked for and has not taken away."""

    def register(self, instance: Instance, definition: Any) -> None:
        self._asked = [*getattr(self, "_asked", []), (instance, as_object(definition).get("name"))]
        super().register(instance, definition)

    def unregister(self, instance: Instance, name: Any) -> bool:
        asked = getattr(self, "_asked", [])
        self._asked = [each for each in asked if each != (instance, name)]
        return super().unregister(instance, name) or len(self._asked) < len(asked)


@mutant()
class RefusedRegistrationKeptInThePackage(_AskedForIsOwn):
    """Takes a tool that was refused for the package's own."""


@mutant()
class DoubledNameKeptInBothPackages(_AskedForIsOwn):
    """Takes a name that two packages registered for both packages' own."""


@mutant()
class UnregisteredToolStillListed(Bridge):
    """Lists to packages what was unregistered."""

    class registrations_type(Registrations):
        def unregister(self, instance: Instance, name: Any) -> bool:
            entry = self.owned(instance, name)
            if entry is not None:
                # The lists get hold of it at the host, which is all that both of them know.
                gone: list[ToolDefinition] = getattr(self._host, "_gone", [])
                self._host._gone = [*gone, entry.definition]  # type: ignore[attr-defined]
            return super().unregister(instance, name)

    class active_tools_type(ActiveTools):
        def gone(self) -> list[ToolDefinition]:
            return getattr(self._host, "_gone", [])

        def names(self, instance: Instance) -> list[str]:
            return [*super().names(instance), *(each.name for each in self.gone())]

        def all(self, instance: Instance) -> list[dict[str, Any]]:
            rows = [
                {"name": each.name, "description": each.description, "parameters": each.parameters}
                for each in self.gone()
            ]
            return [*super().all(instance), *rows]


@mutant()
class UnregisteredToolRuns(Bridge):
    """Takes a tool out of the catalogue only: a call of it runs."""

    class registrations_type(Registrations):
        hidden: frozenset[str] = frozenset()

        def unregister(self, instance: Instance, name: Any) -> bool:
            if self.owned(instance, name) is None or not list(self._host.agents):
                return super().unregister(instance, name)
            self.hidden |= {name}
            return True

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        made = await super().assemble(assembly, context, following)
        hidden = getattr(self.registrations, "hidden", ())
        made.tools = [row for row in made.tools if row["name"] not in hidden]
        return made


@mutant()
class UnregisterEndsTheRunningCall(Bridge):
    """Fails a running call whose tool was unregistered."""

    async def run_tool(self, tool: PiTool, execution: Execution) -> Json:
        value = await super().run_tool(tool, execution)
        if self.registrations.owned(tool.instance, tool.name) is None:
            raise RuntimeError("the tool went while it ran")
        return value


@mutant()
class BatchKeepsUnregisteredTools(Bridge):
    """Takes a tool away with the next step and not at once."""

    registrations: Any

    class registrations_type(Registrations):
        def unregister(self, instance: Instance, name: Any) -> bool:
            found = self.owned(instance, name) is not None
            if found:
                self._due = [*getattr(self, "_due", []), (instance, name)]
            return found

        def take_away(self) -> None:
            due, self._due = getattr(self, "_due", []), []
            for instance, name in due:
                super().unregister(instance, name)

    async def before_step(self, pre_step: PreStep, following: Next) -> Decision:
        self.registrations.take_away()
        return await super().before_step(pre_step, following)


@mutant()
class UnregisteredNameStaysTaken(Registrations):
    """Refuses a tool with the name of one that was unregistered."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        found = super().unregister(instance, name)
        if found:
            self._taken = [*getattr(self, "_taken", []), name]
        return found

    def claim(self, instance: Instance, entry: Entry) -> None:
        if entry.tool.name in getattr(self, "_taken", []):
            raise Refused("the name is taken")
        super().claim(instance, entry)


@mutant()
class ReRegisteredToolIsTheOldOne(Registrations):
    """Puts the old tool back when its name is registered again."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        entry = self.owned(instance, name)
        if entry is not None:
            self._old = {**getattr(self, "_old", {}), name: entry}
        return super().unregister(instance, name)

    def claim(self, instance: Instance, entry: Entry) -> None:
        super().claim(instance, getattr(self, "_old", {}).get(entry.tool.name, entry))


@mutant()
class UnregisterHidesTheNative(Registrations):
    """Leaves a native tool hidden whose name was unregistered."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        entry = self.owned(instance, name)
        if entry is None or not entry.shadows:
            return super().unregister(instance, name)
        # What stands in the registry stays there and belongs to nobody.
        del self._entries[instance.agent, name]
        return True


@mutant()
class UnregisterUncoversTheFirstRegistration(Registrations):
    """Brings the package's own earlier tool of the name back."""

    def replace(self, holder: Entry | None, entry: Entry) -> None:
        if holder is not None:
            self._under = {**getattr(self, "_under", {}), entry.tool.name: holder}
        super().replace(holder, entry)

    def unregister(self, instance: Instance, name: Any) -> bool:
        found = super().unregister(instance, name)
        under = getattr(self, "_under", {}).pop(name, None) if found else None
        if under is not None:
            self.claim(instance, under)
        return found


@mutant()
class LoadTimeUnregisterIgnored(Registrations):
    """Answers true and leaves the tool while packages are loaded."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        return not list(self._host.agents) or super().unregister(instance, name)
