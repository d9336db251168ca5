"""Says things of two traces of one program, each by its rule: the first that differs, and counts, is the answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from conformance.catalogue import Rule, load_catalogue
from conformance.compare import same, show
from conformance.drivers.protocol import Role
from conformance.invariants import Context, Story


@dataclass(frozen=True)
class Difference:
    """The first place where the candidate answers otherwise: ``about`` names it, ``where`` says on what.

    ``then`` are steps that hold where it is answered as ``expected``; empty where no step says it.
    """

    rule: str
    about: str
    where: str
    expected: Any
    got: Any
    then: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.where}: expected {show(self.expected)}; got {show(self.got)}"


class Differs(Exception):
    """Ends the reading at the first difference that counts."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(str(difference))
        self.difference = difference


class Pair:
    """Two stories of one program, and which rules are asked of both sides."""

    def __init__(
        self, right: Story, found: Story, contexts: Sequence[Context], levels: Collection[str] = ("must",)
    ) -> None:
        self.right = right
        self.found = found
        self._contexts = contexts
        self._levels = levels

    def say(
        self,
        rule: str,
        about: str,
        where: str,
        *values: Any,
        then: tuple[str, ...] = (),
        equal: Callable[[Any, Any], bool] = same,
    ) -> bool:
        """Return whether both sides, the right one first, are equal in this.

        Where they are not, and the rule counts, it raises :class:`Differs`; where it does not count, what follows from
        the difference is not to be compared.
        """
        right, found = values
        if equal(right, found):
            return True
        if self._counts(rule):
            raise Differs(Difference(rule, about, where, right, found, then))
        return False

    @property
    def child_agents(self) -> frozenset[str]:
        """Agents that work for others, on either side."""
        return frozenset().union(*(context.child_agents for context in self._contexts))

    @property
    def beside_pi(self) -> bool:
        """Whether one of both is the real Pi, and the other is not."""
        return len({context.role for context in self._contexts}) > 1

    def _counts(self, rule_id: str) -> bool:
        rule = _rules().get(rule_id)
        if rule is None or rule.level not in self._levels:
            return False
        if self.beside_pi and rule.relation != "same":
            return False
        return all(rule.applies_to(_role(each), each.mount, each.capabilities) for each in self._contexts)


def _role(context: Context) -> Role:
    role: Role = msgspec.convert(context.role, Role)
    return role


@lru_cache(maxsize=1)
def _rules() -> dict[str, Rule]:
    return dict(load_catalogue().by_id)
