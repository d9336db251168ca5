"""What the terminal shows at the end: surfaces by bridges, and every list that nobody may overlook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from conformance._pytest.tally import Tally
from conformance.reporting.model import BridgeReport, RuleReport
from conformance.verdicts import TABLE, Verdict

LONGEST = 20
"""Names a list shows before it only counts."""


def write(terminal: Any, tally: Tally, where: str) -> None:
    """Write the section."""
    bridges = tally.report("complete" if not tally.unfinished() else "partial", 0).bridges
    terminal.section("conformance", sep="=")
    for line in lines(tally, bridges):
        terminal.write_line(line)
    if where:
        terminal.write_line(where)


def lines(tally: Tally, bridges: list[BridgeReport]) -> Iterator[str]:
    """The table, then the lists, then the word for each implementation."""
    yield from table([surface.name for surface in tally.plan.catalogue.surfaces], bridges)
    for bridge in bridges:
        yield from _lists(bridge)
        for entry in bridge.deviations:
            if entry.state == "stale":
                yield f"{bridge.label}: ledger: {entry.stale}"
    for note in tally.notes:
        yield f"note: {note}"
    for bridge in bridges:
        counts = ", ".join(f"{count} {word}" for word, count in sorted(bridge.summary.rules.items(), key=_order))
        yield f"{bridge.label}: {bridge.standing} ({counts})"


def table(surfaces: list[str], bridges: list[BridgeReport]) -> Iterator[str]:
    """Rules that hold of rules that apply, for each surface and bridge; then what else there is."""
    grid: dict[str, list[str]] = {}
    for surface in surfaces:
        row = [_cell([rule for rule in bridge.rules if rule.surface == surface]) for bridge in bridges]
        if any(cell not in ("", "–") for cell in row):
            grid[surface] = row
    head = ["", *(bridge.label for bridge in bridges)]
    body = [[surface, *row] for surface, row in grid.items()]
    widths = [max(len(line[column]) for line in [head, *body]) for column in range(len(head))]
    for line in [head, *body]:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def _cell(rules: list[RuleReport]) -> str:
    counted = [rule for rule in rules if TABLE[rule.verdict].in_totals]
    if not counted:
        return "–"
    if all(rule.verdict is Verdict.NOT_RUN for rule in counted):
        return ""
    holding = sum(TABLE[rule.verdict].outcome == "passed" for rule in counted)
    others: Counter[Verdict] = Counter(rule.verdict for rule in counted if rule.verdict is not Verdict.PASS)
    rest = ", ".join(f"{others[verdict]} {verdict}" for verdict in TABLE if others[verdict])
    return f"{holding}/{len(counted)}" + (f" ({rest})" if rest else "")


def _lists(bridge: BridgeReport) -> Iterator[str]:
    wanted = {
        Verdict.DEPARTS: "departs from a should",
        Verdict.DEVIATION: "deviates as its ledger says",
        Verdict.UNDECLARED: "works though not declared",
    }
    for verdict, words in wanted.items():
        yield from _list(bridge, words, [rule.id for rule in bridge.rules if rule.verdict is verdict])
    # A part of the rules was asked for: then those that were not are no news.
    unproven = [
        rule.id
        for rule in bridge.rules
        if rule.level == "must" and rule.verdict in (Verdict.UNSUPPORTED, Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR)
    ]
    yield from _list(bridge, "a must is unproven", unproven)
    yield from _list(bridge, "declares a capability that is not there", bridge.summary.absent_capabilities)
    yield from _list(bridge, "has a capability that it does not declare", bridge.summary.undeclared_capabilities)
    not_run = sum(rule.level == "must" and rule.verdict is Verdict.NOT_RUN for rule in bridge.rules)
    if not_run:
        yield f"{bridge.label}: {not_run} must{'' if not_run == 1 else 's'} not run"


def _list(bridge: BridgeReport, words: str, names: list[str]) -> Iterator[str]:
    for name in names[:LONGEST]:
        yield f"{bridge.label}: {words}: {name}"
    if len(names) > LONGEST:
        yield f"{bridge.label}: {words}: and {len(names) - LONGEST} more"


def _order(pair: tuple[str, int]) -> int:
    return list(TABLE).index(Verdict(pair[0]))
