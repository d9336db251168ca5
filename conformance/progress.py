"""Says how far long work is: one line on standard error that replaces itself, and nothing where nobody watches."""

from __future__ import annotations

import os
import shutil
import sys
import time
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
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False

    def _show(self, text: str) -> None:
        if not self._watched:
            return
        self._next = time.monotonic() + EVERY
        room = max(10, shutil.get_terminal_size().columns - 1)
        line = " ".join(f"{self.work}: {text}".split())
        self._stream.write(f"\r\x1b[K{line[:room]}")
        self._stream.flush()
        self._shown = True
