"""The end of a run on a terminal: colours where they are wanted, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.slow.small_checkout import DEAF, SmallCheckout

RED, YELLOW = "\x1b[31m", "\x1b[33m"


def end_of(out: str) -> str:
    return out.partition(" conformance =")[2]


@pytest.mark.parametrize(
    ("options", "variables", "coloured"),
    [
        (("--color=yes",), {}, True),
        (("--color=no",), {"FORCE_COLOR": "1"}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ((), {}, False),
    ],
    ids=["asked for", "refused", "forced", "forced and NO_COLOR", "no terminal"],
)
def test_colours_obey_the_option_and_the_environment(
    sound: SmallCheckout,
    options: tuple[str, ...],
    variables: dict[str, str],
    coloured: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    shown = end_of(sound.run(f"--bridge=deaf={DEAF}", *options).out)

    assert (f"{YELLOW}deaf: departs from a should: \x1b[0mtool_call.a-block-should-hold" in shown) == coloured
    assert (f"deaf: {RED}not conformant\x1b[0m (" in shown) == coloured
    assert ("\x1b" in shown) == coloured
    assert "tool_call.a-block-should-hold" in shown


@pytest.mark.parametrize("arguments", [("--help",), ("explain", "user_bash.never-fires"), ("spec", "check")])
def test_a_reader_who_has_gone_is_told_of_no_traceback(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    command = [sys.executable, "-m", "conformance.cli", *arguments]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    os.close(writing)

    assert (done.returncode, done.stderr) == (141, "")
