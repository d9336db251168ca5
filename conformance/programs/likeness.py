"""Whether two traces tell the same story: ids that an implementation makes up are numbered anew, times left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.trace import Event, Trace

_MADE_UP = frozenset({"invocation", "instance", "api"})
"""Members of ``data`` whose values mean only which others are equal to them."""
_LEFT_OUT = frozenset({"pid", "cwd", "at"})

Row = tuple[str, str | None, str | None, dict[str, Any]]


def normal(trace: Trace) -> list[Row]:
    """Return a trace as rows (kind, agent, call id, data) that two runs of one implementation have in common."""
    return list(_normal(trace))


def _normal(trace: Trace) -> Iterator[Row]:
    names: dict[Any, str] = {}
    for event in trace.events:
        data = event.data
        if not _MADE_UP.isdisjoint(data) or not _LEFT_OUT.isdisjoint(data):
            data = {
                key: names.setdefault(value, f"{key} {len(names) + 1}") if key in _MADE_UP and value else value
                for key, value in data.items()
                if key not in _LEFT_OUT
            }
        yield event.kind, event.agent, event.call_id, data


def first_difference(one: list[Row], other: list[Row]) -> tuple[Row | None, Row | None] | None:
    """Return the first rows in which two traces differ (``None`` where one has ended), or ``None``."""
    for a, b in zip(one, other, strict=False):
        if a != b:
            return a, b
    if len(one) == len(other):
        return None
    at = min(len(one), len(other))
    return (one[at] if at < len(one) else None), (other[at] if at < len(other) else None)


__all__ = ["Event", "Row", "first_difference", "normal"]
