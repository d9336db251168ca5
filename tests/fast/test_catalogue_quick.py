"""The quick walk never calls a document valid that jsonschema rejects, and spares jsonschema the valid ones."""

from __future__ import annotations

import copy
import functools
import json
import operator
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from conformance.catalogue._quick import surely
from conformance.catalogue._schema import load_schema
from conformance.resources import spec_dir
from tests.fast.small_specs import DEMO, INDEX, SEAM

SCHEMAS = {name: load_schema(spec_dir(), name) for name in ("index", "surface")}
VECTORS = "    vectors: {kind: coercion, rows: [{case: a}]}\n    deadline: {seconds: 60, reason: it runs a compiler}\n"


ENDLESS = {"$ref": "#/$defs/tree", "$defs": {"tree": {"additionalProperties": {"$ref": "#/$defs/tree"}}}}


def parsed(text: str) -> Any:
    return yaml.load(text, yaml.BaseLoader)


def numbers(document: Any) -> Any:
    """BaseLoader keeps every scalar a text, which is right here but for the few numbers."""
    return json.loads(json.dumps(document).replace('"1"', "1").replace('"2"', "2").replace('"60"', "60"))


VALID = [
    ("index", numbers(parsed(INDEX))),
    ("surface", numbers(parsed(DEMO + VECTORS))),
    ("surface", numbers(parsed(SEAM))),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


VALUES: list[Any] = [None, True, 0, 1, 1.0, -1, "", "x", "pi 1.6.0", "host", "must", [], {}, ["a", "a"], [1, 1]]
EXTRAS = {"stray": 1, "on_pi": "It is done.", "status": "same", "file": "vectors/a.yaml", "on": "pi"}


def variants(valid: Any) -> Iterator[Any]:
    """``valid`` with each of its parts taken away or replaced by each value, and with each extra in each mapping."""
    for path in places(valid):
        for value in ["(delete)", *VALUES]:
            document = copy.deepcopy(valid)
            holder = functools.reduce(operator.getitem, path[:-1], document)
            if value == "(delete)":
                del holder[path[-1]]
            else:
                holder[path[-1]] = value
            yield document
    for path in [(), *places(valid)]:
        for name, value in EXTRAS.items():
            document = copy.deepcopy(valid)
            holder = functools.reduce(operator.getitem, path, document)
            if isinstance(holder, dict):
                holder.setdefault(name, value)
                yield document


@pytest.mark.parametrize(("name", "document"), VALID)
def test_a_valid_document_needs_no_jsonschema(name: str, document: Any) -> None:
    assert Draft202012Validator(SCHEMAS[name]).is_valid(document)
    assert surely(SCHEMAS[name])(document)


@pytest.mark.parametrize(("name", "valid"), VALID)
def test_what_it_calls_valid_jsonschema_calls_valid(name: str, valid: Any) -> None:
    is_valid = surely(SCHEMAS[name])
    taken = [document for document in variants(valid) if is_valid(document)]
    assert taken
    assert all(map(Draft202012Validator(SCHEMAS[name]).is_valid, taken))


@pytest.mark.parametrize(
    "schema", [{"format": "date"}, {"type": "null"}, {"properties": {"a": {"maximum": 3}}}, ENDLESS]
)
def test_what_it_does_not_know_it_leaves_to_jsonschema(schema: dict[str, Any]) -> None:
    assert not surely(schema)({"a": 1})


def test_an_unknown_keyword_in_a_condition_is_not_taken_for_a_no() -> None:
    schema = {"if": {"maximum": 3}, "then": False, "else": True}
    assert not surely(schema)(1)
