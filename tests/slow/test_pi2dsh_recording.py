"""Stages of the real bridge, kept as files, judged where the bridge is not: by the rules and the ledger as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.transcripts import files
from conformance.transcripts.files import Transcript

CHECKOUT = Path(__file__).resolve().parents[2]
RECORDED = CHECKOUT / "tests" / "data" / "pi2dsh"
LEDGER = CHECKOUT / "conformance" / "adapters" / "pi2dsh" / "deviations.yaml"
AGAIN = (
    "record them again where the bridge is: bridge-conformance run --bridge='MOUNT=pi2dsh?mount=MOUNT' "
    "--rule=RULE--EXAMPLE --record=tests/data/pi2dsh --report=none"
)
MOUNTS = ("engine", "root")


@pytest.fixture(scope="module", params=MOUNTS)
def mount(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def kept(mount: str) -> list[Transcript]:
    return [files.read(path) for path in files.transcripts(RECORDED / mount)]


def judge(kept: Sequence[Transcript], mount: str, folder: Path, *options: str) -> dict[str, Any]:
    """Verdict and message of each recorded item, as they are now."""
    chosen = [f"--rule={each.head.rule}--{each.head.item.partition('--')[2] or '1'}" for each in kept]
    command = [
        *(sys.executable, "-m", "conformance.cli", "run", f"--bridge={mount}=replay:{RECORDED / mount}"),
        *(*chosen, f"--report={folder}", *options, "-q", "--", "-p", "no:cacheprovider", "--tb=no"),
    ]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    (bridge,) = json.loads((folder / "conformance.json").read_text())["bridges"]
    items = {each.head.item for each in kept}
    return {proof["item"]: proof for rule in bridge["rules"] for proof in rule["proofs"] if proof["item"] in items}


def test_the_recordings_are_of_one_release_and_name_no_place(kept: list[Transcript], mount: str) -> None:
    assert {(each.head.hello.name, each.head.hello.version, each.head.mount) for each in kept} == {
        ("pi2dsh", "0.16.0", mount)
    }
    assert {each.head.bridge for each in kept} == {f"pi2dsh?mount={mount}"}
    assert {"pass", "fail"} <= {each.judged.verdict for each in kept}


def test_recorded_stages_are_judged_as_they_were(kept: list[Transcript], mount: str, tmp_path: Path) -> None:
    now = judge(kept, mount, tmp_path)
    moved = [each.head.item for each in kept if "stimulus changed" in now[each.head.item]["message"]]
    assert len(moved) <= len(kept) // 3, f"the suite does something else in {moved}; {AGAIN}"
    for each in kept:
        if each.head.item not in moved:
            assert now[each.head.item]["verdict"] == each.judged.verdict, now[each.head.item]["message"]


def test_the_ledger_excuses_what_was_recorded(kept: list[Transcript], mount: str, tmp_path: Path) -> None:
    now = judge(kept, mount, tmp_path, f"--deviations={mount}={LEDGER}")
    wrong = {each.head.item for each in kept if each.judged.verdict in ("fail", "departs")}
    assert wrong
    for item, proof in now.items():
        if "stimulus changed" not in proof["message"]:
            assert proof["verdict"] == ("deviation" if item in wrong else "pass"), proof["message"]
