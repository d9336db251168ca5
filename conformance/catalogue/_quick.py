"""Recognises a valid document fast, so that jsonschema is paid for only where something is wrong.

jsonschema builds a validator for each value it visits: half a second for 250 rules, in every worker of a run. This
walk knows the keywords that our schemas use; whatever it does not know, it leaves to jsonschema, which also finds the
words for everything that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any


class _UnsureError(Exception):
    """The schema says something this walk does not understand."""


def surely_valid(value: Any, schema: dict[str, Any]) -> bool:
    """True only where ``value`` satisfies ``schema``; False where it does not, or where only jsonschema can tell."""
    try:
        return _valid(value, schema, schema)
    except _UnsureError:
        return False


_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
}
_REMARKS = frozenset({"$schema", "$id", "$defs", "$comment", "title", "description", "mend", "then", "else"})


def _valid(value: Any, schema: Any, root: dict[str, Any]) -> bool:
    if isinstance(schema, bool):
        return schema
    for keyword, limit in schema.items():
        if keyword in _REMARKS:
            continue
        check = _CHECKS.get(keyword)
        if check is None:
            raise _UnsureError(keyword)
        if not check(value, limit, schema, root):
            return False
    return True


def _type(value: Any, limit: Any, schema: Any, root: Any) -> bool:
    if limit not in _TYPES:
        raise _UnsureError("type")
    return _TYPES[limit](value)


def _equal(value: Any, wanted: Any) -> bool:
    return type(value) is type(wanted) and bool(value == wanted)


def _ref(value: Any, limit: str, schema: Any, root: Any) -> bool:
    return _valid(value, root["$defs"][limit.removeprefix("#/$defs/")], root)


def _properties(value: Any, limit: dict[str, Any], schema: Any, root: Any) -> bool:
    return type(value) is not dict or all(
        _valid(item, limit[name], root) for name, item in value.items() if name in limit
    )


def _additional(value: Any, limit: Any, schema: Any, root: Any) -> bool:
    known = schema.get("properties", {})
    return type(value) is not dict or all(
        _valid(item, limit, root) for name, item in value.items() if name not in known
    )


def _unique(value: Any, limit: bool, schema: Any, root: Any) -> bool:
    if not limit or type(value) is not list:
        return True
    if not all(type(item) is str for item in value):
        raise _UnsureError("uniqueItems")
    return len(set(value)) == len(value)


def _if(value: Any, limit: Any, schema: Any, root: Any) -> bool:
    return _valid(value, schema.get("then" if _valid(value, limit, root) else "else", True), root)


_CHECKS: dict[str, Callable[[Any, Any, Any, Any], bool]] = {
    "type": _type,
    "$ref": _ref,
    "properties": _properties,
    "additionalProperties": _additional,
    "uniqueItems": _unique,
    "if": _if,
    "not": lambda value, limit, schema, root: not _valid(value, limit, root),
    "allOf": lambda value, limit, schema, root: all(_valid(value, each, root) for each in limit),
    "items": lambda value, limit, schema, root: (
        type(value) is not list or all(_valid(item, limit, root) for item in value)
    ),
    "contains": lambda value, limit, schema, root: (
        type(value) is not list or any(_valid(item, limit, root) for item in value)
    ),
    "required": lambda value, limit, schema, root: type(value) is not dict or all(name in value for name in limit),
    "enum": lambda value, limit, schema, root: any(_equal(value, each) for each in limit),
    "const": lambda value, limit, schema, root: _equal(value, limit),
    "pattern": lambda value, limit, schema, root: type(value) is not str or re.search(limit, value) is not None,
    "minLength": lambda value, limit, schema, root: type(value) is not str or len(value) >= limit,
    "minItems": lambda value, limit, schema, root: type(value) is not list or len(value) >= limit,
    "minProperties": lambda value, limit, schema, root: type(value) is not dict or len(value) >= limit,
    "maxProperties": lambda value, limit, schema, root: type(value) is not dict or len(value) <= limit,
    "minimum": lambda value, limit, schema, root: type(value) not in (int, float) or value >= limit,
    "exclusiveMinimum": lambda value, limit, schema, root: type(value) not in (int, float) or value > limit,
}
