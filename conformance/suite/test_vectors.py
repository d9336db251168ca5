"""Every row of input and right answer as a test that is named after the rule and the row's case."""

from __future__ import annotations

from collections.abc import Callable

from conformance.catalogue import Rule, VectorRow
from conformance.catalogue.features import item_id
from conformance.plugin import current_plan
from conformance.stage import Stage
from conformance.vectors import run_vector


def _bound(rule: Rule, row: VectorRow) -> Callable[[Stage], None]:
    def test(stage: Stage) -> None:
        run_vector(stage, rule, row)

    return test


made = set(current_plan().items_of("vector"))
globals().update(
    {
        item: _bound(rule, row)
        for rule in current_plan().catalogue.rules
        for row in rule.vectors
        if (item := item_id(rule.id, row.case)) in made
    }
)
