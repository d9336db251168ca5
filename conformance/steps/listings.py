"""Steps on what getActiveTools, getAllTools and setActiveTools answered."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET
from pytest_bdd import then

from conformance.compare import check, holds, same, show
from conformance.plan import MAIN
from conformance.stage import Stage
from conformance.steps._phrase import phrase
from conformance.steps.results import catalogue, describe, last_outcome, listed, notices
from conformance.verdicts import Inconclusive


@then(phrase("{call:method} returned the names of request {number:int}"))
def returned_the_names(stage: Stage, call: str, number: int) -> None:
    wanted = sorted(row["name"] for row in catalogue(stage, number))
    found = sorted(map(str, listed(stage, call)))
    check(found == wanted, f"{call} names the tools of request {number}: {show(wanted)}", show(found))


@then(phrase("{call:method} returned the rows of request {number:int}"))
def returned_the_rows(stage: Stage, call: str, number: int) -> None:
    listed(stage, call)
    keys = ("name", "description", "parameters")
    found = {row.get("name"): {key: row.get(key) for key in keys} for row in _rows(stage, call)}
    for row in catalogue(stage, number):
        shown = {key: row.get(key) for key in keys}
        got = found.get(row["name"])
        check(same(got, shown), f"{call} has the row {show(shown)}", show(got))


@then(phrase("every {call:method} returned the same"))
def every_returned_the_same(stage: Stage, call: str) -> None:
    found = [outcome.returned for outcome in stage.returned(call)]
    if len(found) < 2:
        raise Inconclusive(f"pi.{call} was called {len(found)} time(s) only")
    check(all(same(one, found[0]) for one in found), f"every {call} returns {show(found[0])}", show(found[-1]))


@then(phrase("{call:method}, called while loading, {ended:word}"))
def while_loading(stage: Stage, call: str, ended: str) -> None:
    """``ended`` is ``answered`` or ``threw``."""
    made = [
        row["outcome"]
        for event in stage.trace.of("instance.created")
        if event["role"] != "anchor"
        for row in event["calls"] or []
        if row["call"] == call
    ]
    if not made:
        raise Inconclusive(f"no instance says how its {call} ended while it was loaded")
    found = ["threw" if "threw" in outcome else "answered" for outcome in made]
    check(all(word == ended for word in found), f"{call} {ended} while loading", show(made))


@then(phrase('the row of "{tool}" from {call:method} is without "{key}"'))
def row_without(stage: Stage, tool: str, call: str, key: str) -> None:
    row = _row(stage, call, tool)
    check(key not in row, f'the row of "{tool}" has no {key}', show(row.get(key)))


@then(phrase('the row of "{tool}" from {call:method} has {value:json}'))
def row_has(stage: Stage, tool: str, call: str, value: Any) -> None:
    row = _row(stage, call, tool)
    check(holds(row, value), f'the row of "{tool}" has {show(value)}', show(row))


@then(phrase('the row of "{tool}" from {call:method} gives another source than "{source}"'))
def row_has_another_source(stage: Stage, tool: str, call: str, source: str) -> None:
    info = _row(stage, call, tool).get("sourceInfo")
    given = info.get("source") if isinstance(info, dict) else None
    check(isinstance(given, str) and given != source, f'the source of "{tool}" is not {source!r}', show(info))


@then(phrase("{call:method} did not throw"))
def did_not_throw(stage: Stage, call: str) -> None:
    outcome = last_outcome(stage, call)
    check(outcome.threw is UNSET, f"{call} does not throw", f"it {describe(outcome)}")


@then(phrase('"{tool}" is gone from request {number:int} and call "{call}", or is active and named in a notice'))
def gone_or_named(stage: Stage, tool: str, number: int, call: str) -> None:
    """Neither side may be half: gone means absent and unknown, there means listed, active and named."""
    shown = tool in [row["name"] for row in catalogue(stage, number)]
    ran = bool(stage.trace.of("tool.enter", tool=tool, call_id=call))
    active = tool in listed(stage, "getActiveTools")
    named = notices(stage, tool) > 0
    gone = not (shown or ran or active)
    there = shown and ran and active and named
    got = ", ".join(
        f"{'' if is_so else 'not '}{word}"
        for is_so, word in ((shown, "in the request"), (ran, "run"), (active, "active"), (named, "named in a notice"))
    )
    check(gone or there, f'"{tool}" is gone throughout, or there throughout and named', f"it is {got}")


def _rows(stage: Stage, call: str) -> list[dict[str, Any]]:
    rows = last_outcome(stage, call).returned
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _row(stage: Stage, call: str, tool: str) -> dict[str, Any]:
    found = next((row for row in _rows(stage, call) if row.get("name") == tool), None)
    if found is None:
        raise Inconclusive(f'{call} has no row of "{tool}" (agent {MAIN!r})')
    return found
