"""Writes ``spec/COVERAGE.md``: which rules each surface has, how they are proven, and which differences they state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from conformance.catalogue._files import write_atomically
from conformance.catalogue.features import Features
from conformance.catalogue.join import ProofKind, RuleIds, all_proofs
from conformance.catalogue.model import LEVELS, Catalogue, Rule, Surface

FILE = "COVERAGE.md"
REFRESH = "bridge-conformance spec coverage"

_NONE: RuleIds = {}
_STATUS = {"same": "same semantics", "mapped": "mapped, difference stated", None: "–"}
_PLURALS: dict[ProofKind, str] = {
    "scenario": "scenarios",
    "vector": "vectors",
    "property": "properties",
    "invariant": "invariants",
}


def coverage(
    catalogue: Catalogue, features: Features, *, properties: RuleIds = _NONE, invariants: RuleIds = _NONE
) -> str:
    """The whole page as Markdown. It holds no date, so that unchanged rules give an unchanged page."""
    proofs = all_proofs(catalogue, features, properties=properties, invariants=invariants)
    kinds: dict[str, Counter[ProofKind]] = {surface.name: Counter() for surface in catalogue.surfaces}
    # A property that decides five rules of a surface is one property there.
    for rule_surface, kind, _ in {(catalogue.by_id[p.rule_id].surface, p.kind, p.item) for p in proofs}:
        kinds[rule_surface][kind] += 1
    tools = [surface for surface in catalogue.surfaces if surface.kind != "seam"]
    seams = [surface for surface in catalogue.surfaces if surface.kind == "seam"]
    lines = [
        "# Coverage",
        "",
        f"Generated from the rules by `{REFRESH}`; do not edit. Spec version {catalogue.version}, "
        f"{_counted(len(catalogue.rules), 'rule', 'rules')}.",
        "",
        *_table("Surface", tools, kinds),
    ]
    if seams:
        lines += ["", "## Facts of the host that the mapping rests on", "", *_table("Seam", seams, kinds)]
    lines += ["", "## Differences stated", ""]
    lines += [_difference(rule) for rule in catalogue.rules if rule.relation == "differs"] or ["None yet."]
    return "\n".join(lines) + "\n"


def write_coverage(
    catalogue: Catalogue,
    features: Features,
    *,
    properties: RuleIds = _NONE,
    invariants: RuleIds = _NONE,
    path: Path | None = None,
) -> bool:
    """Write the page; True where it changed."""
    page = coverage(catalogue, features, properties=properties, invariants=invariants)
    return write_atomically(path or catalogue.root / FILE, page)


def _table(first: str, surfaces: list[Surface], kinds: dict[str, Counter[ProofKind]]) -> list[str]:
    rows = [
        [
            f"[`{s.name}`]({s.path}.yaml)",
            s.kind,
            _STATUS[s.status],
            *_levels(s.rules),
            _proven(kinds[s.name]),
            _differ(s),
        ]
        for s in surfaces
    ]
    every = [rule for surface in surfaces for rule in surface.rules]
    total: Counter[ProofKind] = Counter()
    for surface in surfaces:
        total += kinds[surface.name]
    differ = str(sum(rule.relation == "differs" for rule in every))
    rows.append(["**all**", "", "", *_levels(every), _proven(total), differ])
    header = [first, "Kind", "Status", *LEVELS, "Proven by", "Differences"]
    return [_row(header), _row(["---", "---", "---", "---:", "---:", "---:", "---", "---:"]), *map(_row, rows)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _levels(rules: Iterable[Rule]) -> list[str]:
    counts = Counter(rule.level for rule in rules)
    return [str(counts[level]) for level in LEVELS]


def _differ(surface: Surface) -> str:
    return str(sum(rule.relation == "differs" for rule in surface.rules))


def _proven(kinds: Counter[ProofKind]) -> str:
    return ", ".join(_counted(kinds[kind], kind, plural) for kind, plural in _PLURALS.items() if kinds[kind]) or "–"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _difference(rule: Rule) -> str:
    return f"- `{rule.id}` ({rule.level}): {rule.text} On Pi: {rule.on_pi} Because: {rule.because}"
