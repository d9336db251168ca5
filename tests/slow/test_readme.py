"""The README's first command, on a fresh copy in a fresh environment, prints what the README shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_first_command_prints_what_is_shown(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)[0]
    [shown] = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    kept = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "node_modules")
    checkout = shutil.copytree(ROOT, tmp_path / "checkout", ignore=kept)

    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    done = subprocess.run(
        ["bash", "-e", "-c", command], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    printed = {" ".join(line.split()) for line in done.stdout.splitlines()}
    assert [line for line in shown.splitlines() if "…" not in line and " ".join(line.split()) not in printed] == []
