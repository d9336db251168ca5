"""Ids of released rules go on meaning one rule: none vanishes without a word, none comes back as another."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue import CatalogueError, check, compile_features, load_catalogue
from conformance.catalogue.model import Catalogue
from conformance.catalogue.released import check_released, load_released, release
from tests.fast.small_specs import INDEX, changed, write_features, write_spec


def catalogue(folder: Path, released: str = "", index: str = INDEX) -> Catalogue:
    spec = write_spec(folder, index=index)
    if released:
        (spec / "released.txt").write_text(released)
    return load_catalogue(spec)


def wrong(folder: Path, released: str) -> list[str]:
    return [str(problem) for problem in check_released(catalogue(folder, released))]


def test_what_was_never_released_may_go(tmp_path: Path) -> None:
    assert wrong(tmp_path, "") == []


def test_a_released_rule_that_is_gone_is_refused_with_its_line(tmp_path: Path) -> None:
    (problem,) = wrong(tmp_path, "# words\nrelease 1.0\ndemo.works\ndemo.worked\n")

    assert problem.startswith("spec/released.txt:4: the released rule demo.worked is no longer there")
    assert "did you mean demo.works" in problem
    assert "demo.worked gone 2" in problem


def test_a_rule_that_was_given_up_may_be_gone(tmp_path: Path) -> None:
    assert wrong(tmp_path, "release 1.0\ndemo.works\ndemo.worked gone 2\n") == []


def test_the_id_of_a_given_up_rule_is_not_used_again(tmp_path: Path) -> None:
    (problem,) = wrong(tmp_path, "release 1.0\ndemo.works gone 2\n")

    assert "demo.works was given up in version 2" in problem
    assert "spec/tools/demo.yaml:8" in problem


def test_nothing_is_given_up_in_a_version_that_is_not_there_yet(tmp_path: Path) -> None:
    assert "goes in version 3" in wrong(tmp_path, "release 1.0\ndemo.worked gone 3\n")[0]


@pytest.mark.parametrize("line", ["demo.works soon", "Demo Works", "release one", "demo.works gone soon"])
def test_a_line_that_means_nothing_is_refused(tmp_path: Path, line: str) -> None:
    (problem,) = wrong(tmp_path, f"{line}\n")

    assert "is no line of this file" in problem


def test_an_id_stands_there_once(tmp_path: Path) -> None:
    assert "already stands at line 1" in wrong(tmp_path, "demo.works\ndemo.works gone 2\n")[0]


def test_the_static_gate_knows_of_it(tmp_path: Path) -> None:
    rules = catalogue(tmp_path, "release 1.0\ndemo.worked\n")
    found = check(rules, compile_features(write_features(tmp_path)))

    assert [problem.file for problem in found] == ["spec/released.txt"]


def test_a_release_notes_its_version_and_the_new_ids(tmp_path: Path) -> None:
    rules = catalogue(tmp_path, "# words\nrelease 1.0\ndemo.works\n")

    assert release(rules)

    assert (rules.root / "released.txt").read_text() == (
        "# words\nrelease 1.0\ndemo.works\nrelease 2.0\ndemo.differs\n"
    )
    assert load_released(rules.root).latest == (2, 0)
    assert not release(rules)


def test_a_version_is_released_once(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"raise version or revision"):
        release(catalogue(tmp_path, "release 2.0\ndemo.works\n"))


def test_a_revision_can_be_released(tmp_path: Path) -> None:
    rules = catalogue(tmp_path, "release 2.0\ndemo.works\n", changed(INDEX, "version: 2", "version: 2\nrevision: 1"))

    assert release(rules)
    assert load_released(rules.root).latest == (2, 1)


def test_the_projects_own_released_ids_hold() -> None:
    assert list(check_released(load_catalogue())) == []
