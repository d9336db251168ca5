"""Kept findings: each fails on its defect and holds on the reference, as a program and as a scenario."""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from conformance.catalogue import load_catalogue
from conformance.drivers.driver import HarnessError
from conformance.drivers.specs import make_driver, parse
from conformance.programs import cases
from conformance.programs.cases import Case, Finding, keep, read_case
from conformance.programs.clock import patient_runner
from conformance.programs.gherkin import Unspeakable, scenario
from conformance.programs.operations import AddPackage, Prompt, Tool
from conformance.programs.replay import findings, main
from conformance.programs.run import Connection, run_program
from conformance.trace import Trace
from conformance.verdicts import RuleFailed
from tests.fast.every_operation import EVERY_OPERATION, tool
from tests.fast.scenarios import parsed, performed

FOLDER = Path(__file__).parent / "cases"
FILES = sorted(FOLDER.glob("*.json"))
SHOWN = Finding(kind="invariant", name="one-end-for-every-start", rule="tool_call.x", sentence="it broke", then=["x"])


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with patient_runner() as made:
        yield made


def connected(runner: asyncio.Runner, spec: str) -> Connection:
    """A started in-process implementation."""
    named = parse(spec)
    driver = make_driver(named)
    hello = runner.run(driver.start())
    return Connection(runner, driver, hello, named.mount or (hello.mounts[0] if hello.mounts else None))


@pytest.fixture(scope="module")
def reference(runner: asyncio.Runner) -> Iterator[Connection]:
    made = connected(runner, "reference")
    yield made
    runner.run(made.driver.close())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_kept_case_fails_on_its_defect_and_holds_on_the_reference(
    path: Path, runner: asyncio.Runner, reference: Connection
) -> None:
    case = read_case(path)
    mutant = connected(runner, case.bridge)
    try:
        right, wrong = (run_program(each, case.operations) for each in (reference, mutant))
        shown = findings(case.operations, wrong, right)
        assert (case.finding.kind, case.finding.name, case.finding.rule) in [(f.kind, f.name, f.rule) for f in shown]
        assert findings(case.operations, right, right) == []

        assert performed(reference, case.gherkin)
        with pytest.raises(RuleFailed):
            performed(mutant, case.gherkin)
    finally:
        runner.run(mutant.driver.close())


def test_there_are_twenty_kept_cases_and_they_are_small() -> None:
    found = [read_case(path) for path in FILES]

    assert len(found) >= 20
    assert statistics.median(len(case.operations) for case in found) <= 6
    assert {case.finding.kind for case in found} == {"invariant", "difference"}
    assert len({case.bridge for case in found}) == len(found)
    assert len({case.finding.rule for case in found}) >= 12
    assert {case.finding.rule for case in found} <= load_catalogue().by_id.keys()


def test_a_case_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    kept = keep(tmp_path, "all of it", EVERY_OPERATION, SHOWN, bridge="mutant:x", mount="root")

    case = read_case(kept.path)

    assert case == Case(name="all of it", bridge="mutant:x", mount="root", finding=SHOWN, operations=EVERY_OPERATION)
    assert kept.gherkin == case.gherkin
    jsonschema.validate(json.loads(kept.path.read_text(encoding="utf-8")), cases.schema())


def test_the_published_schema_is_that_of_the_cases() -> None:
    assert cases.SCHEMA_FILE.read_text(encoding="utf-8") == cases.published()
    for path in FILES:
        jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), cases.schema())


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("no json", "is no JSON"),
        ("[]", "does not say its version"),
        ('{"case": 2}', "has version 2 of the form, and this suite reads version 1"),
        ('{"case": 1}', "is damaged: "),
    ],
)
def test_a_file_that_is_no_case_says_what_to_do(tmp_path: Path, text: str, cause: str) -> None:
    path = tmp_path / "case.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(HarnessError) as broken:
        read_case(path)

    assert cause in broken.value.cause
    assert broken.value.mend


# --- scenarios --------------------------------------------------------------------------------------------------------


def told(trace: Trace) -> Iterator[Any]:
    """What happened, without the numbers an implementation gives things and the order of what the operator did."""
    for event in trace:
        if event.kind != "operator":
            data = {key: value for key, value in event.data.items() if key not in ("invocation", "instance", "api")}
            yield event.kind, event.agent, event.call_id, data


def test_a_scenario_says_every_operation(reference: Connection) -> None:
    """The scenario's trace is the program's; only the order of what several agents do at the same time may differ."""
    text = scenario(EVERY_OPERATION, "tool_call.x", "all of it", [])
    ran = run_program(reference, EVERY_OPERATION)

    said = performed(reference, text)

    assert ran.skipped == []
    one, other = (sorted(map(repr, told(trace))) for trace in (ran.trace, said.trace))
    assert len(one) > 150
    assert one == other
    assert len(parsed(text)) > len(EVERY_OPERATION)


def test_a_field_that_a_registration_leaves_out_is_said(reference: Connection) -> None:
    nameless = msgspec.structs.replace(tool("stow"), label=msgspec.UNSET, parameters=msgspec.UNSET)
    program = [AddPackage(name="alpha", tools=[Tool(spec=nameless)]), Prompt()]

    said = performed(reference, scenario(program, "tool_call.x", "all of it", []))

    registered = said.trace.of("api.call", call="registerTool")[0]["args"][0]
    assert registered.keys() == {"name", "description"}


def test_what_no_step_says_is_named() -> None:
    with pytest.raises(Unspeakable, match="cannot stand in quotes"):
        scenario([AddPackage(name='with "quotes"'), Prompt()], "x.y", "t", [])


def test_a_scenario_that_cannot_fail_says_so() -> None:
    shown = Finding(kind="difference", name="order", rule="tool_call.x", sentence="another one first\nat once", then=[])
    case = Case(name="mine", bridge="reference", finding=shown, operations=[])

    assert case.gherkin.endswith("# no step says what is right, so that this passes: another one first\n")


def test_a_case_without_a_scenario_is_kept_all_the_same(tmp_path: Path) -> None:
    kept = keep(tmp_path, "odd", [AddPackage(name='with "quotes"')], SHOWN, bridge="mutant:x")

    assert kept.path.is_file()
    assert "no steps say this program" in kept.gherkin


# --- the command ------------------------------------------------------------------------------------------------------


def test_replaying_says_what_is_wrong_in_the_form_of_a_failed_test(capsys: pytest.CaptureFixture[str]) -> None:
    path = next(path for path in FILES if read_case(path).finding.kind == "difference")
    case = read_case(path)

    status = main([str(path), f"--bridge=it={case.bridge}"])

    out = capsys.readouterr().out
    assert status == 1
    assert out.startswith(f"{case.finding.rule} (must) on it: reference 0.1.0, role bridge")
    for line in (
        "  rule:     ",
        "  source:   ",
        f"  proof:    {path}, ",
        "  verdict:  fail",
        "  why:      ",
        "  trace: ",
    ):
        assert line in out
    assert f"again:    bridge-conformance replay {path} --bridge=it={case.bridge} --against=reference" in out


def test_replaying_on_a_sound_bridge_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    status = main([*map(str, FILES[:3]), "--bridge=reference"])

    assert status == 0
    assert capsys.readouterr().out.count("nothing is wrong on reference: reference 0.1.0") == 3


def test_replaying_can_print_scenarios_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(FILES[0]), "--bridge=nobody", "--gherkin"]) == 0
    assert capsys.readouterr().out == read_case(FILES[0]).gherkin


def test_replaying_nothing_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "missing.json"), "--bridge=reference"]) == 4
    assert "mend: name a file that is there" in capsys.readouterr().err
    assert main([str(FILES[0]), "--bridge=nobody"]) == 4
    assert "no bridge is called 'nobody'" in capsys.readouterr().err
