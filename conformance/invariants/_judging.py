"""What an invariant is: a predicate with a name, its rules, and three answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from conformance.invariants._story import Story


@dataclass(frozen=True)
class Context:
    """What an invariant may know besides the trace: who was run, and on which mount.

    ``settled`` says that every agent had come to rest before the trace ended, so that what is not there is missing.
    ``child_agents`` work for other agents; whether packages are told of their calls has no rule.
    """

    role: str
    mount: str | None = None
    capabilities: frozenset[str] = frozenset()
    settled: bool = False
    child_agents: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Broken:
    """One breach: the invariant's name, the rules it speaks for, and a sentence with the numbers of the events."""

    invariant: str
    rules: tuple[str, ...]
    sentence: str


class Holding(Enum):
    """What a trace says of an invariant."""

    HOLDS = "holds"
    BROKEN = "broken"
    CANNOT_TELL = "cannot tell"


Answers = Iterator["str | None"]
"""What a predicate yields: a sentence for each breach, ``None`` for each place where it held.

One that yields nothing cannot tell: the trace lacks what it looks at, or the path has no rule.
"""
Judge = Callable[[Story, Context], Answers]


@dataclass(frozen=True)
class Invariant:
    """A predicate with its name, the roles it holds for, and the rules it proves."""

    name: str
    rules: tuple[str, ...]
    roles: frozenset[str]
    judge: Judge

    def examine(self, story: Story, context: Context) -> tuple[Holding, list[str]]:
        """Return what a trace says, and a sentence for each breach."""
        if context.role not in self.roles:
            return Holding.CANNOT_TELL, []
        answers = list(self.judge(story, context))
        breaches = [answer for answer in answers if answer is not None]
        if breaches:
            return Holding.BROKEN, breaches
        return (Holding.HOLDS if answers else Holding.CANNOT_TELL), []


INVARIANTS: dict[str, Invariant] = {}
"""Every invariant, by name."""


def invariant(*rules: str, roles: str = "bridge pi") -> Callable[[Judge], Judge]:
    """Register a predicate under its function's name, with hyphens."""

    def register(judge: Judge) -> Judge:
        name = judge.__name__.replace("_", "-")
        INVARIANTS[name] = Invariant(name, rules, frozenset(roles.split()), judge)
        return judge

    return register
