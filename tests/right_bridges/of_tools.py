"""Right bridges that register, list and switch off tools in another way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Entry, Refused, Registrations
from reference_bridge.host import GLOBAL, Agent, Disposer, Host, Scope
from reference_bridge.host.registry import View
from reference_bridge.host.tools import Tools
from tests.right_bridges.table import right

LISTS = ("getActiveTools.*", "getAllTools.*", "setActiveTools.*")
REGISTERS = ("registerTool.registered*", "registerTool.registering*", "unregisterTool.*", "registerTool.*name*")
NAMES = ("registerTool.*name*", "registerTool.*wins", "unregisterTool.*")


class _BackwardsTools(Tools):
    def view(self, scope: Scope | None = GLOBAL) -> View:
        seen = super().view(scope)
        return View(dict(reversed(seen.visible.items())), seen.known_names, seen.restrictable_names)

    def catalogue(self, scope: Scope | None) -> list[dict[str, Any]]:
        return list(reversed(super().catalogue(scope)))


@right(*LISTS, "registerTool.in-the*")
class EverythingListedBackwards(Host):
    """Lists tools in the opposite order, in the catalogue and in every answer.

    Free: the order of lists and of the catalogue is the host's; `getActiveTools.equals-the-catalogue` compares sets.
    """

    tools_type = _BackwardsTools


@right(*LISTS)
class ListsInAnotherOrder(ActiveTools):
    """Sorts what getActiveTools and getAllTools give by the length of the names.

    Free: no rule speaks of the order of lists; they equal the catalogue as sets.
    """

    def names(self, instance: Instance) -> list[str]:
        return sorted(super().names(instance), key=lambda name: (len(name), name))

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        return sorted(super().all(instance), key=lambda row: (-len(row["name"]), row["name"]))


@right(*LISTS)
class RowsThatSayMore(ActiveTools):
    """Gives rows of getAllTools further fields: a label, an exposure, whose tool it is, where its source stands.

    Free: `getAllTools.rows-equal-the-catalogue` compares name, description and parameters, and
    `getAllTools.no-invented-guidelines-on-natives` forbids one field alone.
    """

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        return [
            {
                **row,
                "label": row["name"].title(),
                "exposure": "direct",
                "active": True,
                "annotations": {},
                "sourceInfo": {**row["sourceInfo"], "line": 1, "package": instance.package.name},
            }
            for row in super().all(instance)
        ]


@right(*LISTS, departs=("getAllTools.only-visible-tools",))
class RowsOfToolsSwitchedOff(ActiveTools):
    """Lists tools that are switched off in getAllTools, as Pi does.

    Free: `getAllTools.only-visible-tools` is a should.
    """

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        rows = super().all(instance)
        there = {row["name"] for row in rows}
        tools = self._host.tools
        more = [row for row in tools.schemas(GLOBAL) if row["name"] not in there]
        definitions = tools.view(GLOBAL).visible
        return rows + [{**row, "sourceInfo": self.source(definitions.get(row["name"]))} for row in more]


@right(*LISTS, departs=("getAllTools.no-guidelines-on-own-tools",))
class GuidelinesInOwnRows(ActiveTools):
    """Puts the promptGuidelines of a package's tool into its row, as Pi does.

    Free: `getAllTools.no-guidelines-on-own-tools` is a should; the must is about native tools.
    """

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        visible = self.visible(instance)
        rows = super().all(instance)
        for row in rows:
            tool = self._tool_of(visible.get(row["name"]))
            if tool is not None and isinstance(tool.definition.get("promptGuidelines"), list):
                row["promptGuidelines"] = list(tool.definition["promptGuidelines"])
        return rows


class _NotWhileLoading(ActiveTools):
    def visible(self, instance: Instance) -> dict[str, Any]:
        if not self._host.agents or not any(True for _ in self._host.agents):
            raise RuntimeError("the tools are listed once there is an agent")
        return super().visible(instance)


@right(*LISTS, departs=("getActiveTools.while-loading",))
class ListsOnlyOnceThereIsAnAgent(_NotWhileLoading):
    """Throws from getActiveTools and getAllTools before there is an agent, as Pi does.

    Free: `getActiveTools.while-loading` is a may.
    """


@right(*LISTS, "registerTool.tools-go*")
class AMaskForEachName(ActiveTools):
    """Switches off each tool by a restriction of its own.

    Free: rules speak of what the next request carries, not of how many restrictions that takes.
    """

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        wanted = frozenset(wanted)
        before = self._masks.pop(agent, None)
        unwanted = self._host.tools.view(agent.scope).restrictable_names - wanted
        lifts = [self._host.tools.restrict(agent.scope, deny=[name]) for name in sorted(unwanted)]
        if lifts:

            def lift_all() -> None:
                for lift in lifts:
                    lift()

            self._masks[agent] = (instance, Disposer(lift_all))
        if before is not None:
            before[1]()
        self.report(instance, agent, wanted, frozenset(self._host.tools.view(agent.scope).visible) - wanted)


class _Allowing(ActiveTools):
    """Masks by lists of what is allowed, and makes them longer when a tool is registered."""

    def __init__(self, host: Host, *more: Any) -> None:
        super().__init__(host, *more)
        self._allowed: dict[Agent, tuple[frozenset[str], frozenset[str]]] = {}
        self._busy = False
        host.on("tools/change", self.follow)

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        wanted = frozenset(wanted)
        known = self._host.tools.view(agent.scope).restrictable_names
        self._allowed[agent] = (wanted, known - wanted)
        before = self._masks.pop(agent, None)
        self.mask(instance, agent)
        if before is not None:
            self._lift(before[1])
        self.report(instance, agent, wanted, frozenset(self._host.tools.view(agent.scope).visible) - wanted)

    def mask(self, instance: Instance, agent: Agent) -> None:
        """What is switched off by name stays so; whatever else there is, or comes, is allowed."""
        off = self._allowed[agent][1]
        allowed = self._host.tools.view(agent.scope).restrictable_names - off
        self._busy = True
        try:
            self._masks[agent] = (instance, self._host.tools.restrict(agent.scope, allow=sorted(allowed)))
        finally:
            self._busy = False

    def follow(self) -> None:
        """A tool came or went: an allow list would hide what is new."""
        if self._busy:
            return
        for agent, (instance, lift) in list(self._masks.items()):
            if self._host.agents.get(agent.id) is agent and agent in self._allowed:
                self.mask(instance, agent)
                self._lift(lift)

    def drop(self, instance: Instance) -> None:
        self._busy = True
        try:
            super().drop(instance)
        finally:
            self._busy = False

    def _lift(self, lift: Disposer) -> None:
        self._busy = True
        try:
            lift()
        finally:
            self._busy = False


@right(*LISTS, *REGISTERS)
class MasksByWhatIsAllowed(_Allowing):
    """Restricts an agent to the tools that are allowed, and allows what is registered later as it comes.

    Free: rules speak of what the next request carries, not of the form of a restriction.
    """


class _Again(Bridge):
    def run_anew(self) -> None:
        for entry in self.registrations:
            entry.remove()
            self.registrations.place(entry)

    async def assemble(self, assembly: Any, context: Any, following: Any) -> Any:
        self.run_anew()
        return await super().assemble(assembly, context, following)


@right(*LISTS, *REGISTERS, "registerTool.only-visible*")
class RegisteredAnewForEachRequest(_Again):
    """Takes all tools off the registry before each request and registers them anew.

    Free: rules speak of what requests carry and calls run, not of how long a registration stands.
    """


class _Throwing(Registrations):
    def register(self, instance: Instance, definition: Any) -> None:
        name = definition.get("name") if isinstance(definition, dict) else None
        try:
            entry = self.entry(instance, name, definition if isinstance(definition, dict) else {})
            self.claim(instance, entry)
        except Refused as refused:
            raise ValueError(f"{name!r} cannot be registered: {refused}") from None


class _NativesWin(Registrations):
    def claim(self, instance: Instance, entry: Entry) -> None:
        scope = GLOBAL if instance.agent is None else instance.agent.scope
        key = (instance.agent, entry.tool.name)
        if key not in self._entries and entry.tool.name in self._host.tools.view(scope).known_names:
            raise Refused("the host has a tool of that name")
        super().claim(instance, entry)


@right(
    "registerTool.*name*",
    "registerTool.*wins",
    "unregisterTool.*",
    departs=("registerTool.a-package-overrides-a-native-tool",),
)
class NativesKeepTheirNames(_NativesWin):
    """Refuses a tool that has the name of a native one, and says so in a notice.

    Free: `registerTool.a-name-of-a-native-tool` asks for either, `registerTool.a-package-overrides-a-native-tool` is a
    should.
    """


class _LaterLoses(Registrations):
    def claim(self, instance: Instance, entry: Entry) -> None:
        holder = self._entries.get((instance.agent, entry.tool.name))
        if holder is not None and holder.tool.instance.package is not instance.package:
            raise Refused(f"package {holder.tool.instance.package.name!r} has a tool of that name")
        super().claim(instance, entry)


@right(
    "registerTool.*name*",
    "registerTool.*wins",
    "unregisterTool.*",
    departs=("registerTool.the-first-loaded-package-wins",),
)
class WhoRegistersFirstKeepsTheName(_LaterLoses):
    """Lets the package keep a name that registers it first, whichever was loaded first, as the host's registry does.

    Free: `registerTool.the-first-loaded-package-wins` is a should.
    """


@right("registerTool.*name*", "registerTool.*spares*", "registerTool.*wins")
class RefusalsAreThrown(_Throwing):
    """Throws from registerTool where a tool cannot stand, instead of reporting it.

    Free: `registerTool.a-name-of-another-package` and its like ask that a refusal be visible: thrown or reported.
    """


class _AsGiven(ActiveTools):
    """Keeps the list of each agent in the order, and with the doubles, in which it was given."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._given: dict[Agent, list[str]] = {}

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        self._given[agent] = list(wanted)
        super().apply(instance, agent, self._given[agent])

    def names(self, instance: Instance) -> list[str]:
        names = super().names(instance)
        agent = self.agent_of(instance)
        given = [name for name in (self._given.get(agent, []) if agent is not None else []) if name in names]
        return [*given, *(name for name in names if name not in given)]


@right(*LISTS)
class NamesInTheOrderGiven(_AsGiven):
    """Gives the names of a list in the order in which they were set, one that was given twice twice, as Pi does.

    Free: order and duplicates in lists are compared as sets.
    """


class _AtTheStart(Bridge):
    def agent_started(self, agent: Agent) -> None:
        super().agent_started(agent)
        if self.mount == "root" and agent.owner is None:
            self.active_tools.fulfil_intents(agent)


@right("setActiveTools.while*", "setActiveTools.*before*", *LISTS)
class WishesFulfilledAtTheStart(_AtTheStart):
    """Applies a list that was set before there was an agent as soon as one starts.

    Free: `setActiveTools.while-loading` asks that it be in force at the agent's first request.
    """


class _MaskedAnew(Bridge):
    async def assemble(self, assembly: Any, context: Any, following: Any) -> Any:
        lists = self.active_tools
        assembly = await super().assemble(assembly, context, following)
        agent = context.agent
        if agent in lists._masks:
            instance, lift = lists._masks[agent]
            masked = sorted(
                name
                for name in self.host.tools.view(agent.scope).restrictable_names
                if name not in self.host.tools.view(agent.scope).visible
            )
            if masked:
                lists._masks[agent] = (instance, self.host.tools.restrict(agent.scope, deny=masked))
                lift()
        return assembly


@right(*LISTS)
class MasksMadeAnewForEachRequest(_MaskedAnew):
    """Restricts an agent anew for each request.

    Free: rules speak of what requests carry, not of how long a restriction stands.
    """


class _Leaving(Registrations):
    """What was unregistered is listed nowhere, and stands until the next request is prepared."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.leaving: list[Entry] = []

    def unregister(self, instance: Instance, name: Any) -> bool:
        entry = self.owned(instance, name)
        if entry is None:
            return False
        del self._entries[instance.agent, entry.tool.name]
        if any(agent.status == "running" for agent in self._host.agents) and instance.active:
            self.leaving.append(entry)
        else:
            entry.remove()
        return True

    def drop(self, instance: Instance) -> None:
        super().drop(instance)
        self.leave()

    def claim(self, instance: Instance, entry: Entry) -> None:
        self.leave(entry.tool.name)
        super().claim(instance, entry)

    def tool_of(self, definition: Any) -> Any:
        gone = next((each.tool for each in self.leaving if each.definition is definition), None)
        return gone or super().tool_of(definition)

    def leave(self, name: str | None = None) -> None:
        """Take away what is leaving, or what of it has a name."""
        for entry in [each for each in self.leaving if name is None or each.tool.name == name]:
            self.leaving.remove(entry)
            entry.remove()


class _WithoutTheLeaving(ActiveTools):
    registrations: _Leaving

    def visible(self, instance: Instance) -> dict[str, Any]:
        leaving = [each.definition for each in self.registrations.leaving]
        return {name: each for name, each in super().visible(instance).items() if each not in leaving}

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        visible = self.visible(instance)
        return [row for row in super().all(instance) if row["name"] in visible]


@right("unregisterTool.*", *LISTS, departs=("unregisterTool.a-later-call-of-the-batch-is-unknown",))
class UnregisteredAtTheNextRequest(Bridge):
    """Takes an unregistered tool off the lists at once, and off the host's registry before the next request.

    Free: unregister inside a batch is live or not; `unregisterTool.a-later-call-of-the-batch-is-unknown` is a should.
    """

    registrations_type = _Leaving
    active_tools_type = _WithoutTheLeaving

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        cast(_WithoutTheLeaving, self.active_tools).registrations = cast(_Leaving, self.registrations)

    async def assemble(self, assembly: Any, context: Any, following: Any) -> Any:
        cast(_Leaving, self.registrations).leave()
        assembly = await super().assemble(assembly, context, following)
        cast(_Leaving, self.registrations).leave()
        assembly.tools = self.host.tools.catalogue(context.agent.scope)
        return assembly

    def agent_ended(self, agent: Agent) -> None:
        cast(_Leaving, self.registrations).leave()
        super().agent_ended(agent)
