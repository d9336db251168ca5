"""The kill gate stays shut while any defect gets by, and nothing but a wrong answer counts as a kill."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance._pytest.first_kill import BLANKET_RULES, BLANKET_SURFACES
from conformance.catalogue import Catalogue, load_catalogue
from conformance.catalogue.model import Rule, Source, Surface
from conformance.mutants import gate, load_mutants, registry
from conformance.mutants.gate import Matrix, joins, problems
from conformance.mutants.registry import Mutant, mutant
from conformance.reporting.model import ProofReport, RuleReport
from conformance.verdicts import Verdict
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.host import Host
from reference_bridge.host.inbox import Inbox

DEAF, LOUD = Mutant("deaf", "Hears nothing."), Mutant("loud", "Says too much.")
STUCK = Mutant("stuck", "Never answers.", hangs=True)
EVERYWHERE = Mutant("everywhere", "Is wrong wherever one looks.", blanket=True)
KILLS = {"fail", "absent", "departs", "noted"}


def rule(id: str, *kills: str, level: str = "must", relation: str = "same") -> Rule:
    return Rule(
        id=id,
        surface=id.partition(".")[0],
        level=level,  # type: ignore[arg-type]
        relation=relation,  # type: ignore[arg-type]
        text="It is so.",
        source=Source("tools", "demo"),
        evidence=(),
        needs=(),
        kills=kills,
        since=1,
        file="tools/demo.yaml",
        line=1,
    )


def catalogue(*rules: Rule) -> Catalogue:
    surface = Surface(
        "demo", "api", "same", "A demo.", "nothing", Source("tools", "demo"), "tools/demo", "tools/demo.yaml", rules
    )
    return Catalogue(1, (), (surface,), Path())


def matrix(mutant: Mutant, verdicts: Mapping[str, str], **messages: str) -> Matrix:
    made = Matrix()
    made.verdicts[mutant.name].update(verdicts)
    made.messages.update({(mutant.name, rule.replace("_", ".")): text for rule, text in messages.items()})
    return made


def found(mutant: Mutant, rules: Catalogue, verdicts: Mapping[str, str]) -> list[str]:
    return problems([mutant], rules, matrix(mutant, verdicts))


# --- one mutant and the rules that name it


def test_a_mutant_caught_by_every_rule_that_names_it_is_no_problem() -> None:
    rules = catalogue(rule("ears.hear", "deaf"), rule("ears.listen", "deaf"), rule("mouth.speak", "loud"))

    assert found(DEAF, rules, {"ears.hear": "fail", "ears.listen": "departs"}) == []


def test_a_mutant_that_survives_one_of_its_rules_is_a_problem() -> None:
    rules = catalogue(rule("ears.hear", "deaf"), rule("ears.listen", "deaf"))

    assert found(DEAF, rules, {"ears.hear": "fail", "ears.listen": "pass"}) == [
        "deaf survives ears.listen: the verdict is pass"
    ]


def test_what_another_rule_says_of_a_mutant_kills_nothing() -> None:
    rules = catalogue(rule("ears.hear", "deaf"), rule("mouth.speak", "loud"))

    assert found(DEAF, rules, {"ears.hear": "pass", "mouth.speak": "fail"}) != []


def test_a_rule_that_was_never_asked_kills_nothing() -> None:
    assert found(DEAF, catalogue(rule("ears.hear", "deaf")), {}) == ["deaf survives ears.hear: the verdict is not run"]


@pytest.mark.parametrize("verdict", [str(each) for each in Verdict])
def test_only_a_wrong_answer_kills(verdict: str) -> None:
    survivors = found(DEAF, catalogue(rule("ears.hear", "deaf")), {"ears.hear": verdict})

    assert (survivors == []) is (verdict in KILLS)


@pytest.mark.parametrize("verdict", [str(each) for each in Verdict])
def test_silence_kills_only_a_mutant_that_hangs(verdict: str) -> None:
    survivors = found(STUCK, catalogue(rule("ears.hear", "stuck")), {"ears.hear": verdict})

    assert (survivors == []) is (verdict in {*KILLS, "inconclusive"})


def test_a_harness_error_is_a_problem_even_where_nobody_asked_for_a_kill() -> None:
    rules = catalogue(rule("ears.hear", "deaf"), rule("mouth.speak", "loud"))

    assert found(DEAF, rules, {"ears.hear": "fail", "mouth.speak": "harness error"}) == [
        "deaf: a harness error in mouth.speak"
    ]


def test_a_survivor_is_told_with_what_its_proof_said() -> None:
    rules, said = catalogue(rule("ears.hear", "stuck", "deaf")), {"ears.hear": "inconclusive"}

    survivors = problems([DEAF], rules, matrix(DEAF, said, ears_hear="nothing came"))

    assert survivors == ["deaf survives ears.hear: the verdict is inconclusive (nothing came)"]


# --- a mutant that is wrong everywhere


def wrong(rules: int, surfaces: int) -> dict[str, str]:
    return {f"surface{at % surfaces}.rule{at}": "fail" for at in range(rules)}


def test_a_defect_that_is_everywhere_must_be_caught_widely() -> None:
    assert found(EVERYWHERE, catalogue(), wrong(BLANKET_RULES, BLANKET_SURFACES)) == []


@pytest.mark.parametrize(
    ("rules", "surfaces"), [(BLANKET_RULES - 1, BLANKET_SURFACES), (BLANKET_RULES, BLANKET_SURFACES - 1), (1, 1)]
)
def test_too_few_rules_or_surfaces_are_a_problem(rules: int, surfaces: int) -> None:
    (problem,) = found(EVERYWHERE, catalogue(), wrong(rules, surfaces))

    assert problem.startswith(f"everywhere: caught by {rules} rules of {surfaces} surfaces, which is too few")


def test_rules_that_pass_or_break_do_not_count_as_catching() -> None:
    verdicts = wrong(BLANKET_RULES, BLANKET_SURFACES)
    verdicts["surface0.rule0"] = "harness error"

    assert len(found(EVERYWHERE, catalogue(), verdicts)) == 2
    assert len(found(EVERYWHERE, catalogue(), {**verdicts, "surface0.rule0": "pass"})) == 1


# --- what a session said


def told(*verdicts: Verdict) -> RuleReport:
    proofs = [
        ProofReport(item=f"test_{at}", kind="scenario", where="x:1", verdict=verdict, message=f"says {verdict}")
        for at, verdict in enumerate(verdicts)
    ]
    return RuleReport("ears.hear", "ears", "must", "same", Verdict.PASS, "It is so.", "tools#demo", proofs)


@pytest.mark.parametrize(
    ("verdicts", "decides"),
    [
        ((Verdict.PASS, Verdict.FAIL, Verdict.NOT_RUN), Verdict.FAIL),
        ((Verdict.FAIL, Verdict.HARNESS_ERROR), Verdict.HARNESS_ERROR),
        ((Verdict.INCONCLUSIVE, Verdict.ABSENT), Verdict.ABSENT),
        ((Verdict.PASS, Verdict.INCONCLUSIVE), Verdict.INCONCLUSIVE),
        ((Verdict.NOT_RUN, Verdict.PASS), Verdict.PASS),
    ],
)
def test_of_a_rules_proofs_one_that_broke_decides_and_then_one_that_caught(
    verdicts: tuple[Verdict, ...], decides: Verdict
) -> None:
    said = gate.read({"deaf": [told(*verdicts)]})

    assert said.verdicts == {"deaf": {"ears.hear": str(decides)}}
    assert said.messages == {("deaf", "ears.hear"): f"says {decides}"}


def test_a_rule_of_which_no_proof_was_run_says_nothing() -> None:
    assert gate.read({"deaf": [told(Verdict.NOT_RUN), told()]}).verdicts == {}


# --- names


def test_names_join_both_ways() -> None:
    rules = catalogue(rule("ears.hear", "deaf"))

    assert joins({"deaf": DEAF}, rules) == []
    assert joins({}, rules) == ["deaf: no mutant is called so, and ears.hear names it"]
    assert joins({"deaf": DEAF, "loud": LOUD}, rules) == ["loud: no rule names it"]


def test_a_defect_that_is_everywhere_needs_no_rule_to_name_it() -> None:
    assert joins({"everywhere": EVERYWHERE}, catalogue()) == []


def test_a_must_that_kills_nothing_is_a_problem() -> None:
    rules = catalogue(rule("ears.hear"), rule("ears.listen", level="should"), rule("seam.holds", relation="host"))

    assert joins({}, rules) == ["ears.hear: a must that kills no mutant", "seam.holds: a must that kills no mutant"]


def test_the_rules_and_the_mutants_there_are_join() -> None:
    assert joins(load_mutants(), load_catalogue()) == []


def test_no_two_mutants_are_said_to_have_the_same_defect() -> None:
    defects = [each.defect for each in load_mutants().values()]

    assert sorted(defects) == sorted(set(defects))
    assert [defect for defect in defects if not defect.endswith(".") or not defect[0].isupper()] == []


# --- the command


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The command over two mutants of one rule each; ``session`` says what their session finds."""
    rules = catalogue(rule("ears.hear", "deaf"), rule("mouth.speak", "loud"))
    finds: dict[str, Any] = {"deaf": {"ears.hear": "fail"}, "loud": {"mouth.speak": "fail"}, "asked": []}

    def session(mutants: list[Mutant], whole: bool, processes: int) -> Matrix | None:
        finds["asked"] += [each.name for each in mutants]
        made = Matrix()
        made.verdicts.update({each.name: finds[each.name] for each in mutants})
        return None if finds.get("broke") else made

    monkeypatch.setattr(gate, "load_catalogue", lambda: rules)
    monkeypatch.setattr(gate, "load_mutants", lambda: {"deaf": DEAF, "loud": LOUD})
    monkeypatch.setattr(gate, "_session", session)
    return finds


def test_all_caught_is_exit_0(small: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert gate.main([]) == 0
    assert "every mutant is caught" in capsys.readouterr().out


def test_a_survivor_is_exit_1_and_named(small: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    small["loud"] = {"mouth.speak": "pass"}

    assert gate.main([]) == 1
    said = capsys.readouterr().out
    assert "loud  SURVIVES  mouth.speak (pass)" in said
    assert "loud survives mouth.speak" in said


def test_the_others_that_fell_are_told_in_the_whole_matrix(
    small: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    small["loud"] = {"mouth.speak": "fail", "ears.hear": "fail"}

    assert gate.main(["--full"]) == 0
    assert "also fell: ears.hear" in capsys.readouterr().out


def test_rules_that_kill_nothing_are_told(small: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    small["loud"] = small["deaf"] = {"ears.hear": "fail", "mouth.speak": "pass"}

    gate.main(["--full"])
    assert "1 rules kill nothing: mouth.speak" in capsys.readouterr().out


def test_a_name_that_no_mutant_has_is_wrong_use(small: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert gate.main(["laod"]) == 4
    assert "no mutant is called laod" in capsys.readouterr().err


def test_a_session_that_broke_is_exit_3(small: dict[str, Any]) -> None:
    small["broke"] = True

    assert gate.main([]) == 3


def test_only_the_mutants_asked_for_are_run(small: dict[str, Any]) -> None:
    small["loud"] = {"mouth.speak": "pass"}

    assert gate.main(["de*"]) == 0
    assert small["asked"] == ["deaf"]


def test_the_list_runs_nothing(small: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert gate.main(["--list"]) == 0
    assert small["asked"] == []
    assert "deaf\n  Hears nothing.\n  killed by: ears.hear\n" in capsys.readouterr().out


def test_the_report_holds_every_verdict(small: dict[str, Any], tmp_path: Path) -> None:
    gate.main(["--report", str(tmp_path / "matrix.json")])

    assert json.loads((tmp_path / "matrix.json").read_text()) == {
        "deaf": {"ears.hear": "fail"},
        "loud": {"mouth.speak": "fail"},
    }


# --- what makes a mutant


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> dict[str, Mutant]:
    made: dict[str, Mutant] = {}
    monkeypatch.setattr(registry, "MUTANTS", made)
    return made


def test_a_part_with_a_defect_makes_a_bridge_with_that_part(table: dict[str, Mutant]) -> None:
    @mutant(hangs=True)
    class RegistersNothing(Registrations):
        """Registers nothing."""

    made = table["registers-nothing"]
    assert (made.defect, made.hangs, made.blanket) == ("Registers nothing.", True, False)
    assert made.bridge_type.registrations_type is RegistersNothing
    assert made.bridge_type.gate_type is Bridge.gate_type
    assert made.host_type is Host


def test_a_bridge_or_a_host_with_a_defect_is_taken_as_it_is(table: dict[str, Mutant]) -> None:
    @mutant()
    class WholeBridge(Bridge):
        """Is another bridge."""

    @mutant()
    class WholeHost(Host):
        """Is another host."""

    assert (table["whole-bridge"].bridge_type, table["whole-bridge"].host_type) == (WholeBridge, Host)
    assert (table["whole-host"].bridge_type, table["whole-host"].host_type) == (Bridge, WholeHost)


def test_a_mutant_must_say_what_its_defect_is(table: dict[str, Mutant]) -> None:
    with pytest.raises(ValueError, match="mutant mute does not say what its defect is"):

        @mutant()
        class Mute(Bridge):
            pass


def test_two_mutants_may_not_share_a_name(table: dict[str, Mutant]) -> None:
    def make() -> None:
        @mutant()
        class Twin(Bridge):
            """Is one of two."""

    make()
    with pytest.raises(ValueError, match="two mutants are named twin"):
        make()


def test_what_is_no_part_of_the_bridge_is_no_mutant(table: dict[str, Mutant]) -> None:
    with pytest.raises(TypeError, match="Stranger is no part of the reference"):

        @mutant()
        class Stranger:
            """Belongs to nobody."""


def test_a_part_of_a_part_of_the_host_makes_another_host(table: dict[str, Mutant]) -> None:
    @mutant()
    class Hoarder(Inbox):
        """Keeps what was claimed."""

    made = table["hoarder"].host_type

    assert (table["hoarder"].bridge_type, made.agents_type.agent_type.inbox_type) == (Bridge, Hoarder)
    assert Host.agents_type.agent_type.inbox_type is Inbox


def test_the_modules_of_mutants_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    load_mutants()
    monkeypatch.setattr(registry.pkgutil, "iter_modules", lambda path: pytest.fail("the folder is walked again"))

    assert load_mutants() is registry.MUTANTS


def test_every_mutant_is_another_bridge_or_another_host() -> None:
    assert [each.name for each in load_mutants().values() if (each.bridge_type, each.host_type) == (Bridge, Host)] == []
