"""How long the suite waits: for a sign of life, and for a scenario as a whole."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from conformance.catalogue.model import Rule

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
    """When something was last heard, and how many answers the suite still owes. ``clock`` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.began = self.heard = clock()
        self.owed = 0

    def hear(self) -> None:
        """Note a message."""
        self.heard = self.clock()

    def left(self, deadlines: Deadlines) -> float:
        """Return the seconds until the nearer deadline passes; zero or less when one has."""
        now = self.clock()
        whole = self.began + deadlines.scenario - now
        return whole if self.owed else min(whole, self.heard + deadlines.request - now)


RINGS = 20
"""Rings of an alarm that may be swallowed."""
GIVEN_UP = (
    "\nbridge-conformance: the implementation keeps this process busy and swallows every attempt to break it off, "
    "so the process ends here.\n  mend: judge it from another process, which can be ended: "
    "--bridge='stdio:bridge-conformance serve --bridge=SPEC'\n"
)


class Stuck(BaseException):
    """Rung by an :class:`Alarm`. Not an ``Exception``, so that an implementation that catches those cannot catch it."""


class Alarm:
    """Breaks off what runs in this process and does not come back to the loop; a time-out of asyncio cannot.

    It rings until it is heard: whoever swallows one ring meets the next a second later, and who swallows
    :data:`RINGS` of them takes the process with it, since nothing else could end the wait. Install it once for many
    waits, because asking the operating system for the handler costs more than most of what is waited for. Elsewhere
    than in the main thread nothing is watched.
    """

    unheard = 0
    """Rings since the last one was wound up or laid to rest."""

    def __init__(self) -> None:
        self._before: Any = None
        self._installed = False

    def install(self) -> None:
        """Take over SIGALRM. Idempotent."""
        if not self._installed and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGALRM, _ring)
            self._installed = True

    def remove(self) -> None:
        """Give SIGALRM back. Idempotent."""
        if self._installed:
            self.rest()
            self._installed = False
            signal.signal(signal.SIGALRM, self._before)

    def wind(self, seconds: float) -> None:
        """Ring ``seconds`` from now unless wound again or laid to rest."""
        if self._installed:
            Alarm.unheard = 0
            signal.setitimer(signal.ITIMER_REAL, seconds, PING_SECONDS)

    def rest(self) -> None:
        """Do not ring."""
        if self._installed:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _ring(number: int, frame: FrameType | None) -> None:
    Alarm.unheard += 1
    if Alarm.unheard > RINGS:
        os.write(2, GIVEN_UP.encode())
        os._exit(3)
    raise Stuck
