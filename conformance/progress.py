"""Says how far long work is: one line on standard error that replaces itself, and nothing where nobody watches."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

EVERY = 0.1
"""Seconds from one change of the line to the next: a terminal must not cost more than the work."""


class Progress:
    """The line of one piece of work; gone when the work is.

    ``stream`` is standard error unless another is given. It says nothing where that is no terminal, or a dumb one.
    """

    def __init__(self, work: str, stream: TextIO | None = None) -> None:
        self.work = work
        self._stream = sys.stderr if stream is None else stream
        self._watched = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._next = 0.0
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self.clear()

    def say(self, text: str) -> None:
        """Show what is being done now."""
        self._show(text)

    def count(self, done: int, of: int, what: str = "") -> None:
        """Show how much is done; of many calls in a moment only one is shown."""
        if done >= of or time.monotonic() >= self._next:
            share = f" ({100 * done // of} %)" if of else ""
            self._show(f"{done} of {of}{share}{f'  {what}' if what else ''}")

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self._draw("")
            self._shown = False

    def _show(self, text: str) -> None:
        if self._watched:
            self._next = time.monotonic() + EVERY
            self._draw(" ".join(f"{self.work}: {text}".split()))
            self._shown = True

    def _draw(self, line: str) -> None:
        self._stream.write(f"\r\x1b[K{line[: max(10, shutil.get_terminal_size().columns - 1)]}")
        self._stream.flush()


class Beside(Progress):
    """The same at the right of a line that somebody else writes, and that stays as it is.

    ``room`` says how many columns are left there.
    """

    def __init__(self, work: str, stream: TextIO, room: Callable[[], int]) -> None:
        super().__init__(work, stream)
        self._room = room

    def _draw(self, line: str) -> None:
        room = self._room() - 2
        shown = f"  {line}" if line and len(line) <= room else ""
        # Keeps the place, writes or wipes the rest of the line, and goes back: the other goes on where it was.
        self._stream.write(f"\x1b7{shown}\x1b[K\x1b8")
        self._stream.flush()
