"""The kill gate as it is run: the same answer from one process and from two, and no files left of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NAMES = ("user-bash-fired-by-*", "exec-timeout-not-marked", "refuses-everything")


def gate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "conformance.cli", "mutants", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("processes", ["0", "2"])
def test_each_mutant_is_caught_by_each_rule_that_names_it(tmp_path: Path, processes: str) -> None:
    ran = gate(tmp_path, "-n", processes, *NAMES)

    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    lines = [line for line in ran.stdout.splitlines() if line.startswith(("user-bash-fired-by-", "exec-"))]
    assert len(lines) >= 4
    assert all("  caught  " in line and "(not run)" not in line for line in lines)
    assert ran.stdout.splitlines()[-1] == "every mutant is caught"
    assert list(tmp_path.iterdir()) == []
