"""From one report to the next, nothing that got worse, stopped running or ran less is missed."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import cli
from conformance.reporting.compared import SILENT, TIERS, Comparison, compare, comparison_markdown, comparison_text
from conformance.reporting.model import RuleReport
from conformance.verdicts import Verdict
from tests.fast.small_reports import bridge, proof, read, report, rule, saved


def compared(old: list[RuleReport], new: list[RuleReport]) -> Comparison:
    return compare(
        read(report(bridge("b", *old), day="2026-01-01"), "old.json"),
        read(report(bridge("b", *new), day="2026-01-02"), "new.json"),
    )


def kinds(whole: Comparison) -> list[tuple[str, str]]:
    return [(each.kind, each.rule) for pair in whole.pairs for each in pair.differences]


def test_the_same_twice_is_no_difference() -> None:
    whole = compared([rule("a.x"), rule("a.y", Verdict.FAIL)], [rule("a.x"), rule("a.y", Verdict.FAIL)])

    assert kinds(whole) == []
    assert not whole.back
    assert "no difference" in comparison_text(whole)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (Verdict.PASS, Verdict.FAIL, "worse"),
        (Verdict.PASS, Verdict.DEPARTS, "worse"),
        (Verdict.PASS, Verdict.HARNESS_ERROR, "worse"),
        (Verdict.PASS, Verdict.INCONCLUSIVE, "worse"),
        (Verdict.DEPARTS, Verdict.FAIL, "worse"),
        (Verdict.FAIL, Verdict.PASS, "better"),
        (Verdict.FAIL, Verdict.DEVIATION, "better"),
        (Verdict.PASS, Verdict.NOT_RUN, "no longer runs"),
        (Verdict.PASS, Verdict.UNSUPPORTED, "no longer runs"),
        (Verdict.FAIL, Verdict.NOT_APPLICABLE, "no longer runs"),
        (Verdict.UNSUPPORTED, Verdict.PASS, "runs now"),
        (Verdict.FAIL, Verdict.ABSENT, "another word"),
        (Verdict.PASS, Verdict.UNDECLARED, "another word"),
        (Verdict.NOT_RUN, Verdict.UNSUPPORTED, "another word"),
        (Verdict.NOT_RUN, Verdict.FAIL, "runs now"),
    ],
)
def test_each_move_of_a_verdict_has_its_name(before: Verdict, after: Verdict, kind: str) -> None:
    whole = compared([rule("a.x", before)], [rule("a.x", after)])

    assert kinds(whole) == [(kind, "a.x")]
    assert whole.back is (kind in ("worse", "no longer runs"))


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_can_be_compared(verdict: Verdict) -> None:
    assert any(verdict in tier for tier in (*TIERS, SILENT))
    assert kinds(compared([rule("a.x", verdict)], [rule("a.x", verdict)])) == []


def test_a_rule_with_fewer_examples_is_a_step_back_and_says_which() -> None:
    both = [proof("a.x"), proof("a.x", slug="two")]
    whole = compared([rule("a.x", proofs=both)], [rule("a.x", proofs=both[:1])])

    assert kinds(whole) == [("fewer examples", "a.x")]
    assert whole.back
    assert "2 → 1  a.x--two" in comparison_text(whole)


def test_an_example_that_no_longer_runs_counts_as_gone() -> None:
    before = [proof("a.x"), proof("a.x", slug="two")]
    after = [proof("a.x"), proof("a.x", Verdict.UNSUPPORTED, slug="two")]

    assert kinds(compared([rule("a.x", proofs=before)], [rule("a.x", proofs=after)])) == [("fewer examples", "a.x")]


def test_more_examples_are_no_step_back() -> None:
    both = [proof("a.x"), proof("a.x", slug="two")]
    whole = compared([rule("a.x", proofs=both[:1])], [rule("a.x", proofs=both)])

    assert kinds(whole) == [("more examples", "a.x")]
    assert not whole.back


def test_rules_come_and_go() -> None:
    whole = compared([rule("a.old"), rule("a.silent", Verdict.NOT_RUN)], [rule("a.new", Verdict.FAIL)])

    assert kinds(whole) == [("no longer there", "a.old"), ("new", "a.new")]


def test_an_implementation_that_is_gone_is_a_step_back() -> None:
    old = read(report(bridge("b", rule("a.x")), bridge("c", rule("a.x"))))
    whole = compare(old, read(report(bridge("b", rule("a.x")))))

    assert whole.back
    assert "not in the report" in comparison_text(whole)


def test_the_only_implementations_are_compared_whatever_they_are_called() -> None:
    whole = compare(read(report(bridge("b", rule("a.x")))), read(report(bridge("c", rule("a.x", Verdict.FAIL)))))

    assert kinds(whole) == [("worse", "a.x")]
    assert any("b is compared with c" in note for note in whole.notes)


def test_other_rules_other_suites_and_parts_are_said() -> None:
    old = report(bridge("b", rule("a.x")), day="2026-02-01")
    new = report(bridge("b", rule("a.x")), digest="b" * 64, version=2, selection="partial")

    notes = " ".join(compare(read(old), read(new)).notes)

    for words in ("wrong way round", "do not ask the same: rules 1.0 → 2.0", "was partial"):
        assert words in notes


def test_text_and_markdown_hold_no_controls_and_no_markup() -> None:
    hostile = "<img src=x>`|\x1b[31m\u202e@all"
    worse = rule("a.x", Verdict.FAIL, proofs=[proof("a.x", Verdict.FAIL, message=hostile)])
    whole = compare(read(report(bridge(hostile, rule("a.x")))), read(report(bridge(hostile, worse, version=hostile))))

    text, marked = comparison_text(whole), comparison_markdown(whole)
    assert not {"\x1b", "\u202e"} & {*text, *marked}
    assert "<img" not in marked
    assert "@all" not in marked


def run(tmp_path: Path, *options: str, verdict: Verdict = Verdict.FAIL) -> int:
    saved(tmp_path / "old", report(bridge("b", rule("a.x"))))
    saved(tmp_path / "new", report(bridge("b", rule("a.x", verdict)), day="2026-01-02"))
    return cli.main(["compare", str(tmp_path / "old"), str(tmp_path / "new"), *options])


@pytest.mark.parametrize(
    ("options", "verdict", "status"),
    [
        ([], Verdict.PASS, 0),
        ([], Verdict.FAIL, 1),
        (["--fail=never"], Verdict.FAIL, 0),
        (["--fail=any"], Verdict.UNDECLARED, 1),
        (["--fail=any"], Verdict.PASS, 0),
    ],
)
def test_the_exit_status_is_the_answer(tmp_path: Path, options: list[str], verdict: Verdict, status: int) -> None:
    assert run(tmp_path, *options, verdict=verdict) == status


def test_markdown_can_be_written_and_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, "--markdown", str(tmp_path / "x.md"))
    run(tmp_path, "--markdown", "-")

    assert (tmp_path / "x.md").read_text() in capsys.readouterr().out


def test_what_is_no_report_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", str(tmp_path), str(tmp_path)]) == 4
    assert "Mend: " in capsys.readouterr().err
