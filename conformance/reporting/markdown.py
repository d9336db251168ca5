"""Writes the matrix as Markdown for a pull request: totals, surfaces, and everything that did not simply pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from conformance.catalogue.model import LEVELS
from conformance.reporting._spoken import clean, fitted
from conformance.reporting.merge import FINE, Cell, Column, Matrix, version_of
from conformance.verdicts import TABLE, Verdict

MOST = 60
"""Results that did not pass which are written out; the rest are counted. An unproven must is always named."""
FOLDED = 20
"""Unproven musts above which their list is folded; their number never is."""
LONG = 160
"""Characters of one reason."""

# An underscore inside a word means nothing, a colon only in `:name:` and `http:`.
_ACTIVE = re.compile(
    r"[\\`*{}\[\]<>#+!|~&@$=^\"']|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=[A-Za-z/+-])|^-|^\d(?=\d*[.)](?:\s|$))|(?i:www(?=\.))"
)


def escaped(text: str, most: int = LONG) -> str:
    """A text on one line that no Markdown gives a meaning to, cut to ``most`` characters.

    Whatever could be a delimiter, markup, a mention or a link becomes a character reference, which never is one.
    """
    return _ACTIVE.sub(lambda found: f"&#{ord(found[0][0])};{found[0][1:]}", fitted(clean(str(text)), most))


def code(text: str, most: int = LONG) -> str:
    """The same in a fixed width; a backtick could end a code span, a tag with escaped text ends where we end it."""
    return f"<code>{escaped(text, most)}</code>"


def matrix_markdown(matrix: Matrix) -> str:
    """The whole text."""
    parts = [
        "## Bridge conformance",
        "",
        *_totals(matrix),
        *(f"> {escaped(note, 400)}  " for note in matrix.notes),
        *([""] if matrix.notes else []),
        *_unproven(matrix.columns),
        *_findings(matrix),
        *_surfaces(matrix),
        _origin(matrix),
    ]
    return "\n".join(parts) + "\n"


def table(head: Iterable[str], rows: Iterable[Iterable[str]], right: Iterable[int] = ()) -> Iterator[str]:
    """A table; ``right`` are the columns with numbers. Cells are escaped already."""
    titles = list(head)
    numbers = set(right)
    yield f"| {' | '.join(titles)} |"
    yield f"|{'|'.join(' ---: ' if at in numbers else ' --- ' for at in range(len(titles)))}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _totals(matrix: Matrix) -> Iterator[str]:
    def row(column: Column) -> Iterator[str]:
        who = column.bridge.implementation
        yield f"**{escaped(column.bridge.label, 60)}**"
        yield escaped(f"{who.name} {who.version}" + (f", {column.bridge.mount}" if column.bridge.mount else ""), 90)
        yield f"**{escaped(column.standing)}**"
        proven = column.proven
        yield from (f"{proven[level]}/{column.asked(level)}" for level in LEVELS)
        yield f"**{len(column.unproven)}**" if column.unproven else "0"
        yield (
            ", ".join(
                f"{count} {verdict}" for verdict in TABLE if verdict not in FINE and (count := column.number(verdict))
            )
            or "–"
        )

    head = ["", "implementation", "standing", *LEVELS, "unproven musts", "not simply passed"]
    yield from table(head, (row(column) for column in matrix.columns), (3, 4, 5, 6))


def _unproven(columns: Iterable[Column]) -> Iterator[str]:
    for column in columns:
        if not column.unproven:
            continue
        count = len(column.unproven)
        said = f"{escaped(column.bridge.label, 60)}: {count} unproven must{'' if count == 1 else 's'}"
        folded = count > FOLDED
        yield f"<details><summary><b>{said}</b></summary>" if folded else f"**{said}**"
        yield ""
        yield from (f"- {code(rule)} {column.cells[rule].verdict}" for rule in column.unproven)
        yield ""
        if folded:
            yield "</details>"
            yield ""


def _findings(matrix: Matrix) -> Iterator[str]:
    found = [
        (row.rule.id, row.rule.level, column, row.cells[at])
        for at, column in enumerate(matrix.columns)
        for row in matrix.rows
        if row.cells[at].notable and row.rule.id not in column.unproven
    ]
    rank = {verdict: number for number, verdict in enumerate(TABLE)}
    found.sort(key=lambda each: rank[each[3].verdict])
    if not found:
        return
    yield "### What did not simply pass"
    yield ""
    yield from table(
        ["rule", "level", "implementation", "verdict", "why"],
        (
            [code(rule), level, escaped(column.bridge.label, 60), str(cell.verdict), escaped(reason(cell))]
            for rule, level, column, cell in found[:MOST]
        ),
    )
    if len(found) > MOST:
        yield f"and {len(found) - MOST} more."
        yield ""


def _surfaces(matrix: Matrix) -> Iterator[str]:
    yield "<details><summary>By surface</summary>"
    yield ""
    rows = []
    for group in matrix.groups:
        row = [code(group.surface.name, 60)]
        for at in range(len(matrix.columns)):
            cells = [each.cells[at] for each in group.rows if not each.former]
            asked = [cell for cell in cells if TABLE[cell.verdict].in_totals]
            proven = sum(cell.verdict in (Verdict.PASS, Verdict.UNDECLARED) for cell in asked)
            row.append(f"{proven}/{len(asked)}" if asked else "–")
        rows.append(row)
    labels = [escaped(column.bridge.label, 60) for column in matrix.columns]
    yield from table(["surface", *labels], rows, range(1, len(labels) + 1))
    yield "</details>"
    yield ""


def _origin(matrix: Matrix) -> str:
    newest = matrix.newest.report
    return (
        f"<sub>{len(matrix.rows)} rules, version {version_of(matrix.newest)}, digest {code(newest.spec.digest[:12])}; "
        f"suite {escaped(newest.suite.version, 40)}; run {escaped(newest.started, 40)}.</sub>"
    )


def reason(cell: Cell) -> str:
    """Why a cell is not a pass, in one line; empty where nothing was said."""
    if cell.rule is None:
        return "the run did not know this rule yet"
    for proof in cell.proofs:
        if proof.verdict not in FINE and proof.message:
            return proof.message.splitlines()[0]
    return ""
