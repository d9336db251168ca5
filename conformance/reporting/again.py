"""The command that repeats one proof, for whoever reads a report."""

from __future__ import annotations

import shlex

from conformance.ledger import example_of
from conformance.reporting.model import BridgeReport, ProofReport


def given(bridge: BridgeReport) -> str:
    """The value of ``--bridge`` that names an implementation, quoted for a shell."""
    return shlex.quote(bridge.spec if bridge.label == bridge.spec else f"{bridge.label}={bridge.spec}")


def command(bridge: BridgeReport, rule_id: str, proof: ProofReport) -> str:
    """What repeats one proof; an invariant is repeated by the test that broke it. Empty where nothing does."""
    item = proof.item
    if proof.kind == "invariant":
        item = proof.node.rpartition("::")[2].partition("[")[0]
        rule_id = item.removeprefix("test_").partition("--")[0]
    if not item.startswith(f"test_{rule_id}"):
        return f"bridge-conformance run --bridge={given(bridge)} --rule={shlex.quote(rule_id)}" if rule_id else ""
    selector = shlex.quote(f"{rule_id}--{example_of(item, rule_id)}")
    return f"bridge-conformance run --bridge={given(bridge)} --rule={selector}"
