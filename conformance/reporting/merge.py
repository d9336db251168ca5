"""Lays reports beside each other: rules down, implementations across, from any days and any versions of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from conformance.catalogue.model import HOST_SEAMS, LEVELS, Level, Relation, Role
from conformance.reporting.model import BridgeReport, ProofReport, RuleReport, SurfaceReport
from conformance.reporting.read import Read
from conformance.trace import Event
from conformance.verdicts import TABLE, RuleFailed, Verdict, of_error, standing

UNDECIDED = (Verdict.NOT_RUN, Verdict.HARNESS_ERROR, Verdict.INCONCLUSIVE, Verdict.UNSUPPORTED)
"""Verdicts that leave a must unproven."""
WRONG = (Verdict.FAIL, Verdict.DEPARTS, Verdict.NOTED)
"""The words for a wrong answer, one a level."""
FINE = (Verdict.PASS, Verdict.NOT_APPLICABLE)
"""Verdicts that need no look."""

_ROLES: dict[Role, int] = {"pi": 0, "bridge": 1, "host": 2}
_ASKED: dict[Relation, tuple[Role, ...]] = {
    "same": ("pi", "bridge"),
    "differs": ("pi", "bridge"),
    "bridge": ("bridge",),
    "host": ("host",),
}


@dataclass(frozen=True)
class Cell:
    """What one implementation answered to one rule.

    ``verdict`` is in the words of the rule's present level. ``rule`` is the rule as it was judged, None where the run
    did not know it; ``source`` is the report it comes from. ``older`` says that it was judged by another sentence,
    level or relation than the present one.
    """

    verdict: Verdict
    rule: RuleReport | None
    source: Read
    older: bool = False

    @property
    def proofs(self) -> list[ProofReport]:
        """The proofs, those that need a look first."""
        rank = {verdict: number for number, verdict in enumerate(TABLE)}
        return sorted(self.rule.proofs, key=lambda proof: rank[proof.verdict]) if self.rule else []

    @property
    def notable(self) -> bool:
        """Whether there is more to tell than that all is well."""
        return self.verdict not in FINE

    def trace(self, proof: ProofReport) -> tuple[Event, ...]:
        """The events of one proof, where they were kept."""
        return self.source.trace(proof.trace)


@dataclass(frozen=True)
class Column:
    """One implementation in one version under one mount, in one report or in several laid over each other."""

    key: str
    bridge: BridgeReport
    sources: tuple[Read, ...]
    cells: dict[str, Cell]
    standing: str
    counts: dict[Level, Counter[Verdict]]
    unproven: tuple[str, ...]

    @property
    def role(self) -> Role:
        """What kind of implementation it is."""
        return self.bridge.implementation.role

    @property
    def complete(self) -> bool:
        """Whether any of its reports is of a whole run."""
        return any(source.report.selection == "complete" for source in self.sources)

    @property
    def days(self) -> list[str]:
        """The days of its runs, oldest first."""
        return sorted({source.report.started[:10] for source in self.sources})

    @property
    def older(self) -> int:
        """Verdicts that are about an earlier form of their rule."""
        return sum(cell.older for cell in self.cells.values())

    def asked(self, level: Level) -> int:
        """How many rules of a level were asked of it, or should have been."""
        return self.counts[level].total()

    def number(self, *verdicts: Verdict) -> int:
        """How many rules of any level got one of these verdicts."""
        return sum(self.counts[level][verdict] for level in LEVELS for verdict in verdicts)

    @property
    def proven(self) -> dict[Level, int]:
        """How many rules of each level are answered as they say, declared or not."""
        return {level: self.counts[level][Verdict.PASS] + self.counts[level][Verdict.UNDECLARED] for level in LEVELS}

    @property
    def said(self) -> list[str]:
        """What its own reports called it, where that is another word than ours."""
        own = [(source.report.started[:10], bridge.standing) for source, bridge in _of(self.key, self.sources)]
        return [f"{word} ({day})" for day, word in own if word != self.standing]


@dataclass(frozen=True)
class Row:
    """One rule, as the newest report has it; ``former`` where that report no longer does. A cell for every column."""

    rule: RuleReport
    cells: tuple[Cell, ...]
    former: bool = False

    @property
    def split(self) -> bool:
        """Whether implementations of which it is asked do not all get the same verdict."""
        return len({cell.verdict for cell in self.cells if TABLE[cell.verdict].in_totals}) > 1


@dataclass(frozen=True)
class Group:
    """The rules of one surface."""

    surface: SurfaceReport
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Matrix:
    """The whole. ``notes`` say what a reader must know of the merging."""

    sources: tuple[Read, ...]
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every row, in order."""
        return tuple(row for group in self.groups for row in group.rows)

    @property
    def newest(self) -> Read:
        """The report by whose rules all are shown."""
        return self.sources[-1]

    @property
    def results(self) -> int:
        """How many cells hold a verdict that counts."""
        return sum(TABLE[cell.verdict].in_totals for row in self.rows for cell in row.cells)


def merge(reports: Iterable[Read], *, apart: bool = False) -> Matrix:
    """Lay reports beside each other.

    Reports of one implementation (label, specification, name, versions, role and mount) share a column: for each rule
    the newest run that decided it counts. With ``apart`` each report gets its own. Rules are shown as the report with
    the highest spec version has them, of equals the newest.
    """
    sources = tuple(
        sorted(reports, key=lambda read: (read.report.spec.version, read.report.spec.revision, read.report.started))
    )
    order = _order(sources)
    present = {rule.id for bridge in sources[-1].report.bridges for rule in bridge.rules}
    grouped: dict[str, list[tuple[Read, BridgeReport]]] = {}
    for source in sorted(sources, key=lambda read: read.report.started):
        for bridge in source.report.bridges:
            key = _key(bridge) + (f"\n{source.path}" if apart else "")
            grouped.setdefault(key, []).append((source, bridge))
    # Versions of one implementation stand side by side, the oldest first.
    labels = list(dict.fromkeys(bridge.label for source in reversed(sources) for bridge in source.report.bridges))
    columns = sorted(
        (_column(key, runs, order, present) for key, runs in grouped.items()),
        key=lambda column: (
            _ROLES[column.role],
            labels.index(column.bridge.label),
            column.sources[-1].report.started,
        ),
    )
    rows = [
        Row(rule, tuple(column.cells[rule.id] for column in columns), rule.id not in present) for rule in order.values()
    ]
    return Matrix(sources, tuple(columns), tuple(_groups(rows, sources)), tuple(_notes(sources, columns, rows)))


def version_of(read: Read) -> str:
    """Version and revision of a report's rules."""
    return f"{read.report.spec.version}.{read.report.spec.revision}"


def _key(bridge: BridgeReport) -> str:
    who = bridge.implementation
    versions = sorted(who.versions.items())
    return repr((bridge.label, bridge.spec, who.name, who.version, versions, who.role, bridge.mount))


def _of(key: str, sources: Sequence[Read]) -> Iterator[tuple[Read, BridgeReport]]:
    for source in sources:
        for bridge in source.report.bridges:
            if key.partition("\n")[0] == _key(bridge):
                yield source, bridge


def _order(sources: Sequence[Read]) -> dict[str, RuleReport]:
    """Every rule there ever was in these, as the newest has it; former ones stand at the end of their surface."""
    found: dict[str, RuleReport] = {}
    for source in reversed(sources):
        for bridge in source.report.bridges:
            for rule in bridge.rules:
                found.setdefault(rule.id, rule)
    return found


def _column(
    key: str, runs: Sequence[tuple[Read, BridgeReport]], order: dict[str, RuleReport], present: set[str]
) -> Column:
    cells: dict[str, Cell] = {}
    newest = runs[-1][0]
    for source, bridge in runs:
        for rule in bridge.rules:
            held = cells.get(rule.id)
            if held is None or rule.verdict is not Verdict.NOT_RUN or held.verdict is Verdict.NOT_RUN:
                cells[rule.id] = _cell(rule, order[rule.id], source)
    who = runs[-1][1].implementation
    for rule_id, rule in order.items():
        if rule_id not in cells:
            # Whoever was judged before the rule was written has not proven it; a rule that is gone is owed by nobody.
            asked = who.role in _ASKED[rule.relation] or (rule.relation == "host" and HOST_SEAMS in who.capabilities)
            owed = rule_id in present and asked
            cells[rule_id] = Cell(Verdict.NOT_RUN if owed else Verdict.NOT_APPLICABLE, None, newest)
    counts: dict[Level, Counter[Verdict]] = {level: Counter() for level in LEVELS}
    for rule_id in present:
        if TABLE[cells[rule_id].verdict].in_totals:
            counts[order[rule_id].level][cells[rule_id].verdict] += 1
    judged = [(order[rule_id].level, cells[rule_id].verdict) for rule_id in present]
    whole = any(source.report.selection == "complete" for source, _ in runs)
    stale = any(entry.state == "stale" for entry in runs[-1][1].deviations)
    unproven = [
        rule_id
        for rule_id, rule in order.items()
        if rule_id in present and rule.level == "must" and cells[rule_id].verdict in UNDECIDED
    ]
    # Parts that add up to the whole are one.
    complete = whole or not any(verdict is Verdict.NOT_RUN for _, verdict in judged)
    word = str(standing(judged, complete=complete, stale=stale))
    return Column(
        key, runs[-1][1], tuple(source for source, _ in runs), cells, word, counts, tuple(dict.fromkeys(unproven))
    )


def _cell(rule: RuleReport, now: RuleReport, source: Read) -> Cell:
    older = (rule.text, rule.level, rule.relation) != (now.text, now.level, now.relation)
    verdict = rule.verdict
    if verdict in WRONG and rule.level != now.level:
        # The same wrong answer has another word at another level.
        verdict = of_error(RuleFailed(""), now.level)
    return Cell(verdict, rule, source, older)


def _groups(rows: Iterable[Row], sources: Sequence[Read]) -> Iterator[Group]:
    surfaces: dict[str, SurfaceReport] = {}
    for source in reversed(sources):
        for surface in source.report.surfaces:
            surfaces.setdefault(surface.name, surface)
    by_surface: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.former):
        by_surface.setdefault(row.rule.surface, []).append(row)
    for name, group in by_surface.items():
        yield Group(surfaces.get(name, SurfaceReport(name=name)), tuple(group))


def _notes(sources: Sequence[Read], columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    days = sorted({source.report.started[:10] for source in sources})
    if len(sources) > 1:
        when = f"of {days[0]}" if len(days) == 1 else f"of {len(days)} days, {days[0]} to {days[-1]}"
        yield f"{len(sources)} reports {when}, merged."
    newest = sources[-1].report
    for what, values in (
        ("versions of the suite", sorted({source.report.suite.version for source in sources})),
        ("versions of the rules", sorted({version_of(source) for source in sources})),
    ):
        if len(values) > 1:
            yield f"They were made by different {what}: {', '.join(values)}."
    if len({source.report.spec.digest for source in sources}) > 1:
        yield (
            f"They do not all ask the same. Shown are the rules of version {version_of(sources[-1])}, "
            f"digest {newest.spec.digest[:12]}, of {newest.started[:10]}; a verdict on an earlier form of a rule is "
            "marked, and a must that a run did not know yet counts as unproven."
        )
    former = sum(row.former for row in rows)
    if former:
        verb = "rule is" if former == 1 else "rules are"
        yield f"{former} {verb} no longer among them, marked former and in no total."
    for column in columns:
        if len(column.sources) > 1:
            yield (
                f"{column.bridge.label}: {len(column.sources)} runs of the same versions share a column; for each rule "
                "the newest run that decided it counts."
            )
        if not column.complete:
            yield f"{column.bridge.label}: only a part of the rules was run; that makes no statement on the whole."
    for source in sources:
        yield from (f"{source.name}: {note}" for note in source.report.notes)
