"""Waits for an implementation, but not for ever, whatever it is doing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from conformance.deadlines import Alarm, Stuck
from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import Message, Nothing

T = TypeVar("T")


class Silent(HarnessError):
    """Nothing came in the time that was given."""


class Unknown(Message, frozen=True):
    """A request that no implementation knows, with something in it."""

    method = "doctor.unknown"
    Result = Nothing
    filling: str = ""


class Patience:
    """Runs coroutines on a loop of its own, each at most so many seconds, in process too."""

    def __init__(self, runner: asyncio.Runner, seconds: float) -> None:
        self.runner = runner
        self.seconds = seconds

    def wait(self, work: Coroutine[Any, Any, T], what: str, times: float = 1.0) -> T:
        """Return what ``work`` returns. Raises :class:`Silent`, naming ``what``, when it takes too long."""
        seconds = self.seconds * times
        alarm = Alarm()
        alarm.install()
        alarm.wind(seconds + 1.0)

        async def bounded() -> T:
            async with asyncio.timeout(seconds):
                return await work

        try:
            return self.runner.run(bounded())
        except (TimeoutError, Stuck):
            raise Silent(
                f"{what} was not answered within {seconds:g} s",
                "look where it waits; it must answer while other requests are open",
            ) from None
        finally:
            alarm.remove()
