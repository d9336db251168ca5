"""Kept cases, pasted into a feature file of the user's own and run by pytest-bdd: the same findings as the programs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from conformance.programs.cases import feature, read_case

ROOT = Path(__file__).resolve().parents[2]
CASES = {path.stem: read_case(path) for path in sorted((ROOT / "tests" / "fast" / "cases").glob("*.json"))}
MODULE = """
from pathlib import Path

import pytest
from pytest_bdd import scenarios

pytestmark = pytest.mark.usefixtures("stage")
scenarios(str(Path(__file__).with_name("cases.feature")))
"""


def outcomes(folder: Path, bridge: str) -> dict[str, int]:
    """Run the feature on a bridge; return how many tests ended in each way."""
    (folder / "cases.feature").write_text(feature(list(CASES.values())), encoding="utf-8")
    (folder / "test_pasted.py").write_text(MODULE, encoding="utf-8")
    options = ["-p", "bridge_conformance_pytest", "-p", "no:cacheprovider", "-q", "--tb=line", "--bridge-report=none"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c/dev/null", f"--rootdir={folder}", *options, f"--bridge={bridge}", "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = re.findall(r"(\d+) (passed|failed|error)", done.stdout.splitlines()[-1])
    assert found, done.stdout + done.stderr
    return {word: int(count) for count, word in found}


def test_every_case_holds_on_the_reference_as_a_pasted_scenario(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "reference") == {"passed": len(CASES)}


def test_a_case_fails_on_its_defect_as_a_pasted_scenario(tmp_path: Path) -> None:
    found = outcomes(tmp_path, CASES["native-calls-not-judged"].bridge)

    assert found["failed"] >= 1
    assert found["failed"] + found["passed"] == len(CASES)
