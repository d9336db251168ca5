"""The static gate between rules and proofs: nothing is collected, nothing runs, everything wrong is found at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from conformance.catalogue.features import Features, item_id, lint
from conformance.catalogue.model import Catalogue, Role, Rule, Side
from conformance.catalogue.problems import Problem, did_you_mean, near
from conformance.catalogue.released import check_released

RuleIds = Mapping[str, Collection[str]]
"""Names (of properties, invariants or mutants) to the ids of the rules they speak of."""

ProofKind = Literal["scenario", "vector", "property", "invariant"]

_NONE: RuleIds = {}


@dataclass(frozen=True, slots=True)
class Proof:
    """One thing that decides a rule.

    ``item`` names the test: ``test_<rule id>``, ``test_<rule id>--<slug>``, or the property's own function; an
    invariant has no test of its own and is ``invariant:<name>``. ``side`` is set for proofs of ``differs`` rules that
    show one side. ``needs`` are the rule's capabilities. Properties and invariants have an empty ``file`` and line 0.
    """

    kind: ProofKind
    rule_id: str
    item: str
    side: Side | None
    file: str
    line: int
    needs: tuple[str, ...]


def all_proofs(
    catalogue: Catalogue, features: Features, *, properties: RuleIds = _NONE, invariants: RuleIds = _NONE
) -> tuple[Proof, ...]:
    """Every proof there is, by rule in the catalogue's order; a proof of an unknown rule is left out."""
    found: dict[str, list[Proof]] = {rule.id: [] for rule in catalogue.rules}
    for pickle in features.pickles:
        if pickle.rule_id in found:
            needs = catalogue.by_id[pickle.rule_id].needs
            found[pickle.rule_id].append(
                Proof("scenario", pickle.rule_id, pickle.item, pickle.side, pickle.file, pickle.line, needs)
            )
    for rule in catalogue.rules:
        found[rule.id] += (
            Proof("vector", rule.id, item_id(rule.id, row.case), row.side, row.file, row.line, rule.needs)
            for row in rule.vectors
        )
    for kind, registered in _registries(properties, invariants):
        for name, rule_ids in registered.items():
            item = name if kind == "property" else f"invariant:{name}"
            for rule_id in rule_ids:
                if rule_id in found:
                    found[rule_id].append(Proof(kind, rule_id, item, None, "", 0, catalogue.by_id[rule_id].needs))
    return tuple(proof for proofs in found.values() for proof in proofs)


def expected_proofs(
    catalogue: Catalogue,
    features: Features,
    role: Role,
    mount: str | None = None,
    *,
    capabilities: Collection[str] = (),
    properties: RuleIds = _NONE,
    invariants: RuleIds = _NONE,
) -> tuple[Proof, ...]:
    """The proofs that speak of an implementation of this role under this mount, in the catalogue's order.

    Whether it has the capabilities in ``needs`` is for the caller to decide: without them the proof is expected, and
    unsupported.
    """
    rules = catalogue.by_id
    return tuple(
        proof
        for proof in all_proofs(catalogue, features, properties=properties, invariants=invariants)
        if rules[proof.rule_id].applies_to(role, mount, capabilities) and rules[proof.rule_id].runs(proof.side, role)
    )


def check(
    catalogue: Catalogue,
    features: Features,
    *,
    properties: RuleIds = _NONE,
    invariants: RuleIds = _NONE,
    mutants: RuleIds = _NONE,
    require_kills: bool = False,
    capabilities: Collection[str] = (),
    mounts: Collection[str] = (),
) -> list[Problem]:
    """Everything that keeps the rules and their proofs from being one whole; empty when they are.

    An empty ``mutants``, ``capabilities`` or ``mounts`` means that it is not known, and its names are not checked.
    ``require_kills`` asks of each must that it kills a mutant.
    """
    proofs: dict[str, list[Proof]] = {rule.id: [] for rule in catalogue.rules}
    for proof in all_proofs(catalogue, features, properties=properties, invariants=invariants):
        proofs[proof.rule_id].append(proof)
    problems = [*features.problems, *lint(features, catalogue)]
    for rule in catalogue.rules:
        problems += _unproven(rule, proofs[rule.id])
        problems += _unknown(rule, "kills", "mutant", rule.kills, mutants)
        problems += _unknown(rule, "needs", "capability", rule.needs, capabilities)
        problems += _unknown(rule, "mounts", "mount", rule.mounts, mounts)
        if require_kills and mutants and rule.level == "must" and not rule.kills:
            mend = "name a mutant that this rule must catch in kills, and write it where there is none"
            problems.append(Problem(rule.file, rule.line, f"the must {rule.id} kills no mutant", mend))
    problems += _same_items(catalogue, proofs)
    for kind, registered in (*_registries(properties, invariants), ("mutant", mutants)):
        problems += _registered(kind, registered, catalogue)
    problems += _idle_mutants(catalogue, mutants)
    problems += check_released(catalogue)
    return sorted(set(problems))


def _registries(properties: RuleIds, invariants: RuleIds) -> tuple[tuple[ProofKind, RuleIds], ...]:
    return ("property", properties), ("invariant", invariants)


def _unproven(rule: Rule, proofs: list[Proof]) -> Iterator[Problem]:
    feature = f"{rule.file.replace('spec/', 'features/', 1).removesuffix('.yaml')}.feature"
    if not proofs and rule.level != "may":
        mend = f"write a scenario tagged @rule:{rule.id} in {feature}, or vectors"
        yield Problem(rule.file, rule.line, f"the {rule.level} {rule.id} has no proof", mend)
    elif rule.relation == "differs" and proofs:
        for side in ("pi", "bridge"):
            if not any(proof.side == side for proof in proofs):
                what = f"{rule.id} differs from Pi and has nothing that shows the side of {side}"
                mend = f"write a scenario tagged @rule:{rule.id} @on:{side} in {feature}"
                yield Problem(rule.file, rule.line, what, mend)


def _unknown(rule: Rule, key: str, kind: str, names: Collection[str], known: Collection[str]) -> Iterator[Problem]:
    for name in names if known else ():
        if name not in known:
            what = f"{rule.id} {key} `{name}`, and no {kind} is called so"
            mend = f"correct it{did_you_mean(near(name, known)).rstrip('?')}, or register the {kind}"
            yield Problem(rule.file, rule.line, what, mend)


def _same_items(catalogue: Catalogue, proofs: Mapping[str, list[Proof]]) -> Iterator[Problem]:
    for rule in catalogue.rules:
        seen: dict[str, Proof] = {}
        for proof in proofs[rule.id]:
            if proof.kind in ("scenario", "vector") and proof.item in seen:
                first = seen[proof.item]
                what = f"this {proof.kind} would be called {proof.item}, as the one at {first.file}:{first.line} is"
                yield Problem(proof.file, proof.line, what, "change its case, or the other's")
            seen.setdefault(proof.item, proof)


def _registered(kind: str, registered: RuleIds, catalogue: Catalogue) -> Iterator[Problem]:
    for name, rule_ids in registered.items():
        if not rule_ids and kind != "mutant":
            yield Problem(f"{kind} {name}", 0, "it proves no rule", "name the rules it decides where it is registered")
        for rule_id in rule_ids:
            if rule_id not in catalogue.by_id:
                guess = did_you_mean(near(rule_id, catalogue.by_id)).rstrip("?")
                mend = f"correct it where the {kind} is registered{guess}, or write the rule"
                yield Problem(f"{kind} {name}", 0, f"it names the unknown rule {rule_id!r}", mend)


def _idle_mutants(catalogue: Catalogue, mutants: RuleIds) -> Iterator[Problem]:
    killed = {name for rule in catalogue.rules for name in rule.kills}
    for name, rule_ids in mutants.items():
        for rule_id in rule_ids:
            rule = catalogue.by_id.get(rule_id)
            if rule is not None and name not in rule.kills:
                what = f"the mutant {name} says that {rule_id} kills it, and the rule does not say so"
                yield Problem(rule.file, rule.line, what, f"add {name} to kills, or drop the rule from the mutant")
        if name not in killed and not rule_ids:
            yield Problem(f"mutant {name}", 0, "no rule kills it", "name it in the kills of the rule it offends")
