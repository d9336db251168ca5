"""An implementation in this process that never comes back to the loop is broken off, and SIGALRM given back."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

import pytest

from conformance.deadlines import Deadlines
from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import PossibleHang
from conformance.drivers.protocol import Initialize, InitializeResult, Message, Nothing, Record, StageOpen
from conformance.stage import Stage


def _spin() -> None:
    while True:
        pass


def _spin_and_catch_once() -> None:
    try:
        _spin()
    except BaseException:
        _spin()


def _spin_and_catch_exceptions() -> None:
    while True:
        try:
            _spin()
        except Exception:
            continue


class Busy:
    """Answers the handshake; spins when a stage is opened."""

    def __init__(self, spin: Callable[[], None]) -> None:
        self.spin = spin

    async def handle(self, message: Message) -> Record:
        if isinstance(message, Initialize):
            return InitializeResult(protocol=message.protocol, name="busy", version="1", role="bridge", capabilities=[])
        if isinstance(message, StageOpen):
            self.spin()
        return Nothing()

    async def close(self) -> None:
        return None


@pytest.mark.parametrize("spin", [_spin, _spin_and_catch_once, _spin_and_catch_exceptions])
def test_a_busy_loop_is_broken_off_however_it_catches(spin: Callable[[], None]) -> None:
    before: Any = signal.getsignal(signal.SIGALRM)
    with asyncio.Runner() as runner:
        driver = InProcessDriver("busy", lambda suite: Busy(spin))
        hello = runner.run(driver.start())
        stage = Stage(runner, driver, hello, deadlines=Deadlines(request=0.1))
        with pytest.raises(PossibleHang, match="the answer to"):
            stage.open()
        stage.leave()
    assert signal.getsignal(signal.SIGALRM) is before
