"""Invariants of what a schema asks for: no body runs with arguments that its tool's schema refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conformance.compare import same, show
from conformance.invariants._inputs import registered, was_written_into
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._story import Story, tagged

LEFT = ("if", "patternProperties", "unevaluatedProperties", "unevaluatedItems", "dependentSchemas", "$dynamicRef")
"""Keywords that decide over others: where one of them is, less is asked."""


@invariant("registerTool.the-whole-schema-is-enforced")
def what_runs_fits_its_schema(story: Story, context: Context) -> Answers:
    """Of calls whose input no handler changes, and whose arguments have no null: that has two right answers."""
    for call in story.calls if not story.listened else ():
        bodies = call.of("tool.enter")
        if not call.clear or len(bodies) != 1 or not isinstance(call.record, dict) or was_written_into(story, call):
            continue
        if story.wrote(call.handled("tool_call")) or _has_null(call.record):
            continue
        schema = (registered(story, call) or {}).get("parameters")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            continue
        params = bodies[0]["params"]
        if any(tagged(params)):
            continue
        lacks = next(_lacks(params, schema, schema, "it"), None)
        yield f"{call.label}: ran with {show(params)}, and {lacks}" if lacks is not None else None


def _lacks(value: Any, schema: Any, root: dict[str, Any], at: str) -> Iterator[str]:
    """Yield what a value has not that a schema asks for; of a keyword that is not read here, nothing."""
    if schema is False:
        yield f"{at} may not be there"
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        target = _target(schema["$ref"], root)
        if target is not None and target is not schema:
            yield from _lacks(value, target, root, at)
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if types and not any(_IS.get(each, _anything)(value) for each in types):
        yield f"{at} is not of the type {show(types)}"
    if "const" in schema and not same(value, schema["const"]):
        yield f"{at} is not {show(schema['const'])}"
    if isinstance(schema.get("enum"), list) and not any(same(value, each) for each in schema["enum"]):
        yield f"{at} is none of {show(schema['enum'])}"
    for key, members in ((key, schema.get(key)) for key in ("anyOf", "oneOf")):
        if isinstance(members, list) and all(next(_lacks(value, each, root, at), None) for each in members):
            yield f"{at} is none of {key}"
    for each in schema.get("allOf") or ():
        yield from _lacks(value, each, root, at)
    yield from _bounds(value, schema, at)
    if isinstance(value, dict):
        yield from _members(value, schema, root, at)
    elif isinstance(value, list):
        if isinstance(schema.get("items"), dict | bool) and "prefixItems" not in schema:
            for number, each in enumerate(value):
                yield from _lacks(each, schema["items"], root, f"{at}.{number}")
        if isinstance(schema.get("contains"), dict):
            fits = sum(next(_lacks(each, schema["contains"], root, at), None) is None for each in value)
            if fits < schema.get("minContains", 1):
                yield f"{at} contains too few of {show(schema['contains'])}"


def _members(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    given = schema.get("properties")
    known: dict[str, Any] = given if isinstance(given, dict) else {}
    for name in schema.get("required") or ():
        if name not in value:
            yield f"{at} has no {name}"
    for name, each in value.items():
        if name in known:
            yield from _lacks(each, known[name], root, f"{at}.{name}")
        elif "additionalProperties" in schema and not any(key in schema for key in LEFT):
            yield from _lacks(each, schema["additionalProperties"], root, f"{at}.{name}")


def _bounds(value: Any, schema: dict[str, Any], at: str) -> Iterator[str]:
    size = len(value) if isinstance(value, list) or (isinstance(value, str) and value.isascii()) else None
    low, high = ("minItems", "maxItems") if isinstance(value, list) else ("minLength", "maxLength")
    if _IS["number"](value):
        size, low, high = value, "minimum", "maximum"
    if size is not None and _IS["number"](schema.get(low)) and size < schema[low]:
        yield f"{at} has not the {low} {schema[low]}"
    if size is not None and _IS["number"](schema.get(high)) and size > schema[high]:
        yield f"{at} has not the {high} {schema[high]}"


def _target(reference: Any, root: dict[str, Any]) -> Any:
    """Return what a reference inside one schema leads to; ``None`` for any other."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    if not reference.startswith("#/"):
        found = (each for each in _parts(root) if each.get("$anchor") == reference[1:])
        return next(found, None)
    part: Any = root
    for step in reference[2:].split("/"):
        part = part.get(step) if isinstance(part, dict) else None
    return part


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for each in schema.values():
            yield from _parts(each)


def _anything(value: Any) -> bool:
    return True


_IS: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1,
}


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(_has_null, value)))
