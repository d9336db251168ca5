"""Makes a program that fails smaller, as a value: whatever can be left out without losing the failure is left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from conformance.drivers.driver import HarnessError
from conformance.programs.operations import AnyOperation, Program, from_json, to_json
from conformance.verdicts import Finding

RUNS = 600
"""Candidates that are tried at most."""
SECONDS = 30.0
"""How long is tried at most."""

Path = tuple[str | int, ...]


def shrink(
    program: Program,
    fails: Callable[[list[AnyOperation]], bool],
    runs: int = RUNS,
    seconds: float = SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> list[AnyOperation]:
    """Return a program that still fails and of which no single part can be left out, as far as the budget goes.

    ``fails`` runs a candidate and says whether it fails in the same way; one that raises a finding of another kind does
    not. When the connection breaks meanwhile, the smallest program known by then is returned at once.
    """
    best = to_json(program)
    until = clock() + seconds
    again = True
    try:
        while again:
            again = False
            at = 0
            candidates = list(_candidates(best))
            while at < len(candidates):
                if runs <= 0 or clock() > until:
                    return from_json(best)
                smaller = _parsed(candidates[at])
                at += 1
                if smaller is None:
                    continue
                runs -= 1
                if _still(fails, smaller):
                    best, again = to_json(smaller), True
                    # What came before has been tried on a bigger program: go on from here, and once more from the top.
                    candidates = list(_candidates(best))
    except HarnessError:
        pass
    return from_json(best)


def _still(fails: Callable[[list[AnyOperation]], bool], program: list[AnyOperation]) -> bool:
    try:
        return fails(program)
    except Finding:
        return False


def _parsed(rows: Any) -> list[AnyOperation] | None:
    try:
        return from_json(rows)
    except msgspec.ValidationError:
        return None


def _candidates(rows: list[Any]) -> Iterator[list[Any]]:
    """Yield smaller programs: without halves, without single operations, without and with simpler parts."""
    size = len(rows) // 2
    while size > 1:
        for begin in range(0, len(rows), size):
            yield rows[:begin] + rows[begin + size :]
        size //= 2
    for at in range(len(rows) - 1, -1, -1):
        if len(rows) > 1:
            yield rows[:at] + rows[at + 1 :]
    for path, value in _places(rows, ()):
        if isinstance(path[-1], int) or path[-1] not in _KEPT:
            yield _without(rows, path)
        simpler = _simpler(path, value)
        if simpler is not None and simpler != value:
            yield _with(rows, path, simpler)


_KEPT = frozenset({"op", "do", "name", "label", "description", "id", "text", "package", "returns", "event"})
"""Members without which a part would be another part, or read oddly."""


def _places(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield each part within operations, outer before inner, later before earlier."""
    if isinstance(value, dict) and "$" not in value:  # A tagged value is one thing.
        for key, item in value.items():
            yield (*path, key), item
            if key not in ("spec", "parameters", "arguments"):
                yield from _places(item, (*path, key))
    elif isinstance(value, list):
        for at in range(len(value) - 1, -1, -1):
            if path:
                yield (*path, at), value[at]
            yield from _places(value[at], (*path, at))


def _simpler(path: Path, value: Any) -> Any:
    if path[-1] == "spec" and isinstance(value, dict):
        name = value.get("name")
        plain = {"name": name, "label": name, "description": f"the tool {name}"}
        return {**plain, "parameters": {"type": "object", "properties": {}}}
    return "{}" if path[-1] == "arguments" and isinstance(value, str) else None


def _without(value: Any, path: Path) -> Any:
    head, *rest = path
    if isinstance(value, list):
        inner = [_without(value[head], tuple(rest))] if rest else []  # type: ignore[index]
        return [*value[:head], *inner, *value[head + 1 :]]  # type: ignore[index, operator]
    if not rest:
        return {key: item for key, item in value.items() if key != head}
    return {**value, head: _without(value[head], tuple(rest))}


def _with(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    head, *rest = path
    if isinstance(value, list):
        return [*value[:head], _with(value[head], tuple(rest), new), *value[head + 1 :]]  # type: ignore[index, operator]
    return {**value, head: _with(value[head], tuple(rest), new)}
