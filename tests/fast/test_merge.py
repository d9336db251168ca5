"""Reports of any days and versions stand beside each other, and nothing that is not proven looks so."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.reporting.merge import Column, Matrix, merge
from conformance.reporting.model import DeviationReport, Named
from conformance.verdicts import Verdict
from tests.fast.small_reports import bridge, read, report, rule


def column(matrix: Matrix, label: str) -> Column:
    return next(each for each in matrix.columns if each.bridge.label == label)


def verdicts(matrix: Matrix, label: str) -> dict[str, Verdict]:
    return {name: cell.verdict for name, cell in column(matrix, label).cells.items()}


def said(notes: Iterable[str], *words: str) -> bool:
    return any(all(word in note for word in words) for note in notes)


def test_pi_stands_first_then_bridges_then_hosts() -> None:
    one = report(bridge("h", role="host"), bridge("b"), bridge("p", role="pi"))

    assert [each.bridge.label for each in merge([read(one)]).columns] == ["p", "b", "h"]


def test_one_report_says_nothing_of_merging() -> None:
    assert merge([read(report(bridge("b", rule("a.x"))))]).notes == ()


def test_several_days_and_suites_are_said() -> None:
    old = report(bridge("b", rule("a.x")), day="2026-01-01")
    new = report(bridge("c", rule("a.x")), day="2026-02-01", suite=Named(name="s", version="9"), version=2, digest="b")

    notes = merge([read(new), read(old)]).notes

    assert said(notes, "2 reports", "2 days", "2026-01-01", "2026-02-01")
    assert said(notes, "versions of the suite", "9")
    assert said(notes, "versions of the rules", "1.0, 2.0")
    assert said(notes, "do not all ask the same", "version 2.0")


def test_a_must_that_a_run_did_not_know_yet_is_unproven() -> None:
    old = report(bridge("old", rule("a.x")), day="2026-01-01")
    new = report(bridge("new", rule("a.x"), rule("a.y")), day="2026-02-01", version=2, digest="b")

    before = column(merge([read(old), read(new)]), "old")

    assert before.unproven == ("a.y",)
    assert before.asked("must") == 2
    assert before.proven["must"] == 1
    assert before.standing == "unproven"
    assert before.said == ["conformant (2026-01-01)"]


def test_a_new_rule_is_not_owed_by_whom_it_is_not_asked() -> None:
    old = report(bridge("p", rule("a.x"), role="pi"), day="2026-01-01")
    new = report(bridge("b", rule("a.x"), rule("a.y", relation="bridge")), day="2026-02-01", version=2)

    assert verdicts(merge([read(old), read(new)]), "p")["a.y"] is Verdict.NOT_APPLICABLE


def test_a_rule_that_is_gone_is_shown_as_former_and_counts_for_nobody() -> None:
    old = report(bridge("old", rule("a.x"), rule("a.gone", Verdict.FAIL)), day="2026-01-01")
    new = report(bridge("new", rule("a.x")), day="2026-02-01", version=2, digest="b")

    matrix = merge([read(old), read(new)])

    assert [row.rule.id for row in matrix.rows if row.former] == ["a.gone"]
    assert column(matrix, "old").asked("must") == 1
    assert column(matrix, "old").standing == "conformant"
    assert verdicts(matrix, "new")["a.gone"] is Verdict.NOT_APPLICABLE
    assert said(matrix.notes, "1 rule is", "former")


def test_parts_of_one_implementation_add_up() -> None:
    first = report(bridge("b", rule("a.x"), rule("a.y", Verdict.NOT_RUN)), selection="partial", day="2026-01-01")
    second = report(bridge("b", rule("a.x", Verdict.NOT_RUN), rule("a.y")), selection="partial", day="2026-01-02")

    whole = column(merge([read(first), read(second)]), "b")

    assert {cell.verdict for cell in whole.cells.values()} == {Verdict.PASS}
    assert whole.standing == "conformant"
    assert whole.days == ["2026-01-01", "2026-01-02"]


def test_a_part_alone_makes_no_statement() -> None:
    part = report(bridge("b", rule("a.x"), rule("a.y", Verdict.NOT_RUN)), selection="partial")

    matrix = merge([read(part)])

    assert column(matrix, "b").standing == "no statement"
    assert column(matrix, "b").unproven == ("a.y",)
    assert said(matrix.notes, "only a part")


def test_the_newest_run_counts_whatever_the_order_of_the_files() -> None:
    old = report(bridge("b", rule("a.x")), day="2026-01-01")
    new = report(bridge("b", rule("a.x", Verdict.FAIL)), day="2026-01-02")

    for order in ([old, new], [new, old]):
        assert verdicts(merge(map(read, order)), "b")["a.x"] is Verdict.FAIL


def test_apart_keeps_every_report_in_its_own_column() -> None:
    old, new = (report(bridge("b", rule("a.x")), day=f"2026-01-0{day}") for day in (1, 2))

    assert len(merge([read(old, "1.json"), read(new, "2.json")], apart=True).columns) == 2


def test_another_version_is_another_column() -> None:
    one = report(bridge("b", rule("a.x"), version="1"))
    two = report(bridge("b", rule("a.x"), version="2"))

    assert [each.bridge.implementation.version for each in merge([read(one), read(two)]).columns] == ["1", "2"]


def test_versions_of_one_implementation_stand_side_by_side_and_the_newest_report_leads() -> None:
    old = report(bridge("a", rule("x.x"), version="1"), bridge("b", rule("x.x"), version="1"), day="2026-01-01")
    new = report(bridge("b", rule("x.x"), version="2"), day="2026-01-02")

    columns = merge([read(new), read(old)]).columns

    assert [(each.bridge.label, each.bridge.implementation.version) for each in columns] == [
        ("b", "1"),
        ("b", "2"),
        ("a", "1"),
    ]


def test_a_wrong_answer_has_the_word_of_the_rules_present_level() -> None:
    old = report(bridge("old", rule("a.x", Verdict.DEPARTS, level="should")), day="2026-01-01")
    new = report(bridge("new", rule("a.x")), day="2026-02-01", version=2, digest="b")

    before = column(merge([read(old), read(new)]), "old")

    assert before.cells["a.x"].verdict is Verdict.FAIL
    assert before.cells["a.x"].older
    assert before.standing == "not conformant"
    assert before.older == 1


def test_a_stale_ledger_keeps_the_whole_from_being_conformant() -> None:
    entry = DeviationReport(rule="a.x", reason="r", added="2026-01-01", state="stale", stale="it passes")

    matrix = merge([read(report(bridge("b", rule("a.x"), deviations=[entry])))])

    assert column(matrix, "b").standing == "not conformant"
