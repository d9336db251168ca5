"""How each JSON Schema keyword judges a value, in the order and the words of Pi 0.84.1."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, Protocol

from reference_bridge.bridge import _shapes as shapes
from reference_bridge.bridge._coerce import is_of_type
from reference_bridge.bridge._formats import FORMATS
from reference_bridge.bridge._js import UNDEFINED, is_finite, is_integer, is_number, strict_equal, to_string
from reference_bridge.bridge._regex import Pattern, compile_pattern
from reference_bridge.bridge._shapes import as_list, as_map, as_texts
from reference_bridge.bridge._text_length import has_at_least, has_at_most

Schema = dict[str, object]

_SYNTAX: Final = re.compile(r"[.*+?^${}()|[\]\\]")


class Problem(NamedTuple):
    """One line of a report: a slash-separated place in the value (empty for the top) and a sentence."""

    place: str
    message: str
    missing: str = ""
    """The first missing property where that is the problem: the line stands under it."""

    @property
    def path(self) -> str:
        """The place in dots, `root` for the top."""
        # A slash inside a key becomes a dot as well: Pi does not escape it.
        steps = (self.place.removeprefix("/").replace("/", "."), self.missing)
        return ".".join(step for step in steps if step) or "root"


Problems = Iterator[Problem]


class Walk(Protocol):
    """What a keyword needs of the walk it is part of."""

    @property
    def is_check(self) -> bool:
        """Whether only the existence of a problem is asked for, not a report."""

    @property
    def is_compiled(self) -> bool:
        """Whether this walk answers for Pi's compiled check, which takes a short cut (see `is_judged_by_count`)."""

    def problems(self, schema: object, value: object, place: str) -> Problems:
        """What is wrong with `value` at `place`, lazily."""

    def found(self, schema: object, value: object, place: str) -> list[Problem]:
        """The same, at once: everything for a report, no more than one problem for a check."""

    def is_valid(self, schema: object, value: object) -> bool:
        """Whether nothing is wrong, stopping at the first problem."""

    def target(self, ref: object) -> object:
        """The schema a reference leads to; False where it leads nowhere."""

    def inside(self, schema: Schema) -> Walk:
        """The walk for what stands inside `schema`: references start there if it has an id."""


class Keyword(NamedTuple):
    """A keyword: its name, the form its value must have to mean anything, and its judgement."""

    name: str
    has_shape: Callable[[object], bool]
    judge: Callable[[Walk, Schema, object, str], Problems]


def _type(_: Walk, schema: Schema, value: object, place: str) -> Problems:
    named = schema["type"]
    names = as_texts(named) if isinstance(named, list) else [str(named)]
    if not any(_is_type(value, name) for name in names):
        words = f"either {' or '.join(names)}" if isinstance(named, list) else names[0]
        yield Problem(place, f"must be {words}")


def _is_type(value: object, name: str) -> bool:
    if name == "number":
        return is_finite(value)
    if name in ("undefined", "void"):
        return value is UNDEFINED
    if name in ("bigint", "constructor", "function", "symbol"):
        return False
    known = ("object", "array", "boolean", "integer", "null", "string")
    return is_of_type(value, name) if name in known else True


def _required(_: Walk, schema: Schema, value: object, place: str) -> Problems:
    missing = [key for key in as_texts(schema["required"]) if key not in as_map(value)]
    if missing:
        yield Problem(place, f"must have required properties {', '.join(missing)}", missing[0])


def is_judged_by_count(schema: Schema) -> bool:
    """Whether Pi's compiled check judges this closed object by the number of its keys alone.

    It does where as many properties are required as there are; a required name that is no property then passes.
    """
    return (
        schema.get("additionalProperties") is False
        and shapes.is_text_list(schema.get("required"))
        and shapes.is_schema_map(schema.get("properties"))
        and not shapes.is_schema_map(schema.get("patternProperties"))
        and len(as_map(schema["properties"])) == len(as_list(schema["required"]))
    )


def names_pattern(schema: Schema) -> Pattern | None:
    """One expression for the names `properties` and `patternProperties` know; None without the latter.

    It is compiled without the `u` flag, unlike the single patterns.
    """
    patterns = schema.get("patternProperties")
    if not patterns or not shapes.is_schema_map(patterns):
        return None
    known = schema.get("properties")
    plain = list(as_map(known)) if shapes.is_schema_map(known) else []
    exact = ["^" + _SYNTAX.sub(r"\\\g<0>", key) + "$" for key in plain]
    return compile_pattern(f"({'|'.join([*as_map(patterns), *exact])})", unicode=False)


def _additional_properties(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    problem = Problem(place, "must not have additional properties")
    if walk.is_compiled and is_judged_by_count(schema):
        if len(as_map(value)) != len(as_list(schema["required"])):
            yield problem
        return
    pattern = names_pattern(schema)
    known = schema.get("properties")
    properties = as_map(known) if shapes.is_schema_map(known) else {}
    for key, item in as_map(value).items():
        is_known = pattern.test(key) if pattern else key in properties
        if not is_known and walk.found(schema["additionalProperties"], item, place):
            yield problem
            return


def _dependencies(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    for key, part in as_map(schema["dependencies"]).items():
        if key not in as_map(value):
            continue
        if not isinstance(part, list):
            yield from walk.problems(part, value, place)
        elif any(name not in as_map(value) for name in part):
            yield _dependent(key, as_texts(part), place)


def _dependent_required(_: Walk, schema: Schema, value: object, place: str) -> Problems:
    for key, part in as_map(schema["dependentRequired"]).items():
        if key in as_map(value):
            # One line for each missing name, and each line lists all names.
            for name in as_texts(part):
                if name not in as_map(value):
                    yield _dependent(key, as_texts(part), place)


def _dependent(key: str, names: list[str], place: str) -> Problem:
    return Problem(place, f"must have properties {', '.join(names)} when property {key} is present")


def _dependent_schemas(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    for key, part in as_map(schema["dependentSchemas"]).items():
        if key in as_map(value):
            yield from walk.problems(part, value, place)


def _pattern_properties(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    for source, part in as_map(schema["patternProperties"]).items():
        pattern = compile_pattern(source)
        for key, item in as_map(value).items():
            if pattern.test(key):
                yield from walk.problems(part, item, f"{place}/{key}")


def _properties(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    required = as_list(schema.get("required")) if shapes.is_text_list(schema.get("required")) else []
    for key, part in as_map(schema["properties"]).items():
        # An optional property may be there and undefined.
        if key in as_map(value) and (key in required or as_map(value)[key] is not UNDEFINED):
            yield from walk.problems(part, as_map(value)[key], f"{place}/{key}")


def _property_names(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    bad = [key for key in as_map(value) if walk.found(schema["propertyNames"], key, place)]
    if bad:
        yield Problem(place, f"property names {', '.join(bad)} are invalid")


def _additional_items(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    items = schema.get("items")
    if not isinstance(items, list) or not shapes.is_items(items):
        return
    for index, item in enumerate(as_list(value)):
        if index >= len(items):
            found = walk.found(schema["additionalItems"], item, f"{place}/{index}")
            yield from found
            if found:
                return


def _items(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    items = schema["items"]
    if isinstance(items, list):
        yield from _tuple(walk, items, value, place)
        return
    prefix = schema.get("prefixItems")
    offset = len(as_list(prefix)) if shapes.is_schema_list(prefix) else 0
    for index, item in enumerate(as_list(value)[offset:], offset):
        yield from walk.problems(items, item, f"{place}/{index}")


def _prefix_items(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    yield from _tuple(walk, as_list(schema["prefixItems"]), value, place)


def _tuple(walk: Walk, parts: list[object], value: object, place: str) -> Problems:
    for index, (part, item) in enumerate(zip(parts, as_list(value), strict=False)):
        yield from walk.problems(part, item, f"{place}/{index}")


def _contains(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    yield from _count_contained(walk, schema, value, place, lambda count: schema.get("minContains") == 0 or count >= 1)


def _min_contains(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    yield from _count_contained(walk, schema, value, place, lambda count: count >= _limit(schema, "minContains"))


def _max_contains(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    yield from _count_contained(walk, schema, value, place, lambda count: count <= _limit(schema, "maxContains"))


def _count_contained(walk: Walk, schema: Schema, value: object, place: str, is_good: Callable[[int], bool]) -> Problems:
    part = schema.get("contains")
    if shapes.is_schema(part) and not is_good(sum(walk.is_valid(part, item) for item in as_list(value))):
        # The sentence is the same for too few and too many.
        yield Problem(place, "must contain at least 1 valid item")


def _unique_items(_: Walk, schema: Schema, value: object, place: str) -> Problems:
    items = [tuple(_digest(item)) for item in as_list(value)]
    if schema["uniqueItems"] and len(set(items)) < len(items):
        yield Problem(place, "must not have duplicate items")


def _digest(value: object) -> Iterator[str | bytes]:
    """What makes two items duplicates: kinds and values in sequence, keys sorted; 0 and -0 are two values."""
    if isinstance(value, dict):
        yield "object"
        for key in sorted(value):
            yield from ("string", key.encode("utf-8", "replace"))
            yield from _digest(value[key])
    elif isinstance(value, list):
        # Where a list ends is not part of it, so that [[1]] and [[], 1] are duplicates to Pi.
        yield "array"
        for item in value:
            yield from _digest(item)
    elif is_number(value):
        yield from ("number", struct.pack("<d", value))
    else:
        yield from (type(value).__name__, to_string(value).encode("utf-8", "replace"))


def _limit(schema: Schema, name: str) -> float:
    value = schema[name]
    assert is_number(value)
    return value


def _bound(name: str, comparison: str, holds: Callable[[float, float], bool]) -> Keyword:
    def judge(_: Walk, schema: Schema, value: object, place: str) -> Problems:
        if is_number(value) and not holds(value, _limit(schema, name)):
            yield Problem(place, f"must be {comparison} {to_string(schema[name])}")

    return Keyword(name, is_finite, judge)


def _size(name: str, words: str, fits: Callable[[object, float], bool]) -> Keyword:
    def judge(_: Walk, schema: Schema, value: object, place: str) -> Problems:
        if not fits(value, _limit(schema, name)):
            yield Problem(place, f"must not have {words.format(to_string(schema[name]))}")

    return Keyword(name, is_finite, judge)


def _length(value: object) -> int:
    return len(value) if isinstance(value, str | list | dict) else 0


def _multiple_of(_: Walk, schema: Schema, value: object, place: str) -> Problems:
    if is_number(value) and not _is_multiple(value, _limit(schema, "multipleOf")):
        yield Problem(place, f"must be multiple of {to_string(schema['multipleOf'])}")


def _is_multiple(value: float, divisor: float) -> bool:
    if divisor == 0:
        return False
    inverse = 1 / divisor
    if is_integer(value) and math.isfinite(inverse) and math.fmod(inverse, 1) == 0:
        return True
    rest = math.fmod(value, divisor)
    return min(abs(rest), abs(rest - divisor), abs(rest + divisor)) < 1e-10


def _format(_: Walk, schema: Schema, value: object, place: str) -> Problems:
    check = FORMATS.get(str(schema["format"]))
    if check and isinstance(value, str) and not check(value):
        yield Problem(place, f'must match format "{schema["format"]}"')


def _pattern(_: Walk, schema: Schema, value: object, place: str) -> Problems:
    if isinstance(value, str) and not compile_pattern(str(schema["pattern"])).test(value):
        yield Problem(place, f'must match pattern "{schema["pattern"]}"')


def _reference(name: str) -> Keyword:
    def judge(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
        yield from walk.problems(walk.target(schema[name]), value, place)

    return Keyword(name, shapes.is_text, judge)


def _const(_: Walk, schema: Schema, value: object, place: str) -> Problems:
    if not strict_equal(value, schema["const"]):
        yield Problem(place, "must be equal to constant")


def _enum(_: Walk, schema: Schema, value: object, place: str) -> Problems:
    if not any(strict_equal(value, member) for member in as_list(schema["enum"])):
        yield Problem(place, "must be equal to one of the allowed values")


def _if(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    branch = "else" if walk.found(schema["if"], value, place) else "then"
    part = schema.get(branch, True)
    found = walk.found(part if shapes.is_schema(part) else True, value, place)
    # What is wrong inside `then` is not told, what is wrong inside `else` is.
    yield from found if branch == "else" else ()
    if found:
        yield Problem(place, f'must match "{branch}" schema')


def _not(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    if walk.is_valid(schema["not"], value):
        yield Problem(place, "must not be valid")


def _all_of(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    for part in as_list(schema["allOf"]):
        yield from walk.problems(part, value, place)


def _any_of(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    failures: list[Problem] = []
    is_matched = False
    for part in as_list(schema["anyOf"]):
        found = walk.found(part, value, place)
        failures += found
        is_matched = is_matched or not found
        if is_matched and walk.is_check:
            return
    if not is_matched:
        yield from failures
        yield Problem(place, "must match a schema in anyOf")


def _one_of(walk: Walk, schema: Schema, value: object, place: str) -> Problems:
    members = [walk.found(part, value, place) for part in as_list(schema["oneOf"])]
    matching = members.count([])
    if matching == 0:
        for found in members:
            yield from found
    if matching != 1:
        yield Problem(place, "must match exactly one schema in oneOf")


ANY_FIRST: Final = (Keyword("type", shapes.is_type, _type),)
"""Keywords for every value, judged before those for its kind."""

BY_KIND: Final[Mapping[type, tuple[Keyword, ...]]] = {
    dict: (
        Keyword("required", shapes.is_text_list, _required),
        Keyword("additionalProperties", shapes.is_schema, _additional_properties),
        Keyword("dependencies", shapes.is_dependencies, _dependencies),
        Keyword("dependentRequired", shapes.is_text_list_map, _dependent_required),
        Keyword("dependentSchemas", shapes.is_schema_map, _dependent_schemas),
        Keyword("patternProperties", shapes.is_schema_map, _pattern_properties),
        Keyword("properties", shapes.is_schema_map, _properties),
        Keyword("propertyNames", shapes.is_schema, _property_names),
        _size("minProperties", "fewer than {} properties", lambda value, limit: _length(value) >= limit),
        _size("maxProperties", "more than {} properties", lambda value, limit: _length(value) <= limit),
    ),
    list: (
        Keyword("additionalItems", shapes.is_schema, _additional_items),
        Keyword("contains", shapes.is_schema, _contains),
        Keyword("items", shapes.is_items, _items),
        Keyword("maxContains", is_finite, _max_contains),
        _size("maxItems", "more than {} items", lambda value, limit: _length(value) <= limit),
        Keyword("minContains", is_finite, _min_contains),
        _size("minItems", "fewer than {} items", lambda value, limit: _length(value) >= limit),
        Keyword("prefixItems", shapes.is_schema_list, _prefix_items),
        Keyword("uniqueItems", shapes.is_flag, _unique_items),
    ),
    str: (
        _size("maxLength", "more than {} characters", lambda value, limit: has_at_most(str(value), limit)),
        _size("minLength", "fewer than {} characters", lambda value, limit: has_at_least(str(value), limit)),
        Keyword("format", shapes.is_text, _format),
        Keyword("pattern", shapes.is_text, _pattern),
    ),
    float: (
        _bound("exclusiveMaximum", "<", lambda value, limit: value < limit),
        _bound("exclusiveMinimum", ">", lambda value, limit: value > limit),
        _bound("maximum", "<=", lambda value, limit: value <= limit),
        _bound("minimum", ">=", lambda value, limit: value >= limit),
        Keyword("multipleOf", is_finite, _multiple_of),
    ),
}
"""Keywords for one kind of value; those under `float` are for every finite number."""

ANY_LAST: Final = (
    _reference("$ref"),
    _reference("$recursiveRef"),
    _reference("$dynamicRef"),
    Keyword("const", shapes.is_anything, _const),
    Keyword("enum", shapes.is_list, _enum),
    Keyword("if", shapes.is_schema, _if),
    Keyword("not", shapes.is_schema, _not),
    Keyword("allOf", shapes.is_schema_list, _all_of),
    Keyword("anyOf", shapes.is_schema_list, _any_of),
    Keyword("oneOf", shapes.is_schema_list, _one_of),
)
"""Keywords for every value, judged after those for its kind."""
