"""How one test's end becomes a verdict of its rule, of the invariants' rules and of the whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from conformance._pytest import summary
from conformance._pytest.block import lines
from conformance._pytest.bridges import Bridge, handed_over, taken_over
from conformance._pytest.judge import InvariantBroken, Judged, NotRun, judge
from conformance._pytest.plan import Plan, Selection, blocked, make_plan
from conformance._pytest.tally import Tally
from conformance.catalogue import UnknownNameError, compile_features, load_catalogue
from conformance.drivers.driver import HarnessError, Unsupported
from conformance.drivers.protocol import InitializeResult
from conformance.ledger import Deviation, Ledger
from conformance.reporting.model import Broken
from conformance.verdicts import RuleFailed, Verdict
from tests.fakes.small_rules import INDEX, TOOL_CALL, TOOL_CALL_FEATURE, USER_BASH, USER_BASH_FEATURE

SPEC = Path(__file__).resolve().parents[2] / "spec"
MUST = "tool_call.a-block-holds"
SHOULD = "tool_call.a-block-should-hold"
NEVER = "user_bash.never-fires"
TODAY = date(2026, 6, 1)
INVARIANTS = {"nothing-fires": [NEVER], "blocks-hold": [SHOULD]}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small spec and its features."""
    folder = tmp_path_factory.mktemp("small")
    texts = {
        "spec/index.yaml": INDEX,
        "spec/tools/tool_call.yaml": TOOL_CALL,
        "spec/tools/user_bash.yaml": USER_BASH,
        "features/tools/tool_call.feature": TOOL_CALL_FEATURE,
        "features/tools/user_bash.feature": USER_BASH_FEATURE,
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def hello(*capabilities: str, role: Any = "bridge") -> InitializeResult:
    return InitializeResult(protocol=1, name="it", version="1", role=role, capabilities=list(capabilities))


def plan(small: Path, *bridges: Bridge, entries: tuple[Deviation, ...] = (), **more: Any) -> Plan:
    return make_plan(
        load_catalogue(small / "spec", SPEC),
        compile_features(small / "features"),
        bridges or (Bridge("it", "it", hello("native-tools")),),
        ledgers={"it": Ledger("it", "ledger.yaml", entries)} if entries else {},
        invariants=INVARIANTS,
        today=TODAY,
        **more,
    )


def entry(rule: str, example: str | None = None, expires: date = date(2027, 1, 1)) -> Deviation:
    return Deviation(rule, "because", date(2026, 1, 1), expires, "ledger.yaml", 3, example)


def broke(invariant: str) -> Broken:
    return Broken(invariant=invariant, rules=INVARIANTS[invariant], sentence="it did")


def ended(plan: Plan, item: str, error: BaseException | None = None, *broken: Broken) -> Judged:
    return judge(plan.tasks["it", f"test_{item}"], plan, error, list(broken), witnessed=True)


def verdicts(plan: Plan, *judged: Judged) -> dict[str, str]:
    tally = Tally(plan)
    for each in judged:
        tally.add(each, "node", None)
    return {rule.id: str(rule.verdict) for rule in tally.rules(plan.bridges[0])}


# --- who is asked what ------------------------------------------------------------------------------------------------


def test_each_role_gets_its_own_side_of_a_difference(small: Path) -> None:
    both = plan(small, Bridge("b", "b", hello()), Bridge("p", "p", hello(role="pi")))

    items = {label: {item for who, item in both.tasks if who == label} for label in ("b", "p")}

    assert "test_tool_call.natives-keep-their-arguments" in items["b"] - items["p"]
    assert "test_tool_call.natives-keep-their-arguments--pi" in items["p"] - items["b"]
    assert not any("user_bash" in item for item in items["p"])


@pytest.mark.parametrize(
    ("declared", "probed", "verdict"),
    [
        (["native-tools"], {}, None),
        ([], {}, Verdict.UNSUPPORTED),
        ([], {"native-tools": False}, Verdict.UNSUPPORTED),
        (["native-tools"], {"native-tools": False}, Verdict.ABSENT),
        ([], {"native-tools": True}, None),
    ],
)
def test_a_capability_is_taken_at_its_word_until_it_is_probed(
    small: Path, declared: list[str], probed: dict[str, bool], verdict: Verdict | None
) -> None:
    made = plan(small, Bridge("it", "it", hello(*declared)))
    task = replace(made.tasks["it", "test_tool_call.natives-keep-their-arguments"], probed=probed)

    decided = blocked(task)

    assert (decided and decided[0]) == verdict
    if verdict is None:
        passed = judge(task, made, None, [])
        assert passed.verdict == ("pass" if declared else "undeclared")
        assert passed.probed == probed


def test_what_probes_found_is_told_with_the_rules_that_needed_it(small: Path) -> None:
    made = plan(small, Bridge("it", "it", hello("native-tools", "steer")))
    item = "test_tool_call.natives-keep-their-arguments"
    tally = Tally(made)
    for probed in ({"native-tools": True, "cancel": True}, {"native-tools": False, "steer": True}):
        task = replace(made.tasks["it", item], probed=probed)
        tally.add(judge(task, made, None, []), "node", None)

    report = tally.report("complete", 0).bridges[0]

    assert report.probed == {"cancel": True, "native-tools": False, "steer": True}
    assert report.summary.absent_capabilities == ["native-tools"]
    assert report.summary.undeclared_capabilities == ["cancel"]
    said = "\n".join("".join(text.words for text in line) for line in summary.lines([], [report]))
    assert "it: declares a capability that is not there: native-tools" in said
    assert "it: has a capability that it does not declare: cancel" in said


def test_what_is_missing_after_all_is_absent_if_declared_and_unsupported_if_not(small: Path) -> None:
    made = plan(small)

    assert ended(made, MUST, Unsupported("native-tools")).verdict is Verdict.ABSENT
    assert ended(made, MUST, Unsupported("steer")).verdict is Verdict.UNSUPPORTED


@pytest.mark.parametrize(
    ("selection", "items"),
    [
        (Selection(rules=(f"{MUST}--twice",)), {f"test_{MUST}--twice"}),
        (Selection(rules=(f"{MUST}--1",)), {f"test_{MUST}"}),
        (Selection(rules=(MUST,)), {f"test_{MUST}", f"test_{MUST}--twice"}),
        (Selection(levels=("should",)), {f"test_{SHOULD}"}),
        (Selection(surfaces=("user_*",)), {f"test_{NEVER}", f"test_{NEVER}--2"}),
    ],
)
def test_a_selector_takes_rules_and_single_examples(small: Path, selection: Selection, items: set[str]) -> None:
    assert {item for _, item in plan(small, selection=selection).chosen} == items


@pytest.mark.parametrize("rule", [f"{MUST}--thrice", "tool_call.nothing"])
def test_a_selector_that_matches_nothing_is_an_error(small: Path, rule: str) -> None:
    with pytest.raises(UnknownNameError):
        plan(small, selection=Selection(rules=(rule,)))


def test_a_run_that_is_not_whole_has_a_test_for_those_alone_that_it_applies_to(small: Path) -> None:
    pi = Bridge("pi", "pi", hello("native-tools", role="pi"))
    other = Bridge("other", "other", hello("native-tools"))
    part = plan(small, pi, other, whole=False)
    made = {item: part.labels_of(item) for item in part.items_of("scenario")}

    assert made == {
        item: [bridge.label for bridge in (pi, other) if (bridge.label, item) in part.tasks]
        for item in dict.fromkeys(item for _, item in part.tasks)
    }
    assert ["other"] in made.values()
    assert part.labels_of("test_of_nobody") == []
    assert plan(small, pi, other).labels_of("test_of_nobody") == ["pi", "other"]


def test_bridges_reach_a_worker_whole() -> None:
    bridge = Bridge("it", "stdio:x", hello("steer"), "engine")

    assert taken_over(handed_over([bridge])) == [bridge]


# --- invariants -------------------------------------------------------------------------------------------------------


def test_a_broken_invariant_fails_its_own_rules_and_not_the_scenario_s(small: Path) -> None:
    made = plan(small)

    judged = ended(made, MUST, InvariantBroken("it did"), broke("nothing-fires"))

    assert (judged.verdict, judged.outcome) == ("pass", "fail")
    found = verdicts(made, judged, ended(made, f"{MUST}--twice"), ended(made, NEVER), ended(made, f"{NEVER}--2"))
    assert (found[MUST], found[NEVER]) == ("pass", "fail")


def test_an_invariant_of_a_should_departs(small: Path) -> None:
    judged = ended(plan(small), MUST, InvariantBroken("it did"), broke("blocks-hold"))

    assert (judged.verdict, judged.outcome) == ("pass", "departs")


def test_an_invariant_that_never_broke_passes_once_a_trace_was_judged(small: Path) -> None:
    made = plan(small)

    assert verdicts(made)[SHOULD] == "not run"
    assert verdicts(made, ended(made, SHOULD))[SHOULD] == "pass"


def test_a_deviation_excuses_an_item_only_when_everything_that_broke_is_listed(small: Path) -> None:
    listed = plan(small, entries=(entry(MUST),))
    both = plan(small, entries=(entry(MUST), entry(NEVER, "invariant:nothing-fires")))
    failure = RuleFailed("wrong"), broke("nothing-fires")

    assert ended(listed, MUST, *failure).outcome is Verdict.FAIL
    assert ended(both, MUST, *failure).outcome is Verdict.DEVIATION


def test_a_listed_invariant_that_no_longer_breaks_is_stale(small: Path) -> None:
    made = plan(small, entries=(entry(NEVER, "invariant:nothing-fires"),))
    passed = [ended(made, item.removeprefix("test_")) for _, item in made.tasks]
    broken = ended(made, MUST, None, broke("nothing-fires"))

    assert verdicts(made, *passed)[NEVER] == "stale deviation"
    assert verdicts(made, *passed, broken)[NEVER] == "deviation"


def test_a_listed_invariant_is_not_stale_while_a_test_that_may_break_it_has_not_run(small: Path) -> None:
    made = plan(small, entries=(entry(NEVER, "invariant:nothing-fires"),))
    passed = [ended(made, item.removeprefix("test_")) for _, item in made.tasks if item != f"test_{MUST}"]

    assert f"test_{NEVER}--2" in {each.item for each in passed}
    assert verdicts(made, *passed)[NEVER] == "pass"
    assert verdicts(made, *passed, ended(made, MUST))[NEVER] == "stale deviation"


def test_the_block_of_a_broken_invariant_names_its_rule_and_where_it_was_seen(small: Path) -> None:
    made = plan(small)
    error = InvariantBroken("it did")
    judged = ended(made, MUST, error, broke("nothing-fires"))

    text = "\n".join(lines(made.tasks["it", f"test_{MUST}"], made.catalogue.by_id, judged, error, None))

    assert text.startswith(f"{NEVER} (must) on it: it 1, role bridge\n  rule:     It never fires.")
    assert f"seen in:  features/tools/tool_call.feature:4, whose own rule {MUST} says: pass" in text
    assert f"nothing-fires ({NEVER}): it did" in text


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_a_rule_is_not_proven_until_all_its_examples_have_run(small: Path) -> None:
    made = plan(small)

    assert verdicts(made, ended(made, MUST))[MUST] == "not run"
    assert verdicts(made, ended(made, MUST), ended(made, f"{MUST}--twice"))[MUST] == "pass"


def test_what_was_decided_before_it_ran_stays_so(small: Path) -> None:
    assert ended(plan(small), MUST, NotRun(Verdict.UNSUPPORTED, "no")).verdict is Verdict.UNSUPPORTED


def test_a_skip_of_somebody_else_s_is_no_pass(small: Path) -> None:
    assert ended(plan(small), MUST, pytest.skip.Exception("later")).verdict is Verdict.NOT_RUN


def test_an_error_that_closes_a_passed_test_takes_the_pass_away(small: Path) -> None:
    made = plan(small)

    found = verdicts(made, ended(made, SHOULD), ended(made, SHOULD, HarnessError("broke")))

    assert found[SHOULD] == "harness error"


def test_a_test_whose_process_died_says_nothing_about_the_bridge(small: Path) -> None:
    made = plan(small)
    tally = Tally(made)
    tally.crashed(made.tasks["it", f"test_{SHOULD}"], "node", "killed")

    rule = next(rule for rule in tally.rules(made.bridges[0]) if rule.id == SHOULD)

    assert rule.verdict is Verdict.HARNESS_ERROR
    assert rule.proofs[0].message == "the process that ran this test died: killed"


def test_a_capability_that_nobody_knows_is_noted(small: Path) -> None:
    notes = Tally(plan(small, Bridge("it", "it", hello("native-tools", "telepathy")))).notes

    assert notes == ["it declares telepathy, which is no capability of this suite"]


def test_values_that_are_not_json_are_shown_as_text(small: Path) -> None:
    judged = ended(plan(small), MUST, RuleFailed("wrong", expected={"a": 1}, got=object()))

    assert judged.expected == {"a": 1}
    assert "<object object" in judged.got


def test_an_entry_for_another_mount_neither_holds_nor_is_stale(small: Path) -> None:
    elsewhere, here = replace(entry(MUST), mount="root"), replace(entry(MUST), mount="engine")
    it = Bridge("it", "it", hello("native-tools"), "engine")
    made = plan(small, it, entries=(elsewhere, here))
    tally = Tally(made)
    tally.add(ended(made, MUST, RuleFailed("it did not hold")), "node", None)

    states = [row.state for row in tally.report("complete", 0).bridges[0].deviations]

    assert states == ["not run", "holds"]
