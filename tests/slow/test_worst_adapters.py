"""One run on the worst adapters there are: each is named for what it does, the others are judged, and it ends."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path

import pytest

from tests.slow.small_checkout import ROOT, TINY, Ran, SmallCheckout

SECONDS = 300
"""What bounds the run: most of it is grace for those that do not end by themselves."""
RULE = "tool_call.a-block-holds"

WORST = {
    "answers_nothing_but_ping": ("inconclusive", "a ping was answered"),
    "dies_by_signal": ("harness error", "was ended by SIGKILL"),
    "exits_mid_request": ("harness error", "exited with code 3"),
    "exits_but_a_child_holds_its_output": ("harness error", "exited with code 5"),
    "invalid_utf8": ("harness error", "not UTF-8"),
    "leaves_a_child_that_ignores_term": ("fail", "twice the implementation stopped answering"),
    "never_reads_stdin": ("fail", "twice the implementation stopped answering"),
    "nests_without_end": ("harness error", "nested too deeply"),
    "prints_while_running": ("harness error", "not JSON"),
    "replies_to_unknown_id": ("harness error", "was never made"),
    "replies_twice": ("harness error", "answered request 2 twice"),
    "result_and_error": ("harness error", "both result and error"),
    "same_id_twice": ("harness error", "which is still open"),
    "seq_goes_back": ("harness error", "seq 0 after seq 1"),
    "unknown_kind_of_note": ("harness error", "gossip"),
    "unknown_method": ("harness error", "no.such"),
}
"""Adapters that shake hands, the verdict of the one test each is asked, and what is said."""


@pytest.fixture(scope="module")
def mark() -> str:
    return f"worst-{uuid.uuid4().hex}"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, mark: str) -> Ran:
    """The run."""
    checkout = SmallCheckout(tmp_path_factory.mktemp("worst") / "checkout")
    programs = {name: ROOT / "tests" / "hostile" / f"{name}.py" for name in WORST}
    bridges = [f"--bridge={name}=stdio:{sys.executable} {path}" for name, path in programs.items()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTILE_MARK", mark)
        return checkout.python(
            "-m",
            "pytest",
            "-p",
            "bridge_conformance_pytest",
            *bridges,
            f"--bridge=tiny={TINY}",
            "--bridge-env=HOSTILE_MARK",
            "--bridge-timeout=0.5",
            f"--bridge-rule={RULE}--1",
            seconds=SECONDS,
        )


@pytest.mark.parametrize("name", WORST)
def test_it_is_named_for_what_it_does(ran: Ran, name: str) -> None:
    verdict, said = WORST[name]
    bridge = next(bridge for bridge in ran.report["bridges"] if bridge["label"] == name)
    proof = next(rule for rule in bridge["rules"] if rule["id"] == RULE)["proofs"][0]

    assert proof["verdict"] == verdict, proof
    assert said in proof["message"]


def test_the_sound_one_beside_them_is_judged(ran: Ran) -> None:
    bridge = next(bridge for bridge in ran.report["bridges"] if bridge["label"] == "tiny")
    assert next(rule for rule in bridge["rules"] if rule["id"] == RULE)["proofs"][0]["verdict"] == "pass"
    assert ran.status == 1


def test_no_process_is_left(ran: Ran, mark: str) -> None:
    left = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue  # It ended while we looked.
        if mark.encode() in text:
            left.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    assert left == []
