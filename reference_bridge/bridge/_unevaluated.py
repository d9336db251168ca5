"""`unevaluatedProperties` and `unevaluatedItems`: what no other keyword of a schema, nor of its parts, speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from reference_bridge.bridge import _shapes as shapes
from reference_bridge.bridge._js import UNDEFINED
from reference_bridge.bridge._keywords import (
    Keyword,
    Problem,
    Problems,
    Schema,
    Walk,
    is_judged_by_count,
    names_pattern,
)
from reference_bridge.bridge._regex import compile_pattern
from reference_bridge.bridge._shapes import as_list, as_map

_REFERENCES: Final = ("$ref", "$recursiveRef", "$dynamicRef")

Members = Iterator[str | int]
"""Names of properties, and places of items."""


def _unevaluated_properties(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    if any(True for _ in _left(walk, schema, value, "unevaluatedProperties", valid=False)):
        yield Problem(place, "must not have unevaluated properties")


def _unevaluated_items(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    if any(True for _ in _left(walk, schema, value, "unevaluatedItems", valid=False)):
        yield Problem(place, "must not have unevaluated items")


UNEVALUATED: Final = (
    Keyword("unevaluatedItems", shapes.is_schema, _unevaluated_items),
    Keyword("unevaluatedProperties", shapes.is_schema, _unevaluated_properties),
)
"""Keywords for every value, judged after all others: they ask what those have spoken of."""


def _left(walk: Walk, schema: Schema, value: object, name: str, *, valid: bool) -> Members:
    """The members that are left to one of the two keywords, and fit what it says or do not."""
    items = enumerate(as_list(value))
    members: Iterable[tuple[str | int, object]] = items
    if name == "unevaluatedProperties":
        # The items of a list are properties, too, and nothing else speaks of those.
        members = chain(as_map(value).items(), ((str(index), item) for index, item in items))
    known = set(_spoken_of(walk, schema, value))
    for key, item in members:
        if key not in known and walk.is_valid(schema[name], item) is valid:
            yield key


def _evaluated(walk: Walk, schema: object, value: object) -> Members:
    """The members that a schema which `value` fits has spoken of."""
    if isinstance(schema, dict):
        walk = walk.inside(schema)
        yield from _spoken_of(walk, schema, value)
        for name in ("unevaluatedItems", "unevaluatedProperties"):
            if shapes.is_schema(schema.get(name)):
                yield from _left(walk, schema, value, name, valid=True)


def _spoken_of(walk: Walk, schema: Schema, value: object) -> Members:
    if isinstance(value, dict):
        yield from _properties(walk, schema, value)
    elif isinstance(value, list):
        yield from _items(walk, schema, value)
    for part in _parts(walk, schema, value):
        yield from _evaluated(walk, part, value)


def _properties(walk: Walk, schema: Schema, value: dict[str, object]) -> Members:
    known, patterns = (
        as_map(schema.get(name)) if shapes.is_schema_map(schema.get(name)) else {}
        for name in ("properties", "patternProperties")
    )
    for key, part in known.items():
        if key in value and value[key] is not UNDEFINED and walk.is_valid(part, value[key]):
            yield key
    for source, part in patterns.items():
        pattern = compile_pattern(source)
        yield from (key for key, item in value.items() if pattern.test(key) and walk.is_valid(part, item))
    further = schema.get("additionalProperties")
    if shapes.is_schema(further) and not is_judged_by_count(schema):
        names = names_pattern(schema)
        for key, item in value.items():
            if not (names.test(key) if names else key in known) and walk.is_valid(further, item):
                yield key


def _items(walk: Walk, schema: Schema, value: list[object]) -> Members:
    prefix = as_list(schema.get("prefixItems")) if shapes.is_schema_list(schema.get("prefixItems")) else []
    parts = list(enumerate(prefix))
    items, further = schema.get("items"), schema.get("additionalItems")
    if isinstance(items, list) and shapes.is_items(items):
        parts += enumerate(items)
        if shapes.is_schema(further):
            parts += [(index, further) for index in range(len(items), len(value))]
    elif shapes.is_schema(items):
        parts += [(index, items) for index in range(len(prefix), len(value))]
    yield from (index for index, part in parts if index < len(value) and walk.is_valid(part, value[index]))


def _parts(walk: Walk, schema: Schema, value: object) -> Iterator[object]:
    """The schemas inside `schema` that judge `value` itself and that it fits."""
    for name in ("dependencies", "dependentSchemas"):
        yield from (part for key, part in as_map(schema.get(name)).items() if key in as_map(value))
    for name in _REFERENCES:
        if isinstance(schema.get(name), str) and walk.is_valid(walk.target(schema[name]), value):
            yield walk.target(schema[name])
    if shapes.is_schema(schema.get("if")):
        holds = walk.is_valid(schema["if"], value)
        yield from (schema["if"], schema.get("then")) if holds else (schema.get("else"),)
    for name in ("allOf", "anyOf", "oneOf"):
        parts = as_list(schema.get(name)) if shapes.is_schema_list(schema.get(name)) else []
        fitting = [part for part in parts if walk.is_valid(part, value)]
        if name == "anyOf" or len(fitting) == (1 if name == "oneOf" else len(parts)):
            yield from fitting
