"""Puts what takes seconds at the head of a run on several processes: at its end the others would have nothing to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from conformance._pytest.worker import RUN

LONG = 1.0
"""Seconds that somebody in a scenario takes over an answer, from which on it is long."""


class LongFirst:
    """The plugin of a worker of xdist, one of ``processes``. In one process the order is the features'."""

    def __init__(self, processes: int) -> None:
        self._processes = processes

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Move such tests to where each process begins, in turn, and leave the others in the order they are in.

        xdist gives each process a quarter of its even part at first, one after the other: at the very front all of
        them would go to the first process.
        """
        long = [item for item in items if is_long(item)]
        rest = [item for item in items if not is_long(item)]
        share = max(len(items) // self._processes // 4, 2)
        ordered: list[pytest.Item] = []
        for number in range(self._processes):
            head = long[number :: self._processes][:share]
            more = share - len(head)
            ordered += head + rest[:more]
            del rest[:more]
        taken = set(ordered)
        items[:] = [*ordered, *(item for item in long if item not in taken), *rest]


def is_long(item: pytest.Item) -> bool:
    """Whether a test takes seconds by what it is about.

    So do random programs, proofs of a rule that asks for more time, and scenarios that are tagged so or in which
    somebody takes that long over an answer.
    """
    run = item.stash.get(RUN, None)
    if run is None:
        return False
    pickle: Any = getattr(getattr(item, "function", None), "pickle", None)
    slow = pickle is not None and (any(tag.name == "slow" for tag in pickle.tags) or _delay(pickle.steps) >= LONG)
    return slow or run.task.kind == "property" or run.task.rule.deadline is not None


def _delay(steps: Iterable[Any]) -> float:
    """The longest delay, in seconds, that the steps give an answer."""
    delays = (found for step in steps for found in re.findall(r"^\s*delayMs: *(\d+)", step.docstring or "", re.M))
    return max(map(int, delays), default=0) / 1000
