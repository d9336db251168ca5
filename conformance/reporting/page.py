"""Writes the matrix as one HTML file that needs nothing else: no network, no server, and for reading no script."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from msgspec import UNSET

from conformance.catalogue.model import LEVELS
from conformance.ledger import example_of
from conformance.reporting._html import (
    FOLDER,
    GLYPHS,
    anchor,
    as_json,
    block,
    digest,
    environment,
    one_line,
    slug,
    style,
)
from conformance.reporting.again import command, given
from conformance.reporting.merge import FINE, Cell, Column, Matrix, Row
from conformance.reporting.model import BridgeReport, ProofReport
from conformance.reporting.sequence_svg import sequence_svg
from conformance.verdicts import NO_LEVEL, TABLE, Verdict

FULL = 3
"""Proofs of one cell that are shown with everything; the rest get a line each."""
DIAGRAMS = 200
"""Pictures in one page; where each proof that is shown would take more, only the first of each cell has one."""
ROWS = 150
"""Rows of one picture; the last are kept."""

RELATIONS = {
    "same": "as Pi does",
    "differs": "differs from Pi, as stated",
    "bridge": "Pi has no counterpart",
    "host": "a fact of the host",
}
_TONES = {"conformant": "good", "not conformant": "bad", "unproven": "open", "no statement": "open"}


def matrix_page(matrix: Matrix) -> str:
    """The page, whole."""
    return _Page(matrix).html()


class _Page:
    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.numbers = {row.rule.id: number for number, row in enumerate(matrix.rows)}
        self.examples: dict[str, list[Any]] = {}
        for source in reversed(matrix.sources):
            for item, example in source.report.examples.items():
                self.examples.setdefault(item, [one_line(example.title), [block(line) for line in example.lines]])
        self.pictures: list[str] = []
        notable = sum(cell.notable for row in matrix.rows for cell in row.cells)
        self.drawn = FULL if notable * FULL <= DIAGRAMS else 1

    def html(self) -> str:
        findings = list(self._findings())
        script = (FOLDER / "matrix.js").read_text(encoding="utf-8")
        newest = self.matrix.newest.report
        days = sorted({source.report.started[:10] for source in self.matrix.sources})
        columns = [self._column(number, column) for number, column in enumerate(self.matrix.columns)]
        return (
            environment()
            .get_template("matrix.html.j2")
            .render(
                columns=columns,
                groups=[self._group(group.surface, group.rows) for group in self.matrix.groups],
                rows=self.matrix.rows,
                notes=self.matrix.notes,
                newest=newest,
                when=days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
                suites=sorted({source.report.suite.version for source in self.matrix.sources}),
                sources=[self._source(source) for source in reversed(self.matrix.sources)],
                differing=len({source.report.spec.digest for source in self.matrix.sources}) > 1,
                findings=findings,
                legend=[_legend(verdict) for verdict in reversed(TABLE)],
                tally=list(self._tally()),
                levels=LEVELS,
                relations=RELATIONS,
                style=style(),
                script=script,
                script_hash=digest(script),
                payload=as_json(self._payload()),
            )
        )

    # --- the head -----------------------------------------------------------------------------------------------------

    def _column(self, number: int, column: Column) -> dict[str, Any]:
        who = column.bridge.implementation
        proven = column.proven
        others = [verdict for verdict in TABLE if verdict not in FINE]
        issues = urlsplit(who.issues_url)
        days = column.days
        return {
            "number": number,
            "label": column.bridge.label,
            "role": column.role,
            "name": who.name,
            "version": who.version,
            "mount": column.bridge.mount,
            "short": " · ".join(
                part
                for part in (
                    who.version if who.name == column.bridge.label else f"{who.name} {who.version}",
                    column.bridge.mount,
                    # A date is not torn apart at the end of a line.
                    days[-1].replace("-", "\N{NON-BREAKING HYPHEN}") if len(self.matrix.sources) > 1 else "",
                )
                if part
            ),
            "versions": ", ".join(f"{name} {version}" for name, version in who.versions.items()),
            "parts": len(who.versions),
            "issues": who.issues_url if issues.scheme in ("http", "https") and issues.netloc else "",
            "standing": column.standing,
            "said": column.said,
            "tone": _tone(column.standing),
            "levels": [
                {
                    "level": level,
                    "proven": proven[level],
                    "asked": column.asked(level),
                    "shares": [
                        {"verdict": verdict, "number": column.counts[level][verdict]}
                        for verdict in reversed(TABLE)
                        if column.counts[level][verdict]
                    ],
                }
                for level in LEVELS
            ],
            "unproven": [
                {"id": rule, "anchor": anchor(rule), "verdict": str(column.cells[rule].verdict)}
                for rule in column.unproven
            ],
            "others": [(count, verdict) for verdict in others if (count := column.number(verdict))],
            "older": column.older,
            "remarks": list(_capabilities(column.bridge)),
            "ran": f"run {days[0]}" if len(days) == 1 else f"runs {', '.join(days)}",
        }

    def _source(self, source: Any) -> dict[str, Any]:
        report = source.report
        return {
            "name": source.name,
            "started": report.started.replace("T", " ").removesuffix("+00:00"),
            "suite": f"{report.suite.name} {report.suite.version}",
            "spec": report.spec,
            "selection": report.selection,
            "labels": ", ".join(bridge.label for bridge in report.bridges),
        }

    def _tally(self) -> Iterator[tuple[Verdict, int]]:
        counts = Counter(cell.verdict for row in self.matrix.rows for cell in row.cells)
        for verdict in TABLE:
            if counts[verdict] and TABLE[verdict].in_totals:
                yield verdict, counts[verdict]

    # --- the table ----------------------------------------------------------------------------------------------------

    def _group(self, surface: Any, rows: tuple[Row, ...]) -> dict[str, Any]:
        totals = []
        for at in range(len(self.matrix.columns)):
            cells = [row.cells[at] for row in rows if not row.former and TABLE[row.cells[at].verdict].in_totals]
            proven = sum(cell.verdict in (Verdict.PASS, Verdict.UNDECLARED) for cell in cells)
            totals.append({"asked": len(cells), "proven": proven})
        return {
            "name": surface.name,
            "kind": surface.kind,
            "summary": surface.summary,
            "totals": totals,
            "rows": [self._row(row) for row in rows],
        }

    def _row(self, row: Row) -> dict[str, Any]:
        return {
            "number": self.numbers[row.rule.id],
            "anchor": anchor(row.rule.id),
            "id": row.rule.id,
            "level": row.rule.level,
            "relation": row.rule.relation,
            "text": row.rule.text,
            "on_pi": row.rule.on_pi,
            "because": row.rule.because,
            "former": row.former,
            "split": row.split,
            "verdicts": " ".join(sorted({slug(cell.verdict) for cell in row.cells})),
            "cells": [self._cell(row, at, cell) for at, cell in enumerate(row.cells)],
        }

    def _cell(self, row: Row, at: int, cell: Cell) -> dict[str, Any]:
        as_stated = (
            self.matrix.columns[at].role == "pi" and row.rule.relation == "differs" and cell.verdict is Verdict.PASS
        )
        word = "as stated" if as_stated else str(cell.verdict)
        if cell.rule is None and cell.verdict is Verdict.NOT_RUN:
            word = "not asked yet"
        elif cell.verdict is Verdict.NOT_APPLICABLE:
            word = "n/a"
        column = self.matrix.columns[at]
        return {
            "word": word,
            "who": column.bridge.label,
            "kind": f"c {slug(cell.verdict)} {column.role}{' differs' if as_stated else ''}",
            "older": cell.older,
            "finding": self._finding_id(row, at) if cell.notable else "",
        }

    def _finding_id(self, row: Row, at: int) -> str:
        return f"f{at}-{self.numbers[row.rule.id]}"

    # --- what did not simply pass -------------------------------------------------------------------------------------

    def _findings(self) -> Iterator[dict[str, Any]]:
        for at, column in enumerate(self.matrix.columns):
            for row in self.matrix.rows:
                cell = row.cells[at]
                if cell.notable:
                    bad = [proof for proof in cell.proofs if proof.verdict not in FINE]
                    yield {
                        "id": self._finding_id(row, at),
                        "verdict": cell.verdict,
                        "column": {
                            "number": at,
                            "label": column.bridge.label,
                            "name": column.bridge.implementation.name,
                            "version": column.bridge.implementation.version,
                        },
                        "row": row.rule,
                        "remarks": list(_remarks(cell, row, column)),
                        "proofs": [
                            self._proof(proof, cell, column.bridge, number < self.drawn)
                            for number, proof in enumerate(bad[:FULL])
                        ],
                        "more": [self._brief(proof, row) for proof in bad[FULL:]],
                    }

    def _proof(self, proof: ProofReport, cell: Cell, bridge: BridgeReport, drawn: bool) -> dict[str, Any]:
        assert cell.rule is not None
        expected, got = (None if value is UNSET else _shown(value) for value in (proof.expected, proof.got))
        said = expected is not None and got is not None and expected in proof.message and got in proof.message
        return {
            "title": self._title(proof, cell.rule.id),
            "verdict": proof.verdict,
            "step": proof.step,
            "expected": expected,
            "got": got,
            "message": "" if said else proof.message,
            "broken": proof.broken,
            "where": proof.where,
            "trace": proof.trace,
            "diagram": self._diagram(cell, proof) if drawn else None,
            "command": command(bridge, cell.rule.id, proof),
        }

    def _brief(self, proof: ProofReport, row: Row) -> dict[str, Any]:
        return {
            "title": self._title(proof, row.rule.id),
            "verdict": proof.verdict,
            "line": proof.message.splitlines()[0] if proof.message else "",
        }

    def _title(self, proof: ProofReport, rule_id: str) -> str:
        known = self.examples.get(proof.item)
        name = example_of(proof.item, rule_id)
        return str(known[0]) if known else name.replace(":", " ") if name != "1" else proof.item

    def _diagram(self, cell: Cell, proof: ProofReport) -> int | None:
        if proof.trace is None or len(self.pictures) >= DIAGRAMS:
            return None
        events = cell.trace(proof)
        if not events:
            return None
        self.pictures.append(sequence_svg(events, most=ROWS, style=False, title=f"What happened in {proof.item}"))
        return len(self.pictures) - 1

    # --- what the script needs ----------------------------------------------------------------------------------------

    def _payload(self) -> dict[str, Any]:
        words = {verdict: number for number, verdict in enumerate(TABLE)}
        tests: dict[str, int] = {}
        cells = []
        for row in self.matrix.rows:
            line = []
            for cell in row.cells:
                proofs = [
                    [tests.setdefault(proof.item, len(tests)), words[proof.verdict], round(proof.duration * 1000)]
                    for proof in cell.proofs
                ]
                line.append(proofs)
            cells.append(line)
        return {
            "verdicts": [[slug(verdict), str(verdict), GLYPHS[verdict], row.when] for verdict, row in TABLE.items()],
            "columns": [
                {
                    "label": one_line(column.bridge.label),
                    "who": one_line(f"{column.bridge.implementation.name} {column.bridge.implementation.version}"),
                    "given": block(given(column.bridge)),
                }
                for column in self.matrix.columns
            ],
            "rules": [
                {
                    "id": one_line(row.rule.id),
                    "source": one_line(row.rule.source),
                    "reading": one_line(row.rule.interpretation or "", 2000),
                }
                for row in self.matrix.rows
            ],
            "tests": [[one_line(item), *self.examples.get(item, ["", []])] for item in tests],
            "cells": cells,
            "pictures": self.pictures,
        }


def _remarks(cell: Cell, row: Row, column: Column) -> Iterator[str]:
    if cell.rule is None:
        yield f"The run of {cell.source.report.started[:10]} did not know this rule yet. Run the suite again."
        return
    if cell.older:
        yield (
            f"Judged on {cell.source.report.started[:10]} by an earlier form of the rule, a {cell.rule.level} "
            f"({cell.rule.relation}): {cell.rule.text}"
        )
    for entry in column.bridge.deviations:
        if entry.rule == row.rule.id:
            link = f", {entry.link}" if entry.link else ""
            stale = f" Stale: {entry.stale}" if entry.stale else ""
            reason = entry.reason.rstrip(". ")
            yield f"Known deviation since {entry.added}, until {entry.expires}: {reason}{link}.{stale}"


def _capabilities(bridge: BridgeReport) -> Iterator[str]:
    for names, what in (
        (bridge.summary.absent_capabilities, "declared and not there"),
        (bridge.summary.undeclared_capabilities, "there and not declared"),
    ):
        if names:
            yield f"{what}: {', '.join(names)}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)


def _tone(standing: str) -> str:
    word, _, rest = standing.partition(" with ")
    return "fair" if rest else _TONES.get(word, "open")


def _legend(verdict: Verdict) -> dict[str, Any]:
    row = TABLE[verdict]
    spoils = "keeps the whole from being conformant"
    if verdict is Verdict.HARNESS_ERROR:
        spoils = "says nothing about the bridge"
    elif row.spoils != NO_LEVEL and len(row.spoils) < len(LEVELS):
        spoils = f"of a {' or '.join(sorted(row.spoils))}, {spoils}"
    elif row.spoils == NO_LEVEL:
        spoils = "" if row.in_totals else "in no total"
    return {"verdict": verdict, "when": row.when, "spoils": spoils}
