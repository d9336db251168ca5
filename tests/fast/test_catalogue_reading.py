"""What people read and ask for: the coverage page, one rule explained, and selectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue import Catalogue, Features, UnknownNameError, compile_features, load_catalogue
from conformance.catalogue.coverage import coverage, write_coverage
from conformance.catalogue.explain import explain
from conformance.catalogue.selection import select
from tests.fast.small_specs import DEMO, INDEX, SEAM, changed, write_features, write_spec

VECTORS = "    vectors: {kind: content, rows: [{case: a, result: 1, answer: 1}]}\n"


def loaded(folder: Path) -> tuple[Catalogue, Features]:
    demo = changed(DEMO, "    kills: [broken]\n", "    kills: [broken]\n" + VECTORS)
    index = changed(INDEX, "seams: []", "seams: [host/waterfalls.yaml]")
    return (
        load_catalogue(write_spec(folder, index=index, tools__demo=demo, host__waterfalls=SEAM)),
        compile_features(write_features(folder)),
    )


def test_coverage_counts_rules_by_level_and_proofs_by_kind(tmp_path: Path) -> None:
    both = ["demo.works", "demo.differs"]
    page = coverage(*loaded(tmp_path), properties={"test_any_program": both}, invariants={"once": both})

    assert "Spec version 2, 3 rules." in page
    assert (
        "| [`demo`](tools/demo.yaml) | api | mapped, difference stated | 1 | 1 | 0 | "
        "3 scenarios, 1 vector, 1 property, 1 invariant | 1 |"
    ) in page
    assert "| [`waterfalls`](host/waterfalls.yaml) | seam | – | 1 | 0 | 0 | – | 0 |" in page
    assert (
        "- `demo.differs` (should): The thing is refused with a reason. On Pi: The thing is done. "
        "Because: The host does not let it be done."
    ) in page


def test_coverage_is_written_only_where_it_changed(tmp_path: Path) -> None:
    catalogue, features = loaded(tmp_path)
    assert write_coverage(catalogue, features)
    assert not write_coverage(catalogue, features)
    assert (tmp_path / "spec/COVERAGE.md").read_text(encoding="utf-8") == coverage(catalogue, features)
    assert {path.name for path in (tmp_path / "spec").iterdir()} == {"COVERAGE.md", "host", "index.yaml", "tools"}


def test_a_rule_is_explained_whole(tmp_path: Path) -> None:
    text = explain("demo.differs", *loaded(tmp_path))

    for line in [
        "The thing is refused with a reason.",
        "level     should",
        "rule at   spec/tools/demo.yaml:17",
        "source    tools#demo-api (A table)",
        "on Pi     The thing is done.",
        "because   The host does not let it be done.",
        "refusal   says why",
        "needs     native-tools",
        "mounts    only engine",
        "evidence  observed on pi 0.84.1",
        "          read on dsh 0.1.0-rc.8 (in its documentation)",
        "scenario  a bridge refuses [bridge], features/tools/demo.feature:12",
        "          Pi does it [pi], features/tools/demo.feature:17",
        "kills     no mutant",
    ]:
        assert line in text.splitlines()


def test_an_explanation_names_vectors_properties_and_invariants(tmp_path: Path) -> None:
    both = {"properties": {"test_any_program": ["demo.works"]}, "invariants": {"once": ["demo.works"]}}
    text = explain("demo.works", *loaded(tmp_path), **both)
    assert "vectors    1 of kind content in spec/tools/demo.yaml" in text
    assert "property   test_any_program" in text
    assert "invariant  once" in text
    assert "kills      broken" in text


def test_an_unproven_rule_says_so(tmp_path: Path) -> None:
    assert "proof     none yet" in explain("waterfalls.ask-in-order", *loaded(tmp_path))


def test_explaining_an_unknown_rule_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"no rule is called 'demo\.difers'; did you mean demo\.differs\?"):
        explain("demo.difers", *loaded(tmp_path))


@pytest.mark.parametrize(
    ("named", "ids"),
    [
        ({}, ["demo.works", "demo.differs", "waterfalls.ask-in-order"]),
        ({"rules": ["demo.differs", "demo.works"]}, ["demo.works", "demo.differs"]),
        ({"rules": ["*.differs", "water*"]}, ["demo.differs", "waterfalls.ask-in-order"]),
        ({"surfaces": ["d*"]}, ["demo.works", "demo.differs"]),
        ({"surfaces": ["demo"], "levels": ["must"]}, ["demo.works"]),
        ({"levels": ["should", "must"]}, ["demo.works", "demo.differs", "waterfalls.ask-in-order"]),
        ({"levels": ["may"]}, []),
        ({"surfaces": ["demo"], "rules": ["waterfalls.*"]}, []),
    ],
)
def test_selectors_of_one_kind_add_up_and_kinds_narrow(
    tmp_path: Path, named: dict[str, list[str]], ids: list[str]
) -> None:
    assert [rule.id for rule in select(loaded(tmp_path)[0], **named)] == ids


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"rules": ["demo.works", "demo.work"]}, "no rule is called 'demo.work'; did you mean demo.works?"),
        ({"rules": ["dem.*"]}, "no rule is called 'dem.*'"),
        ({"surfaces": ["Demo"]}, "no surface is called 'Demo'; did you mean demo?"),
        ({"levels": ["most"]}, "no level is called 'most'; did you mean must?"),
    ],
)
def test_a_selector_that_matches_nothing_is_an_error_with_near_names(
    tmp_path: Path, named: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(UnknownNameError) as caught:
        select(loaded(tmp_path)[0], **named)
    assert str(caught.value).startswith(message)
