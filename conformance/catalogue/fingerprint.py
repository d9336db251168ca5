"""Catches a rule whose meaning changed while its proof did not, by two fingerprints in ``spec/fingerprints.json``.

The file also holds the spec digest, so that a report can say which rules it speaks of.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.catalogue._files import write_atomically
from conformance.catalogue.features import Features
from conformance.catalogue.join import RuleIds
from conformance.catalogue.model import Catalogue, Rule
from conformance.catalogue.problems import CatalogueError, Problem

FILE = "fingerprints.json"
REFRESH = "bridge-conformance spec fingerprints"

_NONE: RuleIds = {}
_NO_SOURCES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Of one rule: 16 hex digits of its normative fields and of its proof, and the editorial mark last spent on it."""

    text: str
    proof: str
    editorial: str | None = None


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """``spec`` is the digest of everything normative, ``rules`` one fingerprint a rule id."""

    spec: str
    rules: Mapping[str, Fingerprint]


def spec_digest(catalogue: Catalogue, features: Features) -> str:
    """A sha256 over every rule, vector row and scenario: equal digests ask the same of a bridge."""
    surfaces = [[surface.name, surface.kind, surface.status] for surface in catalogue.surfaces]
    rules = sorted((rule.id, _text(rule), _examples(rule, features)) for rule in catalogue.rules)
    return hashlib.sha256(_canonical([catalogue.version, surfaces, rules])).hexdigest()


def fingerprints(
    catalogue: Catalogue,
    features: Features,
    *,
    properties: RuleIds = _NONE,
    invariants: RuleIds = _NONE,
    sources: Mapping[str, str] = _NO_SOURCES,
) -> Fingerprints:
    """The fingerprints of the rules as they are now.

    ``sources`` maps the names of properties and invariants to their program text; where it is missing only their names
    count, and a rule proven by nothing else needs an editorial mark for every change.
    """
    found = {}
    for rule in sorted(catalogue.rules, key=lambda rule: rule.id):
        code = [
            [name, sources.get(name, "")]
            for registered in (properties, invariants)
            for name in sorted(registered)
            if rule.id in registered[name]
        ]
        proof = _short([_examples(rule, features), code])
        found[rule.id] = Fingerprint(_short(_text(rule)), proof, rule.editorial)
    return Fingerprints(spec_digest(catalogue, features), found)


def load_fingerprints(path: Path) -> Fingerprints:
    """Read ``spec/fingerprints.json``; empty where it was never written. Raises CatalogueError where it is broken."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return Fingerprints(stored["spec"], {key: Fingerprint(**value) for key, value in stored["rules"].items()})
    except FileNotFoundError:
        return Fingerprints("", {})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        file = f"{path.parent.name}/{path.name}"
        mend = f"take the file of the last commit back, then run {REFRESH}"
        raise CatalogueError([Problem(file, 1, f"the file is not what was generated ({error})", mend)]) from error


def check_fingerprints(catalogue: Catalogue, now: Fingerprints, stored: Fingerprints) -> list[Problem]:
    """Rules whose normative text changed since ``stored`` was written while their proof did not.

    The field ``editorial`` excuses one change: a mark that was already there at the last refresh is spent.
    """
    problems = []
    for rule in catalogue.rules:
        old, new = stored.rules.get(rule.id), now.rules[rule.id]
        if old is None or old.text == new.text or old.proof != new.proof:
            continue
        if rule.editorial is None:
            what = f"{rule.id} changed and nothing that proves it did"
            mend = "change its scenarios or vectors too, or write editorial: why the meaning is the same"
        elif rule.editorial == old.editorial:
            what = f"{rule.id} changed again, and its editorial mark was spent on an earlier change"
            mend = "write into editorial why this change keeps the meaning, or change the proof too"
        else:
            continue
        problems.append(Problem(rule.file, rule.line, what, mend))
    return problems


def check_current(now: Fingerprints, stored: Fingerprints, file: str = f"spec/{FILE}") -> list[Problem]:
    """One problem where the stored file is not the one a refresh would write."""
    if now == stored:
        return []
    ids = now.rules.keys() | stored.rules.keys()
    stale = sorted(rule_id for rule_id in ids if now.rules.get(rule_id) != stored.rules.get(rule_id))
    shown = ", ".join(stale[:5]) + (f" and {len(stale) - 5} more" if len(stale) > 5 else "")
    what = f"the file is not up to date ({shown or 'the digest'})"
    return [Problem(file, 1, what, f"run {REFRESH} and commit the file")]


def refresh(
    catalogue: Catalogue,
    features: Features,
    *,
    properties: RuleIds = _NONE,
    invariants: RuleIds = _NONE,
    sources: Mapping[str, str] = _NO_SOURCES,
    path: Path | None = None,
) -> bool:
    """Write ``spec/fingerprints.json``; True where it changed.

    Raises CatalogueError, and writes nothing, while a change of a rule is not proven: a refresh never hides one.
    """
    target = path or catalogue.root / FILE
    now = fingerprints(catalogue, features, properties=properties, invariants=invariants, sources=sources)
    if problems := check_fingerprints(catalogue, now, load_fingerprints(target)):
        raise CatalogueError(problems)
    return write_atomically(target, _rendered(now))


def _rendered(prints: Fingerprints) -> str:
    rules = {
        rule_id: {"text": each.text, "proof": each.proof, **({"editorial": each.editorial} if each.editorial else {})}
        for rule_id, each in prints.rules.items()
    }
    return json.dumps({"spec": prints.spec, "rules": rules}, indent=1, ensure_ascii=False) + "\n"


def _text(rule: Rule) -> list[Any]:
    return [
        rule.text,
        rule.level,
        rule.relation,
        rule.on_pi,
        rule.refusal,
        sorted(rule.needs),
        sorted(rule.mounts),
    ]


def _examples(rule: Rule, features: Features) -> list[Any]:
    scenarios = [
        [pickle.side, [[step.text, step.table, step.docstring] for step in pickle.steps]]
        for pickle in features.of_rule(rule.id)
    ]
    return [scenarios, [[row.case, row.kind, row.side, row.values] for row in rule.vectors]]


def _short(value: Any) -> str:
    return hashlib.sha256(_canonical(value)).hexdigest()[:16]


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
