"""What the terminal shows at the end: surfaces by bridges, and every list that nobody may overlook."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conformance._pytest.tally import Tally
from conformance.reporting.model import BridgeReport, DeviationReport, RuleReport
from conformance.verdicts import TABLE, Verdict

LONGEST = 20
"""Names a list shows before it only counts."""
LEVELS = ("must", "should", "may")

Tone = Literal["plain", "good", "warn", "bad", "quiet", "head"]
MARKUP: dict[Tone, dict[str, bool]] = {
    "plain": {},
    "good": {"green": True},
    "warn": {"yellow": True},
    "bad": {"red": True},
    "quiet": {"light": True},
    "head": {"bold": True},
}
"""How pytest writes each tone; ``--color`` and ``NO_COLOR`` are obeyed where it writes."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words in one tone."""

    words: str
    tone: Tone = "plain"


Line = tuple[Text, ...]


def write(terminal: Any, tally: Tally, where: str) -> None:
    """Write the section."""
    bridges = tally.report("complete" if not tally.unfinished() else "partial", 0).bridges
    surfaces = [surface.name for surface in tally.plan.catalogue.surfaces]
    columns = shutil.get_terminal_size().columns if terminal.isatty else None
    terminal.section("conformance", sep="=")
    for line in lines(surfaces, bridges, tally.notes, columns):
        for text in line:
            terminal.write(text.words, **MARKUP[text.tone])
        terminal.write_line("")
    if where:
        terminal.write_line(where)


def lines(
    surfaces: Sequence[str], bridges: Sequence[BridgeReport], notes: Iterable[str] = (), columns: int | None = None
) -> Iterator[Line]:
    """The table, then the lists, then the word for each implementation; ``columns`` is the width to fit into."""
    rows = list(_rows(surfaces, bridges))
    for some in _parts(rows, [bridge.label for bridge in bridges], columns):
        yield from _table(rows, some, [bridge.label for bridge in bridges])
    for bridge in bridges:
        yield from _lists(bridge)
        for entry in bridge.deviations:
            if entry.state == "stale":
                yield (Text(f"{bridge.label}: ledger: {entry.stale}", "bad"),)
    for note in notes:
        yield (Text(f"note: {note}", "warn"),)
    for bridge in bridges:
        yield tuple(_standing(bridge))


# --- the table --------------------------------------------------------------------------------------------------------

Row = tuple[Text, list[Text]]


def _rows(surfaces: Iterable[str], bridges: Sequence[BridgeReport]) -> Iterator[Row]:
    """Rules that hold of rules that apply: of each surface that was asked for, then of each level.

    What was run in part makes no statement on the whole, and so none on a level.
    """
    for surface in surfaces:
        cells = [_cell([rule for rule in bridge.rules if rule.surface == surface]) for bridge in bridges]
        if any(cell.words not in ("", "–") for cell in cells):
            yield Text(surface), cells
    whole = not any(rule.verdict is Verdict.NOT_RUN for bridge in bridges for rule in bridge.rules)
    for level in LEVELS if whole else ():
        cells = [_cell([rule for rule in bridge.rules if rule.level == level]) for bridge in bridges]
        if any(cell.words not in ("", "–") for cell in cells):
            yield Text(f"every {level}", "head"), cells


def _cell(rules: Iterable[RuleReport]) -> Text:
    counted = [rule for rule in rules if TABLE[rule.verdict].in_totals]
    if not counted:
        return Text("–", "quiet")
    others: Counter[Verdict] = Counter(rule.verdict for rule in counted if rule.verdict is not Verdict.PASS)
    if others[Verdict.NOT_RUN] == len(counted):
        return Text("", "quiet")
    holding = sum(TABLE[rule.verdict].outcome == "passed" for rule in counted)
    rest = ", ".join(f"{others[verdict]} {verdict}" for verdict in TABLE if others[verdict])
    tone: Tone = "good"
    if any(_is_bad(rule) for rule in counted):
        tone = "bad"
    elif any(rule.verdict not in (Verdict.PASS, Verdict.NOTED) for rule in counted):
        tone = "warn"
    return Text(f"{holding}/{len(counted)}" + (f" ({rest})" if rest else ""), tone)


def _is_bad(rule: RuleReport) -> bool:
    if rule.verdict is Verdict.NOT_RUN:
        return False
    return rule.verdict is Verdict.HARNESS_ERROR or rule.level in TABLE[rule.verdict].spoils


def _widths(rows: Sequence[Row], labels: Sequence[str]) -> list[int]:
    return [max(len(label), *(len(row[1][at].words) for row in rows), 0) for at, label in enumerate(labels)]


def _parts(rows: Sequence[Row], labels: Sequence[str], columns: int | None) -> Iterator[list[int]]:
    """The columns that stand beside each other; what does not fit follows below."""
    first = max((len(row[0].words) for row in rows), default=0)
    part: list[int] = []
    used = first
    for at, width in enumerate(_widths(rows, labels)):
        if part and columns is not None and used + 2 + width > columns:
            yield part
            part, used = [], first
        part.append(at)
        used += 2 + width
    yield part


def _table(rows: Sequence[Row], some: Sequence[int], labels: Sequence[str]) -> Iterator[Line]:
    first = max((len(row[0].words) for row in rows), default=0)
    widths = _widths(rows, labels)
    yield _padded(Text(""), first, [Text(labels[at], "head") for at in some], [widths[at] for at in some])
    for name, cells in rows:
        yield _padded(name, first, [cells[at] for at in some], [widths[at] for at in some])


def _padded(name: Text, first: int, cells: Sequence[Text], widths: Sequence[int]) -> Line:
    line = [Text(name.words.ljust(first), name.tone)]
    for cell, width in zip(cells, widths, strict=True):
        line += [Text("  "), Text(cell.words.ljust(width), cell.tone)]
    while line and not line[-1].words.strip():
        line.pop()
    if line:
        line[-1] = Text(line[-1].words.rstrip(), line[-1].tone)
    return tuple(line)


# --- the lists --------------------------------------------------------------------------------------------------------


def _lists(bridge: BridgeReport) -> Iterator[Line]:
    def of(*verdicts: Verdict, level: str = "") -> list[str]:
        return [rule.id for rule in bridge.rules if rule.verdict in verdicts and level in ("", rule.level)]

    reasons = {entry.rule: entry for entry in bridge.deviations if entry.state == "holds"}
    deviations = [_with_reason(rule, reasons.get(rule)) for rule in of(Verdict.DEVIATION)]
    yield from _list(bridge, "departs from a should", of(Verdict.DEPARTS), "warn")
    yield from _list(bridge, "deviates as its ledger says", deviations, "warn")
    yield from _list(bridge, "works though not declared", of(Verdict.UNDECLARED), "warn")
    # A part of the rules was asked for: then those that were not are no news.
    undecided = (Verdict.UNSUPPORTED, Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR)
    yield from _list(bridge, "a must is unproven", of(*undecided, level="must"), "bad")
    yield from _list(bridge, "declares a capability that is not there", bridge.summary.absent_capabilities, "bad")
    yield from _list(
        bridge, "has a capability that it does not declare", bridge.summary.undeclared_capabilities, "warn"
    )
    not_run = len(of(Verdict.NOT_RUN, level="must"))
    if not_run:
        yield (Text(f"{bridge.label}: {not_run} must{'' if not_run == 1 else 's'} not run", "warn"),)


def _with_reason(rule: str, entry: DeviationReport | None) -> str:
    return f"{rule}: {entry.reason} (until {entry.expires})" if entry is not None else rule


def _list(bridge: BridgeReport, words: str, names: Sequence[str], tone: Tone) -> Iterator[Line]:
    head = Text(f"{bridge.label}: {words}: ", tone)
    for name in names[:LONGEST]:
        yield (head, Text(name))
    if len(names) > LONGEST:
        yield (head, Text(f"and {len(names) - LONGEST} more"))


def _standing(bridge: BridgeReport) -> Iterator[Text]:
    word = bridge.standing
    tone: Tone = "good" if word == "conformant" else "bad" if word == "not conformant" else "warn"
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(bridge.summary.rules.items(), key=_order))
    yield Text(f"{bridge.label}: ")
    yield Text(word, tone)
    yield Text(f" ({counts})")


def _order(pair: tuple[str, int]) -> int:
    return list(TABLE).index(Verdict(pair[0]))
