"""Defects of bridges that take a name for one owner's for good, a pattern for a name, a list for what it once was."""

from __future__ import annotations

import unicodedata
from fnmatch import fnmatchcase
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.packages import Instance, current_agent
from reference_bridge.bridge.registrations import Entry, Registrations
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Agent


@mutant()
class PatternsTakenForNames(ActiveTools):
    """Takes a star in a list of names for any letters."""

    def apply(self, instance: Instance, agent: Agent, wanted: Any) -> None:
        patterns = list(wanted)
        known = self._host.tools.view(agent.scope).known_names
        fits = [name for name in known if any(fnmatchcase(name, pattern) for pattern in patterns)]
        super().apply(instance, agent, fits)


@mutant()
class NamesInAnyForm(ActiveTools):
    """Takes two ways to write a letter with its mark for one name."""

    def apply(self, instance: Instance, agent: Agent, wanted: Any) -> None:
        forms = {unicodedata.normalize("NFC", name) for name in wanted}
        known = self._host.tools.view(agent.scope).known_names
        super().apply(instance, agent, [name for name in known if unicodedata.normalize("NFC", name) in forms])


@mutant()
class NativesListedAsTheyWere(ActiveTools):
    """Keeps the names of the active tools until a package registers, removes or sets some."""

    def names(self, instance: Instance) -> list[str]:
        agent = self.agent_of(instance)
        own = tuple(name for name, each in self.visible(instance).items() if self._tool_of(each) is not None)
        mask = None if agent is None else self._masks.get(agent)
        known: dict[Any, list[str]] = self.__dict__.setdefault("_known", {})
        return list(known.setdefault((instance, agent, own, mask), super().names(instance)))


class _Hides(Registrations):
    """Switches a tool off when it is registered while a list is in force."""

    def hides(self, instance: Instance, name: str, again: bool) -> bool:
        """Whether this registration is one that is hidden; ``again`` says that the package had the tool."""
        raise NotImplementedError

    def register(self, instance: Instance, definition: Any) -> None:
        name, agent = as_object(definition).get("name"), instance.agent or current_agent()
        again = isinstance(name, str) and self.owned(instance, name) is not None
        super().register(instance, definition)
        if agent is None or not isinstance(name, str):
            return
        view = self._host.tools.view(agent.scope)
        narrowed = view.restrictable_names - set(view.visible)
        if narrowed and name in view.restrictable_names and name in view.visible and self.hides(instance, name, again):
            self._host.tools.restrict(agent.scope, deny=[name])


@mutant()
class ListedToolsGoWhenRegisteredAgain(_Hides):
    """Switches a tool of a list off when its package registers it once more."""

    def hides(self, instance: Instance, name: str, again: bool) -> bool:
        return again


@mutant()
class OthersLaterToolsAreHidden(_Hides):
    """Switches a tool off that is registered beside a list by a package that judges no calls."""

    def hides(self, instance: Instance, name: str, again: bool) -> bool:
        return not again and not instance.handlers.get("tool_call")


@mutant()
class SwitchedOffToolsCannotBeTakenBack(Registrations):
    """Takes a tool back only if the agent sees it."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        agent = instance.agent or current_agent()
        hidden = agent is not None and isinstance(name, str) and name not in self._host.tools.view(agent.scope).visible
        return not hidden and super().unregister(instance, name)


class _OnceItsOwn(Registrations):
    """Remembers which names a package ever had."""

    def register(self, instance: Instance, definition: Any) -> None:
        super().register(instance, definition)
        entry = self.owned(instance, as_object(definition).get("name"))
        if entry is not None:
            self.had(instance).add(entry.tool.name)

    def had(self, instance: Instance) -> set[str]:
        """The names."""
        names: dict[Instance, set[str]] = self.__dict__.setdefault("_had", {})
        return names.setdefault(instance, set())


@mutant()
class FormerOwnersTakeToolsBack(_OnceItsOwn):
    """Lets a package take back the tool of another one that has a name it once had itself."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        if super().unregister(instance, name):
            return True
        entry = self._entries.get((instance.agent, name)) if isinstance(name, str) else None
        if entry is None or entry.tool.name not in self.had(instance):
            return False
        del self._entries[instance.agent, entry.tool.name]
        entry.remove()
        return True


@mutant()
class FormerOwnersTakeToolsAlong(_OnceItsOwn):
    """Takes every tool away with a package that has a name it once had, whosever it is by then."""

    def drop(self, instance: Instance) -> None:
        super().drop(instance)
        for name in self.had(instance):
            entry = self._entries.pop((instance.agent, name), None)
            if entry is not None:
                entry.remove()


@mutant()
class LateToolsOutliveAReload(Registrations):
    """Leaves the tools in place that a package registered at work, when it goes or is reloaded."""

    def register(self, instance: Instance, definition: Any) -> None:
        late = current_agent() is not None
        super().register(instance, definition)
        entry = self.owned(instance, as_object(definition).get("name"))
        if entry is not None and late:
            self.late.append(entry)

    @property
    def late(self) -> list[Entry]:
        """The entries that are not the factory's."""
        entries: list[Entry] = self.__dict__.setdefault("_late", [])
        return entries

    def drop(self, instance: Instance) -> None:
        left = {key: entry for key, entry in self._entries.items() if entry in self.late}
        for key in left:
            del self._entries[key]
        super().drop(instance)
        self._entries.update(left)
