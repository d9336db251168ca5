"""Turns what a JSON Schema of ``spec/schema`` finds into problems with a line and a mend.

The advice stands in the schema itself, under the keyword ``mend``, beside the part it helps with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from conformance.catalogue._yaml import Text
from conformance.catalogue.problems import Problem, did_you_mean, either, near

_KINDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


class Checker:
    """One schema, or one definition inside it (``part`` is a name under ``$defs``)."""

    def __init__(self, schema: dict[str, Any], part: str | None = None) -> None:
        self._root = schema
        self._top = schema if part is None else {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
        self._validator = Draft202012Validator(self._top)

    def problems(self, text: Text) -> list[Problem]:
        """Everything the schema rejects in ``text``."""
        return [
            problem for error in self._validator.iter_errors(text.value) for problem in self._translated(text, error)
        ]

    def _translated(self, text: Text, error: Any) -> Iterator[Problem]:
        path = list(error.absolute_path)
        mend = self._mend(error)
        name = _shown(path)
        if error.validator == "required":
            # One error for each missing name; jsonschema says which only in its message, so compare by hand.
            for missing in (field for field in error.validator_value if field not in error.instance):
                if error.message.startswith(f"{missing!r} "):
                    yield Problem(text.file, text.line(path), f"`{missing}` is missing{_inside(path)}", mend)
        elif error.validator == "additionalProperties":
            known = error.schema.get("properties", {})
            for extra in (field for field in error.instance if field not in known):
                guess = did_you_mean(near(extra, known))
                what = f"`{extra}` is not a field{_inside(path)}{guess.rstrip('?')}"
                fields = either(field for field in known if field not in error.instance)
                advice = "correct its spelling, or drop it" if guess else f"drop it; still free are {fields}"
                yield Problem(text.file, text.line(path, key=extra), what, advice)
        else:
            yield Problem(text.file, text.line(path), f"{name} {_fault(error)}", mend)

    def _mend(self, error: Any) -> str:
        advice = None
        schema: Any = self._top
        for part in error.absolute_schema_path:
            if part == "$ref":
                schema = self._root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
            elif isinstance(schema, (dict, list)):
                schema = schema[part]
            if isinstance(schema, dict):
                advice = schema.get("mend", advice)
        if error.validator == "enum":
            advice = f"write {either(map(_json, error.validator_value))}"
        if error.validator == "required" and not (error.schema.get("mend") and advice):
            advice = "add it"
        return advice or "follow the form that CONTRIBUTING.md shows"


def load_schema(folder: Path, name: str) -> dict[str, Any]:
    """The schema ``name`` (``index`` or ``surface``) of the spec folder ``folder``."""
    schema: dict[str, Any] = json.loads((folder / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


def _fault(error: Any) -> str:
    value, limit = error.instance, error.validator_value
    shown = _json(value)
    match error.validator:
        case "type":
            return f"is {shown}, not {_KINDS.get(str(limit), limit)}"
        case "enum" | "const":
            return f"is {shown}"
        case "pattern" | "minLength":
            return f"is {shown}, which has not the right form"
        case "minimum" | "exclusiveMinimum":
            return f"is {shown}, which is too small"
        case "minItems" | "minProperties":
            return "holds too little"
        case "maxProperties":
            return "holds too much"
        case "uniqueItems":
            return "names something twice"
        case "contains":
            return "does not hold what this rule's level and relation ask for"
        case None:
            return "has no place here"
    return f"is wrong ({error.message})"


def _shown(path: list[str | int]) -> str:
    """The value in words: ``rules[2].level`` reads best as its last name; a list's item keeps its number."""
    if not path:
        return "the file"
    name = ""
    for part in reversed(path):
        if isinstance(part, str):
            return f"`{part}{name}`"
        name = f"[{part + 1}]{name}"
    return f"entry {name[1:-1]}"


def _inside(path: list[str | int]) -> str:
    return f" in {_shown(path)}" if path else ""


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
