"""Puts what takes seconds at the head of a run on several processes: at its end the others would have nothing to do."""

from __future__ import annotations

from typing import Any

import pytest

from conformance._pytest.worker import RUN


class LongFirst:
    """The plugin of a worker of xdist. In one process the order is the features'."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Move such tests to the front, in the order they are in."""
        items.sort(key=lambda item: not is_long(item))


def is_long(item: pytest.Item) -> bool:
    """Whether a test takes seconds by what it is about.

    So do random programs, proofs of a rule that asks for more time, and scenarios that are tagged so.
    """
    run = item.stash.get(RUN, None)
    if run is None:
        return False
    pickle: Any = getattr(getattr(item, "function", None), "pickle", None)
    tagged = pickle is not None and any(tag.name == "slow" for tag in pickle.tags)
    return tagged or run.task.kind == "property" or run.task.rule.deadline is not None
