"""Every command that a guide shows does what the guide says: run in order, in one folder a guide."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```sh(?: status=(\d))?\n(.*?)^```", re.DOTALL | re.MULTILINE)
READERS = {"checking-a-bridge.md", "writing-a-driver.md", "changing-a-rule.md", "reading-a-report.md"}
GUIDES = sorted(
    path.name
    for path in (ROOT / "docs").glob("*.md")
    if BLOCK.search(path.read_text(encoding="utf-8")) and path.name != "writing-a-driver.md"  # test_driver_guide.py
)


def test_there_is_a_guide_for_each_reader() -> None:
    assert {path.name for path in (ROOT / "docs").glob("*.md")} >= READERS


@pytest.mark.parametrize("guide", GUIDES)
def test_the_commands_of_a_guide_run_as_written(guide: str, tmp_path: Path) -> None:
    programs = Path(sys.executable).parent
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    environment["PATH"] = os.pathsep.join([str(programs), environment.get("PATH", os.defpath)])
    for status, commands in BLOCK.findall((ROOT / "docs" / guide).read_text(encoding="utf-8")):
        done = subprocess.run(
            ["bash", "-e", "-c", commands], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == int(status or 0), f"{commands}\n{done.stdout}\n{done.stderr}"
