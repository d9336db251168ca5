"""The suite's own search for a step's definition finds what pytest-bdd's finds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
WITNESS = """
compared = 0

def pytest_bdd_before_scenario(request, scenario):
    global compared
    find = sys.modules["pytest_bdd.scenario"].find_fixturedefs_for_step
    assert find.__self__._ours(request.node)
    for step in scenario.steps:
        place = step, request._fixturemanager, request.node
        ours = [definition.argname for definition in find(*place)]
        theirs = [definition.argname for definition in find.__self__._search(*place)]
        assert ours == theirs, step.name
        compared += 1
    scenario.steps.clear()  # What a step would do has no say in which definition answers the next one.

def pytest_sessionfinish():
    print("COMPARED", compared)
"""


def test_every_step_is_answered_as_pytest_bdd_would(tmp_path: Path) -> None:
    (tmp_path / "witness.py").write_text("import sys\n" + WITNESS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "witness", "-p", "no:cacheprovider", "--bridge=reference"]
    done = subprocess.run(
        [*command, "--bridge-report=none", "--bridge-surface=tool_call", "--bridge-surface=exec"],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split("COMPARED ")[1].split()[0]) > 1500
