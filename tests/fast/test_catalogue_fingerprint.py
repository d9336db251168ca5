"""A rule cannot change its meaning in silence: either its proof changes with it, or someone says why it need not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.catalogue import Catalogue, CatalogueError, Features, compile_features, load_catalogue
from conformance.catalogue.fingerprint import (
    check_current,
    check_fingerprints,
    fingerprints,
    load_fingerprints,
    refresh,
    spec_digest,
)
from tests.fast.small_specs import DEMO, FEATURE, changed, write_features, write_spec

REWORDED = changed(DEMO, "The thing works as it does on Pi.", "The thing works just as on Pi.")


def loaded(folder: Path, demo: str = DEMO, feature: str = FEATURE) -> tuple[Catalogue, Features]:
    return (
        load_catalogue(write_spec(folder, tools__demo=demo)),
        compile_features(write_features(folder, tools__demo=feature)),
    )


def complaints(folder: Path, demo: str = DEMO, feature: str = FEATURE) -> list[str]:
    catalogue, features = loaded(folder, demo, feature)
    stored = load_fingerprints(catalogue.root / "fingerprints.json")
    return [str(problem) for problem in check_fingerprints(catalogue, fingerprints(catalogue, features), stored)]


def marked(demo: str, why: str) -> str:
    return changed(demo, "    kills: [broken]\n", f"    kills: [broken]\n    editorial: {why}\n")


def test_unchanged_rules_are_fine_and_a_refresh_changes_nothing(tmp_path: Path) -> None:
    assert refresh(*loaded(tmp_path))
    assert complaints(tmp_path) == []
    assert not refresh(*loaded(tmp_path))


def test_a_change_of_the_words_alone_is_stopped(tmp_path: Path) -> None:
    refresh(*loaded(tmp_path))
    assert complaints(tmp_path, REWORDED) == [
        "spec/tools/demo.yaml:8: demo.works changed and nothing that proves it did. "
        "Mend: change its scenarios or vectors too, or write editorial: why the meaning is the same."
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("level: should", "level: may"),
        ("on_pi: The thing is done.", "on_pi: The thing is done at once."),
        ("expects: {refusal: says why}", "expects: {refusal: says why not}"),
        ("needs: [native-tools]", "needs: []"),
        ("    mounts: [engine]\n", ""),
    ],
)
def test_each_normative_field_counts(tmp_path: Path, old: str, new: str) -> None:
    refresh(*loaded(tmp_path))
    assert len(complaints(tmp_path, changed(DEMO, old, new))) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("because: The host does not let it be done.", "because: The host forbids that it is done."),
        ("note: in its documentation", "note: in its manual"),
        ("kills: [broken]", "kills: [broken, lazy]"),
    ],
)
def test_reasons_and_evidence_may_be_reworded(tmp_path: Path, old: str, new: str) -> None:
    refresh(*loaded(tmp_path))
    assert complaints(tmp_path, changed(DEMO, old, new)) == []


def test_a_change_that_its_proof_follows_is_fine(tmp_path: Path) -> None:
    refresh(*loaded(tmp_path))
    assert complaints(tmp_path, REWORDED, FEATURE.replace("Then it is done", "Then it is really done")) == []


@pytest.mark.parametrize("argument", ["      | a |\n", '      """\n      text\n      """\n'])
def test_tables_and_texts_of_steps_are_part_of_the_proof(tmp_path: Path, argument: str) -> None:
    feature = changed(FEATURE, "    Given a package\n", "    Given a package\n" + argument)
    refresh(*loaded(tmp_path, feature=feature))
    assert len(complaints(tmp_path, REWORDED, feature)) == 1
    assert complaints(tmp_path, REWORDED, feature.replace("a |", "b |").replace("text", "other text")) == []


def test_a_new_title_is_no_new_proof(tmp_path: Path) -> None:
    refresh(*loaded(tmp_path))
    assert len(complaints(tmp_path, REWORDED, changed(FEATURE, "it works", "it does work"))) == 1


def test_a_vector_row_is_part_of_the_proof(tmp_path: Path) -> None:
    rows = "    vectors: {kind: content, rows: [{case: a, result: 1, answer: 1}]}\n"
    with_rows = changed(DEMO, "    kills: [broken]\n", "    kills: [broken]\n" + rows)
    refresh(*loaded(tmp_path, with_rows))
    reworded = changed(with_rows, "as it does on Pi", "just as on Pi")
    assert len(complaints(tmp_path, reworded)) == 1
    assert complaints(tmp_path, changed(reworded, "answer: 1", "answer: 2")) == []


def test_an_editorial_mark_excuses_one_change_and_is_then_spent(tmp_path: Path) -> None:
    refresh(*loaded(tmp_path))
    first = marked(REWORDED, "only shorter words")
    assert complaints(tmp_path, first) == []
    refresh(*loaded(tmp_path, first))

    second = changed(first, "just as on Pi", "always")
    assert complaints(tmp_path, second) == [
        "spec/tools/demo.yaml:8: demo.works changed again, and its editorial mark was spent on an earlier change. "
        "Mend: write into editorial why this change keeps the meaning, or change the proof too."
    ]
    assert complaints(tmp_path, changed(second, "only shorter words", "shorter again")) == []


def test_a_refresh_does_not_hide_an_unproven_change(tmp_path: Path) -> None:
    refresh(*loaded(tmp_path))
    before = (tmp_path / "spec/fingerprints.json").read_text()
    with pytest.raises(CatalogueError, match="nothing that proves it did"):
        refresh(*loaded(tmp_path, REWORDED))
    assert (tmp_path / "spec/fingerprints.json").read_text() == before


def test_a_stale_file_names_the_rules_and_the_command(tmp_path: Path) -> None:
    refresh(*loaded(tmp_path))
    stored = load_fingerprints(tmp_path / "spec/fingerprints.json")
    assert check_current(fingerprints(*loaded(tmp_path)), stored) == []
    [problem] = check_current(fingerprints(*loaded(tmp_path, changed(DEMO, "level: should", "level: may"))), stored)
    assert str(problem) == (
        "spec/fingerprints.json:1: the file is not up to date (demo.differs). "
        "Mend: run bridge-conformance spec fingerprints and commit the file."
    )


def test_rules_may_come_and_go(tmp_path: Path) -> None:
    assert complaints(tmp_path) == []
    refresh(*loaded(tmp_path))
    assert complaints(tmp_path, DEMO[: DEMO.index("  - id: demo.differs")], FEATURE) == []


def test_the_text_of_a_property_is_part_of_the_proof_where_it_is_given(tmp_path: Path) -> None:
    catalogue, features = loaded(tmp_path)
    registered = {"test_any_program": ["demo.works"]}
    prints = [
        fingerprints(catalogue, features, properties=registered, sources=sources)
        for sources in ({}, {"test_any_program": "one"}, {"test_any_program": "two"})
    ]
    assert len({each.rules["demo.works"].proof for each in prints}) == 3
    assert len({each.rules["demo.differs"].proof for each in prints}) == 1


def test_the_digest_speaks_of_what_is_asked_and_not_of_where_it_stands(tmp_path: Path) -> None:
    digest = spec_digest(*loaded(tmp_path))
    assert len(digest) == 64
    assert spec_digest(*loaded(tmp_path, "# a remark\n" + DEMO)) == digest
    assert spec_digest(*loaded(tmp_path, REWORDED)) != digest
    assert spec_digest(*loaded(tmp_path, feature=changed(FEATURE, "Given a package", "Given two packages"))) != digest


@pytest.mark.parametrize("text", ["", "[]", '{"spec": "x"}', '{"spec": "x", "rules": {"a": {"txt": "y"}}}', "{"])
def test_a_broken_file_is_named_with_its_mend(tmp_path: Path, text: str) -> None:
    path = tmp_path / "fingerprints.json"
    path.write_text(text)
    with pytest.raises(CatalogueError, match=r"the file is not what was generated .* then run bridge-conformance spec"):
        load_fingerprints(path)


def test_the_file_is_sorted_by_rule_for_readable_differences(tmp_path: Path) -> None:
    refresh(*loaded(tmp_path))
    assert list(json.loads((tmp_path / "spec/fingerprints.json").read_text())["rules"]) == [
        "demo.differs",
        "demo.works",
    ]
