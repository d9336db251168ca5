"""Counts a pytest session that prints nothing itself, for somebody who waits at a terminal."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from conformance.progress import Progress


class Watched:
    """A plugin for ``pytest.main``: says how many of its tests have ended, in one process or with xdist."""

    def __init__(self, work: str) -> None:
        # pytest captures standard error while tests run; a copy of its descriptor still leads to the terminal.
        self._stream = os.fdopen(os.dup(sys.stderr.fileno()), "w") if _has_descriptor() else None
        self.progress = Progress(work, self._stream)
        self.of = 0
        self.done: set[str] = set()

    def pytest_sessionstart(self) -> None:
        """Say that it goes on before the first test has ended."""
        self.progress.say("collecting")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the number of tests of one process."""
        self.of = max(self.of, len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[Any]) -> None:
        """Take the number of tests of several: each of them knows all."""
        self.of = max(self.of, len(ids))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test when it has been taken down; one whose process died has no such report, and is counted too."""
        if report.when not in ("setup", "call"):
            self.done.add(report.nodeid)
            self.progress.count(len(self.done), max(self.of, len(self.done)))

    def pytest_unconfigure(self) -> None:
        """Take the line away."""
        self.progress.clear()
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _has_descriptor() -> bool:
    try:
        return sys.stderr.isatty() and sys.stderr.fileno() >= 0
    except (OSError, ValueError):
        return False
