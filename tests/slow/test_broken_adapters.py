"""An adapter that misbehaves costs its own tests and nothing else: the run goes on, and no process outlives it."""

from __future__ import annotations

import shlex
import sys
import uuid
from pathlib import Path

import pytest

from tests.slow.small_checkout import TINY, Ran, SmallCheckout

FAKES = """

import os, subprocess, sys, time


class Exits(TinyBridge):
    async def turn(self, agent: str, text: str) -> None:
        if text == "!ls":
            print("out of memory, I say", file=sys.stderr, flush=True)
            os._exit(7)
        await super().turn(agent, text)


class Sleeps(TinyBridge):
    async def turn(self, agent: str, text: str) -> None:
        if text == "!ls":
            time.sleep(60)
        await super().turn(agent, text)


class HasChildren(TinyBridge):
    def __init__(self, suite: Suite) -> None:
        super().__init__(suite)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "@MARK@"])


class Dozes(TinyBridge):
    '''Stops answering once, in whatever process it is asked first.'''

    async def turn(self, agent: str, text: str) -> None:
        if text == "!ls" and not os.path.exists("@DOZED@"):
            open("@DOZED@", "w").close()
            time.sleep(60)
        await super().turn(agent, text)
"""
REST = {
    "tool_call.a-block-holds": "pass",
    "tool_call.a-block-should-hold": "pass",
    "tool_call.a-block-may-hold": "pass",
    "tool_call.natives-keep-their-arguments": "pass",
}


@pytest.fixture
def mark() -> str:
    """A word that only processes of this test have in their command."""
    return f"mark-{uuid.uuid4().hex}"


@pytest.fixture
def broken(checkout: SmallCheckout, mark: str) -> SmallCheckout:
    """A private copy with adapters that break."""
    fakes = FAKES.replace("@MARK@", mark).replace("@DOZED@", str(checkout.folder / "dozed"))
    checkout.append("tests/fakes/tiny_bridge.py", fakes)
    return checkout


def judge(checkout: SmallCheckout, name: str, *arguments: str, before: str = "") -> Ran:
    """Judge one of the adapters over its standard input and output."""
    served = f"{sys.executable} -m conformance.cli serve --bridge=py:tests.fakes.tiny_bridge:{name}"
    command = f"sh -c {shlex.quote(before + 'exec ' + served)}" if before else served
    return checkout.run(f"--bridge=it=stdio:{command}", "--bridge-env=PYTHONPATH", f"--bridge=tiny={TINY}", *arguments)


def running(mark: str) -> list[str]:
    """Commands of processes that hold the mark."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            commands.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # It ended while we looked.
    return [command for command in commands if mark in command]


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["alone", "two workers"])
class TestBrokenAdapters:
    """The same with workers as without."""

    def test_one_that_exits_costs_one_scenario(self, broken: SmallCheckout, workers: tuple[str, ...]) -> None:
        ran = judge(broken, "Exits", *workers)

        assert ran.status == 3, ran.out
        assert ran.verdicts("it") == {**REST, "user_bash.never-fires": "harness error"}
        assert set(ran.verdicts("tiny").values()) == {"pass"}
        assert "out of memory, I say" in ran.out
        said = ran.report["bridges"][0]["stderr"]
        assert "out of memory, I say" in (ran.folder / "reports" / said[0]).read_text()

    def test_one_that_stops_answering_twice_has_failed(self, broken: SmallCheckout, workers: tuple[str, ...]) -> None:
        ran = judge(broken, "Sleeps", "--bridge-timeout=1", *workers)

        assert ran.status == 1, ran.out
        assert ran.verdicts("it") == {**REST, "user_bash.never-fires": "fail"}
        assert "twice the implementation stopped answering" in ran.out
        assert set(ran.verdicts("tiny").values()) == {"pass"}

    def test_one_that_stops_answering_once_has_no_verdict(
        self, broken: SmallCheckout, workers: tuple[str, ...]
    ) -> None:
        ran = judge(broken, "Dozes", "--bridge-timeout=1", *workers)

        assert ran.status == 3, ran.out
        assert ran.verdicts("it") == {**REST, "user_bash.never-fires": "harness error"}
        assert "possible hang of the bridge" in ran.out

    def test_one_that_prints_a_banner_is_told_so(self, broken: SmallCheckout, workers: tuple[str, ...]) -> None:
        ran = judge(broken, "TinyBridge", *workers, before="echo Welcome to the adapter; ")

        assert ran.status == 3, ran.out
        assert "Welcome to the adapter" in ran.out
        assert "mend:" in ran.out
        assert "Traceback" not in ran.out

    def test_one_that_exits_at_once_is_told_so(self, broken: SmallCheckout, workers: tuple[str, ...]) -> None:
        ran = judge(broken, "TinyBridge", *workers, before="echo no licence >&2; exit 9; ")

        assert ran.status == 3, ran.out
        assert "no licence" in ran.out
        assert "Traceback" not in ran.out

    def test_children_of_one_do_not_outlive_the_run(
        self, broken: SmallCheckout, workers: tuple[str, ...], mark: str
    ) -> None:
        ran = judge(broken, "HasChildren", *workers)

        assert ran.verdicts("it") == {**REST, "user_bash.never-fires": "pass"}, ran.out
        assert running(mark) == []
