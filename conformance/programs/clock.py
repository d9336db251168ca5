"""An event loop whose clock moves only when nothing else can happen: waits cost nothing, and every run is the same."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any


class _Jumping(selectors.DefaultSelector):
    """Where nobody has anything to say until a timer is due, lets it be due now."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if events or timeout == 0:
            return events
        if timeout is None:
            return super().select(None)
        self.now += max(timeout, 1e-6)
        return events


class PatientLoop(asyncio.SelectorEventLoop):
    """A loop for implementations that live in this process and start no other.

    Its time begins at 0 and has nothing to do with the clock on the wall.
    """

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return the seconds that timers have waited so far."""
        return self._jumping.now


def patient_runner() -> asyncio.Runner:
    """Return a runner of such a loop."""
    factory: Any = PatientLoop
    return asyncio.Runner(loop_factory=factory)
