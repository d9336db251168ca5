"""What a right bridge is, and the table of all of them: bridges that differ from the reference where they may."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from conformance.drivers.backend import Backend, Suite
from conformance.drivers.reference.backend import ReferenceBackend
from conformance.mutants.registry import types_with
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.host import Host

T = TypeVar("T", bound=type)


@dataclass(frozen=True)
class RightBridge:
    """A bridge that is right and not like the reference.

    ``difference`` is one sentence, ``freedom`` says what allows it; rules in it stand between backticks. ``departs``
    are the rules that fall all the same, none of them a must: those shoulds and mays that it takes the other way.
    ``asked`` are patterns of the rules that speak where it differs: a proof that is too narrow is likely one of theirs.
    """

    name: str
    difference: str
    freedom: str
    bridge_type: type[Bridge]
    host_type: type[Host]
    backend_type: type[ReferenceBackend] = ReferenceBackend
    asked: tuple[str, ...] = ()
    departs: frozenset[str] = frozenset()
    mount: str | None = None

    @property
    def has_a_host_of_its_own(self) -> bool:
        """Whether facts of the host are not facts of this one: then no rule on them is about it."""
        return self.host_type is not Host

    @property
    def factory(self) -> str:
        """The name under which ``backends`` has it."""
        return self.name.replace("-", "_")

    def make_backend(self, suite: Suite, mount: str | None = None) -> Backend:
        """Return the backend of this bridge."""
        return self.backend_type(suite, mount or self.mount, self.bridge_type, self.host_type)


RIGHT_BRIDGES: dict[str, RightBridge] = {}
"""Every right bridge, by name; filled by :func:`load_right_bridges`."""


def right(*asked: str, departs: tuple[str, ...] = (), mount: str | None = None) -> Callable[[T], T]:
    """Register a class as a right bridge: of ``Bridge``, ``Host``, a part of either, or ``ReferenceBackend``.

    The name is the class's, in lower case with hyphens. The first line of its docstring is the difference, what stands
    behind ``Free:`` is the freedom that it takes.
    """

    def register(made: T) -> T:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", made.__name__).lower()
        if name in RIGHT_BRIDGES:
            raise ValueError(f"two right bridges are named {name}")
        difference, _, freedom = (made.__doc__ or "").partition("Free:")
        parts: dict[str, Any] = dict(zip(("bridge_type", "host_type"), (Bridge, Host), strict=True))
        if issubclass(made, ReferenceBackend):
            parts["backend_type"] = made
            parts.update(getattr(made, "parts", {}))
        else:
            parts["bridge_type"], parts["host_type"] = types_with(made)
        RIGHT_BRIDGES[name] = RightBridge(
            name,
            " ".join(difference.split()),
            " ".join(freedom.split()),
            asked=asked,
            departs=frozenset(departs),
            mount=mount,
            **parts,
        )
        return made

    return register


def load_right_bridges() -> dict[str, RightBridge]:
    """Import every module of right bridges and return the table."""
    package = importlib.import_module("tests.right_bridges")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("of_"):
            importlib.import_module(f"tests.right_bridges.{module.name}")
    return RIGHT_BRIDGES
