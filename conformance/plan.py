"""The plan of a stage: what is on it when it opens, gathered step by step before the first prompt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from conformance.drivers.protocol import (
    ApiCall,
    HandlerSpec,
    ModelAnswer,
    NativeSpec,
    PackageSpec,
    PolicySpec,
    Reply,
    Services,
    ToolSpec,
)
from conformance.scripts import Behaviour, CallPi, NativeBehaviour, Timed

MAIN = "main"
"""The agent of a scenario that names none."""


@dataclass
class PackagePlan:
    """A package: what its factory does, and how its handlers and tools behave.

    ``handlers`` are keyed by handler id and ``tools`` by tool name and tag. A handler's id is its event, with ``#2``
    and so on for further ones.
    """

    name: str
    tools: list[ToolSpec] = field(default_factory=list)
    handlers: list[HandlerSpec] = field(default_factory=list)
    calls: list[ApiCall] = field(default_factory=list)
    throws: Any = msgspec.UNSET
    handling: dict[str, list[Behaviour]] = field(default_factory=dict)
    executing: dict[tuple[str, str], list[Behaviour]] = field(default_factory=dict)
    late: bool = False

    def spec(self) -> PackageSpec:
        """Return the package as the implementation is told of it."""
        return PackageSpec(
            name=self.name, tools=self.tools, handlers=self.handlers, calls=self.calls, throws=self.throws
        )

    def registers(self, tool: str) -> bool:
        """Whether the package registers ``tool``: its factory does, or a handler or a tool of it at work."""
        behaviours = [each for known in (self.handling, self.executing) for rows in known.values() for each in rows]
        acts = [act for each in behaviours for act in each.acts if isinstance(act, CallPi)]
        given = [act.args[0] for act in acts if act.call == "registerTool" and act.args]
        late = [spec.get("name") for spec in given if isinstance(spec, dict)]
        return tool in [*(spec.name for spec in self.tools), *(name for name, _ in self.executing), *late]

    def listen(self, event: str, further: bool = False) -> str:
        """Make sure there is a handler for ``event`` (a further one if asked) and return its id."""
        known = [handler.id for handler in self.handlers if handler.event == event]
        if known and not further:
            return known[-1]
        handler = event if not known else f"{event}#{len(known) + 1}"
        self.handlers.append(HandlerSpec(id=handler, event=event))
        return handler

    def handles(self, handler: str, behaviour: Behaviour) -> None:
        """Add a behaviour of one handler."""
        self.handling.setdefault(handler, []).append(behaviour)

    def executes(self, tool: str, behaviour: Behaviour, tag: str = "") -> None:
        """Add a behaviour of one tool's body."""
        self.executing.setdefault((tool, tag), []).append(behaviour)

    def make_sync(self, handler: str, reply: Reply) -> None:
        """Turn a handler into a synchronous one that always replies the same."""
        at = next(i for i, known in enumerate(self.handlers) if known.id == handler)
        self.handlers[at] = msgspec.structs.replace(self.handlers[at], sync=reply)


@dataclass
class ListenerPlan:
    """A listener of the suite on an event of the host; without a fitting behaviour it hands on."""

    name: str
    event: str
    scope: str | None = None
    prepend: bool = False
    behaviours: list[Behaviour] = field(default_factory=list)


@dataclass
class Plan:
    """Everything a stage opens with, and what the outside parties will do on it."""

    mount: str | None = None
    natives: list[NativeSpec] = field(default_factory=list)
    policies: list[PolicySpec] = field(default_factory=list)
    services: Services = field(default_factory=Services)
    packages: dict[str, PackagePlan] = field(default_factory=dict)
    agents: list[str] = field(default_factory=list)
    folders: dict[str, str] = field(default_factory=dict)
    """The working folders of agents that have one of their own."""
    scripts: dict[str, list[ModelAnswer]] = field(default_factory=dict)
    native_bodies: dict[str, list[NativeBehaviour]] = field(default_factory=dict)
    listeners: dict[str, ListenerPlan] = field(default_factory=dict)
    timed: list[Timed] = field(default_factory=list)
    forgotten: list[Timed] = field(default_factory=list)
    """What was in ``timed`` before: moments are counted by identity, so no later one may take the place of these."""
    cwd: str | None = None
    call_count: int = 0
    signals: dict[str, str | int] = field(default_factory=dict)

    def package(self, name: str) -> PackagePlan:
        """Return the plan of a package, adding it in load order at its first mention."""
        return self.packages.setdefault(name, PackagePlan(name))

    def owner_of(self, tool: str) -> PackagePlan:
        """Return the last package that registers ``tool``. Raises ``LookupError`` when none does."""
        for package in reversed(self.packages.values()):
            if package.registers(tool):
                return package
        raise LookupError(f"no package of this scenario registers the tool {tool!r}")

    def script(self, agent: str = MAIN) -> list[ModelAnswer]:
        """Return the messages the agent's model still has to say."""
        return self.scripts.setdefault(agent, [])
