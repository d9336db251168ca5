"""`registerTool` and `unregisterTool`: which tools of packages stand in the host's registry, and under whose name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import Instance, Package
from reference_bridge.bridge.tools import PiTool, presentation, render
from reference_bridge.bridge.values import UNDEFINED, as_object, copy_json, json_text
from reference_bridge.host import GLOBAL, Agent, Disposer, Execution, Host, Json, NotLosslessError, Scope, error_message
from reference_bridge.host.definitions import ToolDefinition

Body = Callable[[PiTool, Execution], Any]
"""Runs one call of a package's tool."""


class Refused(Exception):
    """A tool the bridge does not register; the text says why."""


@dataclass(eq=False, slots=True)
class Entry:
    """A tool that stands in the registry."""

    tool: PiTool
    definition: ToolDefinition
    placed: dict[Scope | None, Disposer] = field(default_factory=dict)
    shadows: bool = False
    """Whether a native tool has the global name, so that this one stands in the scope of each agent instead."""

    def remove(self) -> None:
        """Take it off the registry, which uncovers what it shadowed."""
        for dispose in self.placed.values():
            dispose()
        self.placed.clear()


class Registrations:
    """The tools of all packages."""

    def __init__(self, host: Host, body: Body, load_order: Callable[[Package], int], notices: Notices) -> None:
        self._host = host
        self._body = body
        self._load_order = load_order
        self._notices = notices
        self._entries: dict[tuple[Agent | None, str], Entry] = {}

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self._entries.values()))

    def register(self, instance: Instance, definition: Any) -> None:
        """Add a tool, or put it in the place of the package's own earlier one of that name.

        A tool that cannot stand is reported and nothing else: the package goes on, and so do its other tools.
        """
        name = as_object(definition).get("name", UNDEFINED)
        try:
            entry = self.entry(instance, name, as_object(definition))
            self.claim(instance, entry)
        except Refused as refused:
            self._notices.warn(f"tool {json_text(name)} of package {instance.package.name!r} is not there: {refused}")

    def unregister(self, instance: Instance, name: Any) -> bool:
        """Take away a tool of this very instance; false for every other name. What it shadowed is back."""
        entry = self.owned(instance, name)
        if entry is None:
            return False
        del self._entries[instance.agent, entry.tool.name]
        entry.remove()
        return True

    def owned(self, instance: Instance, name: Any) -> Entry | None:
        """The entry of this instance under `name`."""
        entry = self._entries.get((instance.agent, name)) if isinstance(name, str) else None
        return entry if entry is not None and entry.tool.instance is instance else None

    def drop(self, instance: Instance) -> None:
        """Take away everything an instance registered."""
        for entry in self:
            if entry.tool.instance is instance:
                self.unregister(instance, entry.tool.name)

    def tool_of(self, definition: ToolDefinition | None) -> PiTool | None:
        """The package's tool behind what the host runs; `None` for a native."""
        for entry in self._entries.values():
            if entry.definition is definition:
                return entry.tool
        return None

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        """The tool as the host will have it. Raises `Refused` where it cannot be had."""
        if not isinstance(name, str):
            raise Refused("it has no name")
        tool = PiTool(instance, name, definition)
        return Entry(
            tool,
            ToolDefinition(
                name=name,
                description=self.description(definition),
                parameters=self.parameters(definition),
                execute=lambda arguments, execution: self._body(tool, execution),
                render=render,
                presentation_meta=presentation,
                is_concurrency_safe=lambda arguments: tool.is_parallel,
            ),
        )

    def description(self, definition: dict[str, Any]) -> str:
        """What the model reads about the tool."""
        description = definition.get("description")
        return description if isinstance(description, str) else ""

    def parameters(self, definition: dict[str, Any]) -> Json:
        """The schema the model sees: the registered one, whole. Calls are checked against it whatever it is."""
        schema = definition.get("parameters")
        if not isinstance(schema, dict):
            return {"type": "object"}
        try:
            return copy_json(schema)
        except NotLosslessError as error:
            # One such schema in the registry would break every listing of every tool.
            raise Refused(f"its parameters are no JSON: {error}") from None

    def claim(self, instance: Instance, entry: Entry) -> None:
        """Give `entry` its name, unless another package has the better right to it: the one that was loaded first."""
        key = (instance.agent, entry.tool.name)
        holder = self._entries.get(key)
        if holder is not None and holder.tool.instance.package is not instance.package:
            owner = holder.tool.instance.package
            if self._load_order(owner) < self._load_order(instance.package):
                raise Refused(f"package {owner.name!r} was loaded first and has a tool of that name")
            self._notices.warn(
                f"tool {entry.tool.name!r} of package {owner.name!r} is gone: "
                f"package {instance.package.name!r} was loaded first and now has a tool of that name"
            )
        self._entries.pop(key, None)
        self.replace(holder, entry)
        self._entries[key] = entry

    def replace(self, holder: Entry | None, entry: Entry) -> None:
        """Put `entry` where `holder` was. Raises `Refused` where the host will not have it."""
        if holder is not None:
            holder.remove()
        try:
            self.place(entry)
        except Exception as error:
            entry.remove()
            raise Refused(error_message(error)) from None

    def place(self, entry: Entry) -> None:
        """Register the tool where its instance serves: for one agent, or for all."""
        agent = entry.tool.instance.agent
        if agent is not None:
            self.place_in(entry, agent.scope)
            return
        entry.shadows = entry.tool.name in self._host.tools.view(GLOBAL).known_names
        if not entry.shadows:
            self.place_in(entry, GLOBAL)
            return
        for agent in self._host.agents:
            self.place_in(entry, agent.scope)

    def place_in(self, entry: Entry, scope: Scope | None) -> None:
        """Register the tool in one layer."""
        entry.placed[scope] = self._host.tools.register(entry.definition, scope)

    def agent_started(self, agent: Agent) -> None:
        """Let the tools that shadow a native do so for this agent, too."""
        for entry in self.shadowing():
            try:
                self.place_in(entry, agent.scope)
            except Exception as error:
                self._notices.warn(
                    f"tool {entry.tool.name!r} is not there for agent {agent.id}: {error_message(error)}"
                )

    def agent_ended(self, agent: Agent) -> None:
        """Forget what went with the agent's scope."""
        for entry in self.shadowing():
            entry.placed.pop(agent.scope, None)

    def shadowing(self) -> Iterable[Entry]:
        """The entries that stand once an agent."""
        return [entry for entry in self._entries.values() if entry.shadows]
