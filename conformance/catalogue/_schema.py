"""Turns what a JSON Schema of ``spec/schema`` finds into problems with a line and a mend.

The advice stands in the schema itself, under the keyword ``mend``, beside the part it helps with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.catalogue._quick import surely
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
        self._surely = surely(self._top)

    def problems(self, text: Text) -> list[Problem]:
        """Everything the schema rejects in ``text``."""
        if self._surely(text.value):
            return []
        # Importing it takes longer than reading every rule, so a good spec does without.
        from jsonschema import Draft202012Validator

        errors = Draft202012Validator(self._top).iter_errors(text.value)
        return [problem for error in errors for problem in self._translated(text, error)]

    def _translated(self, text: Text, error: Any) -> Iterator[Problem]:
        path = list(error.absolute_path)
        mend = self._mend(error)
        name = _shown(text, path)
        if error.validator == "required":
            # One error for each missing name; jsonschema says which only in its message, so compare by hand.
            for missing in (field for field in error.validator_value if field not in error.instance):
                if error.message.startswith(f"{missing!r} "):
                    yield Problem(text.file, text.line(path), f"`{missing}` is missing{_inside(text, path)}", mend)
        elif error.validator == "additionalProperties":
            known = error.schema.get("properties", {})
            for extra in (field for field in error.instance if field not in known):
                guess = did_you_mean(near(extra, known))
                what = f"`{extra}` is not a field{_inside(text, path)}{guess.rstrip('?')}"
                fields = either(field for field in known if field not in error.instance)
                advice = "correct its spelling, or drop it" if guess else f"drop it; still free are {fields}"
                yield Problem(text.file, text.line(path, key=extra), what, advice)
        else:
            yield Problem(text.file, text.line(path), f"{name} {_fault(error)}", mend)

    def _mend(self, error: Any) -> str:
        if error.validator == "enum":
            return f"write {either(map(_json, error.validator_value))}"
        if error.validator == "required":
            return str(error.schema.get("mend", "add it"))
        # The advice nearest to the fault wins. jsonschema leaves "$ref" out of the path it reports.
        advice = "follow the form of the other rule files"
        schema: Any = self._top
        for part in error.absolute_schema_path:
            while isinstance(schema, dict) and part not in schema and "$ref" in schema:
                schema = self._root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
                advice = schema.get("mend", advice)
            schema = schema[part]
            if isinstance(schema, dict):
                advice = schema.get("mend", advice)
        return advice


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
        case "not":
            return "has no place here"
    return f"is wrong ({error.message})"


def _shown(text: Text, path: list[str | int]) -> str:
    """The value at ``path`` in words: its field, or for an entry of a list its id or number."""
    if not path:
        return "the file"
    value = text.value
    for part in path:
        value = value[part]
    *before, last = path
    if isinstance(last, str):
        return f"`{last}`"
    if isinstance(value, dict) and isinstance(name := value.get("id", value.get("case")), str):
        return f"`{name}`"
    return f"entry {last + 1} of {_shown(text, before)}"


def _inside(text: Text, path: list[str | int]) -> str:
    return f" in {_shown(text, path)}" if path else ""


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
