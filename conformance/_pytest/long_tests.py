"""Says how far a long test is, while pytest captures what tests print."""

from __future__ import annotations

import io
import sys
from contextlib import nullcontext
from typing import Any

import pytest

from conformance.progress import Beside, Progress


class _Uncaptured(io.TextIOBase):
    """Standard error as it is outside of a test."""

    def __init__(self, config: pytest.Config) -> None:
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")

    def _free(self) -> Any:
        return self._capture.global_and_fixture_disabled() if self._capture is not None else nullcontext()

    def isatty(self) -> bool:
        with self._free():
            return sys.stderr.isatty()

    def write(self, text: str) -> int:
        with self._free():
            sys.stderr.write(text)
            sys.stderr.flush()
        return len(text)


def progress_of(config: pytest.Config, work: str) -> Progress:
    """The progress of a test that runs now; silent in a worker of xdist, which has no line of its own."""
    if hasattr(config, "workerinput"):
        return Progress(work, io.StringIO())
    terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or not terminal.isatty:
        return Progress(work, _Uncaptured(config))  # type: ignore[arg-type]
    writer = terminal._tw
    return Beside(work, _Uncaptured(config), lambda: writer.fullwidth - writer.width_of_current_line)  # type: ignore[arg-type]
