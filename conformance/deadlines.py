"""How long the suite waits: for a sign of life, and for a scenario as a whole."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from conformance.catalogue.model import Rule
from conformance.drivers.driver import PossibleHang

REQUEST_SECONDS = 5.0
SCENARIO_SECONDS = 30.0
PING_SECONDS = 1.0
"""The longest silence, the longest scenario, and how long an answer to ``ping`` may take."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds. ``request`` counts silence: any message starts it anew, and it stands still while the suite owes an
    answer. ``scenario`` counts from the stage's making. ``decides`` says that the rule itself speaks of ending in time,
    so that a deadline which passes is its answer.
    """

    request: float = REQUEST_SECONDS
    scenario: float = SCENARIO_SECONDS
    decides: bool = False

    @staticmethod
    def of(rule: Rule | None, request: float | None = None) -> Deadlines:
        """Return the deadlines of a rule: its own where it states one, ``request`` where the user did."""
        silence = request or REQUEST_SECONDS
        if rule is None or rule.deadline is None:
            return Deadlines(silence, max(SCENARIO_SECONDS, silence))
        return Deadlines(max(silence, rule.deadline.seconds), max(SCENARIO_SECONDS, rule.deadline.seconds), True)


class Watch:
    """When something was last heard, and how many answers the suite still owes."""

    def __init__(self) -> None:
        self.began = self.heard = time.monotonic()
        self.owed = 0

    def hear(self) -> None:
        """Note a message."""
        self.heard = time.monotonic()

    def left(self, deadlines: Deadlines) -> float:
        """Return the seconds until the nearer deadline passes; zero or less when one has."""
        now = time.monotonic()
        whole = self.began + deadlines.scenario - now
        return whole if self.owed else min(whole, self.heard + deadlines.request - now)


@contextmanager
def alarm(seconds: float, awaited: str) -> Iterator[Callable[[], None]]:
    """Raise :class:`PossibleHang` in the main thread when what runs in this process does not come back to the loop.

    Yields what winds the alarm up again; call it whenever the loop has shown that it lives. An asyncio time-out cannot
    stop a busy loop. Elsewhere than in the main thread nothing is watched.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise PossibleHang(awaited, "the implementation keeps this process busy; look for a loop without an await")

    def wind() -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds)

    before = signal.signal(signal.SIGALRM, ring)
    wind()
    try:
        yield wind
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
