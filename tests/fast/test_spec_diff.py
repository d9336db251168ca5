"""A change to the rules is called what it is, with what is behind it, whom it touches and which number must move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import cli
from conformance.catalogue import compile_features, load_catalogue
from conformance.catalogue.diff import Change, Diff, Side, diff
from conformance.catalogue.released import load_released
from conformance.reporting.review import MARK, affected, review, review_json, review_markdown
from conformance.verdicts import Verdict
from tests.fast.small_reports import bridge, read, report, rule, saved
from tests.fast.small_specs import DEMO, FEATURE, INDEX, changed, write_features, write_spec

WORKS = "text: The thing works as it does on Pi."
SECOND = """\
  - id: demo.stays
    level: must
    relation: same
    text: Another thing stays where it was put.
    needs: []
    kills: [moved]
    evidence: [{on: pi 0.84.1, how: observed}]
    since: 1
"""
STAYS = """
  @rule:demo.stays
  Scenario: it stays
    When the other thing is put somewhere
    Then it is there
"""


def state(folder: Path, demo: str = DEMO, feature: str = FEATURE, index: str = INDEX, released: str = "") -> Side:
    spec = write_spec(folder, index=index, tools__demo=demo)
    if released:
        (spec / "released.txt").write_text(released)
    features = write_features(folder, tools__demo=feature)
    return Side(folder.name, load_catalogue(spec), compile_features(features), load_released(spec))


def between(tmp_path: Path, demo: str = DEMO, feature: str = FEATURE, **rest: str) -> Diff:
    """From the tiny rules to the tiny rules with one change."""
    return diff(state(tmp_path / "base"), state(tmp_path / "head", demo, feature, **rest))


def only(found: Diff) -> Change:
    (change,) = found.changes
    return change


def test_nothing_changed_is_nothing(tmp_path: Path) -> None:
    found = between(tmp_path)

    assert found.changes == ()
    assert found.part == "nothing"
    assert found.moved_enough


# --- the three changes every reviewer must see ------------------------------------------------------------------------


def test_a_must_that_became_a_should_is_weakened(tmp_path: Path) -> None:
    found = between(tmp_path, changed(DEMO, "level: must", "level: should"))
    change = only(found)

    assert change.kinds == ("weakened",)
    assert (change.before and change.before.level, change.after and change.after.level) == ("must", "should")
    assert change.proofs.scenarios == ("test_demo.works “it works”",)
    assert change.proofs.mutants == ("broken",)
    assert found.part == "revision"
    text = review_markdown(review(found, []))
    assert "## Rules: 1 weakened" in text
    assert "must → should" in text


def test_another_sentence_is_re_worded_and_not_editorial(tmp_path: Path) -> None:
    found = between(tmp_path, changed(DEMO, WORKS, "text: The thing works as it does on Pi, and at once."))
    change = only(found)

    assert change.kinds == ("re-worded",)
    assert not change.editorial
    assert found.part == "version"
    assert any("nothing that proves it did" in remark for remark in change.remarks)
    text = review_markdown(review(found, []))
    assert "The thing works as it does on <del>Pi.</del> <ins>Pi, and at once.</ins>" in text


def test_a_rule_that_is_gone_is_removed_with_what_was_behind_it(tmp_path: Path) -> None:
    base = state(tmp_path / "base", DEMO + SECOND, FEATURE + STAYS)
    found = diff(base, state(tmp_path / "head"))
    change = only(found)

    assert change.kinds == ("removed",)
    assert change.proofs.scenarios == ("test_demo.stays “it stays”",)
    assert change.proofs.mutants == ("moved",)
    assert found.part == "version"
    assert "<del>Another thing stays where it was put.</del>" in review_markdown(review(found, []))


# --- the other kinds --------------------------------------------------------------------------------------------------


def test_an_editorial_mark_makes_a_sentence_editorial(tmp_path: Path) -> None:
    words = "text: As on Pi, the thing works.\n    editorial: the same in fewer words"
    change = only(between(tmp_path, changed(DEMO, WORKS, words)))

    assert change.kinds == ("re-worded",)
    assert change.editorial
    assert change.part == "revision"
    assert "It says of itself: the same in fewer words" in change.remarks


def test_punctuation_alone_is_editorial_without_a_mark(tmp_path: Path) -> None:
    change = only(between(tmp_path, changed(DEMO, WORKS, "text: the thing works, as it does on pi")))

    assert change.editorial
    assert change.part == "revision"


def test_an_editorial_mark_on_a_weaker_rule_does_not_hold(tmp_path: Path) -> None:
    demo = changed(DEMO, "level: must", "level: should\n    editorial: only words")
    found = between(tmp_path, changed(demo, WORKS, "text: The thing mostly works as it does on Pi."))

    assert not only(found).editorial
    assert "weakened" in only(found).kinds
    assert any("marked editorial" in sentence for sentence in review(found, []).broken)


def test_editorial_words_whose_proof_moved_are_pointed_out(tmp_path: Path) -> None:
    demo = changed(DEMO, WORKS, "text: As on Pi, the thing works.\n    editorial: the same in fewer words")
    change = only(between(tmp_path, demo, FEATURE.replace("Then it is done", "Then it is done well", 1)))

    assert change.editorial
    assert any("its proofs changed with it" in remark for remark in change.remarks)


def test_a_new_must_moves_the_version_and_a_new_may_the_revision(tmp_path: Path) -> None:
    must = between(tmp_path / "1", DEMO + SECOND, FEATURE + STAYS)
    may = between(tmp_path / "2", DEMO + SECOND.replace("level: must", "level: may"), FEATURE + STAYS)

    assert only(must).kinds == only(may).kinds == ("added",)
    assert (must.part, may.part) == ("version", "revision")


def test_a_should_that_became_a_must_is_strengthened(tmp_path: Path) -> None:
    found = between(tmp_path, changed(DEMO, "level: should", "level: must"))

    assert only(found).kinds == ("strengthened",)
    assert found.part == "version"


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("needs: [native-tools]", "needs: []", "strengthened"),
        ("needs: []", "needs: [exec]", "weakened"),
        ("    mounts: [engine]\n", "", "strengthened"),
        ("mounts: [engine]", "mounts: [engine, root]", "strengthened"),
        ("mounts: [engine]", "mounts: [root]", "changed"),
        ("refusal: says why", "refusal: says who", "changed"),
        ("on_pi: The thing is done.", "on_pi: The thing is done twice.", "changed"),
        ("kills: [broken]", "kills: [broken, torn]", "annotated"),
        ("because: The host does not let it be done.", "because: The host forbids it.", "annotated"),
    ],
)
def test_each_field_counts_for_what_it_decides(tmp_path: Path, old: str, new: str, kind: str) -> None:
    assert only(between(tmp_path, changed(DEMO, old, new))).kinds == (kind,)


def test_remarks_alone_move_nothing(tmp_path: Path) -> None:
    assert between(tmp_path, changed(DEMO, "kills: [broken]", "kills: [broken, torn]")).part == "nothing"


def test_a_new_id_on_the_same_sentence_is_renamed(tmp_path: Path) -> None:
    demo, feature = DEMO.replace("demo.works", "demo.runs"), FEATURE.replace("demo.works", "demo.runs")
    change = only(between(tmp_path, demo, feature))

    assert change.kinds == ("renamed",)
    assert (change.old_id, change.id) == ("demo.works", "demo.runs")
    assert not change.proofs.moved
    assert change.part == "version"


def test_a_renamed_rule_is_known_by_its_sentence_where_its_proof_changed_too(tmp_path: Path) -> None:
    demo = DEMO.replace("demo.works", "demo.runs").replace(WORKS, f"{WORKS[:-1]} does.")
    feature = FEATURE.replace("demo.works", "demo.runs").replace("Then it is done", "Then it is done well", 1)

    assert only(between(tmp_path, demo, feature)).kinds == ("renamed", "re-worded")


def test_another_rule_in_its_place_is_no_renaming(tmp_path: Path) -> None:
    head = DEMO[: DEMO.index("  - id: demo.works")] + SECOND + DEMO[DEMO.index("  - id: demo.differs") :]
    steps = (
        FEATURE[: FEATURE.index("  @rule:demo.works")] + STAYS + FEATURE[FEATURE.index("  @rule:demo.differs @on:b") :]
    )
    found = between(tmp_path, head, steps)

    assert [(change.kind, change.id) for change in found.changes] == [
        ("removed", "demo.works"),
        ("added", "demo.stays"),
    ]


def test_a_rule_may_be_renamed_and_weakened_at_once(tmp_path: Path) -> None:
    demo = changed(DEMO.replace("demo.works", "demo.runs"), "level: must", "level: may")
    change = only(between(tmp_path, demo, FEATURE.replace("demo.works", "demo.runs")))

    assert change.kinds == ("renamed", "weakened")


def test_an_id_on_another_sentence_is_re_used(tmp_path: Path) -> None:
    demo = changed(DEMO, WORKS, "text: Colours of a prompt follow what its reader prefers.")
    found = between(tmp_path, demo, FEATURE.replace("Then it is done", "Then it is green", 1))

    assert only(found).kind == "re-used"
    assert any("give the new rule an id of its own" in sentence for sentence in review(found, []).broken)


def test_other_steps_under_the_same_sentence_are_proven_otherwise(tmp_path: Path) -> None:
    change = only(between(tmp_path, feature=FEATURE.replace("Then it is done", "Then it is done well", 1)))

    assert change.kinds == ("proven otherwise",)
    assert change.proofs.changed == ("test_demo.works",)
    assert change.part == "revision"


def test_a_title_is_no_proof(tmp_path: Path) -> None:
    assert between(tmp_path, feature=changed(FEATURE, "Scenario: it works", "Scenario: it does work")).changes == ()


# --- versions and released ids ----------------------------------------------------------------------------------------

RELEASED = "release 2.0\ndemo.works\ndemo.differs\n"


@pytest.mark.parametrize(
    ("index", "enough"), [("version: 2", False), ("version: 2\nrevision: 1", False), ("version: 3", True)]
)
def test_a_version_that_did_not_move_is_broken_once_there_was_a_release(
    tmp_path: Path, index: str, enough: bool
) -> None:
    base = state(tmp_path / "base", released=RELEASED)
    demo = changed(DEMO, "level: should", "level: must")
    head = state(tmp_path / "head", demo, index=changed(INDEX, "version: 2", index), released=RELEASED)
    found = diff(base, head)

    assert found.wanted == (3, 0)
    assert found.moved_enough is enough
    assert any("must move to 3.0" in sentence for sentence in review(found, []).broken) is not enough


def test_a_version_that_moved_since_the_release_need_not_move_again(tmp_path: Path) -> None:
    index = changed(INDEX, "version: 2", "version: 3")
    base = state(tmp_path / "base", index=index, released=RELEASED)
    head = state(tmp_path / "head", DEMO + SECOND, FEATURE + STAYS, index=index, released=RELEASED)

    assert diff(base, head).wanted == (3, 0)
    assert diff(base, head).moved_enough
    weaker = state(tmp_path / "weaker", changed(DEMO, "level: must", "level: should"), index=index, released=RELEASED)
    assert diff(base, weaker).wanted == (3, 0)


def test_before_the_first_release_the_number_is_advice(tmp_path: Path) -> None:
    found = between(tmp_path, changed(DEMO, "level: should", "level: must"))

    assert not found.moved_enough
    assert review(found, []).broken == ()
    assert "must move to 3.0" in review_markdown(review(found, []))


def test_a_released_rule_that_is_gone_without_a_word_is_broken(tmp_path: Path) -> None:
    released = RELEASED + "demo.stays\n"
    base = state(tmp_path / "base", DEMO + SECOND, FEATURE + STAYS, released=released)
    index = changed(INDEX, "version: 2", "version: 3")

    silent = diff(base, state(tmp_path / "silent", index=index, released=released))
    erased = diff(base, state(tmp_path / "erased", index=index, released=RELEASED))
    said = diff(base, state(tmp_path / "said", index=index, released=RELEASED + "demo.stays gone 3\n"))

    assert any("demo.stays is no longer there" in sentence for sentence in review(silent, []).broken)
    assert any("lost the line of demo.stays" in sentence for sentence in review(erased, []).broken)
    assert review(said, []).broken == ()


# --- shipped reports --------------------------------------------------------------------------------------------------


def touched(found: Diff, *rules: Any) -> list[tuple[str, str, str]]:
    one = read(report(bridge("mine", *rules)))
    return [(each.rule, each.before, each.after) for each in affected(found, [one])]


def test_a_weaker_rule_changes_the_word_for_a_wrong_answer_only(tmp_path: Path) -> None:
    found = between(tmp_path, changed(DEMO, "level: must", "level: should"))

    assert touched(found, rule("demo.works", Verdict.FAIL)) == [("demo.works", "fail", "departs")]
    assert touched(found, rule("demo.works")) == []
    assert touched(found, rule("demo.works", Verdict.NOT_APPLICABLE)) == []


def test_another_sentence_puts_every_verdict_in_doubt(tmp_path: Path) -> None:
    found = between(tmp_path, changed(DEMO, WORKS, "text: The thing works as it does on Pi, and at once."))

    assert touched(found, rule("demo.works")) == [("demo.works", "pass", "may change")]


def test_editorial_words_touch_nobody(tmp_path: Path) -> None:
    words = "text: As on Pi, the thing works.\n    editorial: the same in fewer words"

    assert touched(between(tmp_path, changed(DEMO, WORKS, words)), rule("demo.works", Verdict.FAIL)) == []


def test_a_removed_rule_is_no_longer_asked_and_a_new_must_is_unproven(tmp_path: Path) -> None:
    small, large = state(tmp_path / "small"), state(tmp_path / "large", DEMO + SECOND, FEATURE + STAYS)

    assert touched(diff(large, small), rule("demo.stays")) == [("demo.stays", "pass", "no longer asked")]
    assert touched(diff(small, large)) == [("demo.stays", "–", "unproven until it runs again")]


def test_reports_know_a_renamed_rule_by_its_old_id(tmp_path: Path) -> None:
    demo, feature = DEMO.replace("demo.works", "demo.runs"), FEATURE.replace("demo.works", "demo.runs")

    assert touched(between(tmp_path, demo, feature), rule("demo.works")) == [
        ("demo.runs", "pass", "known there as demo.works")
    ]


# --- the command ------------------------------------------------------------------------------------------------------


def compared(tmp_path: Path, *options: str, demo: str = DEMO) -> int:
    state(tmp_path / "base")
    state(tmp_path / "head", demo)
    return cli.main(["spec", "diff", str(tmp_path / "base"), str(tmp_path / "head"), *options])


@pytest.mark.parametrize(("policy", "status"), [("none", 0), ("released", 0), ("additive", 1), ("editorial", 1)])
def test_the_exit_status_follows_the_policy(tmp_path: Path, policy: str, status: int) -> None:
    weaker = changed(DEMO, "level: must", "level: should")

    assert compared(tmp_path, f"--policy={policy}", "--json", str(tmp_path / "x.json"), demo=weaker) == status


def test_editorial_words_pass_the_strictest_policy(tmp_path: Path) -> None:
    words = "text: As on Pi, the thing works.\n    editorial: the same in fewer words"

    assert compared(tmp_path, "--policy=editorial", demo=changed(DEMO, WORKS, words)) == 0


def test_it_prints_markdown_with_the_mark_of_its_comment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(tmp_path) == 0

    assert capsys.readouterr().out.startswith(f"{MARK}\n## Rules: nothing changed")


def test_the_json_holds_what_the_text_holds(tmp_path: Path) -> None:
    saved(tmp_path / "reports", report(bridge("mine", rule("demo.works", Verdict.FAIL))))
    weaker = changed(DEMO, "level: must", "level: should")

    compared(tmp_path, "--json", str(tmp_path / "x.json"), "--reports", str(tmp_path / "reports"), demo=weaker)

    made = json.loads((tmp_path / "x.json").read_text())
    assert made["part"] == "revision"
    assert made["wanted"] == "2.1"
    assert made["changes"][0]["kinds"] == ["weakened"]
    assert made["changes"][0]["mutants"] == ["broken"]
    assert made["affected"][0]["after"] == "departs"


def test_rules_that_do_not_load_are_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state(tmp_path / "base")
    write_spec(tmp_path / "head", tools__demo=changed(DEMO, "level: must", "level: shall"))

    assert cli.main(["spec", "diff", str(tmp_path / "base"), str(tmp_path / "head")]) == 4
    assert "spec/tools/demo.yaml:9" in capsys.readouterr().err


def test_what_is_neither_a_folder_nor_a_revision_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["spec", "diff", "no-such-revision"]) == 4
    assert "Mend: " in capsys.readouterr().err


def test_a_rule_cannot_put_markup_into_the_comment(tmp_path: Path) -> None:
    demo = changed(DEMO, WORKS, "text: The <img src=x onerror=alert(1)> [works](http://x) @all as it does on Pi.")

    text = review_markdown(review(between(tmp_path, demo), []))

    assert "<img" not in text
    assert "](" not in text
    assert "@all" not in text
    assert json.loads(review_json(review(between(tmp_path / "x", demo), [])))["changes"]
