"""What the suite says of two values, and how it reads a JSON text."""

from __future__ import annotations

import pytest

from conformance.compare import holds, parsed, show, written_out


def test_half_a_surrogate_pair_is_read_as_a_bridge_tells_it() -> None:
    assert parsed(r'{"a\ud83d": ["\udce6b", "whole"]}') == {"a\ufffd": [{"$": "escaped", "text": r"\udce6b"}, "whole"]}


def test_quotes_and_line_ends_beside_half_a_pair_stay_escapes() -> None:
    assert parsed(r'"say \"\ud83d\n\""') == {"$": "escaped", "text": r"say \"\ud83d\n\""}


def test_both_halves_of_a_pair_are_one_character() -> None:
    assert parsed(r'"\ud83d\udce6"') == "\U0001f4e6"


def test_what_is_no_json_has_no_value() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        parsed("two labels")


def test_what_is_shown_can_be_written_to_a_file() -> None:
    assert show(["a\ud83d"]).encode() == rb'["a\ud83d"]'


def test_a_member_that_is_wanted_undefined_may_be_missing_and_may_be_nothing_else() -> None:
    wanted = {"details": {"$": "undefined"}}
    assert holds({"text": "a"}, wanted)
    assert holds({"details": {"$": "undefined"}}, wanted)
    assert not holds({"details": None}, wanted)


def test_nothing_is_no_empty_object() -> None:
    assert holds({"details": {}}, {"details": {}})
    assert not holds({"text": "a"}, {"details": {}})
    assert not holds({"details": {"$": "undefined"}}, {"details": {}})


def test_a_tag_may_have_more_members_than_are_wanted_of_it() -> None:
    assert holds({"$": "error", "name": "Error", "message": "out"}, {"$": "error", "message": "out"})


def test_a_repeat_tag_may_have_a_tail() -> None:
    tag = {"$": "repeat", "text": "ab", "times": 2, "tail": "c"}
    assert written_out({"texts": [tag]}) == {"texts": ["ababc"]}
