"""JSON Schema validation with the order, the places and the sentences of Pi 0.84.1.

One walk over schema and value finds the problems lazily: a check asks for the first, a report for all.
`$recursiveRef` and `$dynamicRef` are taken for `$ref`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final

from reference_bridge.bridge._js import is_finite, is_number
from reference_bridge.bridge._keywords import (
    ANY_FIRST,
    ANY_LAST,
    BY_KIND,
    Keyword,
    Problem,
    Problems,
    Schema,
    is_judged_by_count,
    names_pattern,
)
from reference_bridge.bridge._refs import resolve
from reference_bridge.bridge._regex import Pattern, compile_pattern
from reference_bridge.bridge._shapes import as_list, as_map, is_schema
from reference_bridge.bridge._unevaluated import UNEVALUATED

MOST_PROBLEMS: Final = 8
"""A report names no more problems than these. Observed on Pi 0.84.1."""

_LAST: Final = (*ANY_LAST, *UNEVALUATED)
_ALL: Final = tuple(chain(ANY_FIRST, *BY_KIND.values(), _LAST))
_REFERENCES: Final = ("$ref", "$recursiveRef", "$dynamicRef")
_MAPS: Final = ("dependencies", "dependentSchemas", "properties")
_SCHEMAS: Final = (
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "unevaluatedItems",
    "unevaluatedProperties",
)


class Validator:
    """A schema made ready to judge values.

    Raises `PatternError` when made, if a regular expression within reach of the schema is unusable, whether or not a
    value would ever meet it.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._walk = _Walk(schema, schema)
        for _ in self._walk.patterns(schema, set()):
            """Compiled, which is all that was wanted."""

    def check(self, value: object) -> bool:
        """Whether `value` is valid."""
        return replace(self._walk, is_compiled=True).is_valid(self._schema, value)

    def report(self, value: object) -> list[Problem]:
        """The problems of `value` in Pi's order, at most `MOST_PROBLEMS`."""
        return list(self._walk.problems(self._schema, value, ""))[:MOST_PROBLEMS]


@dataclass(frozen=True)
class _Walk:
    root: Schema
    base: Schema
    """The innermost enclosing schema with an `$id`, else the root: where a `$ref` that is a fragment starts."""
    is_check: bool = False
    is_compiled: bool = False

    def problems(self, schema: object, value: object, place: str) -> Problems:
        if not isinstance(schema, dict):
            if schema is not True:
                yield Problem(place, "schema is false")
            return
        walk = self.inside(schema)
        for keyword in chain(ANY_FIRST, _for_kind(value), _LAST):
            if keyword.name in schema and keyword.has_shape(schema[keyword.name]):
                yield from keyword.judge(walk, schema, value, place)

    def found(self, schema: object, value: object, place: str) -> list[Problem]:
        return list(islice(self.problems(schema, value, place), 1 if self.is_check else None))

    def is_valid(self, schema: object, value: object) -> bool:
        walk = self if self.is_check else replace(self, is_check=True)
        return next(walk.problems(schema, value, ""), None) is None

    def target(self, ref: object) -> object:
        found = resolve(self.root, self.base, str(ref))
        return found if is_schema(found) else False

    def patterns(self, schema: object, seen: set[int]) -> Iterator[Pattern]:
        """Every regular expression within reach, in the order in which Pi compiles them."""
        if not isinstance(schema, dict) or id(schema) in seen:
            return
        seen.add(id(schema))
        walk = self.inside(schema)
        for keyword in _ALL:
            if keyword.name in schema and keyword.has_shape(schema[keyword.name]):
                yield from walk._patterns_of(keyword.name, schema, seen)

    def inside(self, schema: Schema) -> _Walk:
        return replace(self, base=schema) if isinstance(schema.get("$id"), str) else self

    def _patterns_of(self, name: str, schema: Schema, seen: set[int]) -> Iterator[Pattern]:
        part = schema[name]
        if name == "pattern":
            yield compile_pattern(str(part))
        elif name == "patternProperties":
            for source, inner in as_map(part).items():
                yield compile_pattern(source)
                yield from self.patterns(inner, seen)
        else:
            if name == "additionalProperties" and not is_judged_by_count(schema) and (names := names_pattern(schema)):
                yield names
            for inner in self._parts_of(name, schema):
                yield from self.patterns(inner, seen)

    def _parts_of(self, name: str, schema: Schema) -> list[object]:
        part = schema[name]
        if name in _REFERENCES:
            return [self.target(part)]
        if name in _MAPS:
            return list(as_map(part).values())
        if name in _SCHEMAS:
            return [part]
        if name == "if":
            return [part, schema.get("then"), schema.get("else")]
        if name == "additionalItems":
            return [part] if isinstance(schema.get("items"), list) else []
        if name in ("items", "prefixItems", "allOf", "anyOf", "oneOf"):
            return as_list(part) if isinstance(part, list) else [part]
        return []


def _for_kind(value: object) -> tuple[Keyword, ...]:
    if is_number(value):
        return BY_KIND[float] if is_finite(value) else ()
    return BY_KIND.get(type(value), ())
