"""The start of a ledger: an entry for what a run found wrong, such that a run with it has nothing left to say."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance import cli
from conformance.ledger import load_ledger
from conformance.reporting.model import BridgeReport, DeviationReport, RuleReport
from conformance.verdicts import Verdict
from tests.fast import small_reports as small

FAIL, PASS, DEPARTS = Verdict.FAIL, Verdict.PASS, Verdict.DEPARTS


def rule(name: str, verdict: Verdict, **proofs: Verdict) -> RuleReport:
    made = [small.proof(name, each, slug=slug, message=f"{slug} went wrong") for slug, each in proofs.items()]
    return small.rule(name, verdict, proofs=made or small.rule(name, verdict).proofs)


def written(folder: Path, *bridges: BridgeReport, options: tuple[str, ...] = ()) -> dict[str, Any]:
    small.saved(folder, small.report(*bridges))
    out = folder / "ledger.yaml"
    assert cli.main(["ledger", str(folder), f"--output={out}", *options]) == 0
    load_ledger(out)
    content: dict[str, Any] = yaml.safe_load(out.read_text())
    return content


def brief(content: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (entry["rule"], entry.get("examples", entry.get("example")), entry.get("mount"))
        for entry in content["deviations"]
    ]


def test_what_is_wrong_gets_an_entry_and_nothing_else_does(tmp_path: Path) -> None:
    rules = [
        rule("a.fails", FAIL),
        rule("a.departs", DEPARTS),
        rule("a.absent", Verdict.ABSENT),
        rule("a.passes", PASS),
        rule("a.noted", Verdict.NOTED),
        rule("a.broke", Verdict.HARNESS_ERROR),
        rule("a.hung", Verdict.INCONCLUSIVE),
        rule("a.lacks", Verdict.UNSUPPORTED),
    ]
    content = written(tmp_path, small.bridge("mine", *rules))
    assert content["bridge"] == "mine"
    assert [entry["rule"] for entry in content["deviations"]] == ["a.fails", "a.departs", "a.absent"]


def test_a_rule_that_fails_in_part_names_the_examples_that_do(tmp_path: Path) -> None:
    rules = [
        rule("a.all", FAIL, one=FAIL, two=FAIL),
        rule("a.some", FAIL, one=FAIL, two=PASS, three=FAIL),
        rule("a.one", FAIL, one=PASS, two=FAIL),
    ]
    content = written(tmp_path, small.bridge("mine", *rules))
    assert brief(content) == [("a.all", None, None), ("a.some", ["one", "three"], None), ("a.one", "two", None)]


def test_the_reason_is_what_was_found_and_says_that_it_is_to_be_explained(tmp_path: Path) -> None:
    content = written(tmp_path, small.bridge("mine", rule("a.some", FAIL, one=FAIL)), options=("--expires=2999-12-31",))
    (entry,) = content["deviations"]
    assert entry["reason"] == "To be explained: one went wrong"
    assert (entry["added"], entry["expires"]) == (date.today().isoformat(), "2999-12-31")


def test_mounts_of_one_bridge_share_the_entries_that_hold_for_both(tmp_path: Path) -> None:
    engine = small.bridge("engine", rule("a.b", FAIL, one=FAIL), rule("a.c", FAIL), name="it", mount="engine")
    same = small.rule("a.b", FAIL, proofs=[small.proof("a.b", FAIL, slug="one", message="it said something else")])
    root = small.bridge("root", same, rule("a.c", PASS), name="it", mount="root")
    content = written(tmp_path, engine, root, options=("--label=engine", "--label=root", "--name=it"))
    assert content["bridge"] == "it"
    assert brief(content) == [("a.b", None, None), ("a.c", None, "engine")]


def test_what_a_ledger_explained_already_is_kept(tmp_path: Path) -> None:
    old = DeviationReport(
        rule="a.b", reason="It is so.", added="2026-01-01", expires="2999-01-01", example="one", link="https://e.org/1"
    )
    judged = rule("a.b", FAIL, one=Verdict.DEVIATION, two=FAIL, three=PASS)
    content = written(tmp_path, small.bridge("mine", judged, deviations=[old]))
    first, second = content["deviations"]
    assert first == {
        "rule": "a.b",
        "example": "one",
        "reason": "It is so.",
        "link": "https://e.org/1",
        "added": "2026-01-01",
        "expires": "2999-01-01",
    }
    assert (second["example"], second["reason"]) == ("two", "To be explained: one went wrong")


def test_a_bridge_without_faults_has_an_empty_ledger(tmp_path: Path) -> None:
    assert written(tmp_path, small.bridge("mine", rule("a.b", PASS)))["deviations"] == []


def test_it_goes_to_standard_output_where_no_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small.saved(tmp_path, small.report(small.bridge("mine", rule("a.b", FAIL))))
    assert cli.main(["ledger", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("# Known deviations of mine 1.0.\nbridge: mine\ndeviations:\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "the report is about 2 bridges\nMend: choose with --label among mine, yours"),
        (["--label=theirs"], "the report has no bridge 'theirs'\nMend: name one of mine, yours"),
        (["--label=mine", "--label=yours"], "a ledger is about one implementation"),
        (["--label=mine", "--expires=soon"], "--expires=soon is no day"),
    ],
)
def test_what_does_not_serve_is_said_with_a_mend(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.saved(tmp_path, small.report(small.bridge("mine"), small.bridge("yours")))
    assert cli.main(["ledger", str(tmp_path), *options]) == 4
    assert said in capsys.readouterr().err


def test_a_folder_without_a_report_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ledger", str(tmp_path)]) == 4
    assert "cannot be read" in capsys.readouterr().err
