"""What a user of the pytest plugin meets: verdicts, exit status, and an error with a mend for whatever is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from conformance.reporting.model import Report, schema
from conformance.verdicts import TABLE, Verdict
from tests.fakes.small_rules import BLOCK
from tests.slow.small_checkout import BARE, BOASTING, CLUMSY, DEAF, NOBODY, SHY, TESTS, TINY, Ran, SmallCheckout

FEATURE = "features/tools/tool_call.feature"
RULES = "spec/tools/tool_call.yaml"


# --- verdicts ---------------------------------------------------------------------------------------------------------


def test_a_bridge_that_keeps_every_rule_is_conformant(sound: SmallCheckout) -> None:
    ran = sound.run(f"--bridge=tiny={TINY}")

    assert ran.status == 0, ran.out
    assert "tiny: conformant (5 pass)" in ran.out
    assert f"{TESTS} passed, 1 deselected" in ran.out
    assert set(ran.verdicts("tiny").values()) == {"pass"}


def test_each_level_answers_in_its_own_way(sound: SmallCheckout) -> None:
    ran = sound.run(f"--bridge=deaf={DEAF}")

    assert ran.status == 1
    assert ran.verdicts("deaf") == {
        "tool_call.a-block-holds": "fail",
        "tool_call.a-block-should-hold": "departs",
        "tool_call.a-block-may-hold": "noted",
        "tool_call.natives-keep-their-arguments": "pass",
        "user_bash.never-fires": "pass",
    }
    assert "deaf: departs from a should: tool_call.a-block-should-hold" in ran.out
    assert "2 failed, 5 passed, 1 deselected" in ran.out


def test_departures_alone_are_conformant(sound: SmallCheckout) -> None:
    ran = sound.run(f"--bridge=deaf={DEAF}", "--bridge-level=should", "--bridge-level=may")

    assert ran.status == 0, ran.out


def test_a_must_that_cannot_be_run_is_not_conformant(sound: SmallCheckout) -> None:
    ran = sound.run(f"--bridge=bare={BARE}")

    assert ran.status == 1
    assert ran.verdicts("bare")["tool_call.natives-keep-their-arguments"] == "unsupported"
    assert "a must is unproven: tool_call.natives-keep-their-arguments" in ran.out
    assert ran.report["bridges"][0]["summary"]["unproven"] == ["tool_call.natives-keep-their-arguments"]


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["alone", "two workers"])
def test_what_is_declared_is_held_against_what_is_there(sound: SmallCheckout, workers: tuple[str, ...]) -> None:
    ran = sound.run(f"--bridge=boasting={BOASTING}", f"--bridge=shy={SHY}", *workers)

    assert ran.status == 1
    rule = "tool_call.natives-keep-their-arguments"
    assert ran.verdicts("boasting")[rule] == "absent"
    assert ran.verdicts("shy")[rule] == "undeclared"
    assert "boasting: declares a capability that is not there: native-tools" in ran.out
    assert "boasting: not conformant" in ran.out
    assert "shy: has a capability that it does not declare: native-tools" in ran.out
    assert "shy: conformant" in ran.out
    boasting, shy = ran.report["bridges"]
    assert boasting["probed"] == {"native-tools": False}
    assert boasting["summary"]["absentCapabilities"] == ["native-tools"]
    assert shy["probed"] == {"native-tools": True}
    assert shy["summary"]["undeclaredCapabilities"] == ["native-tools"]


def test_a_bridge_whose_driver_breaks_gets_no_verdict(sound: SmallCheckout) -> None:
    ran = sound.run(f"--bridge=clumsy={CLUMSY}")

    assert ran.status == 3
    assert set(ran.verdicts("clumsy").values()) == {"harness error"}
    assert "7 errors" in ran.out
    assert "ZeroDivisionError: the host's own mistake" in ran.out


def test_verdicts_are_the_same_on_two_workers(sound: SmallCheckout) -> None:
    bridges = (f"--bridge=tiny={TINY}", f"--bridge=deaf={DEAF}", f"--bridge=clumsy={CLUMSY}", f"--bridge=bare={BARE}")

    one, two = sound.run(*bridges), sound.run(*bridges, "-n2")

    assert one.status == two.status == 1
    for label in ("tiny", "deaf", "clumsy", "bare"):
        assert one.verdicts(label) == two.verdicts(label)
    assert two.report["selection"] == "complete"


def test_a_failure_says_all_there_is_to_know(sound: SmallCheckout) -> None:
    out = sound.run(f"--bridge=deaf={DEAF}", "--bridge-rule=tool_call.a-block-holds--twice").out

    for line in (
        "tool_call.a-block-holds (must) on deaf: tiny 1, role bridge",
        "rule:     A blocked tool does not run.",
        "source:   tools#tool_call-event, spec/tools/tool_call.yaml:8",
        "proof:    features/tools/tool_call.feature:11",
        'step:     Then the tool "write_note" does not run',
        "got:      it ran 1 time(s)",
        "trace:",
        "tool.enter       main call 1",
        f"again:    bridge-conformance run --bridge=deaf={DEAF} --rule=tool_call.a-block-holds--twice",
    ):
        assert line in out


def test_the_command_of_a_failure_repeats_just_it(sound: SmallCheckout, tmp_path: Path) -> None:
    again = re.findall(r"again: +bridge-conformance (.*)", sound.run(f"--bridge=deaf={DEAF}", "-x").out)

    ran = sound.command(*again[0].split(), cwd=tmp_path)

    assert ran.status == 1
    assert "1 failed, 7 deselected" in ran.out
    assert "report: reports/conformance.json" in ran.out


# --- the report -------------------------------------------------------------------------------------------------------


def test_the_report_keeps_to_its_schema(sound: SmallCheckout) -> None:
    ran = sound.run(*(f"--bridge={name}={spec}" for name, spec in {"tiny": TINY, "deaf": DEAF, "bare": BARE}.items()))

    jsonschema.validate(ran.report, schema())
    report = msgspec.json.decode((ran.folder / "reports" / "conformance.json").read_bytes(), type=Report)
    failed = next(rule for rule in report.bridges[1].rules if rule.id == "tool_call.a-block-holds")
    assert [proof.verdict for proof in failed.proofs] == ["fail", "fail"]
    assert failed.proofs[0].trace == "traces/deaf--tool_call.a-block-holds.jsonl"
    assert (ran.folder / "reports" / failed.proofs[0].trace).read_text().count("\n") > 5


def test_traces_of_an_earlier_run_do_not_stay(sound: SmallCheckout) -> None:
    sound.run(f"--bridge=deaf={DEAF}")
    ran = sound.run(f"--bridge=tiny={TINY}")

    assert list((ran.folder / "reports" / "traces").iterdir()) == []


def test_a_part_makes_no_statement_on_the_whole(sound: SmallCheckout) -> None:
    ran = sound.run(f"--bridge=tiny={TINY}", "-k", "should")

    assert ran.status == 0
    assert ran.report["selection"] == "partial"
    assert ran.report["bridges"][0]["standing"] == "no statement"
    assert ran.verdicts("tiny")["tool_call.a-block-holds"] == "not run"


def test_a_run_that_is_interrupted_leaves_its_report(checkout: SmallCheckout) -> None:
    checkout.append("tests/fakes/tiny_bridge.py", INTERRUPTING)

    ran = checkout.run("--bridge=cut=py:tests.fakes.tiny_bridge:InterruptingBridge")

    assert ran.status == 2, ran.out
    assert ran.report["selection"] == "interrupted"
    assert list(ran.verdicts("cut").values()).count("not run") == 3


INTERRUPTING = """

class InterruptingBridge(TinyBridge):
    turns = 0

    async def turn(self, agent: str, text: str) -> None:
        InterruptingBridge.turns += 1
        if InterruptingBridge.turns > 3:
            import os, signal
            # What is started in the background of a shell ignores it.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.kill(os.getpid(), signal.SIGINT)
        await super().turn(agent, text)
"""


def test_a_worker_that_dies_is_a_harness_error_of_one_test(checkout: SmallCheckout) -> None:
    checkout.append(
        "tests/fakes/tiny_bridge.py",
        """

class DyingBridge(TinyBridge):
    async def turn(self, agent: str, text: str) -> None:
        if text == "!ls":
            import os
            os._exit(9)
        await super().turn(agent, text)
""",
    )

    ran = checkout.run("--bridge=dying=py:tests.fakes.tiny_bridge:DyingBridge", "-n2")

    assert ran.status == 3, ran.out
    assert ran.verdicts("dying")["user_bash.never-fires"] == "harness error"
    assert ran.verdicts("dying")["tool_call.a-block-holds"] == "pass"


def test_allure_and_pytest_agree_with_the_table(checkout: SmallCheckout) -> None:
    entries = ledger(checkout, SHOULD)
    bridges = {"tiny": TINY, "deaf": DEAF, "bare": BARE, "clumsy": CLUMSY}
    out = checkout.folder / "allure"

    ran = checkout.run(
        *(f"--bridge={name}={spec}" for name, spec in bridges.items()), entries, f"--alluredir={out}", "-rA"
    )

    results = [json.loads(path.read_text()) for path in out.glob("*-result.json")]
    found = {(item_of(result), bridge_of(result)): result["status"] for result in results}
    seen = set()
    for bridge in ran.report["bridges"]:
        for proof in (proof for rule in bridge["rules"] for proof in rule["proofs"]):
            row = TABLE[Verdict(proof["verdict"])]
            assert found[proof["item"], bridge["label"]] == row.allure, proof
            seen.add(row.verdict)
    assert seen == {"pass", "fail", "noted", "deviation", "unsupported", "harness error"}


def item_of(result: Any) -> str:
    return f"test_{result['fullName'].partition(' ')[2]}"


def bridge_of(result: Any) -> str:
    return next(each["value"].strip("'") for each in result["parameters"] if each["name"] == "bridge")


# --- deviations -------------------------------------------------------------------------------------------------------


def ledger(checkout: SmallCheckout, *entries: str, bridge: str = "deaf") -> str:
    lines = [f"  - {{{entry}, reason: It is deaf., added: 2026-01-01}}" for entry in entries]
    path = checkout.write("ledger.yaml", "\n".join([f"bridge: {bridge}", "deviations:", *lines, ""]))
    return f"--bridge-deviations={path}"


MUST = "rule: tool_call.a-block-holds, expires: 2999-01-01"
SHOULD = "rule: tool_call.a-block-should-hold, expires: 2999-01-01"


def test_a_deviation_that_is_written_down_does_not_fail(checkout: SmallCheckout) -> None:
    ran = checkout.run(f"--bridge=deaf={DEAF}", ledger(checkout, MUST, SHOULD))

    assert ran.status == 0, ran.out
    assert "deaf: conformant with 2 deviations" in ran.out
    assert "3 xfailed" in ran.out
    assert [entry["state"] for entry in ran.report["bridges"][0]["deviations"]] == ["holds", "holds"]


def test_a_deviation_that_is_gone_fails(checkout: SmallCheckout) -> None:
    ran = checkout.run(f"--bridge=deaf={TINY}", ledger(checkout, MUST))

    assert ran.status == 1
    assert ran.verdicts("deaf")["tool_call.a-block-holds"] == "stale deviation"
    assert "lists this test, and it passes" in ran.out


def test_a_deviation_of_one_example_says_nothing_of_the_other(checkout: SmallCheckout) -> None:
    ran = checkout.run(f"--bridge=deaf={DEAF}", ledger(checkout, f"{MUST}, example: twice"))

    assert ran.status == 1
    proofs = next(rule for rule in ran.report["bridges"][0]["rules"] if rule["id"] == "tool_call.a-block-holds")[
        "proofs"
    ]
    assert [proof["verdict"] for proof in proofs] == ["fail", "deviation"]


def test_a_deviation_that_has_expired_fails(checkout: SmallCheckout) -> None:
    ran = checkout.run(f"--bridge=deaf={DEAF}", ledger(checkout, "rule: tool_call.a-block-holds, expires: 2026-01-02"))

    assert ran.status == 1
    assert "expired on 2026-01-02" in ran.out
    assert ran.verdicts("deaf")["tool_call.a-block-holds"] == "stale deviation"


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("rule: tool_call.a-block-hold", "no rule is called 'tool_call.a-block-hold'; did you mean"),
        ("rule: tool_call.a-block-holds, example: thrice", "has no example 'thrice' here; it has 1, twice"),
    ],
)
def test_a_deviation_from_what_is_not_there_fails(checkout: SmallCheckout, entry: str, why: str) -> None:
    ran = checkout.run(f"--bridge=deaf={TINY}", ledger(checkout, f"{entry}, expires: 2999-01-01"))

    assert ran.status == 1
    assert why in ran.out
    assert ran.report["bridges"][0]["standing"] == "not conformant"


def test_a_harness_error_is_never_excused(checkout: SmallCheckout) -> None:
    ran = checkout.run(f"--bridge=deaf={CLUMSY}", ledger(checkout, MUST))

    assert ran.status == 3
    assert ran.verdicts("deaf")["tool_call.a-block-holds"] == "harness error"


def test_a_ledger_of_nobody_in_the_run_is_wrong_use(checkout: SmallCheckout) -> None:
    ran = checkout.run(f"--bridge=tiny={TINY}", ledger(checkout, MUST))

    assert ran.status == 4
    assert "speaks of 'deaf', and this run judges tiny" in ran.out


def test_a_recording_keeps_every_trace(sound: SmallCheckout, tmp_path: Path) -> None:
    sound.run(f"--bridge=tiny={TINY}", f"--bridge-record={tmp_path / 'kept'}")

    kept = sorted(path.name for path in (tmp_path / "kept" / "tiny").iterdir())
    assert len(kept) == TESTS
    assert kept[0] == "tool_call.a-block-holds--twice.jsonl"


# --- wrong use --------------------------------------------------------------------------------------------------------


def refused(ran: Ran, *parts: str) -> None:
    assert ran.status == 4, ran.out
    for part in parts:
        assert part in ran.out
    assert "Traceback" not in ran.out
    assert "INTERNALERROR" not in ran.out


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["alone", "two workers"])
class TestWrongUse:
    """Every wrong use ends with exit status 4, a cause and a mend; with workers as without."""

    def test_a_field_that_is_not_there(self, checkout: SmallCheckout, workers: tuple[str, ...]) -> None:
        checkout.replace(RULES, "    since: 1\n", "    since: 1\n    levle: must\n")

        refused(checkout.run(f"--bridge={TINY}", *workers), "tool_call.yaml:16", "`levle` is not a field", "Mend:")

    def test_two_rules_of_one_id(self, checkout: SmallCheckout, workers: tuple[str, ...]) -> None:
        checkout.replace(RULES, "tool_call.a-block-may-hold", "tool_call.a-block-should-hold")

        refused(checkout.run(f"--bridge={TINY}", *workers), "is already defined at spec/tools/tool_call.yaml:16")

    def test_two_scenarios_of_one_name(self, checkout: SmallCheckout, workers: tuple[str, ...]) -> None:
        checkout.replace(FEATURE, "Scenario: it may", "Scenario: it should")

        refused(checkout.run(f"--bridge={TINY}", *workers), "“it should” is already at line 18")

    def test_a_tag_of_an_unknown_rule(self, checkout: SmallCheckout, workers: tuple[str, ...]) -> None:
        checkout.replace(FEATURE, "@rule:tool_call.a-block-may-hold", "@rule:tool_call.a-block-may-hole")

        refused(checkout.run(f"--bridge={TINY}", *workers), "the unknown rule 'tool_call.a-block-may-hole'")

    def test_an_async_step(self, checkout: SmallCheckout, workers: tuple[str, ...]) -> None:
        checkout.append(
            "conformance/steps/calls.py",
            '\n\n@when(phrase("it is awaited"))\nasync def it_is_awaited() -> None:\n    raise ValueError\n',
        )

        refused(checkout.run(f"--bridge={TINY}", *workers), "the step it_is_awaited is an async function", "Mend:")

    def test_a_selector_that_matches_nothing(self, sound: SmallCheckout, workers: tuple[str, ...]) -> None:
        refused(
            sound.run(f"--bridge={TINY}", "--bridge-rule=tool_call.a-block-hold", *workers),
            "no rule is called 'tool_call.a-block-hold'; did you mean tool_call.a-block-holds",
        )

    def test_two_bridges_of_one_label(self, sound: SmallCheckout, workers: tuple[str, ...]) -> None:
        refused(
            sound.run(f"--bridge={TINY}", f"--bridge={TINY}", *workers), "two bridges are labelled", "--bridge=first="
        )

    def test_the_suite_without_a_bridge(self, sound: SmallCheckout, workers: tuple[str, ...], tmp_path: Path) -> None:
        refused(
            sound.run("--pyargs", "conformance", *workers, cwd=tmp_path),
            "judge a bridge, and none is given",
            "pytest --pyargs conformance --bridge=reference",
        )

    def test_a_factory_that_raises_is_a_broken_harness(self, sound: SmallCheckout, workers: tuple[str, ...]) -> None:
        ran = sound.run(f"--bridge=nobody={NOBODY}", *workers)

        assert ran.status == 3
        assert "the bridge nobody cannot be used" in ran.out
        assert "nobody is at home" in ran.out
        assert "INTERNALERROR" not in ran.out


def test_an_async_step_of_a_user_does_not_pass(checkout: SmallCheckout, tmp_path: Path) -> None:
    (tmp_path / "mine.feature").write_text("Feature: mine\n  Scenario: it\n    When it is awaited\n")
    (tmp_path / "test_mine.py").write_text(
        "import pytest\nfrom pytest_bdd import scenarios, when\n"
        "pytestmark = pytest.mark.usefixtures('stage')\n"
        "scenarios('mine.feature')\n"
        "@when('it is awaited')\nasync def it() -> None:\n    pass\n"
    )

    ran = checkout.run(f"--bridge={TINY}", "test_mine.py", cwd=tmp_path)

    assert ran.status == 1
    assert "is an async function, which is never awaited and would pass" in ran.out


def test_a_module_that_makes_too_few_tests_is_refused(sound: SmallCheckout, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_functions = check_*\n")

    ran = sound.run("--pyargs", "conformance", f"--bridge={TINY}", cwd=tmp_path)

    assert ran.status == 4, ran.out
    assert "test_features.py made 0 tests, and the catalogue has 8 for it" in ran.out


@pytest.mark.parametrize(("bridge", "status"), [(f"tiny={TINY}", 0), (f"deaf={DEAF}", 1)], ids=["keeps", "breaks"])
def test_one_example_of_a_rule_is_answered_by_that_example(sound: SmallCheckout, bridge: str, status: int) -> None:
    ran = sound.run(f"--bridge={bridge}", "--bridge-rule=tool_call.a-block-holds--twice")

    assert ran.status == status, ran.out


def test_properties_without_a_program_are_refused(sound: SmallCheckout) -> None:
    ran = sound.run(f"--bridge={TINY}", "--bridge-examples=3")

    assert ran.status == 4
    assert "leaves a property without a program" in ran.out
    assert "-k 'not random_programs'" in ran.out


def test_nothing_selected_is_said(sound: SmallCheckout) -> None:
    ran = sound.run(f"--bridge={TINY}", "-k", "no_such_word")

    assert ran.status == 5
    assert "nothing ran" in ran.out


# --- others -----------------------------------------------------------------------------------------------------------


def test_steps_serve_the_feature_files_of_others(sound: SmallCheckout, tmp_path: Path) -> None:
    (tmp_path / "mine.feature").write_text(f"Feature: mine\n  @wip\n  Scenario: ours\n{BLOCK}")
    (tmp_path / "test_mine.py").write_text(
        "import pytest\nfrom pytest_bdd import scenarios\n"
        "pytestmark = pytest.mark.usefixtures('stage')\nscenarios('mine.feature')\n"
    )

    ran = sound.run(f"--bridge=tiny={TINY}", f"--bridge=deaf={DEAF}", "test_mine.py", "-v", cwd=tmp_path)

    assert ran.status == 1
    assert "test_ours[tiny] PASSED" in ran.out
    assert "test_ours[deaf] FAILED" in ran.out


def test_a_package_of_the_users_called_conformance_keeps_working(sound: SmallCheckout, tmp_path: Path) -> None:
    package = tmp_path / "conformance"
    package.mkdir()
    (package / "__init__.py").write_text("MINE = True\n")
    (tmp_path / "test_mine.py").write_text("from conformance import MINE\n\ndef test_it():\n    assert MINE\n")
    script = "import sys, pytest; sys.path.insert(0, '.'); sys.exit(pytest.main(sys.argv[1:]))"

    ran = sound.python("-c", script, "-p", "bridge_conformance_pytest", cwd=tmp_path)
    hidden = sound.python("-c", script, "-p", "bridge_conformance_pytest", f"--bridge={TINY}", cwd=tmp_path)

    assert ran.status == 0, ran.out
    refused(hidden, "another package called conformance", "bridge-conformance run")


def test_an_unrelated_run_loads_nothing_of_the_suite(sound: SmallCheckout, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import sys\n\ndef test_it():\n"
        "    assert not [name for name in sys.modules if name.split('.')[0] in ('conformance', 'reference_bridge')]\n"
    )

    ran = sound.run("test_mine.py", cwd=tmp_path)

    assert ran.status == 0, ran.out


def test_the_ini_key_names_a_default(checkout: SmallCheckout) -> None:
    checkout.replace(
        "pyproject.toml", 'bridge_conformance_default = "reference"', f'bridge_conformance_default = "{TINY}"'
    )

    assert checkout.run("conformance/suite").status == 0
    assert "no rule" not in checkout.run("--collect-only", "-q", "conformance/suite").out
