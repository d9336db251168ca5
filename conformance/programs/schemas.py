"""Schemas that programs make of single properties, and arguments for them: fitting, convertible and wrong values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Draw = Callable[[Sequence[Any]], Any]

_LETTERS = [{"const": letter} for letter in "xyz"]
_MANY = ",".join(str(number % 7) for number in range(119))
_TEXTS = ('"word"', '"x"', "7", '""', "null", "true", '["x"]')
_NUMBERS = ("7", '"7"', "2.5", '"x"', "-1", "true", "null", '""', '"2.50"', "1e2", '" 7"')


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


PROPERTIES: tuple[tuple[str, Any, Sequence[str]], ...] = (
    ("text", {"type": "string"}, _TEXTS),
    ("number", {"type": "number"}, _NUMBERS),
    ("whole", {"type": "integer", "description": "costs $1, or $& more"}, ("7", '"7"', "7.0", '"7.0"', "2.5", '"x"')),
    ("flag", {"type": "boolean"}, ("true", '"true"', '"false"', "1", '"yes"', "0", '"TRUE"', '""')),
    ("nothing", {"type": "null"}, ("null", '""', "0", '"null"', "false")),
    (
        "short",
        {"type": "string", "minLength": 2, "maxLength": 4},
        ('"word"', '"ab"', '"x"', '"words"', '"\U0001f300x"'),
    ),
    ("low", {"type": "number", "minimum": 0, "maximum": 7}, ("0", "7", "-1", "8", '"7"', '"8"')),
    ("open", {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 7}, ("3", "0", "7", "6.99")),
    ("even", {"type": "number", "multipleOf": 2}, ("4", "3", '"4"', "0", "2.5")),
    ("named", {"type": "string", "pattern": "^[a-z]+$", "examples": ["word"]}, ('"word"', '"Word"', '"a b"', "7")),
    ("inside", {"type": "string", "pattern": "or"}, ('"word"', '"x"', '"or"')),
    ("mail", {"type": "string", "format": "email", "default": "a@b.org"}, ('"a@b.org"', '"word"')),
    ("kind", {"enum": ["x", "y", 7, None]}, ('"x"', '"z"', "7", '"7"', "null", '"X"')),
    ("many", {"enum": [f"v{number}" for number in range(60)]}, ('"v0"', '"v59"', '"v60"')),
    ("same", {"const": {"deep": [1, "x"]}}, ('{"deep":[1,"x"]}', '{"deep":["x",1]}', '"x"')),
    ("either", {"anyOf": [{"type": "number"}, {"type": "string"}]}, ('"7"', "7", '"x"', "true", "null")),
    ("three", {"anyOf": [*_LETTERS[:2], {"type": "object", "required": ["n"]}]}, ('{"n":1}', '"y"', '"z"', "{}")),
    ("third", {"anyOf": [{"type": "boolean"}, {"type": "null"}, {"type": "integer"}]}, ("7", '"7"', '"x"', "null")),
    ("one", {"oneOf": [{"type": "integer"}, {"minimum": 3}]}, ("2", "2.5", "7", "3.5")),
    ("both", {"allOf": [{"type": "string"}, {"minLength": 2}]}, ('"word"', '"x"', "7")),
    ("not", {"not": {"type": "string"}}, ("7", '"x"', "null")),
    ("types", {"type": ["number", "boolean"]}, ("7", "true", '"7"', '"x"', "null")),
    ("single", {"type": ["string"], "$comment": "a list of one"}, ('"x"', "7", "null")),
    (
        "list",
        {"type": "array", "items": {"type": "number"}},
        ('[1,"2"]', "[]", '["x"]', "7", '"[1]"', f'[{_MANY},"7"]'),
    ),
    ("pair", {"type": "array", "minItems": 2, "maxItems": 3}, ('["x","y"]', '["x"]', "[1,2,3]", "[1,2,3,4]", "[]")),
    ("set", {"type": "array", "uniqueItems": True}, ("[1,2]", "[1,1]", '[{"a":1},{"a":1}]', '[1,"1"]')),
    ("holds", {"type": "array", "contains": {"type": "number"}}, ('["x",1]', '["x"]', "[]")),
    (
        "rows",
        {"type": "array", "items": _object({"n": {"type": "integer"}}, required=["n"])},
        ('[{"n":1},{"n":"2"}]', '[{"n":1},{"m":2}]', '[{"n":"x"}]', "[[]]"),
    ),
    (
        "deep",
        _object({"o": _object({"o": _object({"n": {"type": "number"}}, required=["n"])})}),
        ('{"o":{"o":{"n":"7"}}}', '{"o":{"o":{}}}', '{"o":{}}', '{"o":{"o":{"n":7,"m":[]}}}', '{"o":7}'),
    ),
    ("closed", _object({"a": {"type": "number"}}, additionalProperties=False), ('{"a":"7"}', '{"b":7}', "{}")),
    ("mapped", {"type": "object", "additionalProperties": {"type": "number"}}, ('{"a":"7"}', '{"a":"x"}', "{}", "[]")),
    ("sized", {"type": "object", "minProperties": 1, "maxProperties": 2}, ('{"a":1}', "{}", '{"a":1,"b":2,"c":3}')),
    ("keys", {"type": "object", "propertyNames": {"maxLength": 2}}, ('{"ab":1}', '{"abc":1}')),
    (
        "prefixed",
        {"type": "object", "patternProperties": {"^x": {"type": "number"}}},
        ('{"x1":"7"}', '{"xa":"y"}', '{"y":"y"}'),
    ),
    ("bound", {"type": "object", "dependentRequired": {"a": ["b"]}}, ('{"a":1,"b":2}', '{"a":1}', '{"b":2}')),
    (
        "turned",
        {"if": {"type": "number"}, "then": {"minimum": 3}, "else": {"minLength": 2}},
        ("7", "1", '"x"', '"word"'),
    ),
    ("false", False, ("7", '"x"', "null")),
    ("true", True, ("7", '"x"', '{"a":[]}')),
    ("empty", {}, ('"7"', '{"a":{}}', "[]", '"[1]"', '"{\\"a\\":1}"')),
    ("user.name", {"type": "number"}, ('"7"', '"x"')),
    ("userName", {"type": "number", "title": "the name", "deprecated": True}, ('"7"', '"x"')),
    ("gr\u00f6\u00dfe", {"type": "number", "description": "f\u00fcr alle \u2014 \U0001f300"}, ('"7"', '"x"')),
    ("Text", {"type": "string", "readOnly": True, "x-order": 3}, ('"x"', "7")),
    (
        "nullable",
        {"anyOf": [_object({"n": {"type": "number"}, "m": {"default": 3}}), {"type": "null"}]},
        ('{"n":"7"}', "null", "{}", "7"),
    ),
    (
        "loose",
        {"type": ["object", "null"], "properties": {"n": {"type": "number"}}},
        ('{"n":"7"}', "null", '{"n":"x"}'),
    ),
    (
        "mixed",
        {"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "boolean"}]}},
        ('["7","true"]', "[7,true]", '["x"]'),
    ),
    ("below", {"type": "number", "maximum": 0}, ("-1", "0", "7", '"-1"')),
    ("none", {"type": "array", "maxItems": 0, "description": "never any"}, ("[]", "[1]")),
    ("address", {"type": "string", "format": "ipv4"}, ('"10.0.0.1"', '"10.0.0"', '"word"')),
    (
        "stamp",
        {"type": "string", "format": "date-time"},
        ('"2020-02-29T10:00:00Z"', '"2020-02-30T10:00:00Z"', '"word"'),
    ),
    ("host", {"type": "string", "format": "hostname"}, ('"a-b.org"', '"-a"', '"a b"')),
    ("key", {"type": "string", "format": "uuid"}, ('"123e4567-e89b-12d3-a456-426614174000"', '"123e4567"')),
    ("inner", _object({"n": {"type": "number", "default": 3}, "c": {"const": "x"}}), ("{}", '{"n":"7"}', '{"c":"y"}')),
    ("lines", {"type": "string", "maxLength": 4}, ('"a\\r\\nb"', '"\\ud83c"', '"a\\u0000b"', '"\\n\\n\\n\\n\\n"')),
    ("text", {"type": "string", "minLength": 2}, _TEXTS),
    ("number", {"type": "integer", "minimum": 3}, _NUMBERS),
    ("flag", {"type": "string"}, ("true", '"true"', "1", '"yes"')),
    ("list", {"type": "array", "items": {"type": "string"}}, ('[1,"2"]', "[]", '["x"]', '"[1]"')),
    ("anchored", {"$ref": "#words"}, ('"word"', '"x"', "7")),
    ("shared", {"$ref": "#/$defs/words", "maxLength": 4}, ('"word"', '"x"', '"words"')),
)
"""Properties by name: a schema, and JSON texts of values for it, the plainest first."""

ROOTS: tuple[dict[str, Any], ...] = (
    {"additionalProperties": False},
    {"additionalProperties": {"type": "number"}},
    {"title": "what it takes", "description": "all of it", "$comment": "a remark"},
    {"minProperties": 2},
    {"maxProperties": 2},
    {"dependentRequired": {"text": ["number"]}},
    {"anyOf": [{"required": ["text"]}, {"required": ["flag"]}]},
    {"not": {"required": ["text"]}},
    {"if": {"required": ["text"]}, "then": {"required": ["number"]}},
    {"allOf": [_object({"text": {"minLength": 2}})]},
    {"patternProperties": {"^more": {"type": "number"}}},
    {"propertyNames": {"maxLength": 6}},
    {"unevaluatedProperties": False},
    {"allOf": [_object({"more": {"type": "number"}, "text": {"type": "string"}})]},
    {"required": ["more"]},
)
"""What a schema may say of its object as a whole."""

_DEFS = {"words": {"$anchor": "words", "type": "string", "minLength": 2, "description": "any words"}}
_NAMES = [name for name, _, _ in PROPERTIES]
_TWINS = {
    number: other
    for number, name in enumerate(_NAMES)
    for other, same in enumerate(_NAMES)
    if name == same and number != other
}
"""Properties of one name."""
_COUNT = (2, 3, 4, 5, 6, 8)
_NEEDED = (False, False, True)
_WHOLE = (*[None] * len(ROOTS), *range(len(ROOTS)))
_ANY = 8
_NONE = 9
_PLACES = (_NONE, _NONE, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, *[_ANY] * 4)
_EXTRA = (
    "",
    "",
    "",
    "",
    "",
    "",
    "case",
    "case",
    '"more":"7"',
    '"more":[]',
    '"USER_NAME":"7"',
    '"user":{"name":"7"}',
    '"toString":1',
)
_ALL = range(len(PROPERTIES))
_VALUES = range(12)
_CHANGES = ("another", "need", "whole", "twin", "none")


@dataclass(frozen=True)
class Composed:
    """A schema by the numbers of its properties, those of them that it requires, and the number of its root."""

    properties: tuple[int, ...]
    needed: frozenset[int]
    root: int | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema."""
        made = _object({PROPERTIES[number][0]: PROPERTIES[number][1] for number in self.properties})
        needed = [PROPERTIES[number][0] for number in self.properties if number in self.needed]
        if needed:
            made["required"] = needed
        if self.root is not None:
            made |= ROOTS[self.root]
        if any(PROPERTIES[number][0] in ("shared", "anchored") for number in self.properties):
            made["$defs"] = _DEFS
        return made

    def arguments(self, draw: Draw) -> str:
        """Draw arguments: of one property, or of all, a value of some kind or none; the others fit."""
        parts = []
        odd = draw(_PLACES)
        for place, number in enumerate(self.properties):
            name, _, values = PROPERTIES[number]
            picked = draw(_VALUES) if odd in (place, _ANY) else 0
            if picked < 10:
                parts.append(f'"{name}":{values[picked % len(values)]}')
        extra = draw(_EXTRA)
        if extra == "case":
            # What is like a property but for its letters' case is another one.
            name, _, values = PROPERTIES[self.properties[0]]
            extra = f'"{name.swapcase()}":{values[0]}'
        return f"{{{','.join([*parts, extra] if extra else parts)}}}"


def composed(draw: Draw, before: Composed | None) -> Composed:
    """Draw a schema; one for a tool that had one ``before`` mostly differs from that in one thing alone."""
    if before is not None:
        change = draw(_CHANGES)
        if change == "another":
            kept = before.properties[1:]
            more = draw(_ALL)
            kept = tuple(number for number in kept if _NAMES[number] != _NAMES[more])
            return Composed((*kept, more), before.needed & {*kept}, before.root)
        if change == "need":
            return Composed(before.properties, before.needed ^ {before.properties[0]}, before.root)
        if change == "whole":
            return Composed(before.properties, before.needed, draw(_WHOLE))
        if change == "twin":
            twins = tuple(_TWINS.get(number, number) for number in before.properties)
            return Composed(twins, frozenset(_TWINS.get(number, number) for number in before.needed), before.root)
    properties = tuple({_NAMES[number]: number for number in (draw(_ALL) for _ in range(draw(_COUNT)))}.values())
    return Composed(properties, frozenset(each for each in properties if draw(_NEEDED)), draw(_WHOLE))
