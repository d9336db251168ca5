"""The conversions Pi 0.84.1 makes on arguments of a plain JSON Schema before it validates them.

Followed are `type`, `properties`, `additionalProperties`, `items`, `allOf`, `anyOf` and `oneOf`, and nothing else:
`$ref`, `prefixItems`, `patternProperties`, `enum` and `const` convert nothing, and neither does a schema of objects
that does not say `type: object`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from reference_bridge.bridge._js import (
    clone,
    is_finite,
    is_integer,
    is_number,
    number_from_string,
    to_string,
    trim,
)


class Accepts(Protocol):
    """Whether `value` satisfies `schema` taken on its own, that is with no root to resolve a `$ref` in."""

    def __call__(self, schema: object, value: object) -> bool: ...


class MalformedSchemaError(ValueError):
    """A part of a schema that makes Pi itself throw; the message is what Pi answers."""


def schema_types(schema: dict[str, object]) -> list[str]:
    """The names in `type`, whether it is one name or a list; other values are left out."""
    named = schema.get("type")
    if isinstance(named, str):
        return [named]
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


def coerce(value: object, schema: object, accepts: Accepts) -> object:
    """`value` as `schema` wants it, as far as Pi converts; lists and objects are changed in place.

    `accepts` decides between the members of a union. A value that cannot be converted is returned as it is.
    """
    if schema is None:
        raise MalformedSchemaError("Cannot read properties of null (reading 'allOf')")
    if not isinstance(schema, dict):
        return value
    for part in _list(schema.get("allOf")):
        value = coerce(value, part, accepts)
    for keyword in ("anyOf", "oneOf"):
        value = _coerce_to_member(value, _list(schema.get(keyword)), accepts)
    types = schema_types(schema)
    if not any(is_of_type(value, name) for name in types):
        value = _convert_to_first(value, types)
    if "object" in types and isinstance(value, dict):
        _coerce_object(value, schema, accepts)
    if "array" in types and isinstance(value, list):
        _coerce_array(value, schema, accepts)
    return value


def is_of_type(value: object, name: str) -> bool:
    """Whether `value` is of the JSON Schema type `name`; false for a name that is none."""
    check = _TYPES.get(name)
    return check is not None and check(value)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _coerce_to_member(value: object, members: list[object], accepts: Accepts) -> object:
    # A member that takes the value as it is comes before any conversion, wherever it stands in the list.
    if any(accepts(member, value) for member in members):
        return value
    for member in members:
        candidate = coerce(clone(value), member, accepts)
        if accepts(member, candidate):
            return candidate
    return value


def _coerce_object(value: dict[str, object], schema: dict[str, object], accepts: Accepts) -> None:
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    for key, part in known.items():
        if key in value:
            value[key] = coerce(value[key], part, accepts)
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        for key in value:
            if key not in known:
                value[key] = coerce(value[key], additional, accepts)


def _coerce_array(value: list[object], schema: dict[str, object], accepts: Accepts) -> None:
    items = schema.get("items")
    if isinstance(items, dict):
        value[:] = [coerce(item, items, accepts) for item in value]
    elif isinstance(items, list):
        for index, part in enumerate(items[: len(value)]):
            if part:
                value[index] = coerce(value[index], part, accepts)


def _convert_to_first(value: object, types: list[str]) -> object:
    """`value` converted to the first of `types` that changes it."""
    for name in types:
        convert = _CONVERSIONS.get(name)
        candidate = convert(value) if convert else value
        if candidate is not value:
            return candidate
    return value


def _to_number(value: object) -> object:
    return _numeric(value, is_finite)


def _to_integer(value: object) -> object:
    return _numeric(value, is_integer)


def _numeric(value: object, is_good: Callable[[object], bool]) -> object:
    if value is None:
        return 0
    if isinstance(value, bool):
        return int(value)
    # A blank text is 0 to JavaScript; Pi leaves it alone.
    if isinstance(value, str) and trim(value):
        parsed = number_from_string(value)
        return parsed if is_good(parsed) else value
    return value


def _to_boolean(value: object) -> object:
    if value is None:
        return False
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value, value)
    if is_number(value) and value in (0, 1):
        return value == 1
    return value


def _to_text(value: object) -> object:
    if value is None:
        return ""
    return to_string(value) if isinstance(value, bool) or is_number(value) else value


def _to_null(value: object) -> object:
    is_empty = value is False or value == "" or (is_number(value) and value == 0)
    return None if is_empty else value


_CONVERSIONS: Final[dict[str, Callable[[object], object]]] = {
    "number": _to_number,
    "integer": _to_integer,
    "boolean": _to_boolean,
    "string": _to_text,
    "null": _to_null,
}
_TYPES: Final[dict[str, Callable[[object], bool]]] = {
    "number": is_number,
    "integer": is_integer,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
