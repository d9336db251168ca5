"""An implementation in this process that never comes back is broken off, however it defends itself."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.deadlines import Alarm, Deadlines, Stuck
from conformance.drivers.backend import InProcessDriver, Suite
from conformance.drivers.driver import PossibleHang
from conformance.drivers.protocol import Initialize, InitializeResult, Message, Nothing, Ping, Record, StageClosed
from conformance.stage import Stage
from conformance.verdicts import Inconclusive, RuleFailed

ROOT = Path(__file__).resolve().parents[2]


class Busy:
    """Does ``work`` when a stage opens."""

    def __init__(self, suite: Suite, work: Callable[[], Any]) -> None:
        self.work = work

    async def handle(self, message: Message) -> Record:
        if isinstance(message, Initialize):
            return InitializeResult(protocol=1, name="busy", version="1", role="bridge")
        if isinstance(message, Ping):
            return Nothing()
        if message.method == "stage.open":
            done = self.work()
            if asyncio.iscoroutine(done):
                await done
            return Nothing()
        return StageClosed()

    async def close(self) -> None: ...


def opened(work: Callable[[], Any], **deadlines: Any) -> None:
    """Open a stage on it."""
    with asyncio.Runner() as runner:
        driver = InProcessDriver("busy", lambda suite: Busy(suite, work))
        stage = Stage(runner, driver, runner.run(driver.start()), deadlines=Deadlines(**deadlines))
        try:
            stage.open()
        finally:
            stage.leave()


def stubborn(times: int, kind: type[BaseException]) -> Callable[[], None]:
    """What runs for ever, and swallows what breaks it off so many times."""

    def work() -> None:
        for _ in range(times):
            try:
                while True:
                    pass
            except kind:
                continue
        while True:
            pass

    return work


def in_a_task() -> Any:
    async def both() -> None:
        async def spin() -> None:
            while True:
                pass

        await asyncio.create_task(spin())

    return both()


def in_a_callback() -> Any:
    async def later() -> None:
        asyncio.get_running_loop().call_soon(stubborn(0, Exception))
        await asyncio.Event().wait()

    return later()


@pytest.mark.parametrize(
    "work",
    [stubborn(0, Exception), stubborn(9, Exception), stubborn(1, BaseException), in_a_task],
    ids=["plain", "swallows exceptions", "swallows everything once", "in a task of its own"],
)
def test_a_busy_loop_is_a_possible_hang(work: Callable[[], Any]) -> None:
    began = time.monotonic()

    with pytest.raises(PossibleHang, match=r"stage\.open") as caught:
        opened(work, request=0.3)

    assert "loop without an await" in caught.value.mend
    assert time.monotonic() - began < 10


def test_a_busy_callback_is_broken_off_and_the_deadline_decides(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Inconclusive, match=r"nothing came for 0\.3 s"):
        opened(in_a_callback, request=0.3)


def test_who_swallows_every_ring_takes_the_process_with_it() -> None:
    program = (
        "from conformance import deadlines\n"
        "deadlines.RINGS, deadlines.PING_SECONDS = 3, 0.05\n"
        "from tests.fast.test_deadlines import opened, stubborn\n"
        "opened(stubborn(10**9, BaseException), request=0.2)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT, env=env
    )

    assert done.returncode == 3
    assert "swallows every attempt" in done.stderr
    assert "serve --bridge=SPEC" in done.stderr


def test_rings_that_were_heard_are_forgotten() -> None:
    for _ in range(3):
        with pytest.raises(PossibleHang):
            opened(stubborn(0, Exception), request=0.1)
        assert Alarm.unheard <= 1


def test_an_alarm_gives_back_what_it_took() -> None:
    before = signal.getsignal(signal.SIGALRM)
    alarm = Alarm()
    alarm.install()
    alarm.wind(0.05)
    with pytest.raises(Stuck):
        stubborn(0, Exception)()
    alarm.remove()

    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize(("decides", "kind"), [(False, Inconclusive), (True, RuleFailed)])
def test_a_scenario_has_a_deadline_of_its_own(decides: bool, kind: type[Exception]) -> None:
    async def chatter() -> None:
        while True:  # noqa: ASYNC110 - there is nothing to wait for
            await asyncio.sleep(0.01)

    with pytest.raises(kind, match=r"the scenario took longer than 0.4 s while the suite awaited .*stage\.open"):
        opened(chatter, request=30.0, scenario=0.4, decides=decides)
