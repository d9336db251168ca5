"""The table of verdicts is walked: every word of every format follows from it, and from nothing else."""

from __future__ import annotations

import itertools

import pytest

from conformance.drivers.driver import AdapterGone, HarnessError
from conformance.verdicts import (
    TABLE,
    Absent,
    Exit,
    Finding,
    Inconclusive,
    RuleFailed,
    Standing,
    Verdict,
    exit_status,
    of_error,
    of_rule,
    standing,
    with_ledger,
)

LEVELS = ("must", "should", "may")
CONFORMANT = {Verdict.PASS, Verdict.DEPARTS, Verdict.NOTED, Verdict.UNDECLARED, Verdict.DEVIATION}
WRONG = {Verdict.FAIL, Verdict.ABSENT, Verdict.STALE, Verdict.INCONCLUSIVE}


def test_every_verdict_has_one_row() -> None:
    assert list(TABLE) == list(Verdict)
    assert all(row.verdict is verdict for verdict, row in TABLE.items())
    assert len({row.mark for row in TABLE.values()}) == len(TABLE)


@pytest.mark.parametrize(
    ("error", "verdicts"),
    [
        (None, ("pass", "pass", "pass")),
        (RuleFailed("wrong"), ("fail", "departs", "noted")),
        (Absent("gone"), ("absent",) * 3),
        (Inconclusive("who knows"), ("inconclusive",) * 3),
        (HarnessError("broke"), ("harness error",) * 3),
        (AdapterGone("gone"), ("harness error",) * 3),
        (AssertionError("an assert of the suite's own"), ("harness error",) * 3),
        (KeyError("a mistake of the suite"), ("harness error",) * 3),
    ],
)
def test_what_was_raised_decides(error: BaseException | None, verdicts: tuple[str, ...]) -> None:
    assert tuple(of_error(error, level) for level in LEVELS) == verdicts  # type: ignore[arg-type]


def test_findings_are_assertion_errors_and_broken_harnesses_are_not() -> None:
    assert issubclass(Finding, AssertionError)
    assert not issubclass(HarnessError, AssertionError)


@pytest.mark.parametrize("verdict", Verdict)
def test_formats_agree_on_each_verdict(verdict: Verdict) -> None:
    row = TABLE[verdict]
    words = (row.outcome, row.junit, row.allure)

    assert words in {
        ("passed", "passed", "passed"),
        ("failed", "failure", "failed"),
        ("error", "error", "broken"),
        ("skipped", "skipped", "skipped"),
        ("xfailed", "skipped", "skipped"),
        ("deselected", "none", "none"),
        ("none", "none", "none"),
    }


def test_a_rule_takes_the_first_verdict_in_order_of_precedence() -> None:
    order = """
        fail, absent, stale deviation, harness error, inconclusive, unsupported, not run, deviation, departs,
        undeclared, noted, pass
    """

    assert [word.strip() for word in order.split(",")] == [*Verdict][:-1]
    for first, second in itertools.combinations([*Verdict][:-1], 2):
        assert of_rule([second, first]) is first
    assert of_rule([]) is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize("verdict", Verdict)
def test_a_skip_is_never_a_pass(verdict: Verdict) -> None:
    row = TABLE[verdict]

    assert (row.outcome == "passed") == (verdict in CONFORMANT - {Verdict.DEVIATION})
    if row.outcome in ("skipped", "none"):
        assert exit_status([("must", verdict)]) != Exit.CONFORMANT


@pytest.mark.parametrize("verdict", Verdict)
def test_the_ledger_excuses_only_what_broke(verdict: Verdict) -> None:
    listed = with_ledger(verdict, listed=True)

    assert with_ledger(verdict, listed=False) is verdict
    if verdict in (Verdict.PASS, Verdict.UNDECLARED):
        assert listed is Verdict.STALE
    elif verdict in (Verdict.FAIL, Verdict.ABSENT, Verdict.DEPARTS, Verdict.NOTED):
        assert listed is Verdict.DEVIATION
        assert with_ledger(verdict, listed=True, expired=True) is Verdict.STALE
    else:
        assert listed is verdict


@pytest.mark.parametrize(("verdict", "level"), list(itertools.product(Verdict, LEVELS)))
def test_exit_status_of_a_single_rule(verdict: Verdict, level: str) -> None:
    if verdict in (Verdict.NOT_APPLICABLE, Verdict.NOT_RUN):
        wanted = Exit.NOTHING_RAN
    elif verdict in WRONG or (verdict is Verdict.UNSUPPORTED and level == "must"):
        wanted = Exit.NOT_CONFORMANT
    elif verdict is Verdict.HARNESS_ERROR:
        wanted = Exit.HARNESS_ERROR
    else:
        wanted = Exit.CONFORMANT

    assert exit_status([(level, verdict)]) is wanted  # type: ignore[list-item]


def test_what_the_user_left_out_counts_for_nothing() -> None:
    pair = [("must", Verdict.PASS), ("must", Verdict.NOT_RUN)]

    assert exit_status(pair) is Exit.NOT_CONFORMANT  # type: ignore[arg-type]
    assert exit_status(pair, selected=True) is Exit.CONFORMANT  # type: ignore[arg-type]


def test_a_failure_outweighs_a_broken_harness_and_an_interrupt_outweighs_both() -> None:
    pair = [("must", Verdict.FAIL), ("must", Verdict.HARNESS_ERROR)]

    assert exit_status(pair) is Exit.NOT_CONFORMANT  # type: ignore[arg-type]
    assert exit_status(pair, interrupted=True) is Exit.INTERRUPTED  # type: ignore[arg-type]


def test_a_ledger_that_speaks_of_nothing_fails_a_run_that_passes() -> None:
    assert exit_status([("must", Verdict.PASS)], stale=True) is Exit.NOT_CONFORMANT


@pytest.mark.parametrize("verdict", Verdict)
def test_a_report_never_calls_an_unproven_must_conformant(verdict: Verdict) -> None:
    word = standing([("must", Verdict.PASS), ("must", verdict)], complete=True).word

    assert (word == "conformant") == (verdict in CONFORMANT | {Verdict.NOT_APPLICABLE})


def test_a_part_makes_no_statement_but_a_failure_stands() -> None:
    assert standing([("must", Verdict.PASS)], complete=False).word == "no statement"
    assert standing([("must", Verdict.FAIL)], complete=False).word == "not conformant"


def test_a_should_that_was_not_run_leaves_the_whole_conformant() -> None:
    assert standing([("must", Verdict.PASS), ("should", Verdict.UNSUPPORTED)], complete=True).word == "conformant"


def test_departures_and_deviations_are_said_with_their_number() -> None:
    judged = [("should", Verdict.DEPARTS), ("must", Verdict.DEVIATION), ("must", Verdict.DEVIATION)]

    assert str(standing(judged, complete=True)) == "conformant with 1 departure and 2 deviations"  # type: ignore[arg-type]
    assert str(Standing("conformant")) == "conformant"
