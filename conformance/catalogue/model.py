"""The rules as frozen values, and the one table that says on which kind of implementation a rule runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from conformance.catalogue.problems import UnknownNameError

Level = Literal["must", "should", "may"]
Relation = Literal["same", "differs", "bridge", "host"]
Role = Literal["bridge", "pi", "host"]
Side = Literal["pi", "bridge"]

LEVELS: tuple[Level, ...] = ("must", "should", "may")
ROLES: tuple[Role, ...] = ("bridge", "pi", "host")

HOST_SEAMS = "host-seams"
"""The capability without which a bridge is never asked about facts of its host."""

_ROLES_OF: Mapping[Relation, frozenset[Role]] = {
    "same": frozenset({"pi", "bridge"}),
    "differs": frozenset({"pi", "bridge"}),
    "bridge": frozenset({"bridge"}),
    "host": frozenset({"bridge", "host"}),
}


@dataclass(frozen=True, slots=True)
class Source:
    """Where a right answer is stated: an anchor in one of the documents that ``spec/index.yaml`` lists."""

    document: str
    anchor: str

    def __str__(self) -> str:
        return f"{self.document}#{self.anchor}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What backs a rule: ``on`` names implementation and version, ``how`` says whether it was run or only read."""

    on: str
    how: Literal["observed", "read"]
    note: str | None = None

    def __str__(self) -> str:
        return f"{self.how} on {self.on}" + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True, slots=True)
class Deadline:
    """A scenario deadline of a rule's own, in seconds, and the reason why the usual one does not do."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class VectorRow:
    """One input with its right answer. ``values`` holds the keys of its kind as JSON values; nobody changes them.

    ``side`` is set exactly where the rule's relation is ``differs``. ``case`` is a slug, unique within the rule.
    """

    case: str
    kind: str
    values: Mapping[str, Any]
    side: Side | None
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Rule:
    """One testable normative sentence about a surface.

    ``text`` is the sentence, ``on_pi`` and ``because`` what Pi does instead and why a bridge differs, ``refusal`` the
    reason that must be visible where the right answer is a refusal. An empty ``mounts`` means every mount.
    ``editorial`` says why the words changed while the meaning, hence the proof, did not.
    """

    id: str
    surface: str
    level: Level
    relation: Relation
    text: str
    source: Source
    evidence: tuple[Evidence, ...]
    needs: tuple[str, ...]
    kills: tuple[str, ...]
    since: int
    file: str
    line: int
    on_pi: str | None = None
    because: str | None = None
    interpretation: str | None = None
    refusal: str | None = None
    mounts: tuple[str, ...] = ()
    deadline: Deadline | None = None
    editorial: str | None = None
    vectors: tuple[VectorRow, ...] = ()

    @property
    def where(self) -> str:
        """File and line of the rule, as an editor understands it."""
        return f"{self.file}:{self.line}"

    def applies_to(self, role: Role, mount: str | None = None, capabilities: Collection[str] = ()) -> bool:
        """Whether the rule says anything about an implementation of this role under this mount.

        ``mounts`` restricts bridges only: Pi and the host are not mounted. A fact of the host, and what can only be
        brought about on the host's own seams, is asked of a bridge only when its adapter declares the capability
        ``host-seams``: an adapter owes nobody a way past the bridge.
        """
        if role not in _ROLES_OF[self.relation]:
            return False
        if role != "bridge":
            return True
        on_seams = self.relation == "host" or HOST_SEAMS in self.needs
        if on_seams and HOST_SEAMS not in capabilities:
            return False
        return not self.mounts or mount in self.mounts

    def side_for(self, role: Role) -> Side | None:
        """Which side of a ``differs`` rule runs on this role; None where the rule has no sides or the role has none."""
        return role if self.relation == "differs" and role != "host" else None

    def runs(self, side: Side | None, role: Role) -> bool:
        """Whether a proof of this rule marked for ``side`` runs on ``role``; a proof without a side runs on each."""
        return side is None or side == self.side_for(role)


@dataclass(frozen=True, slots=True)
class Surface:
    """One row of the coverage table (kind ``api`` or ``event``) or one seam of the host (kind ``seam``).

    ``status`` is the table's own verdict, ``carried_by`` the host mechanism that carries the surface. ``path`` is what
    the rule file and the feature file share: ``tools/tool_call``.
    """

    name: str
    kind: Literal["api", "event", "seam"]
    status: Literal["same", "mapped"] | None
    summary: str
    carried_by: str
    source: Source
    path: str
    file: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A text the rules are drawn from, with the anchors a rule may point at."""

    name: str
    title: str
    anchors: tuple[str, ...]


@dataclass(frozen=True)
class Catalogue:
    """All rules, surfaces in the index's order; ``root`` is the folder read.

    ``version`` moves when a bridge that was conformant may no longer be, or an id goes; ``revision`` counts the other
    changes since then.
    """

    version: int
    documents: tuple[Document, ...]
    surfaces: tuple[Surface, ...]
    root: Path = field(compare=False)
    revision: int = 0

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule, in the order of the index and then of its file."""
        return tuple(rule for surface in self.surfaces for rule in surface.rules)

    @cached_property
    def by_id(self) -> Mapping[str, Rule]:
        """Rule ids, in order, to rules."""
        return {rule.id: rule for rule in self.rules}

    def rule(self, rule_id: str) -> Rule:
        """The rule of this id; raises UnknownNameError with near ids."""
        try:
            return self.by_id[rule_id]
        except KeyError:
            raise UnknownNameError("rule", rule_id, self.by_id) from None

    def surface(self, name: str) -> Surface:
        """The surface of this name; raises UnknownNameError with near names."""
        for surface in self.surfaces:
            if surface.name == name:
                return surface
        raise UnknownNameError("surface", name, [surface.name for surface in self.surfaces])
