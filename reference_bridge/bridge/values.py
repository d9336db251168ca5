"""What the bridge must know about the values packages hand it: comparing, copying and naming them."""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

from reference_bridge.bridge._js import is_truthy, stringify
from reference_bridge.host.errors import Thrown, error_message
from reference_bridge.host.json_values import UNDEFINED, NotLosslessError, clone, js_string

__all__ = ["UNDEFINED", "as_object", "copy_json", "is_truthy", "json_text", "private_copy", "same_json", "thrown_text"]


def as_object(value: object) -> dict[str, Any]:
    """`value` where it is an object, else an empty one: what reading members of it gives in JavaScript."""
    return value if isinstance(value, dict) else {}


def same_json(left: object, right: object) -> bool:
    """Whether the JSON texts of both say the same.

    The order of keys does not count, 7 and 7.0 are one number, and a member that is `UNDEFINED` is none.
    """
    pending = [(left, right)]
    seen: set[tuple[int, int]] = set()
    while pending:
        one, other = pending.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            first, second = _members(one), _members(other)
            if first.keys() != second.keys():
                return False
            below = [(first[key], second[key]) for key in first]
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            below = list(zip(one, other, strict=True))
        elif isinstance(one, dict | list) or isinstance(other, dict | list) or _scalar(one) != _scalar(other):
            return False
        else:
            continue
        # Two cyclic values are compared once around.
        if (id(one), id(other)) not in seen:
            seen.add((id(one), id(other)))
            pending += below
    return True


def copy_json(value: object) -> Any:
    """A deep copy of the parts of `value` that JSON can carry; `UNDEFINED` where it can carry none of it.

    Members that are `UNDEFINED` or no JSON value are left out, list items of that kind are null: `JSON.stringify`
    does the same. Raises `NotLosslessError` for a cycle and for a number without a JSON form.
    """
    try:
        return clone(value)
    except NotLosslessError:
        kept = _jsonable(value, ())
        return kept if kept is UNDEFINED else clone(kept)


def private_copy(value: Any) -> Any:
    """A deep copy for somebody who may change it at will; what cannot be copied is handed out as it is."""
    try:
        return deepcopy(value)
    except Exception:
        return value


def json_text(value: object) -> str:
    """`value` for a reader: its JSON text, or its name where JSON has none."""
    try:
        return stringify(value)
    except (RecursionError, TypeError):
        return js_string(value)


def thrown_text(error: BaseException) -> str:
    """The text a package threw, or the string form of what it threw instead of an error."""
    return error_message(error)


def is_error(error: BaseException) -> bool:
    """Whether a package threw an error, not just any value."""
    return not isinstance(error, Thrown)


def _members(value: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if _scalar(item) is not UNDEFINED}


def _scalar(value: object) -> object:
    """A value JSON writes as it is, tagged by type; null for numbers it cannot write, `UNDEFINED` for the rest."""
    if value is None or isinstance(value, bool | str):
        return (type(value), value)
    if isinstance(value, int | float):
        return (float, value) if math.isfinite(value) else (type(None), None)
    return value if isinstance(value, dict | list) else UNDEFINED


def _jsonable(value: object, above: tuple[int, ...]) -> object:
    if isinstance(value, dict | list | tuple):
        if id(value) in above:
            raise NotLosslessError("a cycle is not JSON")
        above = (*above, id(value))
        if isinstance(value, dict):
            return {key: _jsonable(item, above) for key, item in _members(value).items() if isinstance(key, str)}
        return [None if _scalar(item) is UNDEFINED else _jsonable(item, above) for item in value]
    return value if _scalar(value) is not UNDEFINED else UNDEFINED
