"""Says what became of the rules between two states of spec and features, rule by rule, and which number must move."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from conformance.catalogue.features import Features, Pickle, item_id
from conformance.catalogue.join import RuleIds
from conformance.catalogue.model import LEVELS, Catalogue, Relation, Role, Rule
from conformance.catalogue.released import Released, Version

Kind = Literal[
    "removed",
    "re-used",
    "renamed",
    "strengthened",
    "weakened",
    "changed",
    "added",
    "re-worded",
    "proven otherwise",
    "annotated",
]
KINDS: dict[Kind, str] = {
    "removed": "the rule is gone",
    "re-used": "the id now names another rule",
    "renamed": "the same rule under another id",
    "strengthened": "more is asked, or of more bridges",
    "weakened": "less is asked, or of fewer bridges",
    "changed": "the right answer, or what is asked of whom, is another",
    "added": "a new rule",
    "re-worded": "the sentence reads otherwise",
    "proven otherwise": "its scenarios or vectors changed, its sentence did not",
    "annotated": "nothing that decides a verdict changed",
}
"""Every kind of change, the gravest first."""

Part = Literal["version", "revision", "nothing"]
PARTS: tuple[Part, ...] = ("nothing", "revision", "version")

ALIKE = 0.8
"""Likeness of two sentences from which on a new id is taken for a renamed one."""
HALF = 0.4
"""The same where the same steps prove both."""
STRANGE = 0.3
"""Likeness below which one id, with no test that stayed as it was, is taken for another rule."""

_ROLES: dict[Relation, frozenset[Role]] = {
    "same": frozenset({"pi", "bridge"}),
    "differs": frozenset({"pi", "bridge"}),
    "bridge": frozenset({"bridge"}),
    "host": frozenset({"host"}),
}
_DECIDING = ("level", "relation", "text", "on_pi", "refusal", "needs", "mounts", "deadline")
_REMARKS = ("because", "interpretation", "source", "evidence", "kills", "editorial", "since")
_NONE: RuleIds = {}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a rule that reads otherwise."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Proofs:
    """What is behind a rule, and what became of it. Scenarios and vectors are named as their tests."""

    scenarios: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def moved(self) -> bool:
        """Whether a scenario or vector came, went or changed."""
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one rule.

    ``kinds`` are in order of gravity. ``before`` and ``after`` are the rule, None where it is not. ``editorial`` is
    true where its words changed and its meaning, as the rule or its letters say, did not. ``remarks`` are for the
    reviewer. ``part`` is what must move.
    """

    id: str
    kinds: tuple[Kind, ...]
    before: Rule | None
    after: Rule | None
    fields: tuple[Field, ...]
    proofs: Proofs
    part: Part
    editorial: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """The gravest of its kinds."""
        return self.kinds[0]

    @property
    def rule(self) -> Rule:
        """The rule as it is now, else as it was."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def old_id(self) -> str:
        """The id under which earlier reports know the rule."""
        return self.before.id if self.before else self.id


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two states. ``name`` is what the user called it."""

    name: str
    catalogue: Catalogue
    features: Features
    released: Released

    @property
    def version(self) -> Version:
        """Version and revision of its rules."""
        return self.catalogue.version, self.catalogue.revision


@dataclass(frozen=True, slots=True)
class Diff:
    """Everything between two states; ``changes`` in order of gravity, then of the rules."""

    base: Side
    head: Side
    changes: tuple[Change, ...]

    def of(self, *kinds: Kind) -> tuple[Change, ...]:
        """The changes that are, among other things, of one of these kinds."""
        return tuple(change for change in self.changes if set(kinds) & set(change.kinds))

    @property
    def part(self) -> Part:
        """The greatest part that a change must move."""
        return max((change.part for change in self.changes), key=PARTS.index, default="nothing")

    @property
    def wanted(self) -> Version:
        """The least version that the head must have. What was released last counts, else the base."""
        start = self.base.released.latest or self.base.version
        before = max(start, self.base.version)
        version, revision = start
        moved = {"version": (version + 1, 0), "revision": (version, revision + 1), "nothing": start}[self.part]
        # An earlier change since the release may have moved it already.
        return max(moved, before)

    @property
    def moved_enough(self) -> bool:
        """Whether the head's version is at least the wanted one."""
        return self.head.version >= self.wanted


def diff(base: Side, head: Side, *, proofs: RuleIds = _NONE) -> Diff:
    """Compare two states. ``proofs`` are properties and invariants, names to rule ids, as the program has them now."""
    old, new = base.catalogue.by_id, head.catalogue.by_id
    gone = [rule for rule in base.catalogue.rules if rule.id not in new]
    fresh = [rule for rule in head.catalogue.rules if rule.id not in old]
    renamed = dict(_renamed(gone, fresh, base, head))
    changes = [
        _removed(rule, _proofs(rule, None, base, head, proofs)) for rule in gone if rule.id not in renamed.values()
    ]
    for rule in head.catalogue.rules:
        before = old.get(renamed.get(rule.id, rule.id))
        behind = _proofs(before, rule, base, head, proofs)
        change = _added(rule, behind) if before is None else _compared(before, rule, behind)
        if change is not None:
            changes.append(change)
    rank = {kind: number for number, kind in enumerate(KINDS)}
    return Diff(base, head, tuple(sorted(changes, key=lambda change: rank[change.kind])))


def _renamed(gone: list[Rule], fresh: list[Rule], base: Side, head: Side) -> Iterator[tuple[str, str]]:
    """Pairs of new and old id, the most alike first; each id is in one pair."""
    pairs = []
    for one in gone:
        for other in fresh:
            proven = _steps(base.features.of_rule(one.id)) == _steps(head.features.of_rule(other.id)) != []
            likeness = 1.0 if _letters(one.text) == _letters(other.text) else alike(one.text, other.text)
            if likeness >= (HALF if proven else ALIKE):
                pairs.append((likeness + proven, other.id, one.id))
    taken: set[str] = set()
    for _, after, before in sorted(pairs, reverse=True):
        if not {after, before} & taken:
            taken |= {after, before}
            yield after, before


def _removed(rule: Rule, proofs: Proofs) -> Change:
    return Change(rule.id, ("removed",), rule, None, (), proofs, "version")


def _added(rule: Rule, proofs: Proofs) -> Change:
    return Change(rule.id, ("added",), None, rule, (), proofs, "version" if rule.level == "must" else "revision")


def _compared(before: Rule, after: Rule, proofs: Proofs) -> Change | None:
    fields = tuple(_fields(before, after, (*_DECIDING, *_REMARKS)))
    renamed = before.id != after.id
    if not fields and not proofs.moved and not renamed:
        return None
    names = {field.name for field in fields}
    kinds: set[Kind] = {"renamed"} if renamed else set()
    force = _force(before, after)
    if force:
        kinds.add("strengthened" if force > 0 else "weakened")
    spelled = "text" in names and _letters(before.text) == _letters(after.text)
    marked = after.editorial is not None and after.editorial != before.editorial
    words = "text" in names
    if words:
        strange = not renamed and not marked and not proofs.kept and alike(before.text, after.text) < STRANGE
        kinds.add("re-used" if strange else "re-worded")
    if names & {"on_pi", "refusal", "deadline", "relation", "needs", "mounts"} and not force:
        kinds.add("changed")
    editorial = (
        (words or "on_pi" in names)
        and not force
        and "re-used" not in kinds
        and (marked or (spelled and not names & (set(_DECIDING) - {"text"})))
    )
    if editorial:
        kinds.discard("changed")
    if proofs.moved and not kinds - {"renamed"}:
        kinds.add("proven otherwise")
    if not kinds:
        kinds.add("annotated")
    ordered = tuple(kind for kind in KINDS if kind in kinds)
    return Change(
        after.id,
        ordered,
        before,
        after,
        fields,
        proofs,
        _part(before, after, kinds, editorial),
        editorial,
        tuple(_remarks(before, after, kinds, editorial, marked, proofs)),
    )


def _part(before: Rule, after: Rule, kinds: set[Kind], editorial: bool) -> Part:
    if kinds & {"renamed", "re-used"}:
        return "version"
    if after.level == "must" and ("strengthened" in kinds or ("changed" in kinds and not editorial)):
        return "version"
    if after.level == before.level == "must" and "re-worded" in kinds and not editorial and "weakened" not in kinds:
        return "version"
    return "nothing" if kinds == {"annotated"} else "revision"


def _force(before: Rule, after: Rule) -> int:
    """More than 0 where more is asked or of more, less where less; 0 where neither, or both at once."""
    ups, downs = 0, 0
    strength = LEVELS.index(before.level) - LEVELS.index(after.level)
    steps = [
        strength,
        _wider(_ROLES[before.relation], _ROLES[after.relation]),
        -_wider(frozenset(before.needs), frozenset(after.needs)),
        _of_mounts(before.mounts, after.mounts),
    ]
    ups = sum(step > 0 for step in steps)
    downs = sum(step < 0 for step in steps)
    if strength:
        return strength
    return 0 if ups and downs else ups - downs


def _wider(before: frozenset[Any], after: frozenset[Any]) -> int:
    return 1 if after > before else -1 if after < before else 0


def _of_mounts(before: tuple[str, ...], after: tuple[str, ...]) -> int:
    """No mounts are every mount."""
    if not before or not after:
        return bool(before) - bool(after)
    return _wider(frozenset(before), frozenset(after))


def _remarks(
    before: Rule, after: Rule, kinds: set[Kind], editorial: bool, marked: bool, proofs: Proofs
) -> Iterator[str]:
    if marked and editorial:
        yield f"It says of itself: {after.editorial}"
    elif marked:
        yield "It is marked editorial, and more than words changed: that mark does not hold."
    if editorial and proofs.moved:
        yield "It is called editorial, and its proofs changed with it: look whether the meaning really stayed."
    if "re-worded" in kinds and not editorial and not proofs.moved:
        yield "Its sentence changed and nothing that proves it did: the proofs prove the old sentence."
    if "re-used" in kinds:
        yield "The sentence has hardly a word in common with the old one. A new rule gets a new id."
    if after.level == "must" and not after.kills:
        yield "It kills no mutant: nothing shows that its proof can fail."
    if set(before.kills) - set(after.kills):
        yield f"It no longer kills {', '.join(sorted(set(before.kills) - set(after.kills)))}."


def _fields(before: Rule, after: Rule, names: tuple[str, ...]) -> Iterator[Field]:
    for name in names:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield Field(name, _shown(old), _shown(new))


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value)


def _proofs(before: Rule | None, after: Rule | None, base: Side, head: Side, registered: RuleIds) -> Proofs:
    old = _tests(before, base.features) if before else {}
    new = _tests(after, head.features) if after else {}
    if before and after and before.id != after.id:
        # A test is named after its rule, so the same test has another name after a renaming.
        old = {name.replace(before.id, after.id, 1): test for name, test in old.items()}
    shown = after or before
    assert shown is not None
    now = new if after else old
    return Proofs(
        scenarios=tuple(f"{name} {test['title']}".strip() for name, test in now.items() if test["kind"] == "scenario"),
        vectors=tuple(name for name, test in now.items() if test["kind"] == "vector"),
        others=tuple(name for name, ids in registered.items() if shown.id in ids),
        mutants=shown.kills,
        added=tuple(name for name in new if name not in old and before),
        removed=tuple(name for name in old if name not in new and after),
        changed=tuple(name for name in new if name in old and new[name]["content"] != old[name]["content"]),
        kept=tuple(name for name in new if name in old and new[name]["content"] == old[name]["content"]),
    )


def _tests(rule: Rule, features: Features) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for pickle in features.of_rule(rule.id):
        found[pickle.item] = {"kind": "scenario", "title": f"“{pickle.name}”", "content": _steps([pickle])}
    for row in rule.vectors:
        content: list[Any] = [row.kind, row.side, _plain(row.values)]
        found[item_id(rule.id, row.case)] = {"kind": "vector", "title": "", "content": content}
    return found


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != "why"}


def _steps(pickles: Any) -> list[Any]:
    made: list[Pickle] = list(pickles)
    return [[pickle.side, [[step.text, step.table, step.docstring] for step in pickle.steps]] for pickle in made]


def alike(one: str, other: str) -> float:
    """How much of two sentences is the same, word by word, from 0 to 1."""
    return SequenceMatcher(None, _letters(one).split(), _letters(other).split(), autojunk=False).ratio()


def _letters(text: str) -> str:
    """The words alone: without case, punctuation and line breaks."""
    return re.sub(r"[\W_]+", " ", text).strip().casefold()
