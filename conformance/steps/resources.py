"""Steps on what the implementation's process holds: open files, children and memory."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from pytest_bdd import then, when

from conformance.compare import check, show
from conformance.stage import Stage
from conformance.steps._phrase import phrase
from conformance.verdicts import Inconclusive


@pytest.fixture
def held() -> list[int]:
    """What the process held when the scenario had it noted."""
    return []


@when(phrase("the implementation's open files and memory are noted"))
def note(stage: Stage, held: list[int]) -> None:
    held[:] = stage.seen("open files and memory", lambda: _look(stage, afresh=True))


@then(phrase("fewer than {count:int} files more are open, and no child is left"))
def files_open(stage: Stage, held: list[int], count: int) -> None:
    more = stage.seen("open files", lambda: _look(stage))[0] - held[0]
    check(more < count, f"fewer than {count} files more are open", f"{more} more")
    new = stage.new_children()
    check(not new, "no child is left", f"processes {show(new)}")


@then(phrase("it needed less than {count:int} MiB of memory more"))
def memory_needed(stage: Stage, held: list[int], count: int) -> None:
    more = (stage.seen("memory", lambda: _look(stage))[1] - held[1]) // 1024
    check(more < count, f"less than {count} MiB of memory more at any time", f"{more} MiB")


def _look(stage: Stage, afresh: bool = False) -> list[int]:
    """Return how many files the implementation has open, and the most memory it had since told afresh, in KiB.

    Where the system does not let the suite begin afresh, it is the most that the process ever had.
    """
    place = Path(f"/proc/{getattr(stage.driver, 'pid', None) or os.getpid()}")
    if not place.is_dir():
        raise Inconclusive("this machine has no /proc to look at the implementation in")
    if afresh:
        with contextlib.suppress(OSError):
            (place / "clear_refs").write_text("5")
    peak = next(line.split()[1] for line in (place / "status").read_text().splitlines() if line.startswith("VmHWM:"))
    return [len(list((place / "fd").iterdir())), int(peak)]
