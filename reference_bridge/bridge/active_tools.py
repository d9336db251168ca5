"""`getActiveTools`, `getAllTools` and `setActiveTools`: what the model of one agent may call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import Instance, current_agent
from reference_bridge.bridge.tools import PiTool
from reference_bridge.host import Agent, Disposer, Host, Scope
from reference_bridge.host.definitions import ToolDefinition


class ActiveTools:
    """One set of active tools an agent, shared by all packages: who sets it last decides.

    What is not wanted is masked by name, so a tool that is registered later joins the set.
    """

    def __init__(self, host: Host, tool_of: Callable[[ToolDefinition | None], PiTool | None], notices: Notices) -> None:
        self._host = host
        self._tool_of = tool_of
        self._notices = notices
        self._masks: dict[Agent, tuple[Instance, Disposer]] = {}
        self._intents: dict[Instance, list[str]] = {}
        self._reported: dict[tuple[Instance, Agent], tuple[frozenset[str], frozenset[str]]] = {}

    def names(self, instance: Instance) -> list[str]:
        """The names of the tools the agent of this call sees, natives and packages' alike."""
        return list(self.visible(instance))

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        """The rows of the model's catalogue, each with its source. What only Pi could know is left out."""
        visible = self.visible(instance)
        return [
            {**schema, "sourceInfo": self.source(visible.get(schema["name"]))}
            for schema in self._host.tools.schemas(self.scope(instance))
        ]

    def source(self, definition: ToolDefinition | None) -> dict[str, str]:
        """Where a tool comes from, in Pi's form."""
        tool = self._tool_of(definition)
        if tool is None:
            return {"path": "", "source": "host", "scope": "session", "origin": "top-level"}
        return {"path": "", "source": tool.instance.package.name, "scope": "session", "origin": "package"}

    def set(self, instance: Instance, names: Any) -> None:
        """Make `names` the active tools of the agent of this call. Names nobody knows are skipped.

        Outside the work of any agent the wish is kept for the first one this instance serves next. Raises `TypeError`
        for what is no list of names.
        """
        wanted = self.wanted(names)
        # A new wish replaces the one that still waits.
        self._intents.pop(instance, None)
        agent = self.agent_of(instance)
        if agent is None:
            self._intents[instance] = wanted
        else:
            self.apply(instance, agent, wanted)

    def wanted(self, names: Any) -> list[str]:
        """The names in what a package handed over; like Pi, anything that can be walked through is taken."""
        if not isinstance(names, str | list | tuple | set | frozenset):
            raise TypeError("toolNames is not iterable")
        return [name for name in names if isinstance(name, str)]

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        """Mask what is not wanted and can be masked, in place of the agent's earlier mask; report what remains."""
        wanted = frozenset(wanted)
        before = self._masks.pop(agent, None)
        unwanted = self._host.tools.view(agent.scope).restrictable_names - wanted
        if unwanted:
            self._masks[agent] = (instance, self._host.tools.restrict(agent.scope, deny=sorted(unwanted)))
        if before is not None:
            before[1]()
        remaining = frozenset(self._host.tools.view(agent.scope).visible) - wanted
        self.report(instance, agent, wanted, remaining)

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        """Name, in one notice, every tool that could not be switched off; the same wish again needs no notice."""
        told = (wanted, remaining)
        if remaining and self._reported.get((instance, agent)) != told:
            self._notices.warn(
                f"package {instance.package.name!r} called setActiveTools, but the host keeps these tools of agent "
                f"{agent.id} active, since they are its own or reserved: {', '.join(sorted(remaining))}"
            )
        self._reported[instance, agent] = told

    def fulfil_intents(self, agent: Agent) -> bool:
        """Apply what was wished for before there was an agent; answers whether there was any such wish."""
        due = [instance for instance in self._intents if instance.serves(agent) and agent.owner is None]
        for instance in due:
            self.apply(instance, agent, self._intents.pop(instance))
        return bool(due)

    def agent_of(self, instance: Instance) -> Agent | None:
        """The agent a call is for: the instance's own, the one whose work it is made in, or the only one there is."""
        agent = instance.agent or current_agent()
        if agent is None:
            served = [each for each in self._host.agents if each.owner is None]
            agent = served[0] if len(served) == 1 else None
        if agent is not None:
            self.fulfil_intents(agent)
        return agent

    def scope(self, instance: Instance) -> Scope | None:
        """The scope a call looks at; the global one outside the work of any agent."""
        agent = self.agent_of(instance)
        return None if agent is None else agent.scope

    def visible(self, instance: Instance) -> dict[str, ToolDefinition]:
        """What the agent of this call sees."""
        return dict(self._host.tools.view(self.scope(instance)).visible)

    def forget(self, agent: Agent) -> None:
        """Drop what was kept about an agent that is gone; its masks went with its scope."""
        self._masks.pop(agent, None)
        self._reported = {key: told for key, told in self._reported.items() if key[1] is not agent}

    def drop(self, instance: Instance) -> None:
        """Lift what an unloaded instance has masked, and drop its wishes."""
        self._intents.pop(instance, None)
        for agent, (owner, lift) in list(self._masks.items()):
            if owner is instance:
                del self._masks[agent]
                lift()
