"""JavaScript's JSON in Python: what parses, what is lossless, what is frozen, how it is written."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_bridge.host import UNDEFINED, NotLosslessError, clone, freeze, parse_json
from reference_bridge.host.json_values import code_units, js_string, member

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not (x == 0 or x.is_integer()))
    | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=4), children, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("5.0", 5),
        ("1e3", 1000),
        ('{"a":1,"a":2}', {"a": 2}),
        ('{"__proto__":{"x":1}}', {"__proto__": {"x": 1}}),
        ('"\\ud800"', "\ud800"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ("{} ", {}),
        ("12345678901234567890", 12345678901234567168.0),
    ],
)
def test_json_text_gives_javascripts_value(text: str, value: object) -> None:
    assert parse_json(text) == value


def test_integer_like_keys_come_first_and_ascend() -> None:
    assert list(parse_json('{"b":1,"10":2,"2":3,"a":4,"01":5,"4294967295":6}')) == [
        "2",
        "10",
        "b",
        "a",
        "01",
        "4294967295",
    ]


@pytest.mark.parametrize("text", ["", "  ", "\ufeff{}", "{bad", '{"n":NaN}', "Infinity", "01", "[1,]", '"\n"', "1 2"])
def test_what_javascript_does_not_parse_does_not_parse(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the wording is Python's
        parse_json(text)


@pytest.mark.parametrize(
    "value",
    [
        *(parse_json(text) for text in ("-0", "-0.0", "-1e-999", "1e999", "-1e999", '{"a":[{"b":-0}]}')),
        float("nan"),
        10**400,
        UNDEFINED,
        {"a": UNDEFINED},
        {1: 2},
        {1, 2},
        b"x",
        object(),
        print,
    ],
)
def test_a_lossy_value_is_refused_at_any_depth(value: object) -> None:
    for wrapped in (value, [value], {"x": [value]}):
        with pytest.raises(NotLosslessError):
            freeze(wrapped)


def test_a_cycle_is_refused_and_a_shared_part_is_not() -> None:
    cycle: list[object] = []
    cycle.append({"again": cycle})
    with pytest.raises(NotLosslessError):
        freeze(cycle)
    shared = [1]
    assert freeze([shared, {"a": shared}, shared]) == [[1], {"a": [1]}, [1]]


@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_not_limited_by_the_stack(opened: str, closed: str) -> None:
    value = freeze(parse_json(opened * 5000 + '[1, "x,]", null]' + closed * 5000))
    for _ in range(5000):
        value = value[0] if opened == "[" else value["a"]
    assert value == [1, "x,]", None]


@pytest.mark.parametrize(
    "text",
    ["[" * 5000 + "]" * 4999, "[" * 5000 + "1 2" + "]" * 5000, "[" * 5000 + "1," + "]" * 5000, '{"a":' * 5000],
)
def test_deep_text_that_is_not_json_is_refused_too(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the wording is ours and says where
        parse_json(text)


@given(json_values)
def test_a_copy_equals_its_original(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert freeze(value) == value
    assert clone(freeze(value)) == value


@pytest.mark.parametrize(
    "write",
    [
        lambda o: o.__setitem__("x", 9),
        lambda o: o.__delitem__("x"),
        lambda o: o.update(x=9),
        lambda o: o.pop("x"),
        lambda o: o.setdefault("y", 1),
        lambda o: o.clear(),
        lambda o: o["deep"].__setitem__("y", 9),
        lambda o: o["list"].append(1),
        lambda o: o["list"].__setitem__(0, 9),
        lambda o: o["list"].sort(),
    ],
)
def test_a_frozen_value_refuses_every_write(write: object) -> None:
    value = {"x": 1, "deep": {"y": 1}, "list": [1]}
    frozen = freeze(value)
    with pytest.raises(TypeError):
        write(frozen)  # type: ignore[operator]
    assert frozen == value


def test_a_frozen_value_does_not_follow_its_original_and_its_deep_copy_is_free() -> None:
    original = {"a": [1]}
    frozen = freeze(original)
    original["a"].append(2)
    assert frozen == {"a": [1]}
    free = copy.deepcopy(frozen)
    free["a"].append(3)
    free["b"] = 1
    assert (free, frozen) == ({"a": [1, 3], "b": 1}, {"a": [1]})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (UNDEFINED, "undefined"),
        (True, "true"),
        (7, "7"),
        (7.0, "7"),
        (-0.0, "0"),
        (1.5, "1.5"),
        (-123.456, "-123.456"),
        (0.000001, "0.000001"),
        (1.5e-7, "1.5e-7"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (12345678901234567890, "12345678901234567000"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        ({}, "[object Object]"),
        ([1, None, [2, "x"]], "1,,2,x"),
        ("s", "s"),
    ],
)
def test_values_are_written_as_javascript_writes_them(value: object, text: str) -> None:
    assert js_string(value) == text


def test_members_of_nothing_cannot_be_read() -> None:
    assert member({"a": 1}, "a") == 1
    assert member({"a": 1}, "b") is UNDEFINED
    assert member(True, "kind") is UNDEFINED
    with pytest.raises(TypeError, match=r"^Cannot read properties of undefined \(reading 'kind'\)$"):
        member(UNDEFINED, "kind")
    with pytest.raises(TypeError, match=r"^Cannot read properties of null \(reading 'kind'\)$"):
        member(None, "kind")


def test_strings_are_ordered_by_utf_16_code_unit() -> None:
    assert sorted(["\uff5e", "\U0001f600", "a", "B"], key=code_units) == ["B", "a", "\U0001f600", "\uff5e"]
