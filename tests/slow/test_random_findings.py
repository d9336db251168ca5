"""A random program that finds something is kept as a case, told as a scenario, and lands on the rule it speaks of."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.programs.cases import read_case
from tests.fast.scenarios import parsed

MUTANTS = {
    "every-event-of-an-end-twice": ("invariant", "tool_execution_end.one-end-for-every-start"),
    # Who is handed the arguments first, a judge or the tool, tells of them.
    "arguments-not-coerced": (
        "difference",
        "registerTool.arguments-are-coerced-as-on-pi",
        "tool_call.the-gate-sees-checked-arguments",
    ),
}


def command(*arguments: str) -> tuple[int, str]:
    """Call ``bridge-conformance``; return its exit status and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "conformance.cli", *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", MUTANTS)
def test_a_finding_is_kept_and_told_as_a_scenario(tmp_path: Path, name: str) -> None:
    kind, *rules = MUTANTS[name]
    chosen = ["--rule=*--test_random*", "--examples=400", "--against=reference", f"--report={tmp_path}"]

    status, out = command("run", f"--bridge=it=mutant:{name}", *chosen)

    assert status == 1, out
    report = json.loads((tmp_path / "conformance.json").read_text(encoding="utf-8"))
    fallen = [each["id"] for each in report["bridges"][0]["rules"] if each["verdict"] == "fail"]
    rule = next((each for each in rules if each in fallen), "")
    assert rule, fallen
    found = [read_case(path) for path in sorted((tmp_path / "cases").iterdir())]
    assert (kind, rule) in [(case.finding.kind, case.finding.rule) for case in found], out
    told = next(case for case in found if case.finding.rule == rule)
    first, *_ = parsed(told.gherkin)
    assert first[1] in out
    assert re.search(rf"bridge-conformance replay \S+{rule}--it--\d.json --bridge=it=mutant:{name}", out)
    path = next(path for path in (tmp_path / "cases").iterdir() if read_case(path) == told)
    assert command("replay", str(path), f"--bridge=mutant:{name}")[0] == 1
    assert command("replay", str(path), "--bridge=reference")[0] == 0


def test_whose_answers_are_right_is_checked_at_once() -> None:
    status, out = command("run", "--bridge=reference", "--against=referenz", "--report=none")

    assert status == 4
    assert "no bridge is called 'referenz'" in out
    assert "Did you mean reference?" in out
