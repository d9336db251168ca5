"""Recordings of the real Pi and of the real harness, and random programs on the reference held against the real Pi."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.drivers.driver import HarnessError
from conformance.drivers.specs import make_driver, parse

RULES = {
    "pi": ("tool_call.the-first-block-wins", "setActiveTools.narrows-the-next-request", "tool_result.patches-chain"),
    "dsh": ("waterfalls.*", "turns.*"),
}


def available(spec: str) -> None:
    """Skip where the program cannot be had."""
    try:
        make_driver(parse(spec))
    except HarnessError as error:
        pytest.skip(f"{spec} cannot be had here: {error.cause}")


def run(folder: Path, spec: str, *arguments: str) -> dict[str, str]:
    """Judge ``it``; return the verdict of each test that ran."""
    command = [sys.executable, "-m", "conformance.cli", "run", "-q", f"--bridge=it={spec}", f"--report={folder}"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=300)
    report: Any = json.loads((folder / "conformance.json").read_text(encoding="utf-8")) if folder.is_dir() else None
    assert report is not None, done.stdout + done.stderr
    proofs = [proof for rule in report["bridges"][0]["rules"] for proof in rule["proofs"]]
    return {p["item"]: p["verdict"] for p in proofs if p["kind"] != "invariant" and p["verdict"] != "not run"}


@pytest.mark.parametrize("spec", RULES)
def test_a_recording_of_the_real_program_is_judged_as_it_was(tmp_path: Path, spec: str) -> None:
    available(spec)
    rules = [f"--rule={rule}" for rule in RULES[spec]]

    first = run(tmp_path / "first", spec, *rules, f"--record={tmp_path / 'kept'}")
    again = run(tmp_path / "again", f"replay:{tmp_path / 'kept'}", *rules)

    assert again == first
    assert set(first.values()) == {"pass"}
    assert len(first) >= 3


def test_the_reference_answers_random_programs_as_the_real_pi_does(tmp_path: Path) -> None:
    available("pi")

    found = run(tmp_path, "reference", "--against=pi", "--rule=*--test_random*", "--examples=60")

    assert set(found.values()) == {"pass"}
    assert not (tmp_path / "cases").exists()
