"""Where a report lies, what lies beside it, and that its published form is the one that is written."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from conformance import __version__
from conformance._pytest.tally import summary
from conformance.reporting import files
from conformance.reporting.model import (
    FORMAT,
    SCHEMA_FILE,
    BridgeReport,
    Implementation,
    Named,
    ProofReport,
    Report,
    RuleReport,
    SpecReport,
    published,
)
from conformance.verdicts import Verdict


def report(label: str = "mine", verdict: Verdict = Verdict.FAIL) -> Report:
    proof = ProofReport(item="test_a.b--two", kind="scenario", where="a.feature:3", verdict=verdict)
    rule = RuleReport(
        id="a.b",
        surface="a",
        level="must",
        relation="same",
        verdict=verdict,
        text="It is.",
        source="t#a",
        proofs=[proof],
    )
    who = Implementation(
        name="x", version="1", role="bridge", protocol=1, versions={}, mounts=[], capabilities=[], issues_url=""
    )
    bridge = BridgeReport(
        label=label,
        spec="x",
        mount=None,
        implementation=who,
        probed={},
        standing="not conformant",
        summary=summary([rule]),
        rules=[rule],
        deviations=[],
        stderr=[],
    )
    return Report(
        format=FORMAT,
        suite=Named(name="suite", version=__version__),
        spec=SpecReport(version=1, digest="0" * 64),
        protocol=1,
        python="3.11",
        platform="there",
        started="2026-01-01T00:00:00+00:00",
        duration=0.0,
        selection="complete",
        exit=1,
        bridges=[bridge],
        notes=[],
    )


def read(path: Path) -> Report:
    return msgspec.json.decode(path.read_bytes(), type=Report)


def test_the_published_schema_is_the_one_of_the_code() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == published(), "refresh it: python -m conformance.reporting.model"


def test_traces_and_error_output_lie_beside_the_report(tmp_path: Path) -> None:
    path = files.write(tmp_path, report(), {("mine", "test_a.b--two"): "{}\n"}, {"mine": ["oh", " no"]})

    bridge = read(path).bridges[0]
    assert path == tmp_path / "conformance.json"
    assert bridge.rules[0].proofs[0].trace == "traces/mine--a.b--two.jsonl"
    assert (tmp_path / "traces/mine--a.b--two.jsonl").read_text() == "{}\n"
    assert bridge.stderr == ["stderr/mine.txt"]
    assert (tmp_path / "stderr/mine.txt").read_text() == "oh no"


def test_a_new_report_removes_what_the_old_one_named_and_nothing_else(tmp_path: Path) -> None:
    files.write(tmp_path, report(), {("mine", "test_a.b--two"): "{}\n"}, {})
    (tmp_path / "traces" / "of-the-user.jsonl").write_text("mine")

    files.write(tmp_path, report(verdict=Verdict.PASS), {}, {})

    assert [path.name for path in (tmp_path / "traces").iterdir()] == ["of-the-user.jsonl"]


def test_a_report_that_names_foreign_files_does_not_remove_them(tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("kept")
    where = tmp_path / "reports"
    forged = msgspec.structs.replace(
        report(), bridges=[msgspec.structs.replace(report().bridges[0], stderr=["../precious.txt", str(precious)])]
    )
    where.mkdir()
    (where / "conformance.json").write_bytes(msgspec.json.encode(forged))

    files.write(where, report(), {}, {})

    assert precious.read_text() == "kept"


def test_writing_leaves_no_half_file_behind(tmp_path: Path) -> None:
    target = tmp_path / "there"
    files.write_atomically(target, b"one")
    files.write_atomically(target, b"two")

    assert target.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("label", ["../up", "a/b", "a b", ".hidden", "x" * 200])
def test_a_label_cannot_leave_the_folder(label: str) -> None:
    name = files.safe(label)

    assert "/" not in name
    assert not name.startswith(".")
    assert len(name) < 100
    assert name != label


def test_two_labels_never_share_a_file() -> None:
    assert files.safe("a/b") != files.safe("a_b") != files.safe("a b")


def test_the_folder_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    assert files.folder("none") is None
    assert files.folder(str(tmp_path)) == tmp_path
    assert files.folder(str(tmp_path / "conformance.json")) == tmp_path


def test_a_summary_never_hides_a_must_that_nothing_decided() -> None:
    rule = report().bridges[0].rules[0]
    undecided = (Verdict.NOT_RUN, Verdict.UNSUPPORTED, Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR)

    rules = [msgspec.structs.replace(rule, id=f"a.{verdict}", verdict=verdict) for verdict in Verdict]

    assert summary(rules).unproven == [f"a.{verdict}" for verdict in Verdict if verdict in undecided]
