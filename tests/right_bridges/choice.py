"""A plugin of pytest that leaves each right bridge the tests that it is to be asked."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from conformance.plugin import PLAN
from tests.right_bridges.table import load_right_bridges
from tests.right_bridges.trial import ASK, FEW, rules_for


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Take the other tests out of the plan: dozens of bridges would each have one made for every proof there is."""
    plan = config.stash[PLAN]
    ask = os.environ[ASK]
    few = ask == "few"
    most = FEW if few else None
    rules = [rule.id for rule in plan.catalogue.rules if not few or rule.deadline is None]
    wanted = {name: set(rules_for(bridge, rules, most)) for name, bridge in load_right_bridges().items()}
    tasks = {
        (label, item): task
        for (label, item), task in plan.tasks.items()
        if (label, item) in plan.chosen and (ask == "whole" or any(rule.id in wanted[label] for rule in task.rules))
    }
    if few:
        met: Counter[tuple[str, str]] = Counter()
        for (label, item), task in list(tasks.items()):
            met[label, task.rule.id] += 1
            if task.kind == "property" or met[label, task.rule.id] > FEW:
                del tasks[label, item]
    assert isinstance(plan.tasks, dict)
    plan.tasks.clear()
    plan.tasks.update(tasks)
    object.__setattr__(plan, "whole", False)
