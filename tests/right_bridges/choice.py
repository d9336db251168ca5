"""A plugin of pytest that leaves each right bridge the rules which speak where it differs."""

from __future__ import annotations

import pytest

from conformance._pytest.worker import RUN
from tests.right_bridges.table import load_right_bridges
from tests.right_bridges.trial import asked


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is not about a bridge's difference."""
    bridges = load_right_bridges()
    left = []
    for item in items:
        run = item.stash.get(RUN, None)
        bridge = None if run is None else bridges.get(run.bridge.label)
        if run is not None and bridge is not None and not any(asked(bridge, rule.id) for rule in run.task.rules):
            continue
        left.append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = left
