"""Prints one rule whole, for whoever must argue about it or mend a bridge that fails it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from conformance.catalogue.features import Features, compile_features
from conformance.catalogue.join import RuleIds
from conformance.catalogue.load import load_catalogue
from conformance.catalogue.model import Catalogue, Relation, Rule
from conformance.catalogue.vectors import VECTOR_KINDS

_NONE: RuleIds = {}
_WIDTH = 100

_RELATIONS: dict[Relation, str] = {
    "same": "a bridge does what Pi does; runs on Pi and on bridges",
    "differs": "a bridge differs from Pi, as stated; each side runs its own scenarios",
    "bridge": "Pi has no counterpart; runs on bridges",
    "host": "a fact of the host the mapping rests on; runs on the host, and on bridges with host-seams",
}


def explain(
    rule_id: str,
    catalogue: Catalogue | None = None,
    features: Features | None = None,
    *,
    properties: RuleIds = _NONE,
    invariants: RuleIds = _NONE,
) -> str:
    """Everything there is to know about the rule, as lines of text ending in a newline.

    Loads the project's own rules and features where none are given. Raises UnknownNameError with near ids.
    """
    catalogue = catalogue or load_catalogue()
    rule = catalogue.rule(rule_id)
    features = features or compile_features()
    surface = catalogue.surface(rule.surface)
    rows: list[tuple[str, str]] = [
        ("level", rule.level),
        ("relation", f"{rule.relation}: {_RELATIONS[rule.relation]}"),
        ("surface", f"{surface.name} ({surface.kind}), carried by {surface.carried_by}"),
        ("rule at", rule.where),
        ("source", _source(rule, catalogue)),
        ("since", f"spec version {rule.since}"),
    ]
    rows += [
        (label, value)
        for label, value in (
            ("on Pi", rule.on_pi),
            ("because", rule.because),
            ("reading", rule.interpretation),
            ("refusal", rule.refusal),
            ("editorial", rule.editorial),
        )
        if value
    ]
    if rule.deadline:
        rows.append(("deadline", f"{rule.deadline.seconds:g} s: {rule.deadline.reason}"))
    rows.append(("needs", ", ".join(rule.needs) or "no capability"))
    if rule.mounts:
        rows.append(("mounts", f"only {', '.join(rule.mounts)}"))
    rows += [("evidence", str(each)) for each in rule.evidence]
    rows += _proofs(rule, features, properties, invariants)
    rows.append(("kills", ", ".join(rule.kills) or "no mutant"))
    return "\n".join([rule.id, "", *_wrapped(rule.text, ""), "", *_laid_out(rows)]) + "\n"


def _source(rule: Rule, catalogue: Catalogue) -> str:
    title = next(document.title for document in catalogue.documents if document.name == rule.source.document)
    return f"{rule.source} ({title})"


def _proofs(rule: Rule, features: Features, properties: RuleIds, invariants: RuleIds) -> Iterator[tuple[str, str]]:
    found = False
    for pickle in features.of_rule(rule.id):
        side = f" [{pickle.side}]" if pickle.side else ""
        yield "scenario", f"{pickle.name}{side}, {pickle.where}"
        found = True
    if rule.vectors:
        meaning = VECTOR_KINDS[rule.vectors[0].kind].meaning
        yield "vectors", f"{len(rule.vectors)} of kind {rule.vectors[0].kind} in {rule.vectors[0].file}: {meaning}"
        found = True
    for label, registered in (("property", properties), ("invariant", invariants)):
        for name, rule_ids in registered.items():
            if rule.id in rule_ids:
                yield label, name
                found = True
    if not found:
        yield "proof", "none yet"


def _laid_out(rows: list[tuple[str, str]]) -> Iterator[str]:
    width = max(len(label) for label, _ in rows)
    last = ""
    for label, value in rows:
        shown = "" if label == last else label
        last = label
        first, *rest = _wrapped(value, " " * (width + 2))
        yield f"{shown:<{width}}  {first.lstrip()}"
        yield from rest


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
