"""Tools that packages register, and the schemas of their arguments."""

from __future__ import annotations

from typing import Any

from conformance.drivers.protocol import Op, Reply, ToolSpec
from conformance.peer import error


def _object(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {}), **more}


def _nested(depth: int, inmost: dict[str, Any]) -> dict[str, Any]:
    return _object({"o": _nested(depth - 1, inmost)}) if depth else inmost


SCHEMAS: tuple[Any, ...] = (
    _object({}),
    _object({"s": {"type": "string"}, "n": {"type": "number"}}, "s"),
    _object({"s": {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"}, "n": {"type": "integer"}}, "n"),
    _object({"s": {"anyOf": [{"type": "number"}, {"type": "string"}], "description": "either"}}, "s"),
    _object({"s": {"enum": ["x", "y", {"deep": 1}]}, "n": {"type": "number", "minimum": 0, "default": 3}}),
    _object({"o": _object({"n": {"type": "integer"}}, "n"), "a": {"type": "array", "items": {"type": "string"}}}),
    _object({"s": {"type": "string"}}, additionalProperties=False),
    _object(
        {
            "s": {"type": "string", "anyOf": [{"minLength": 2}, {"const": "x"}]},
            "a": {"type": "array", "items": [{"type": "number"}, {"type": "string"}]},
        }
    ),
    {"type": "string"},
    None,
    _object({"s": {"type": "string"}, "n": {"type": "number"}}, "s", "n"),
    _object(
        {"s": {"type": "string"}, "n": {"type": "number"}}, **{"if": {"required": ["n"]}, "then": {"required": ["s"]}}
    ),
    _object(
        {"s": {"$ref": "#/$defs/words", "minLength": 2}},
        **{"$defs": {"words": {"type": "string", "description": "any words"}}},
    ),
    _object({"s": {"type": "string", "description": "at length: " + "word " * 500}}, "s"),
    _object({"s": {"type": "string", "description": "f\u00fcr alle \u2014 \U0001f300", "examples": ["\u00e9"]}}),
    _object(
        {"s": {"type": "string"}}, additionalProperties={"type": "number"}, patternProperties={"^a": {"type": "array"}}
    ),
    _object({"a": {"type": "array", "items": [{"type": "number"}, {"type": "string"}], "additionalItems": False}}),
    _object(
        {
            "title": {"type": "string", "default": "", "format": "email"},
            "gr\u00f6\u00dfe": {"type": ["number", "boolean"]},
            "n": {"$anchor": "count", "type": "integer"},
            "a": {"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "string"}},
        }
    ),
    _object({"o": _object({"o": _object({"o": _object({"n": {"type": "integer"}, "s": {"const": "x"}}, "n")})})}),
    _object({f"p{number}": {"type": "string"} for number in range(60)} | {"s": {"type": "string", "pattern": "or"}}),
    _object({"s": True, "z": False, "n": {"oneOf": [{"type": "boolean"}, {"type": "number"}, {"type": "string"}]}}),
    _object({"a": {"contains": {"type": "string"}}}, allOf=[_object({"s": {}})], unevaluatedProperties=False),
    _object({"s": {"anyOf": [{"type": "boolean"}, {"type": "integer"}, {"type": "string"}]}, "n": {"minimum": 3}}),
    _object({"a": {"type": "array", "contains": {"type": "string"}, "minContains": 2, "maxContains": 3}}),
    _nested(6, _object({"n": {"type": "integer"}, "s": {"const": "x"}}, "n")),
    _object({"s": {"$ref": "#words"}}, **{"$defs": {"words": {"$anchor": "words", "type": "string", "minLength": 2}}}),
    _object({"s": {"type": "string"}}, "s", title="of one title"),
    _object({"n": {"type": "number"}}, "n", title="of one title"),
    _object({"s": {"type": "string"}}, "s", **{"$id": "urn:of:one:id"}),
    _object({"n": {"type": "number"}}, "n", **{"$id": "urn:of:one:id"}),
)
"""Schemas that fit :data:`ARGUMENTS` now and then."""

NATIVE_SCHEMA = _object({"s": {"description": "what to look for"}})
"""What a native tool may say of its arguments; it refuses none."""

ALIKE = (26, 27, 28, 29)
"""Those that have the title or the name of another one."""

PREPARES: tuple[Reply, ...] = (
    Reply(ops=[Op(op="set", path=["s"], value="prepared", at="enter")]),
    Reply(returns={"s": "other", "n": "5"}),
    Reply(throws=error("cannot be prepared")),
    Reply(returns="words"),
)


def spec(name: str, schema: Any, kind: int) -> ToolSpec:
    """Return a registration; ``kind`` picks what is special about it, 0 nothing."""
    fields: dict[str, Any] = {"name": name, "label": name, "description": f"the tool {name}", "parameters": schema}
    if kind == 1:
        fields |= {"prompt_snippet": f"use {name} well", "prompt_guidelines": [f"{name} comes first"]}
    elif kind == 2:
        fields |= {"execution_mode": "sequential"}
    elif kind == 3:
        fields |= {"description": f"another {name}", "tag": "second"}
    elif 4 <= kind < 4 + len(PREPARES):
        fields |= {"prepare": PREPARES[kind - 4]}
    elif kind == 4 + len(PREPARES):
        del fields["label"]
        fields |= {"executes": False, "description": f"the tool {name}, at length: " + "word " * 400}
    elif kind == 5 + len(PREPARES):
        fields |= {"description": ""}
    elif kind == 7 + len(PREPARES):
        lines = [f"{name} \u2014 erst nach R\u00fcckfrage", " ", f"never {name} twice"]
        fields |= {"prompt_snippet": f"what {name} does\nand why", "prompt_guidelines": lines}
    elif kind == 8 + len(PREPARES):
        fields |= {
            "prompt_snippet": f"use {name} with care, " + "and then again with care, " * 6 + "and so on",
            "prompt_guidelines": [],
        }
    elif kind == 9 + len(PREPARES):
        fields |= {"tag": "again"}
    elif kind == 10 + len(PREPARES):
        fields |= {
            "description": "a tool",
            "prompt_guidelines": [f"hands off {name}", f"Hands off {name}", f"- {name} last"],
        }
    elif kind == 11 + len(PREPARES):
        lines = [f"{name}: {line}" for line in ("$1", "$& and $$", "100 %s", "\\n", "{name}", "so on")]
        fields |= {
            "description": f"{name} costs $1, $& and $$",
            "prompt_snippet": f"{name} pays $& $1",
            "prompt_guidelines": lines,
        }
    elif kind == 6 + len(PREPARES):
        fields |= {"execution_mode": "parallel", "description": f"the tool {name}\n\n- in two parts: \u00e9, e\u0301"}
    return ToolSpec(**fields)


KINDS = 12 + len(PREPARES)
