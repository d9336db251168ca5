"""Recorded stages, judged again without the implementation: the same verdicts, and none on other questions."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.small_rules import BLOCK
from tests.slow.small_checkout import CLUMSY, DEAF, TESTS, TINY, Ran, SmallCheckout

FEATURE = "features/tools/tool_call.feature"
TWICE = "tool_call.a-block-holds--twice.jsonl"
CALL = '    When the model calls "write_note"\n'


BRIDGES = {"tiny": TINY, "deaf": DEAF, "clumsy": CLUMSY}


@pytest.fixture(scope="module")
def kept(sound: SmallCheckout) -> Path:
    """The small suite, recorded once on each of the small bridges by two workers."""
    sound.run(*(f"--bridge={label}={spec}" for label, spec in BRIDGES.items()), "--bridge-record=kept", "-n2")
    return sound.folder / "kept"


@pytest.fixture
def own(kept: Path, checkout: SmallCheckout) -> SmallCheckout:
    """A private copy of the suite with a copy of the recording in it."""
    shutil.copytree(kept, checkout.folder / "kept")
    return checkout


def replays(*labels: str) -> list[str]:
    """The recordings of these labels as options."""
    return [f"--bridge={label}=replay:kept/{label}" for label in labels]


def proofs(ran: Ran, label: str) -> dict[str, tuple[str, str]]:
    """Verdict and message of each item on one bridge."""
    bridge = next(bridge for bridge in ran.report["bridges"] if bridge["label"] == label)
    return {proof["item"]: (proof["verdict"], proof["message"]) for rule in bridge["rules"] for proof in rule["proofs"]}


@pytest.mark.parametrize("processes", [(), ("-n2",)], ids=["one process", "two workers"])
def test_a_recording_is_judged_as_the_implementation_was(own: SmallCheckout, processes: tuple[str, ...]) -> None:
    first = own.run(*(f"--bridge={label}={spec}" for label, spec in BRIDGES.items()))
    (own.folder / "tests" / "fakes" / "tiny_bridge.py").unlink()

    again = own.run(*replays(*BRIDGES), *processes)

    assert again.status == first.status == 1, again.out
    for label in BRIDGES:
        assert proofs(again, label) == proofs(first, label)
    assert again.report["bridges"][0]["implementation"]["versions"]["recording"].startswith("of py:tests.fakes")


def test_a_transcript_names_label_item_and_rule(kept: Path) -> None:
    names = sorted(path.name for path in (kept / "tiny").iterdir())
    lines = [json.loads(line) for line in (kept / "tiny" / TWICE).read_text(encoding="utf-8").splitlines()]

    assert len(names) == TESTS
    assert [lines[0][key] for key in ("label", "item", "rule")] == [
        "tiny",
        "test_tool_call.a-block-holds--twice",
        "tool_call.a-block-holds",
    ]
    assert {line["wire"] for line in lines if "wire" in line} == {
        "suite asks",
        "rest",
        "suite answers",
        "adapter asks",
        "adapter answers",
        "adapter notes",
    }
    assert lines[-1]["judged"]["verdict"] == "pass"
    assert any(line.get("trace", {}).get("kind") == "model.request" for line in lines)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"write_note"\n    Then', '"write_note" with {"text": "new"}\n    Then'),
        ('the reason "closed"', 'the reason "shut"'),
        (CALL, CALL + CALL),
        (CALL, ""),
    ],
    ids=["another call", "another answer of a handler", "one prompt more", "one prompt less"],
)
def test_a_changed_scenario_is_neither_failed_nor_passed(own: SmallCheckout, old: str, new: str) -> None:
    own.replace(FEATURE, f"it must\n{BLOCK}", f"it must\n{BLOCK.replace(old, new)}")

    ran = own.run(*replays("tiny", "deaf"))

    for label in ("tiny", "deaf"):
        found = proofs(ran, label)
        assert [item for item, (verdict, _) in found.items() if verdict == "inconclusive"] == [
            "test_tool_call.a-block-holds"
        ]
        assert found["test_tool_call.a-block-holds"][1].startswith("stimulus changed: ")


def test_rejudging_says_what_changes_and_why(own: SmallCheckout) -> None:
    own.replace(FEATURE, f"it may\n{BLOCK}", f"it may\n{BLOCK.replace('does not run', 'runs 1 times')}")
    own.replace(FEATURE, " @case:twice", " @case:thrice")
    own.replace("spec/tools/tool_call.yaml", "level: should", "level: must")

    ran = own.command("rejudge", "kept/deaf")

    assert ran.status == 1
    assert "deaf: 7 stages of tiny 1, recorded with spec version 1" in ran.out
    assert "other rules" in ran.out
    assert "3 verdicts change" in ran.out
    assert "tool_call.a-block-may-hold: noted → pass\n    because: its scenarios or vectors changed" in ran.out
    assert (
        "tool_call.a-block-should-hold: departs → fail\n    because: the rule was a should and is a must\n"
        '    now:     expected: the tool "write_note" does not run'
    ) in ran.out
    assert "tool_call.a-block-holds--twice: fail → not asked" in ran.out
    assert "the rule tool_call.a-block-holds has no such proof any more" in ran.out


def test_unchanged_rules_change_no_verdict(own: SmallCheckout) -> None:
    ran = own.command("rejudge", "kept", "-n", "2")

    assert ran.status == 0, ran.out
    assert ran.out.count("the same rules: 0 verdicts change") == len(BRIDGES)


def test_one_damaged_transcript_spoils_its_own_test_only(own: SmallCheckout) -> None:
    damaged = own.folder / "kept" / "tiny" / TWICE
    damaged.write_text(damaged.read_text(encoding="utf-8")[:900], encoding="utf-8")
    other = own.folder / "kept" / "tiny" / "user_bash.never-fires.jsonl"
    other.unlink()

    ran = own.run(*replays("tiny"), "-rs")
    rejudged = own.command("rejudge", "kept/tiny")

    found = {item: verdict for item, (verdict, _) in proofs(ran, "tiny").items() if verdict != "pass"}
    assert found == {"test_tool_call.a-block-holds--twice": "harness error", "test_user_bash.never-fires": "not run"}
    assert "has no stage of this test" in ran.out
    assert rejudged.status == 3
    for out in (ran.out, rejudged.out):
        assert "ends in the middle of line" in out
        assert "mend: record the stage again" in out


def test_a_folder_that_is_no_recording_of_one_label_says_what_to_do(own: SmallCheckout) -> None:
    empty = own.run("--bridge=replay:spec")
    several = own.run("--bridge=replay:kept")

    assert empty.status == several.status == 3
    assert "spec holds no transcript\n  mend: name one that --bridge-record=DIR has written" in empty.out
    assert "kept holds recordings of clumsy, deaf, tiny\n  mend: name one, as in --bridge=replay:" in several.out


@pytest.mark.parametrize("spec", ["reference", "mutant:end-before-result"])
def test_the_reference_and_a_mutant_get_their_own_verdicts_back(tmp_path: Path, spec: str) -> None:
    def run(spec: str, *arguments: str) -> dict[str, str]:
        command = [sys.executable, "-m", "conformance.cli", "run", "-q", f"--bridge=it={spec}", *arguments]
        chosen = [
            f"--rule={name}" for name in ("getActiveTools.*", "exec.*provider*", "tool_execution_end.after-tool-result")
        ]
        done = subprocess.run(
            [*command, *chosen, f"--report={tmp_path}", "--", "-n", "2"], check=False, capture_output=True, text=True
        )
        report = tmp_path / "conformance.json"
        assert report.is_file(), done.stdout + done.stderr
        made = json.loads(report.read_text(encoding="utf-8"))
        report.unlink()
        proofs = [proof for rule in made["bridges"][0]["rules"] for proof in rule["proofs"]]
        return {proof["item"]: proof["verdict"] for proof in proofs}

    first = run(spec, f"--record={tmp_path / 'kept'}")
    again = run(f"replay:{tmp_path / 'kept'}")

    assert again == first
    assert ("fail" in first.values()) == (spec != "reference")
