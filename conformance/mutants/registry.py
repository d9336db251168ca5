"""What a mutant is, and the table of all of them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from conformance.drivers.backend import Backend, Suite
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.host import Agent, Host
from reference_bridge.host.agents import Agents
from reference_bridge.host.tools import Tools

T = TypeVar("T", bound=type)


@dataclass(frozen=True)
class Mutant:
    """The reference with one defect.

    ``name`` is what a rule's ``kills`` and ``mutant:NAME`` say; ``defect`` is one sentence. ``hangs`` marks one that an
    inconclusive verdict kills as well. ``blanket`` marks one that is wrong nearly everywhere.
    """

    name: str
    defect: str
    bridge_type: type[Bridge] = Bridge
    host_type: type[Host] = Host
    hangs: bool = False
    blanket: bool = False
    mount: str | None = None

    def make_backend(self, suite: Suite, mount: str | None = None) -> Backend:
        """Return the backend of the reference with this defect."""
        from conformance.drivers.reference import make_backend

        return make_backend(suite, mount or self.mount, bridge_type=self.bridge_type, host_type=self.host_type)


MUTANTS: dict[str, Mutant] = {}
"""Every mutant, by name; filled by :func:`load_mutants`."""


def mutant(*, hangs: bool = False, blanket: bool = False, mount: str | None = None) -> Callable[[T], T]:
    """Register a class as a mutant: a subclass of ``Bridge``, of ``Host``, or of one of the parts of either.

    The name is the class's, in lower case with hyphens; the defect is the first line of its docstring.
    """

    def register(defect: T) -> T:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", defect.__name__).lower()
        if name in MUTANTS:
            raise ValueError(f"two mutants are named {name}")
        if not defect.__doc__:
            raise ValueError(f"mutant {name} does not say what its defect is")
        bridge_type, host_type = types_with(defect)
        MUTANTS[name] = Mutant(
            name, defect.__doc__.splitlines()[0], bridge_type, host_type, hangs=hangs, blanket=blanket, mount=mount
        )
        return defect

    return register


def load_mutants() -> dict[str, Mutant]:
    """Import every module of mutants, once, and return the table."""
    _import_all()
    return MUTANTS


@cache
def _import_all() -> None:
    # A session of the kill gate asks for the table thousands of times, and each look at the folder is felt.
    package = importlib.import_module("conformance.mutants")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("of_"):
            importlib.import_module(f"conformance.mutants.{module.name}")


_WHOLES: tuple[type, ...] = (Bridge, Host, Tools, Agents, Agent)
"""The classes that are made of parts; each of them but the first two is a part itself."""


def types_with(defect: type) -> tuple[type[Bridge], type[Host]]:
    """Return bridge and host with the defect in its place: as it is, or as a part of a part of one of them."""
    whole = defect
    while not issubclass(whole, Bridge | Host):
        holder, name = _place(whole)
        whole = type(defect.__name__, (holder,), {name: whole})
    return (whole, Host) if issubclass(whole, Bridge) else (Bridge, whole)


def _place(part: type) -> tuple[type, str]:
    """Return the class that has a part like this one, and under which name."""
    for base in part.__mro__:
        for holder in _WHOLES:
            for name, value in vars(holder).items():
                if name.endswith("_type") and value is base:
                    return holder, name
    raise TypeError(f"{part.__name__} is no part of the reference")
