"""Every command of the guide for driver writers does what the guide says, in the order in which it stands there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.drivers import description
from conformance.drivers.protocol import ADAPTER_KINDS

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "writing-a-driver.md"


def commands() -> list[tuple[str, int]]:
    """Every command, with the status that its block states."""
    blocks = re.findall(r"```sh(?: status=(\d))?\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return [(line, int(status or 0)) for status, block in blocks for line in block.splitlines()]


def test_every_command_of_the_guide_works(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    said = {}
    for line, status in commands():
        program, *arguments = shlex.split(line)
        assert program == "bridge-conformance"
        done = subprocess.run(
            [sys.executable, "-m", "conformance.cli", *arguments],
            cwd=tmp_path,
            env={**kept, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == status, (line, done.stdout, done.stderr)
        said[line] = done.stdout
    first = next(out for line, out in said.items() if "run --bridge=my-driver" in line)
    assert "1 unsupported" in first
    assert (tmp_path / "traces" / "reference").is_dir()


@pytest.mark.parametrize("page", ["writing-a-driver.md", "protocol.md"])
def test_what_the_guide_links_to_is_there(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    anchors = {re.sub(r"[`.]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)}

    for link in set(re.findall(r"\]\(([^)]+)\)", text)):
        name, _, anchor = link.partition("#")
        assert (ROOT / "docs" / name).exists() if name else anchor in anchors, link


def test_the_page_of_the_protocol_is_fresh() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")

    assert page == description.as_markdown(), "write it anew: bridge-conformance spec protocol --write"


def test_every_kind_of_note_is_described() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    table = text[text.index("## What a trace note holds") :]

    named = {kind for row in re.findall(r"^\| (`.*?) \|", table, re.M) for kind in re.findall(r"`([\w.]+)`", row)}
    written_by_the_suite = {"tool.enter", "native.enter", "operator"}
    assert ADAPTER_KINDS - written_by_the_suite <= named, ADAPTER_KINDS - named
