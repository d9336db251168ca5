"""The subset of JSON Schema the harness itself checks: tool outputs, and the arguments of `define_tool` tools.

`parameters` of a plainly registered tool are never checked against anything, whatever keywords they use.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

from reference_bridge.host.errors import JsonSchemaError
from reference_bridge.host.json_values import Json, is_lossless

_CONSTRAINTS: Final = frozenset(
    {"type", "oneOf", "properties", "required", "additionalProperties", "items", "enum", "const"}
)
_ANNOTATIONS: Final = frozenset({"description", "title", "default", "examples"})
_SCALARS: Final = ("string", "number", "integer", "boolean", "null")
_TYPES: Final = ("object", "array", *_SCALARS)
_KEYWORD_TYPES: Final = {
    "properties": ("object",),
    "required": ("object",),
    "additionalProperties": ("object",),
    "items": ("array",),
    "enum": _SCALARS,
    "const": _SCALARS,
}
_NEEDS_ARTICLE: Final = {
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "a boolean",
    "null": "null",
}


def require_supported(schema: Json) -> None:
    """Raise `JsonSchemaError` unless `schema` stays inside the subset; `{}` accepts any JSON."""
    problems = _problems(schema, "schema")
    if problems:
        raise JsonSchemaError("; ".join(problems))


def _problems(node: Json, path: str) -> list[str]:
    if not isinstance(node, dict):
        return [f"{path} must be a schema object"]
    problems = []
    for key in node:
        if key in _ANNOTATIONS:
            if not is_lossless(node[key]):
                problems.append(f"{path}.{key} annotation must be lossless JSON data")
        elif key not in _CONSTRAINTS:
            problems.append(
                f"{path}.{key} is not a supported keyword "
                "(subset: type/oneOf/properties/required/additionalProperties/items/enum/const + annotations)"
            )
    problems += [
        f"{path}.{key} must be a string"
        for key in ("description", "title")
        if key in node and not isinstance(node[key], str)
    ]
    if "type" in node and "oneOf" in node:
        return [*problems, f"{path} cannot declare both type and oneOf"]
    if "oneOf" in node:
        return problems + _one_of_problems(node, path)
    if "type" not in node:
        return problems + [f"{path}.{key} requires type or oneOf" for key in _KEYWORD_TYPES if key in node]
    return problems + _type_problems(node, path)


def _one_of_problems(node: dict[str, Json], path: str) -> list[str]:
    branches = node["oneOf"]
    if not isinstance(branches, list) or len(branches) < 2:
        problems = [f"{path}.oneOf must be an array of at least two schemas"]
    else:
        problems = [
            each for index, branch in enumerate(branches) for each in _problems(branch, f"{path}.oneOf[{index}]")
        ]
    return problems + [f"{path}.{key} is not supported beside oneOf" for key in _KEYWORD_TYPES if key in node]


def _type_problems(node: dict[str, Json], path: str) -> list[str]:
    kind = node["type"]
    if isinstance(kind, list):
        return [f"{path}.type must be a single type string (type arrays are not supported)"]
    if kind not in _TYPES:
        return [f"{path}.type must be one of {'/'.join(_TYPES)}"]
    problems = [
        f'{path}.{key} is not supported on type "{kind}"'
        for key, kinds in _KEYWORD_TYPES.items()
        if key in node and kind not in kinds
    ]
    if kind == "object":
        return problems + _object_problems(node, path)
    if kind == "array":
        return problems + (_problems(node["items"], f"{path}.items") if "items" in node else [])
    return problems + _scalar_problems(node, kind, path)


def _object_problems(node: dict[str, Json], path: str) -> list[str]:
    problems = []
    properties = node.get("properties", {})
    if not isinstance(properties, dict):
        problems.append(f"{path}.properties must be an object of schemas")
        properties = {}
    for name, child in properties.items():
        problems += _problems(child, f"{path}.properties.{name}")
    required = node.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        problems.append(f"{path}.required must be an array of strings")
    else:
        problems += [
            f'{path}.required names "{name}" which is not in properties' for name in required if name not in properties
        ]
    if not isinstance(node.get("additionalProperties", True), bool):
        problems.append(f"{path}.additionalProperties must be a boolean")
    return problems


def _scalar_problems(node: dict[str, Json], kind: str, path: str) -> list[str]:
    problems = []
    allowed: Json = node.get("enum")
    listed = isinstance(allowed, list) and bool(allowed) and all(_is(kind, entry) for entry in allowed)
    if "enum" in node and not listed:
        problems.append(f"{path}.enum must be a non-empty array of {kind} values")
    if "const" in node:
        if not _is(kind, node["const"]):
            problems.append(f"{path}.const must be a {kind} value")
        elif listed and node["const"] not in allowed:
            problems.append(f"{path}.const must be one of {path}.enum when both are declared")
    return problems


def violations(schema: Json, value: Json, path: str = "value") -> list[str]:
    """What is wrong with `value`, one sentence each, in schema order; empty when it fits.

    Nothing is coerced and no default is filled in. `path` names the root; `""` stands for the arguments.
    """
    if "oneOf" in schema:
        matched = sum(not violations(branch, value, path) for branch in schema["oneOf"])
        return [] if matched == 1 else [f'"{_shown(path)}" must match exactly one oneOf branch (matched {matched})']
    kind = schema.get("type")
    if kind is None:
        return [] if is_lossless(value) else [f'"{_shown(path)}" must be a lossless JSON value']
    if kind == "object":
        return _object_violations(schema, value, path)
    if kind == "array":
        if not isinstance(value, list):
            return [f'"{_shown(path)}" must be an array']
        if "items" not in schema:
            return []
        return [
            each for index, item in enumerate(value) for each in violations(schema["items"], item, f"{path}[{index}]")
        ]
    if not _is(kind, value):
        return [f'"{_shown(path)}" must be {_NEEDS_ARTICLE[kind]}']
    if "enum" in schema and value not in schema["enum"]:
        return [f'"{_shown(path)}" must be one of {_json_text(schema["enum"])}']
    if "const" in schema and value != schema["const"]:
        return [f'"{_shown(path)}" must be {_json_text(schema["const"])}']
    return []


def _object_violations(schema: dict[str, Json], value: Json, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f'"{_shown(path)}" must be an object']
    properties: dict[str, Json] = schema.get("properties", {})
    found = [
        f'missing required property "{_joined(path, name)}"' for name in schema.get("required", []) if name not in value
    ]
    for name, child in properties.items():
        if name in value:
            found += violations(child, value[name], _joined(path, name))
    if schema.get("additionalProperties") is False:
        found += [
            f'"{_joined(path, name)}" is not a declared property (additionalProperties: false)'
            for name in value
            if name not in properties
        ]
    return found


def _is(kind: str, value: Any) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "null":
        return value is None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    return kind == "number" or float(value).is_integer()


def _shown(path: str) -> str:
    return path or "arguments"


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _json_text(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
