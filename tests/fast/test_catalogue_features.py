"""Features become named pickles, and what pytest-bdd would drop or skip in silence is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue import compile_features, load_catalogue
from conformance.catalogue.features import Step, lint
from tests.fast.small_specs import FEATURE, changed, write_features, write_spec

OUTLINE = """\
Feature: demo
  @rule:demo.works
  Scenario Outline: it works with <what>
    When the thing is done with "<what>"
      | with   |
      | <what> |
    Then it says
      \"\"\"
      <what>
      \"\"\"

    Examples:
      | what |
      | one  |
      | two  |
"""


def complaints(folder: Path, feature: str, name: str = "tools__demo") -> list[str]:
    features = compile_features(write_features(folder, **{name: feature}))
    catalogue = load_catalogue(write_spec(folder))
    return [str(problem) for problem in sorted({*features.problems, *lint(features, catalogue)})]


def items(folder: Path, feature: str) -> list[str]:
    return [pickle.item for pickle in compile_features(write_features(folder, tools__demo=feature)).pickles]


def test_a_whole_feature_has_nothing_wrong(tmp_path: Path) -> None:
    assert complaints(tmp_path, FEATURE) == []


def test_a_pickle_knows_its_rule_its_side_and_its_place(tmp_path: Path) -> None:
    root = write_features(tmp_path)

    works, bridge, pi = compile_features(root).pickles

    assert (works.rule_id, works.side, works.where) == ("demo.works", None, "features/tools/demo.feature:7")
    assert (bridge.side, pi.side) == ("bridge", "pi")
    assert works.path == root.resolve() / "tools/demo.feature"
    assert works.surface == "demo"
    assert works.steps[:2] == (Step("a package", 4), Step("the thing is done", 8))


def test_each_row_of_an_outline_is_a_pickle_with_its_values_put_in(tmp_path: Path) -> None:
    one, two = compile_features(write_features(tmp_path, tools__demo=OUTLINE)).pickles

    assert (one.row, one.line, two.row, two.line) == (1, 14, 2, 15)
    assert (two.scenario, two.name, two.values) == ("it works with <what>", "it works with two", {"what": "two"})
    assert two.steps == (
        Step('the thing is done with "two"', 4, table=(("with",), ("two",))),
        Step("it says", 7, docstring="two"),
    )


def test_items_are_named_after_rules_and_never_after_titles(tmp_path: Path) -> None:
    named = ["test_demo.works", "test_demo.differs", "test_demo.differs--pi"]
    assert items(tmp_path, FEATURE) == named
    assert items(tmp_path, changed(FEATURE, "it works", "another title")) == named


def test_further_items_of_a_rule_are_counted_or_named_by_their_case(tmp_path: Path) -> None:
    more = FEATURE + "".join(
        f"\n  @rule:{tags}\n  Scenario: {title}\n    Then it is done\n"
        for title, tags in [
            ("more", "demo.works"),
            ("named", "demo.works @case:with-nothing"),
            ("more on Pi", "demo.differs @on:pi"),
            ("named on Pi", "demo.differs @on:pi @case:with-nothing"),
        ]
    )
    assert items(tmp_path, more)[3:] == [
        "test_demo.works--2",
        "test_demo.works--with-nothing",
        "test_demo.differs--pi-2",
        "test_demo.differs--pi-with-nothing",
    ]


def test_rows_are_counted_within_their_case(tmp_path: Path) -> None:
    assert items(tmp_path, OUTLINE) == ["test_demo.works", "test_demo.works--2"]
    assert items(tmp_path, changed(OUTLINE, "@rule:demo.works", "@rule:demo.works @case:kinds")) == [
        "test_demo.works--kinds",
        "test_demo.works--kinds-2",
    ]


def test_a_tag_of_a_rule_block_holds_for_its_scenarios(tmp_path: Path) -> None:
    block = "Feature: demo\n  @rule:demo.works\n  Rule: one\n    Example: it works\n      Then it is done\n"
    assert complaints(tmp_path, block) == []
    assert items(tmp_path, block) == ["test_demo.works"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  @rule:demo.works\n", "", "6: the scenario “it works” names no rule. Mend: add @rule:<rule id>."),
        (
            "@rule:demo.works",
            "@rule:demo.works @rule:demo.differs @on:bridge",
            "7: the scenario “it works” names more than one rule (rule:demo.works, rule:demo.differs). "
            "Mend: keep one @rule: tag and write a scenario for each other rule.",
        ),
        (
            "@rule:demo.works",
            "@rule:demo.work",
            "6: the scenario “it works” names the unknown rule 'demo.work'. "
            "Mend: correct the tag; did you mean demo.works, or write the rule.",
        ),
        (
            "@rule:demo.works",
            "@rule:demo.works @on:pi",
            "6: the scenario “it works” names a side, and demo.works has none (relation same, at "
            "spec/tools/demo.yaml:8). Mend: drop @on:pi, or make the rule differ.",
        ),
        (
            "@rule:demo.differs @on:pi",
            "@rule:demo.differs",
            "17: the scenario “Pi does it” proves demo.differs, which differs from Pi, and names no side. "
            "Mend: give it exactly one of @on:pi and @on:bridge.",
        ),
        (
            "@rule:demo.differs @on:pi",
            "@rule:demo.differs @on:pi @on:bridge",
            "17: the scenario “Pi does it” proves demo.differs, which differs from Pi, and names two sides. "
            "Mend: give it exactly one of @on:pi and @on:bridge.",
        ),
        (
            "Scenario: Pi does it",
            "Scenario: it works",
            "17: a scenario called “it works” is already at line 7; only one of them would run. "
            "Mend: rename one of them, also where they stand under different Rule: blocks.",
        ),
        (
            "@rule:demo.works",
            "@rule:demo.works @wip",
            "6: @wip is not a tag of this suite. Mend: use one of @rule:, @on:, @case: or @slow.",
        ),
        (
            "@rule:demo.works",
            "@rule:demo.works @slowly",
            "6: @slowly is not a tag of this suite; did you mean @slow. "
            "Mend: use one of @rule:, @on:, @case: or @slow.",
        ),
        ("@rule:demo.works", "@rule:demo.works @case:A_b", "6: @case:A_b is not a slug. "
         "Mend: write it in lower case with hyphens."),
        (
            "Scenario: it works\n    When the thing is done\n    Then it is done\n",
            "Scenario: it works\n",
            "7: the scenario “it works” has no steps and would pass. Mend: write its steps, or delete it.",
        ),
        ("Scenario: it works\n", "Scenario:\n", "7: the scenario has no title. "
         "Mend: say in a few words what the example shows."),
        (
            "    Given a package\n",
            "    a package\n  Given a package\n  | a |\n  | a | b |\n",
            "7: this is not Gherkin (inconsistent cell count within the table). "
            "Mend: start each line with a keyword, a tag, a | or a #.",
        ),
    ],
)  # fmt: skip
def test_a_broken_feature_is_rejected_where_it_is_broken(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert complaints(tmp_path, changed(FEATURE, old, new)) == [f"features/tools/demo.feature:{message}"]


def test_a_side_that_is_none_is_rejected(tmp_path: Path) -> None:
    assert "features/tools/demo.feature:16: @on:Pi is no side. Mend: write @on:pi or @on:bridge." in complaints(
        tmp_path, changed(FEATURE, "@on:pi", "@on:Pi")
    )


def test_one_title_under_two_rule_blocks_is_one_too_many(tmp_path: Path) -> None:
    block = "  Rule: {0}\n    @rule:demo.works\n    Scenario: it works\n      Then it is done\n"
    assert complaints(tmp_path, "Feature: demo\n" + block.format("a") + block.format("b")) == [
        "features/tools/demo.feature:8: a scenario called “it works” is already at line 4; only one of them would run. "
        "Mend: rename one of them, also where they stand under different Rule: blocks."
    ]


def test_a_tag_on_examples_is_rejected(tmp_path: Path) -> None:
    tagged = changed(OUTLINE, "    Examples:\n", "    @slow\n    Examples:\n")
    assert complaints(tmp_path, tagged) == [
        "features/tools/demo.feature:12: @slow stands on Examples:, where pytest-bdd does not apply it. "
        "Mend: move it to the scenario, or split the scenario."
    ]


def test_an_outline_without_rows_is_rejected(tmp_path: Path) -> None:
    assert complaints(tmp_path, changed(OUTLINE, "      | one  |\n      | two  |\n", "")) == [
        "features/tools/demo.feature:12: the Examples: of “it works with <what>” have no row and would run nothing. "
        "Mend: write a row."
    ]


def test_an_outline_is_complained_about_once_for_all_its_rows(tmp_path: Path) -> None:
    assert len(complaints(tmp_path, changed(OUTLINE, "  @rule:demo.works\n", ""))) == 1


def test_a_feature_is_named_after_its_surface(tmp_path: Path) -> None:
    problems = complaints(tmp_path, FEATURE, name="tools__demos")
    assert problems[0] == (
        "features/tools/demos.feature:1: no surface is called tools/demos. "
        "Mend: name the file after a surface; did you mean tools/demo."
    )


def test_a_scenario_stands_in_the_feature_of_its_rule(tmp_path: Path) -> None:
    features = compile_features(write_features(tmp_path, tools__demo=FEATURE, tools__other=FEATURE))
    problems = [str(problem) for problem in lint(features, load_catalogue(write_spec(tmp_path)))]
    assert (
        "features/tools/other.feature:6: the scenario “it works” proves demo.works in the feature of other. "
        "Mend: move it to the feature of demo." in problems
    )


@pytest.mark.parametrize("text", ["", "# only a remark\n"])
def test_a_file_without_a_feature_is_rejected(tmp_path: Path, text: str) -> None:
    assert complaints(tmp_path, text) == [
        "features/tools/demo.feature:1: the file holds no feature. Mend: write one, or delete the file."
    ]


def test_a_file_that_is_not_utf_8_is_rejected(tmp_path: Path) -> None:
    root = write_features(tmp_path)
    (root / "tools/demo.feature").write_bytes(b"Feature: caf\xe9\n")
    assert [str(problem) for problem in compile_features(root).problems] == [
        "features/tools/demo.feature:1: the file is not UTF-8. Mend: save it as UTF-8."
    ]
