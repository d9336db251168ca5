"""The argument gate of the reference bridge answers as Pi 0.84.1 does."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_bridge.bridge._js import (
    UNDEFINED,
    is_truthy,
    number_from_string,
    number_to_string,
    stringify,
    to_string,
)
from reference_bridge.bridge._regex import PatternError, compile_pattern
from reference_bridge.bridge.arguments import ArgumentsInvalid, parse_arguments, validate_arguments

VECTORS = Path(__file__).parents[2] / "spec" / "tools" / "vectors"
NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


@functools.cache
def rows(name: str) -> list[Any]:
    loaded = yaml.load(
        (VECTORS / name).read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    return [pytest.param(row, id=row["case"]) for row in loaded]


def refusal(schema: object, arguments: object, **options: Any) -> str:
    with pytest.raises(ArgumentsInvalid) as caught:
        validate_arguments("t", schema, arguments, **options)
    return caught.value.text


def framed(rejects: list[dict[str, str]]) -> str:
    lines = "\n".join(f"  - {row['path']}: {row['message']}" for row in rejects)
    return f'Validation failed for tool "t":\n{lines}\n\nReceived arguments:\n'


@pytest.mark.parametrize("row", rows("coercion.yaml"))
def test_a_vector_is_answered_as_observed(row: dict[str, Any]) -> None:
    arguments, answer = parse_arguments(row["arguments"]), row["answer"]
    assert len(answer) == 1, "an answer is one of gives, rejects and text"
    if "gives" in answer:
        assert stringify(validate_arguments("t", row["schema"], arguments)) == stringify(answer["gives"])
    elif "rejects" in answer and not all("message" in each for each in answer["rejects"]):
        found = refusal(row["schema"], arguments)
        assert [line for each in answer["rejects"] if (line := f"  - {each['path']}: ") not in found] == []
    elif "rejects" in answer:
        assert refusal(row["schema"], arguments) == framed(answer["rejects"]) + stringify(arguments)
    else:
        assert refusal(row["schema"], arguments) == answer["text"]


@pytest.mark.parametrize("row", rows("optional-null.yaml"))
def test_null_for_an_optional_property_is_one_of_the_right_answers(row: dict[str, Any]) -> None:
    arguments, answer = parse_arguments(row["arguments"]), row["answer"]
    if "rejects" in answer:
        assert refusal(row["schema"], arguments) == framed(answer["rejects"]) + stringify(arguments)
    else:
        given_back = validate_arguments("t", row["schema"], arguments)
        assert stringify(given_back) in [stringify(right) for right in answer["gives_any"]]


def test_the_vectors_have_unique_names_and_cover_every_kind_of_answer() -> None:
    cases = [param.values[0] for param in rows("coercion.yaml")]
    assert len({row["case"] for row in cases}) == len(cases) >= 110
    assert {next(iter(row["answer"])) for row in cases} == {"gives", "rejects", "text"}


# The pipeline


def test_the_tool_gets_a_copy_that_shares_nothing_with_the_call() -> None:
    call = {"n": 1, "extra": {"l": [1]}}
    result = validate_arguments("t", NUMBER, call)
    assert result == call
    assert isinstance(result, dict)
    assert result["extra"] is not call["extra"]
    assert result["extra"]["l"] is not call["extra"]["l"]


def test_the_error_shows_the_arguments_before_any_conversion() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
    expected = '{\n  "a": "7",\n  "b": "x"\n}'
    assert refusal(schema, {"a": "7", "b": "x"}) == framed([{"path": "b", "message": "must be number"}]) + expected


def test_the_error_names_the_tool_it_was_called_for() -> None:
    with pytest.raises(ArgumentsInvalid, match=r'^Validation failed for tool "my tool":\n'):
        validate_arguments("my tool", NUMBER, {})


def test_prepared_arguments_are_converted_and_validated() -> None:
    assert validate_arguments("t", NUMBER, {"old": "7"}, prepare=lambda raw: {"n": raw["old"]}) == {"n": 7}


def test_the_error_shows_the_arguments_after_prepare() -> None:
    text = refusal(NUMBER, {"old": "zz"}, prepare=lambda raw: {"n": raw["old"]})
    assert text == framed([{"path": "n", "message": "must be number"}]) + '{\n  "n": "zz"\n}'


@pytest.mark.parametrize(("prepared", "echo"), [(UNDEFINED, "undefined"), (None, "null"), ("x", '"x"')])
def test_prepare_that_returns_no_object_fails_validation(prepared: object, echo: str) -> None:
    assert (
        refusal(NUMBER, {}, prepare=lambda _: prepared)
        == framed([{"path": "root", "message": "must be object"}]) + echo
    )


def test_prepare_may_edit_the_call_it_is_given() -> None:
    def prepare(raw: dict[str, object]) -> dict[str, object]:
        raw["n"] = "1"
        return raw

    call: dict[str, object] = {}
    assert validate_arguments("t", NUMBER, call, prepare=prepare) == {"n": 1}
    assert call == {"n": "1"}


def test_what_prepare_raises_is_passed_on_unchanged() -> None:
    def prepare(_: object) -> object:
        raise RuntimeError("prep boom")

    with pytest.raises(RuntimeError, match=r"^prep boom$"):
        validate_arguments("t", NUMBER, {}, prepare=prepare)


def test_prepare_that_is_asynchronous_is_refused() -> None:
    async def later() -> object:
        return {"n": 1}

    promise = later()
    try:
        assert refusal(NUMBER, {}, prepare=lambda _: promise) == "#<Promise> could not be cloned."
    finally:
        promise.close()


def test_absent_arguments_are_undefined() -> None:
    assert refusal(NUMBER, UNDEFINED).endswith("  - root: must be object\n\nReceived arguments:\nundefined")


def test_an_optional_property_may_be_undefined_and_a_required_one_may_not() -> None:
    optional = {"type": "object", "properties": {"n": {"type": "number"}}}
    assert validate_arguments("t", optional, {"n": UNDEFINED}) == {"n": UNDEFINED}
    assert refusal(NUMBER, {"n": UNDEFINED}) == framed([{"path": "n", "message": "must be number"}]) + "{}"


def test_arguments_that_are_no_object_pass_unconverted_where_the_conversion_does_not_satisfy() -> None:
    assert validate_arguments("t", {"type": "string"}, 5) == "5"
    assert validate_arguments("t", {"type": "string", "minLength": 9}, 5) == 5


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (UNDEFINED, "Cannot use 'in' operator to search for 'type' in undefined"),
        (None, "Cannot use 'in' operator to search for 'type' in null"),
        ("x", "Cannot use 'in' operator to search for 'type' in x"),
        (True, "Invalid value used as weak map key"),
        ({"type": "object", "properties": {"n": None}}, "Cannot read properties of null (reading 'allOf')"),
        ({"allOf": [{"$ref": "#"}]}, "Maximum call stack size exceeded"),
    ],
)
def test_a_schema_that_is_itself_unusable_is_told_alone(schema: object, text: str) -> None:
    assert refusal(schema, {"n": 1}) == text


def test_a_closed_object_is_judged_by_its_number_of_keys_where_all_its_properties_are_required() -> None:
    odd = {
        "type": "object",
        "properties": {"a": {}, "b": {}},
        "required": ["a", "c"],
        "additionalProperties": False,
    }
    assert validate_arguments("t", odd, {"a": 1, "c": 2}) == {"a": 1, "c": 2}
    twice = odd | {"required": ["a", "a"]}
    assert refusal(twice, {"a": 1}).startswith('Validation failed for tool "t":\nUnknown validation error\n\n')


def test_an_unusable_member_of_a_union_takes_no_part_in_the_conversion_but_fails_the_call() -> None:
    schema = {"properties": {"v": {"anyOf": [{"type": "string", "pattern": "("}, {"type": "number"}]}}}
    assert refusal(schema, {"v": "7"}) == "Invalid regular expression: /(/u: Unterminated group"


@pytest.mark.parametrize(
    ("reference", "definitions"),
    [
        ("#/$defs/N", {"N": {"type": "number"}}),
        ("#/$defs/a~1b", {"a/b": {"type": "number"}}),
        ("#n", {"N": {"$anchor": "n", "type": "number"}}),
        ("item.json", {"N": {"$id": "item.json", "type": "number"}}),
        ("item.json#/$defs/Q", {"N": {"$id": "item.json", "$defs": {"Q": {"type": "number"}}}}),
    ],
)
def test_a_reference_is_followed(reference: str, definitions: dict[str, object]) -> None:
    schema = {"type": "object", "properties": {"n": {"$ref": reference}}, "$defs": definitions}
    assert validate_arguments("t", schema, {"n": 5}) == {"n": 5}
    assert "\n  - n: must be number\n" in refusal(schema, {"n": "5"})


def test_a_reference_is_looked_for_below_the_top_as_well() -> None:
    holder = {"type": "object", "$defs": {"N": {"type": "number"}}}
    schema = {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}, "o": holder, "p": {"type": "object"}}}
    assert validate_arguments("t", schema, {"n": 5}) == {"n": 5}


def test_a_reference_starts_at_the_nearest_schema_with_a_name() -> None:
    inner = {"$id": "x.json", "$ref": "#/$defs/Q", "$defs": {"Q": {"type": "number"}}}
    schema = {"type": "object", "properties": {"n": inner}, "$defs": {"Q": {"type": "string"}}}
    assert validate_arguments("t", schema, {"n": 5}) == {"n": 5}


def test_a_number_too_large_for_a_double_has_no_bounds_and_is_no_number() -> None:
    schema = {"properties": {"a": {"maximum": 1, "multipleOf": 2}, "b": {"type": "number", "maximum": 1}}}
    text = refusal(schema, parse_arguments('{"a":1e400,"b":1e400}'))
    assert text == framed([{"path": "b", "message": "must be number"}]) + '{\n  "a": null,\n  "b": null\n}'


def test_zero_and_minus_zero_are_two_items() -> None:
    unique = {"properties": {"l": {"uniqueItems": True}}}
    assert validate_arguments("t", unique, parse_arguments('{"l":[0,-0]}')) == {"l": [0, 0]}
    assert refusal(unique, parse_arguments('{"l":[0,0.0]}')).splitlines()[1] == "  - l: must not have duplicate items"


def test_every_pattern_within_reach_is_compiled() -> None:
    bad = {"pattern": "("}
    for schema in (
        {"patternProperties": {"(": {}}},
        {"patternProperties": {"a": bad}},
        {"additionalProperties": bad},
        {"items": [bad]},
        {"if": {}, "else": bad},
        {"not": bad},
        {"properties": {"a": {"$ref": "#/$defs/D"}}, "$defs": {"D": bad}},
    ):
        assert refusal(schema, {}) == "Invalid regular expression: /(/u: Unterminated group"
    assert validate_arguments("t", {"$defs": {"D": bad}}, {}) == {}
    # All names of a closed object are tried in one expression, which is compiled first and without the u flag.
    closed = {"patternProperties": {"(": {}}, "properties": {"a.b": {}}, "additionalProperties": False}
    assert refusal(closed, {}) == "Invalid regular expression: /((|^a\\.b$)/: Unterminated group"


def test_a_keyword_of_a_wrong_form_means_nothing() -> None:
    odd = {"anyOf": [5, {"type": "number"}], "required": "x", "minLength": "3", "pattern": 5, "enum": "x", "type": 5}
    assert validate_arguments("t", {"properties": {"v": odd}}, {"v": "ab"}) == {"v": "ab"}


# JavaScript


@pytest.mark.parametrize(
    ("text", "echo"),
    [
        ('{"n":"x","a":7.0,"b":-0,"c":1e21}', '{"n": "x","a": 7,"b": 0,"c": 1e+21}'),
        ('{"n":"x","a":1e-7,"b":1e400,"c":0.1}', '{"n": "x","a": 1e-7,"b": null,"c": 0.1}'),
        ('{"n":"x","a":12345678901234567890}', '{"n": "x","a": 12345678901234567000}'),
        ('{"b":1,"10":1,"n":"x","2":1,"01":1}', '{"2": 1,"10": 1,"b": 1,"n": "x","01": 1}'),
        ('{"n":"x","a":[],"b":{},"c":[[1]]}', '{"n": "x","a": [],"b": {},"c": [[1]]}'),
        ('{"n":"\\u00e9\\u2028\\ud800\\u001f\\\\\\""}', '{"n": "é\u2028\\ud800\\u001f\\\\\\""}'),
    ],
)
def test_the_error_shows_the_arguments_as_javascript_writes_them(text: str, echo: str) -> None:
    shown = refusal(NUMBER, parse_arguments(text)).partition("Received arguments:\n")[2]
    assert re.sub(r"\n *", "", shown) == echo


@pytest.mark.parametrize(
    ("value", "text"),
    [(7.0, "7"), (-0.0, "0"), (0.1, "0.1"), (1e21, "1e+21"), (123456789012345680000, "123456789012345680000"),
     (1e-6, "0.000001"), (1.5e-7, "1.5e-7"), (-1.25e30, "-1.25e+30"), (5e-324, "5e-324"), (100, "100"),
     (math.inf, "Infinity"), (-math.inf, "-Infinity"), (math.nan, "NaN"), (10**400, "Infinity")],
)  # fmt: skip
def test_a_number_is_written_as_javascript_writes_it(value: float, text: str) -> None:
    assert number_to_string(value) == text


@pytest.mark.parametrize("text", ["abc", "1_000", "1e", ".", "0x", "-0x10", "1n", "Infinity1", "٣", "\u200b5", "\x855"])
def test_a_text_that_is_no_number_to_javascript_is_none_here(text: str) -> None:
    assert math.isnan(number_from_string(text))


@pytest.mark.parametrize(
    ("value", "is_true"),
    [(None, False), (UNDEFINED, False), (0, False), (-0.0, False), (math.nan, False), ("", False), (False, False),
     ([], True), ({}, True), ("0", True), (-1, True), (True, True)],
)  # fmt: skip
def test_truth_is_javascripts(value: object, is_true: bool) -> None:
    assert is_truthy(value) is is_true


def test_any_value_becomes_text_as_in_javascript() -> None:
    assert to_string([1, None, [2.0, "x"], UNDEFINED]) == "1,,2,x,"
    assert [to_string(value) for value in ({}, None, UNDEFINED, True)] == [
        "[object Object]",
        "null",
        "undefined",
        "true",
    ]


@pytest.mark.parametrize("text", ["NaN", '{"n": Infinity}', "{", ""])
def test_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (the wording is Python's own)
        parse_arguments(text)


@pytest.mark.parametrize(
    ("pattern", "fits", "fails"),
    [
        (r"^a$", "a", "a\n"),
        (r"^\d$", "7", "٣"),
        (r"^\w$", "_", "é"),
        (r"^\s$", "\ufeff", "\x85"),
        (r"^.$", "😀", "\u2028"),
        (r"^(a)?b\1$", "b", "bc"),
        (r"^(?<q>[ab]).\k<q>$", "axa", "axb"),
        (r"^[^]$", "\n", ""),
        (r"^[\w-]+$", "a-b", "a b"),
        (r"^\u{1F600}\x41\cJ$", "😀A\n", "😀A"),
        (r"^\p{L}\P{L}$", "é1", "éa"),
        (r"a(?!b)|(?<=x)y", "xy", "ab"),
        (r"^(?:a|b){2,3}?$", "aba", "a"),
        (r"^(?i:a)b$", "Ab", "AB"),
        (r"^\B$", "", "a"),
    ],
)
def test_a_pattern_matches_as_in_javascript(pattern: str, fits: str, fails: str) -> None:
    compiled = compile_pattern(pattern)
    assert compiled.test(fits)
    assert not compiled.test(fails)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (")", "Unmatched ')'"),
        ("[", "Unterminated character class"),
        ("a{", "Incomplete quantifier"),
        ("a}", "Lone quantifier brackets"),
        ("a**", "Nothing to repeat"),
        ("a++", "Nothing to repeat"),
        ("a{2,1}", "numbers out of order in {} quantifier"),
        ("\\", "\\ at end of pattern"),
        ("\\-", "Invalid escape"),
        ("\\1", "Invalid escape"),
        ("\\u12", "Invalid Unicode escape"),
        ("[z-a]", "Range out of order in character class"),
        ("[\\d-z]", "Invalid character class"),
        ("(?<a>x)(?<a>y)", "Duplicate capture group name"),
        ("(?P<a>x)", "Invalid group"),
        ("\\k<q>", "Invalid named capture referenced"),
        ("\\p{Foo}", "Invalid property name"),
        ("(?=a)*", "Invalid quantifier"),
        ("\\00", "Invalid decimal escape"),
    ],
)
def test_a_pattern_javascript_refuses_is_refused_in_its_words(pattern: str, why: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == f"Invalid regular expression: /{pattern}/u: {why}"


def test_a_pattern_beyond_this_program_says_so() -> None:
    with pytest.raises(PatternError, match="not covered by this program"):
        compile_pattern("(?<=a+)b")


# Properties

KEYS = st.sampled_from(["a", "b", "c"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.floats(-9, 9), st.sampled_from(["", "7", " 1 ", "x", "true"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2), max_leaves=5
)
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "null"])


def _schemas(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(KEYS, inner, max_size=2)},
            optional={"additionalProperties": st.booleans() | inner, "required": st.lists(KEYS, max_size=1)},
        ),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
    )


SCHEMAS = st.recursive(
    st.fixed_dictionaries({"type": TYPES | st.lists(TYPES, min_size=1, max_size=2)})
    | st.fixed_dictionaries({"enum": st.lists(SCALARS, max_size=2)}),
    _schemas,
    max_leaves=4,
)


@settings(max_examples=40)
@given(schema=SCHEMAS, values=st.lists(VALUES, min_size=2, max_size=5))
def test_neither_the_call_nor_the_schema_is_ever_changed(schema: dict[str, Any], values: list[object]) -> None:
    whole = {"type": "object", "properties": {"v": schema}}
    for value in values:
        call = {"v": value}
        before = repr((whole, call))
        with contextlib.suppress(ArgumentsInvalid):
            validate_arguments("t", whole, call)
        assert repr((whole, call)) == before


@settings(max_examples=40)
@given(schema=SCHEMAS, values=st.lists(VALUES, min_size=2, max_size=5))
def test_what_has_passed_once_passes_again_unchanged(schema: dict[str, Any], values: list[object]) -> None:
    whole = {"type": "object", "properties": {"v": schema}}
    for value in values:
        try:
            passed = validate_arguments("t", whole, {"v": value})
        except ArgumentsInvalid:
            continue
        assert stringify(validate_arguments("t", whole, passed)) == stringify(passed)


@settings(max_examples=40)
@given(schema=SCHEMAS, values=st.lists(VALUES, min_size=2, max_size=5))
def test_a_refusal_always_shows_what_was_sent(schema: dict[str, Any], values: list[object]) -> None:
    whole = {"type": "object", "properties": {"v": schema, "n": {"type": "number"}}, "required": ["n"]}
    for value in values:
        assert refusal(whole, {"v": value}).endswith(f"\n\nReceived arguments:\n{stringify({'v': value})}")


@settings(max_examples=40)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_written_is_the_number_read(value: float) -> None:
    assert number_from_string(number_to_string(value)) == value


@settings(max_examples=40)
@given(VALUES)
def test_arguments_written_are_the_arguments_read(value: object) -> None:
    assert json.loads(stringify(value)) == value
