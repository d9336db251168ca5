"""Defects of names: two tools that want one, odd ones, and what is said about a tool that does not get its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import Instance, Package
from reference_bridge.bridge.registrations import Body, Entry, Refused, Registrations
from reference_bridge.bridge.values import UNDEFINED, as_object
from reference_bridge.host import GLOBAL, Assembly, Execution, Host, PromptContext
from reference_bridge.host.decisions import Decision
from reference_bridge.host.waterfall import Next


@mutant()
class FirstRegistrationWins(Registrations):
    """Ignores a package's second tool of a name."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        if self.owned(instance, entry.tool.name) is None:
            super().claim(instance, entry)


@mutant()
class DoubledNameListedTwice(Bridge):
    """Lists a tool twice that was registered twice."""

    class registrations_type(Registrations):
        twice: frozenset[str] = frozenset()

        def replace(self, holder: Entry | None, entry: Entry) -> None:
            if holder is not None:
                self.twice |= {entry.tool.name}
            super().replace(holder, entry)

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        made = await super().assemble(assembly, context, following)
        twice = getattr(self.registrations, "twice", ())
        made.tools = [row for each in made.tools for row in [each] * (2 if each["name"] in twice else 1)]
        return made


@mutant()
class RefusedRegistrationSilent(Registrations):
    """Says nothing about a tool that cannot be registered."""

    def register(self, instance: Instance, definition: Any) -> None:
        members = as_object(definition)
        with suppress(Refused):
            self.claim(instance, self.entry(instance, members.get("name", UNDEFINED), members))


@mutant()
class GhostRegistrationListed(Registrations):
    """Shows the description of a tool that was refused on the one that has its name."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        holder = self._entries.get((instance.agent, entry.tool.name))
        if holder is not None and holder.tool.instance.package is not instance.package:
            holder.remove()
            holder.definition = replace(holder.definition, description=entry.definition.description)
            self.place(holder)
            raise Refused("the name is taken")
        super().claim(instance, entry)


@mutant()
class LastPackageWins(Registrations):
    """Gives a name that two packages want to the one loaded last."""

    def __init__(self, host: Host, body: Body, load_order: Callable[[Package], int], notices: Notices) -> None:
        super().__init__(host, body, lambda package: -load_order(package), notices)


class _OfNatives(Registrations):
    def doubles_a_native(self, instance: Instance, entry: Entry) -> bool:
        own = self._entries.get((instance.agent, entry.tool.name))
        return own is None and entry.tool.name in self._host.tools.view(GLOBAL).known_names


@mutant()
class NativeBeatsThePackage(_OfNatives):
    """Refuses a tool with the name of a native one."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        if self.doubles_a_native(instance, entry):
            raise Refused("a native tool has that name")
        super().claim(instance, entry)


@mutant()
class NativeNameRefusedInSilence(_OfNatives):
    """Ignores a tool with the name of a native one without a word."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        if not self.doubles_a_native(instance, entry):
            super().claim(instance, entry)


@mutant()
class NativeAndPackageListedBoth(Bridge):
    """Lists a native tool beside the one that took its name."""

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        made = await super().assemble(assembly, context, following)
        taken = {entry.tool.name for entry in self.registrations.shadowing()}
        made.tools = [*made.tools, *(row for row in self.host.tools.schemas(GLOBAL) if row["name"] in taken)]
        return made


class _EndsPackages(_OfNatives):
    def is_odd(self, instance: Instance, entry: Entry) -> bool:
        raise NotImplementedError

    def claim(self, instance: Instance, entry: Entry) -> None:
        ended: set[Package] = getattr(self, "_ended", set())
        if self.is_odd(instance, entry):
            self._ended = ended = ended | {instance.package}
            for each in self:
                if each.tool.instance.package is instance.package:
                    self.unregister(each.tool.instance, each.tool.name)
        if instance.package in ended:
            raise Refused("its package was ended")
        super().claim(instance, entry)


@mutant()
class DoubledNameEndsThePackage(_EndsPackages):
    """Takes away every tool of a package that wants another package's name."""

    def is_odd(self, instance: Instance, entry: Entry) -> bool:
        holder = self._entries.get((instance.agent, entry.tool.name))
        return holder is not None and holder.tool.instance.package is not instance.package


@mutant()
class NativeNameEndsThePackage(_EndsPackages):
    """Takes away every tool of a package that wants a native tool's name."""

    def is_odd(self, instance: Instance, entry: Entry) -> bool:
        return self.doubles_a_native(instance, entry)


@mutant()
class OddRootSchemaEndsThePackage(_EndsPackages):
    """Takes away every tool of a package that registers one whose parameters are no schema of an object."""

    def is_odd(self, instance: Instance, entry: Entry) -> bool:
        return as_object(entry.tool.definition.get("parameters")).get("type") != "object"


@mutant()
class ReservedNameEndsTheBridge(Registrations):
    """Takes away every package's tools once the host refused one."""

    def replace(self, holder: Entry | None, entry: Entry) -> None:
        try:
            super().replace(holder, entry)
        except Refused:
            self._ended = True
            for each in self:
                self.unregister(each.tool.instance, each.tool.name)
            raise

    def claim(self, instance: Instance, entry: Entry) -> None:
        if getattr(self, "_ended", False):
            raise Refused("the bridge has ended")
        super().claim(instance, entry)


@mutant()
class NamesNormalised(Registrations):
    """Registers a tool under its name in lower case, trimmed and without blanks."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        usual = name.strip().lower().replace(" ", "_") if isinstance(name, str) else name
        return super().entry(instance, usual, definition)


@mutant()
class EmptyNameRefused(Registrations):
    """Takes the empty text for no name."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        return super().entry(instance, name or UNDEFINED, definition)


@mutant()
class NamesLookedUpAsProperties(Registrations):
    """Takes names that every JavaScript object has for taken ones."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        if name in ("constructor", "__proto__", "toString"):
            raise Refused("the name is taken")
        return super().entry(instance, name, definition)


@mutant()
class NamesLookedUpLoosely(Bridge):
    """Runs a tool that was called by its name in another case or with hyphens."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        for entry in self.registrations:
            if entry.tool.name.lower() == execution.name.lower().replace("-", "_"):
                execution.name = entry.tool.name
        return await super().before_call(execution, following)
