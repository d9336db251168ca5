"""The sample report of the real bridge, its page and the bridge's ledger say the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from conformance.catalogue import load_catalogue
from conformance.ledger import Ledger, example_of, load_ledger
from conformance.reporting.model import SCHEMA_FILE, BridgeReport, Report
from conformance.reporting.read import read_report

CHECKOUT = Path(__file__).resolve().parents[2]
SAMPLES = CHECKOUT / "reports" / "samples"
NAME = "pi2dsh-0.16.0"
LEDGER = CHECKOUT / "conformance" / "adapters" / "pi2dsh" / "deviations.yaml"
WRONG = ("fail", "departs", "absent")


@pytest.fixture(scope="module")
def report() -> Report:
    return read_report(SAMPLES / f"{NAME}.json").report


@pytest.fixture(scope="module")
def page() -> str:
    return (SAMPLES / f"{NAME}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return load_ledger(LEDGER)


@pytest.fixture(params=["engine", "root"])
def bridge(request: pytest.FixtureRequest, report: Report) -> BridgeReport:
    (found,) = (each for each in report.bridges if each.mount == request.param)
    return found


def test_the_report_has_the_published_form_and_is_whole(report: Report) -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.validate(json.loads((SAMPLES / f"{NAME}.json").read_text(encoding="utf-8")), schema)
    assert report.selection == "complete"
    assert [each.implementation.version for each in report.bridges] == ["0.16.0", "0.16.0"]


def test_no_verdict_is_the_suites_own_trouble(bridge: BridgeReport) -> None:
    troubled = ("harness error", "inconclusive", "not run", "undeclared", "absent")
    assert [rule.id for rule in bridge.rules if rule.verdict in troubled] == []


def test_the_page_has_every_rule_and_a_reproduction_of_each_failure(bridge: BridgeReport, page: str) -> None:
    for rule in bridge.rules:
        assert f"| `{rule.id}` |" in page
        if rule.verdict in WRONG:
            section = page.partition(f"#### `{rule.id}`\n")[2].partition("\n####")[0]
            assert "Whose: the bridge" in section
            assert f"--rule={rule.id}" in section
            assert re.search(r"\n1\. .+\n2\. .+\n3\. .+\n", section)


def test_the_page_accuses_of_nothing_that_passed(report: Report, page: str) -> None:
    wrong = {rule.id for each in report.bridges for rule in each.rules if rule.verdict in WRONG}
    assert set(re.findall(r"^#### `(.+)`$", page, re.MULTILINE)) == wrong


def test_the_ledger_excuses_all_that_is_wrong_and_nothing_else(bridge: BridgeReport, ledger: Ledger) -> None:
    for rule in bridge.rules:
        for proof in rule.proofs:
            entry = ledger.find(rule.id, example_of(proof.item, rule.id), bridge.mount)
            if proof.verdict in WRONG:
                assert entry is not None, f"nothing excuses {proof.item} of {rule.id}"
            elif proof.kind == "invariant":
                assert entry is None or entry.example is None, f"an entry waits for a breach of {proof.item}"
            elif proof.verdict == "pass":
                assert entry is None, f"an entry excuses {proof.item}, which passes"


def test_the_ledger_speaks_of_rules_that_there_are(ledger: Ledger) -> None:
    known = load_catalogue().by_id
    assert ledger.label == "pi2dsh"
    assert [each.rule for each in ledger.deviations if each.rule not in known] == []
    assert [each.rule for each in ledger.deviations if each.reason.startswith("To be explained")] == []


def test_the_sample_names_no_place_on_a_machine(page: str) -> None:
    texts = [page, LEDGER.read_text(encoding="utf-8"), (SAMPLES / f"{NAME}.json").read_text(encoding="utf-8")]
    place = re.compile(r"/(?:root|work|Users|tmp/\w)[/\w.-]*|node_modules=/")
    assert [found for text in texts for found in place.findall(text)] == []
