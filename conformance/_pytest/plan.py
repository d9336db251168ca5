"""What one run asks of whom: every test on every bridge, with its rule, before anything is collected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from functools import cached_property

from conformance._pytest.bridges import Bridge
from conformance.catalogue import Catalogue, Features, Proof, Rule, UnknownNameError, all_proofs, expected_proofs
from conformance.catalogue.join import RuleIds
from conformance.catalogue.selection import select
from conformance.ledger import Deviation, Ledger, example_of
from conformance.verdicts import Verdict

MUTANT = "mutant:"
"""How the specification of a mutant begins."""


def mutant_of(bridge: Bridge) -> str:
    """The name of the mutant that a bridge is; '' for every other."""
    return bridge.spec.removeprefix(MUTANT).partition("?")[0] if bridge.spec.startswith(MUTANT) else ""


@dataclass(frozen=True, slots=True)
class Task:
    """One test on one bridge.

    ``rules`` holds the rule it proves; a property may prove several. ``needs`` are their capabilities. ``probed`` says
    of those that a probe decided whether they are there.
    """

    bridge: Bridge
    item: str
    kind: str
    where: str
    rules: tuple[Rule, ...]
    needs: tuple[str, ...] = ()
    probed: Mapping[str, bool] = field(default_factory=dict)
    deviation: Deviation | None = None
    expired: bool = False

    @property
    def lacking(self) -> tuple[str, ...]:
        """Needed capabilities that are not declared and were not found."""
        return tuple(need for need in self.needs if not self._declares(need) and not self.probed.get(need, False))

    @property
    def absent(self) -> tuple[str, ...]:
        """Needed capabilities that are declared and are not there."""
        return tuple(need for need in self.needs if self._declares(need) and self.probed.get(need) is False)

    @property
    def undeclared(self) -> tuple[str, ...]:
        """Needed capabilities that were found and are not declared."""
        return tuple(need for need in self.needs if not self._declares(need) and self.probed.get(need, False))

    def _declares(self, capability: str) -> bool:
        return capability in self.bridge.hello.capabilities

    @property
    def rule(self) -> Rule:
        """The rule it proves; of several, the first."""
        return self.rules[0]

    @property
    def selector(self) -> str:
        """The value of ``--bridge-rule`` that selects just this test."""
        return f"{self.rule.id}--{example_of(self.item, self.rule.id)}"


@dataclass(frozen=True, slots=True)
class Selection:
    """What the user chose; empty lists choose everything."""

    rules: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rules or self.surfaces or self.levels)


@dataclass(frozen=True)
class Plan:
    """Everything this run is about. ``tasks`` holds what applies, by label and test; ``chosen`` what was selected."""

    catalogue: Catalogue
    features: Features
    bridges: tuple[Bridge, ...]
    ledgers: Mapping[str, Ledger]
    selection: Selection
    proofs: Mapping[str, tuple[Proof, ...]]
    tasks: Mapping[tuple[str, str], Task]
    chosen: frozenset[tuple[str, str]]
    day: date
    stale: tuple[tuple[Deviation, str], ...] = ()
    whole: bool = True

    def items_of(self, kind: str) -> list[str]:
        """The names of every test of this kind that is made: all there are, whether or not they apply to anyone.

        With ``whole`` false only those that do: hundreds of mutants would each have a test for every proof there is.
        """
        if kind == "scenario":
            names = [pickle.item for pickle in self.features.pickles]
        else:
            # A property that decides several rules is one test.
            names = list(dict.fromkeys(proof.item for proof in self.proofs[""] if proof.kind == kind))
        return [name for name in names if self.labels_of(name)]

    def labels_of(self, item: str) -> list[str]:
        """The bridges that a test is made for."""
        return [bridge.label for bridge in self.bridges] if self.whole else self._labels.get(item, [])

    @cached_property
    def _labels(self) -> dict[str, list[str]]:
        """The bridges that each test applies to, in their order: the tasks are made bridge by bridge."""
        labels: dict[str, list[str]] = {}
        for label, item in self.tasks:
            labels.setdefault(item, []).append(label)
        return labels


def make_plan(
    catalogue: Catalogue,
    features: Features,
    bridges: Iterable[Bridge],
    *,
    ledgers: Mapping[str, Ledger] | None = None,
    selection: Selection | None = None,
    properties: RuleIds | None = None,
    invariants: RuleIds | None = None,
    today: date | None = None,
    whole: bool = True,
) -> Plan:
    """Join rules, bridges, ledgers and the user's choice.

    ``whole`` false asks of a mutant only the rules that say they kill it.

    Raises :class:`~conformance.catalogue.UnknownNameError` for a selector that matches nothing.
    """
    selection = selection or Selection()
    ledgers = ledgers or {}
    day = today or date.today()
    registered: dict[str, RuleIds] = {"properties": properties or {}, "invariants": invariants or {}}
    found = tuple(bridges)
    proofs: dict[str, tuple[Proof, ...]] = {"": all_proofs(catalogue, features, **registered)}
    tasks: dict[tuple[str, str], Task] = {}
    stale: list[tuple[Deviation, str]] = []
    alike: dict[tuple[object, ...], tuple[Proof, ...]] = {}
    killing = _killing(catalogue)
    for bridge in found:
        hello = bridge.hello
        kind = (hello.role, bridge.mount, *sorted(hello.capabilities))
        if kind not in alike:
            alike[kind] = expected_proofs(
                catalogue, features, hello.role, bridge.mount, capabilities=hello.capabilities, **registered
            )
        expected = alike[kind]
        name = mutant_of(bridge)
        if name and not whole:
            expected = _of_mutant(name, catalogue, killing.get(name, frozenset()), expected)
        proofs[bridge.label] = expected
        ledger = ledgers.get(bridge.label)
        grouped: dict[str, list[Proof]] = {}
        for proof in expected:
            if proof.kind != "invariant":
                grouped.setdefault(proof.item, []).append(proof)
        for item, group in grouped.items():
            rules = tuple(catalogue.rule(proof.rule_id) for proof in group)
            tasks[bridge.label, item] = _task(bridge, item, group[0], rules, ledger, day)
        if ledger is not None:
            examples = {(proof.rule_id, example_of(proof.item, proof.rule_id)) for proof in expected}
            stale += ledger.unknown(catalogue.by_id, examples, bridge.mount)
    chosen = _chosen(catalogue, selection, proofs[""], tasks)
    return Plan(catalogue, features, found, ledgers, selection, proofs, tasks, chosen, day, tuple(stale), whole)


def _killing(catalogue: Catalogue) -> dict[str, set[str]]:
    """The rules that name each mutant."""
    killing: dict[str, set[str]] = {}
    for rule in catalogue.rules:
        for name in rule.kills:
            killing.setdefault(name, set()).add(rule.id)
    return killing


def _of_mutant(name: str, catalogue: Catalogue, killing: Collection[str], proofs: Iterable[Proof]) -> tuple[Proof, ...]:
    """The proofs of the rules that name a mutant, ``killing``; of one that is wrong everywhere, the first of all rules.

    Facts of the host are left out of the latter: they hold under any bridge. So are rules that ask for more time than
    others, which cost as much as all the rest, and random programs: `mutants --programs` is about those.
    """
    from conformance.mutants import load_mutants

    if not load_mutants()[name].blanket:
        return tuple(proof for proof in proofs if proof.rule_id in killing and proof.kind != "property")
    rules = catalogue.by_id
    first: dict[str, Proof] = {}
    for proof in proofs:
        rule = rules[proof.rule_id]
        if proof.kind not in ("invariant", "property") and rule.relation != "host" and rule.deadline is None:
            first.setdefault(proof.rule_id, proof)
    return tuple(first.values())


def _task(bridge: Bridge, item: str, proof: Proof, rules: tuple[Rule, ...], ledger: Ledger | None, day: date) -> Task:
    deviation = ledger.find(rules[0].id, example_of(item, rules[0].id), bridge.mount) if ledger else None
    return Task(
        bridge=bridge,
        item=item,
        kind=proof.kind,
        where=f"{proof.file}:{proof.line}" if proof.file else item,
        rules=rules,
        needs=tuple(sorted({need for rule in rules for need in rule.needs})),
        deviation=deviation,
        expired=deviation is not None and deviation.expired(day),
    )


def _chosen(
    catalogue: Catalogue,
    selection: Selection,
    proofs: Collection[Proof],
    tasks: Mapping[tuple[str, str], Task],
) -> frozenset[tuple[str, str]]:
    """A selector of rules may end in ``--<example>``, which narrows it to that test."""
    if not selection:
        return frozenset(tasks)
    wanted = [(rule, example) for rule, _, example in (each.partition("--") for each in selection.rules)]
    names = [rule for rule, _ in wanted]
    rules = {rule.id for rule in select(catalogue, rules=names, surfaces=selection.surfaces, levels=selection.levels)}
    for rule, example in wanted:
        known = [example_of(proof.item, proof.rule_id) for proof in proofs if fnmatchcase(proof.rule_id, rule)]
        if example and not any(fnmatchcase(name, example) for name in known):
            raise UnknownNameError(f"example of {rule}", example, known)
    return frozenset(
        key
        for key, task in tasks.items()
        if any(rule.id in rules and _matches(rule.id, task.item, wanted) for rule in task.rules)
    )


def _matches(rule: str, item: str, wanted: Collection[tuple[str, str]]) -> bool:
    return not wanted or any(
        fnmatchcase(rule, pattern) and (not example or fnmatchcase(example_of(item, rule), example))
        for pattern, example in wanted
    )


def blocked(task: Task) -> tuple[Verdict, str] | None:
    """The verdict of a test that need not run, and why; None for one that must."""
    if task.absent:
        return Verdict.ABSENT, f"declared and not there: {', '.join(task.absent)}"
    if task.lacking:
        return Verdict.UNSUPPORTED, f"not declared: {', '.join(task.lacking)}"
    return None
