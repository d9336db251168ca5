"""What the terminal shows at the end, and in which tone."""

from __future__ import annotations

import msgspec
import pytest

from conformance._pytest.summary import LONGEST, MARKUP, Text, lines
from conformance.reporting.model import BridgeReport, DeviationReport
from conformance.verdicts import TABLE, Verdict
from tests.fast.small_reports import bridge, rule


def told(*bridges: BridgeReport, columns: int | None = None, notes: tuple[str, ...] = ()) -> list[str]:
    return ["".join(text.words for text in line) for line in lines(["a", "b"], bridges, notes, columns)]


def tones(*bridges: BridgeReport) -> dict[str, str]:
    return {text.words.strip(): text.tone for line in lines(["a", "b"], bridges) for text in line}


def test_surfaces_stand_by_bridges_and_levels_below() -> None:
    one = bridge("one", rule("a.x"), rule("a.y", Verdict.FAIL), rule("b.z", level="should"))
    two = bridge("two", rule("a.x"), rule("a.y"), rule("b.z", Verdict.DEPARTS, level="should"))

    assert told(one, two) == [
        "              one           two",
        "a             1/2 (1 fail)  2/2",
        "b             1/1           1/1 (1 departs)",
        "every must    1/2 (1 fail)  2/2",
        "every should  1/1           1/1 (1 departs)",
        "two: departs from a should: b.z",
        "one: not conformant (1 fail, 2 pass)",
        "two: conformant with 1 departure (1 departs, 2 pass)",
    ]


def test_what_does_not_apply_is_a_dash_and_what_was_not_asked_is_left_out() -> None:
    one = bridge("one", rule("a.x"), rule("b.z", Verdict.NOT_RUN))
    two = bridge("two", rule("a.x", Verdict.NOT_APPLICABLE), rule("b.z", Verdict.NOT_RUN))

    assert told(one, two) == [
        "   one  two",
        "a  1/1  –",
        "one: 1 must not run",
        "two: 1 must not run",
        "one: unproven (1 not run, 1 pass)",
        "two: unproven (1 not run)",
    ]


@pytest.mark.parametrize(
    ("verdict", "level", "tone"),
    [
        (Verdict.PASS, "must", "good"),
        (Verdict.NOTED, "may", "good"),
        (Verdict.FAIL, "must", "bad"),
        (Verdict.HARNESS_ERROR, "must", "bad"),
        (Verdict.UNSUPPORTED, "must", "bad"),
        (Verdict.UNSUPPORTED, "should", "warn"),
        (Verdict.DEPARTS, "should", "warn"),
        (Verdict.DEVIATION, "must", "warn"),
        (Verdict.UNDECLARED, "must", "warn"),
    ],
)
def test_a_cell_has_the_tone_of_its_worst_verdict(verdict: Verdict, level: str, tone: str) -> None:
    shown = tones(bridge("one", rule("a.x", verdict, level=level), rule("a.y", level=level)))

    assert next(found for words, found in shown.items() if "/2" in words) == tone


def test_what_was_not_asked_is_no_fault() -> None:
    assert tones(bridge("one", rule("a.x"), rule("a.y", Verdict.NOT_RUN)))["1/2 (1 not run)"] == "warn"


def test_every_must_that_is_unproven_is_named_in_red() -> None:
    undecided = (Verdict.UNSUPPORTED, Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR)
    rules = [rule(f"a.{number}", verdict) for number, verdict in enumerate(undecided)]

    shown = list(lines(["a"], [bridge("one", *rules)]))

    for number in range(3):
        assert (Text("one: a must is unproven: ", "bad"), Text(f"a.{number}")) in shown


def test_a_deviation_is_named_with_its_reason_and_end() -> None:
    entry = DeviationReport(rule="a.x", reason="later", added="2020-01-01", expires="2099-01-01", state="holds")
    one = msgspec.structs.replace(bridge("one", rule("a.x", Verdict.DEVIATION)), deviations=[entry])

    assert "one: deviates as its ledger says: a.x: later (until 2099-01-01)" in told(one)


def test_a_ledger_that_speaks_of_nothing_is_told() -> None:
    entry = DeviationReport(rule="a.x", reason="later", added="2020-01-01", state="stale", stale="it passes; drop it")
    one = msgspec.structs.replace(bridge("one", rule("a.x")), deviations=[entry])

    assert "one: ledger: it passes; drop it" in told(one)


def test_a_long_list_is_counted_where_it_ends() -> None:
    rules = [rule(f"a.{number:02}", Verdict.DEPARTS, level="should") for number in range(LONGEST + 3)]

    shown = [line for line in told(bridge("one", *rules)) if "departs from a should" in line]

    assert len(shown) == LONGEST + 1
    assert shown[-1] == "one: departs from a should: and 3 more"


def test_bridges_that_do_not_fit_follow_below() -> None:
    many = [bridge(f"bridge{number}", rule("a.x")) for number in range(5)]

    shown = told(*many, columns=40)

    assert [line.split() for line in shown if line.startswith("      ")] == [
        ["bridge0", "bridge1", "bridge2"],
        ["bridge3", "bridge4"],
    ]
    assert max(map(len, shown[:6])) <= 40
    assert told(*many)[0].split() == [f"bridge{number}" for number in range(5)]


def test_notes_are_told_before_the_word_for_the_whole() -> None:
    assert told(bridge("one", rule("a.x")), notes=("look here",))[-2:] == [
        "note: look here",
        "one: conformant (1 pass)",
    ]


def test_every_verdict_can_be_shown() -> None:
    for verdict in TABLE:
        assert all(text.tone in MARKUP for line in lines(["a"], [bridge("one", rule("a.x", verdict))]) for text in line)
