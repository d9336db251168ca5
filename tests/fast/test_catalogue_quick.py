"""The quick walk never calls a document valid that jsonschema rejects, and spares jsonschema the valid ones."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conformance.catalogue._quick import surely_valid
from conformance.catalogue._schema import load_schema
from conformance.resources import spec_dir
from tests.fast.small_specs import DEMO, INDEX, SEAM

SCHEMAS = {name: load_schema(spec_dir(), name) for name in ("index", "surface")}
VECTORS = "    vectors: {kind: coercion, rows: [{case: a}]}\n    deadline: {seconds: 60, reason: it runs a compiler}\n"


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


VALUES = st.sampled_from([None, True, 0, 1, 1.0, -1, "", "x", "pi 0.84.1", "host", "must", [], {}, ["a", "a"], [1, 1]])


@pytest.mark.parametrize(("name", "document"), VALID)
def test_a_valid_document_needs_no_jsonschema(name: str, document: Any) -> None:
    assert Draft202012Validator(SCHEMAS[name]).is_valid(document)
    assert surely_valid(document, SCHEMAS[name])


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_changed_document_is_judged_as_jsonschema_judges_it(data: st.DataObject) -> None:
    name, valid = data.draw(st.sampled_from(VALID))
    document = copy.deepcopy(valid)
    *parents, last = data.draw(st.sampled_from(places(document)))
    holder = document
    for part in parents:
        holder = holder[part]
    if data.draw(st.booleans()):
        del holder[last]
    elif isinstance(holder, dict) and data.draw(st.booleans()):
        holder["stray"] = holder.pop(last)
    else:
        holder[last] = data.draw(VALUES)
    if surely_valid(document, SCHEMAS[name]):
        assert Draft202012Validator(SCHEMAS[name]).is_valid(document)


@pytest.mark.parametrize("schema", [{"format": "date"}, {"type": "null"}, {"properties": {"a": {"maximum": 3}}}])
def test_what_it_does_not_know_it_leaves_to_jsonschema(schema: dict[str, Any]) -> None:
    assert not surely_valid({"a": 1}, schema)


def test_an_unknown_keyword_in_a_condition_is_not_taken_for_a_no() -> None:
    schema = {"if": {"maximum": 3}, "then": False, "else": True}
    assert not surely_valid(1, schema)
