"""Packages, and the runs of their factories that serve agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from reference_bridge.host.loop import Agent

if TYPE_CHECKING:
    from reference_bridge.bridge.api import Pi

Factory: TypeAlias = "Callable[[Pi], Any]"
"""A package's entry point, plain or async: it gets `pi` and registers what it wants."""

Handler: TypeAlias = Callable[[dict[str, Any], Any], Any]
"""`(event, ctx)` → an answer, plain or awaited. Whatever a package subscribes is kept, also what cannot be called."""


@dataclass(frozen=True, slots=True)
class Package:
    """What is installed: a name and the code behind it."""

    name: str
    factory: Factory


@dataclass(eq=False, slots=True)
class Instance:
    """One run of a package's factory.

    `agent` is the one agent it serves; `None` means that it serves them all.
    """

    package: Package
    agent: Agent | None
    handlers: dict[str, list[Handler]] = field(default_factory=dict)
    active: bool = True

    def serves(self, agent: Agent | None) -> bool:
        """Whether events of `agent` are this instance's business."""
        return self.active and self.agent in (None, agent)


_agent: ContextVar[Agent | None] = ContextVar("agent", default=None)


def current_agent() -> Agent | None:
    """The agent whose handler or tool is running, in whatever task it went on; `None` outside of any."""
    return _agent.get()


@contextmanager
def working_for(agent: Agent | None) -> Iterator[None]:
    """Make `agent` the one that `pi.*` calls are for."""
    token = _agent.set(agent)
    try:
        yield
    finally:
        _agent.reset(token)
