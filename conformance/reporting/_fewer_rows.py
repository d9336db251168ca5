"""Makes one row of rows that say one thing: a call and its immediate return, registrations, the operator's acts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from conformance.reporting._diagram import Row
from conformance.trace import Event


def merged(rows: Iterable[Row]) -> Iterator[Row]:
    """Make one row of a call and its immediate return, of registrations in a row, and of edges in a row."""
    for join in (_round_trip, _registrations, _acts, _edges):
        rows = _joined(rows, join)
    yield from rows


def _joined(rows: Iterable[Row], join: Callable[[Row, Row], Row | None]) -> Iterator[Row]:
    """The rows, where ``join`` may make one of two neighbours."""
    held: Row | None = None
    for row in rows:
        one = join(held, row) if held is not None else None
        if one is None and held is not None:
            yield held
        held = one or row
    if held is not None:
        yield held


def _round_trip(held: Row, row: Row) -> Row | None:
    if held.shape != "arrow" or held.answer or not row.answer or not _returns(held.events[-1], row.events[0]):
        return None
    silent = row.tail in ("returned", "→ undefined")
    tail = held.tail if silent else f"{held.tail} {row.tail}".strip()
    return replace(held, shape="trip", tail=tail, tone=row.tone, events=(*held.events, *row.events))


def _registrations(held: Row, row: Row) -> Row | None:
    for each in (held, row):
        registers = each.events[0].kind == "api.call" and each.events[0]["call"] in ("on", "registerTool")
        if each.shape != "trip" or each.tone != "plain" or not registers:
            return None
    if (held.head, held.source, held.events[0]["instance"]) != (row.head, row.source, row.events[0]["instance"]):
        return None
    return replace(held, tail=f"{held.tail}, {row.tail}", events=(*held.events, *row.events))


def _acts(held: Row, row: Row) -> Row | None:
    """What the operator does in a row is of no more interest than a word each."""
    if held.events[0].kind != "operator" or row.events[0].kind != "operator" or held.agent != row.agent:
        return None
    return replace(held, tail=f"{held.tail}, {row.tail}", events=(*held.events, *row.events))


def _edges(held: Row, row: Row) -> Row | None:
    if not held.shape == row.shape == "line" or held.agent != row.agent:
        return None
    both = (*held.events, *row.events)
    return replace(held, head=f"{held.head} · {row.head}", strong=held.strong or row.strong, events=both)


def _returns(first: Event, last: Event) -> bool:
    """Whether the second event is the end of what the first began."""
    key = "api" if first.kind == "api.call" else "invocation"
    ends = {"api.call": "api.return"}.get(first.kind, first.kind.replace(".enter", ".exit"))
    return last.kind == ends != first.kind and first[key] is not None and first[key] == last[key]
