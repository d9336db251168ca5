"""The gate between rules and proofs stops on everything that would leave a rule unproven in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.catalogue import all_proofs, check, compile_features, expected_proofs, load_catalogue
from tests.fast.small_specs import DEMO, FEATURE, INDEX, SEAM, changed, write_features, write_spec

FIRST_RULE = DEMO[: DEMO.index("  - id: demo.differs")]
VECTORS = """\
    vectors:
      kind: coercion
      rows:
        - {case: one, schema: {}, arguments: '1', answer: {value: 1}}
        - {case: two, schema: {}, arguments: '2', answer: {value: 2}}
"""
ONLY_ONE_SCENARIO = FEATURE[: FEATURE.index("  @rule:demo.differs @on:bridge")]


def problems(folder: Path, demo: str = DEMO, feature: str = FEATURE, **registered: Any) -> list[str]:
    catalogue = load_catalogue(write_spec(folder, tools__demo=demo))
    features = compile_features(write_features(folder, tools__demo=feature))
    return [str(problem) for problem in check(catalogue, features, **registered)]


def test_a_whole_spec_passes_the_gate(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


def test_a_must_or_should_without_a_proof_stops_the_gate(tmp_path: Path) -> None:
    assert problems(tmp_path, feature="Feature: demo\n") == [
        "spec/tools/demo.yaml:8: the must demo.works has no proof. "
        "Mend: write a scenario tagged @rule:demo.works in features/tools/demo.feature, or vectors.",
        "spec/tools/demo.yaml:16: the should demo.differs has no proof. "
        "Mend: write a scenario tagged @rule:demo.differs in features/tools/demo.feature, or vectors.",
    ]


def test_a_may_needs_no_proof(tmp_path: Path) -> None:
    assert problems(tmp_path, changed(DEMO, "level: should", "level: may"), ONLY_ONE_SCENARIO) == []


def test_a_difference_shows_both_sides(tmp_path: Path) -> None:
    one_side = FEATURE[: FEATURE.index("  @rule:demo.differs @on:pi")]
    assert problems(tmp_path, feature=one_side) == [
        "spec/tools/demo.yaml:16: demo.differs differs from Pi and has nothing that shows the side of pi. "
        "Mend: write a scenario tagged @rule:demo.differs @on:pi in features/tools/demo.feature."
    ]


def test_vectors_properties_and_invariants_are_proofs(tmp_path: Path) -> None:
    nothing = "Feature: demo\n"
    assert problems(tmp_path, FIRST_RULE + VECTORS, nothing) == []
    assert problems(tmp_path, FIRST_RULE, nothing, properties={"test_any_program": ["demo.works"]}) == []
    assert problems(tmp_path, FIRST_RULE, nothing, invariants={"once": ["demo.works"]}) == []


def test_what_is_wrong_with_features_stops_the_gate_too(tmp_path: Path) -> None:
    assert any(
        "@wip is not a tag" in each for each in problems(tmp_path, feature=FEATURE.replace("@on:pi", "@on:pi @wip"))
    )
    assert any(
        "names no rule" in each for each in problems(tmp_path, feature=changed(FEATURE, "  @rule:demo.works\n", ""))
    )


def test_a_proof_of_an_unknown_rule_stops_the_gate(tmp_path: Path) -> None:
    assert problems(tmp_path, properties={"test_any_program": ["demo.work"], "test_idle": []}) == [
        "property test_any_program: it names the unknown rule 'demo.work'. "
        "Mend: correct it where the property is registered; did you mean demo.works, or write the rule.",
        "property test_idle: it proves no rule. Mend: name the rules it decides where it is registered.",
    ]
    assert "invariant once: it names the unknown rule 'gone'" in problems(tmp_path, invariants={"once": ["gone"]})[0]


def test_unknown_and_idle_mutants_stop_the_gate(tmp_path: Path) -> None:
    assert problems(tmp_path, mutants={"brocken": [], "lazy": ["demo.works"]}) == [
        "mutant brocken: no rule kills it. Mend: name it in the kills of the rule it offends.",
        "spec/tools/demo.yaml:8: demo.works kills `broken`, and no mutant is called so. "
        "Mend: correct it; did you mean brocken, or register the mutant.",
        "spec/tools/demo.yaml:8: the mutant lazy says that demo.works kills it, and the rule does not say so. "
        "Mend: add lazy to kills, or drop the rule from the mutant.",
    ]


def test_mutants_are_not_checked_while_none_are_known(tmp_path: Path) -> None:
    harmless = changed(DEMO, "kills: [broken]", "kills: []")
    assert problems(tmp_path, harmless, require_kills=True) == []


def test_a_must_kills_a_mutant_where_that_is_required(tmp_path: Path) -> None:
    harmless = changed(changed(DEMO, "kills: []", "kills: [other]"), "kills: [broken]", "kills: []")
    mutants = {"other": ["demo.differs"]}
    assert problems(tmp_path, harmless, mutants=mutants) == []
    assert problems(tmp_path, harmless, mutants=mutants, require_kills=True) == [
        "spec/tools/demo.yaml:8: the must demo.works kills no mutant. "
        "Mend: name a mutant that this rule must catch in kills, and write it where there is none."
    ]


def test_unknown_capabilities_and_mounts_stop_the_gate(tmp_path: Path) -> None:
    assert problems(tmp_path, capabilities=["native-tools"], mounts=["engine"]) == []
    assert problems(tmp_path, capabilities=["native-tool"], mounts=["agent"]) == [
        "spec/tools/demo.yaml:16: demo.differs mounts `engine`, and no mount is called so. "
        "Mend: correct it, or register the mount.",
        "spec/tools/demo.yaml:16: demo.differs needs `native-tools`, and no capability is called so. "
        "Mend: correct it; did you mean native-tool, or register the capability.",
    ]


def test_a_scenario_and_a_row_of_one_name_stop_the_gate(tmp_path: Path) -> None:
    clash = changed(ONLY_ONE_SCENARIO, "@rule:demo.works", "@rule:demo.works @case:one")
    assert problems(tmp_path, FIRST_RULE + VECTORS, clash) == [
        "spec/tools/demo.yaml:19: this vector would be called test_demo.works--one, as the one at "
        "features/tools/demo.feature:7 is. Mend: change its case, or the other's."
    ]


def expected(folder: Path, *args: Any, demo: str = DEMO, **named: Any) -> list[str]:
    index = changed(INDEX, "seams: []", "seams: [host/waterfalls.yaml]")
    catalogue = load_catalogue(write_spec(folder, index=index, tools__demo=demo, host__waterfalls=SEAM))
    seam = "Feature: waterfalls\n  @rule:waterfalls.ask-in-order\n  Scenario: in order\n    Then it is in order\n"
    features = compile_features(write_features(folder, tools__demo=FEATURE, host__waterfalls=seam))
    return [proof.item for proof in expected_proofs(catalogue, features, *args, **named)]


def test_each_role_is_asked_its_own_proofs(tmp_path: Path) -> None:
    works, refuses, pi_does = "test_demo.works", "test_demo.differs", "test_demo.differs--pi"
    fact = "test_waterfalls.ask-in-order"
    assert expected(tmp_path, "pi") == [works, pi_does]
    assert expected(tmp_path, "bridge", "engine") == [works, refuses]
    assert expected(tmp_path, "bridge", "agent") == [works]
    assert expected(tmp_path, "bridge") == [works]
    assert expected(tmp_path, "bridge", "engine", capabilities=["host-seams"]) == [works, refuses, fact]
    assert expected(tmp_path, "host") == [fact]


def test_a_proof_tells_kind_place_and_needs(tmp_path: Path) -> None:
    catalogue = load_catalogue(
        write_spec(tmp_path, tools__demo=changed(DEMO, "    kills: [broken]\n", "    kills: [broken]\n" + VECTORS))
    )
    features = compile_features(write_features(tmp_path))
    proofs = all_proofs(
        catalogue, features, properties={"test_any_program": ["demo.works"]}, invariants={"once": ["demo.differs"]}
    )
    assert [(proof.kind, proof.item, proof.side, proof.line, proof.needs) for proof in proofs] == [
        ("scenario", "test_demo.works", None, 7, ()),
        ("vector", "test_demo.works--one", None, 17, ()),
        ("vector", "test_demo.works--two", None, 18, ()),
        ("property", "test_any_program", None, 0, ()),
        ("scenario", "test_demo.differs", "bridge", 12, ("native-tools",)),
        ("scenario", "test_demo.differs--pi", "pi", 17, ("native-tools",)),
        ("invariant", "invariant:once", None, 0, ("native-tools",)),
    ]


@pytest.mark.parametrize("kind", ["property", "invariant"])
def test_properties_and_invariants_run_on_both_sides_of_a_difference(tmp_path: Path, kind: str) -> None:
    registered = {"properties" if kind == "property" else "invariants": {"test_it": ["demo.differs"]}}
    name = "test_it" if kind == "property" else "invariant:test_it"
    assert name in expected(tmp_path, "pi", **registered)
    assert name in expected(tmp_path, "bridge", "engine", **registered)
