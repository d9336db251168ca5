"""What a report says of surfaces and tests, so that a page made of it alone can show them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from conformance.catalogue import Catalogue, Features, Pickle, VectorRow
from conformance.catalogue.features import Step, item_id
from conformance.reporting.model import ExampleReport, SurfaceReport


def surfaces_of(catalogue: Catalogue) -> list[SurfaceReport]:
    """Every surface, in the catalogue's order."""
    return [
        SurfaceReport(name=each.name, kind=each.kind, status=each.status, summary=each.summary)
        for each in catalogue.surfaces
    ]


def examples_of(catalogue: Catalogue, features: Features, items: Iterable[str]) -> dict[str, ExampleReport]:
    """What each of these tests does; one that is neither a scenario nor a vector is left out."""
    wanted = set(items)
    found = {pickle.item: _scenario(pickle) for pickle in features.pickles if pickle.item in wanted}
    for rule in catalogue.rules:
        for row in rule.vectors:
            if (item := item_id(rule.id, row.case)) in wanted:
                found[item] = _vector(row)
    return found


def _scenario(pickle: Pickle) -> ExampleReport:
    title = pickle.name
    if pickle.row is not None and pickle.name == pickle.scenario:
        # A title without placeholders is that of every row; its cells tell them apart.
        title = f"{title} ({', '.join(f'{heading} {cell}' for heading, cell in pickle.values.items())})"
    return ExampleReport(title=title, lines=[line for step in pickle.steps for line in _step(step)])


def _step(step: Step) -> Iterator[str]:
    yield step.text
    for row in step.table or ():
        yield f"  | {' | '.join(row)} |"
    if step.docstring is not None:
        yield from (f"  {line}" for line in step.docstring.splitlines())


def _vector(row: VectorRow) -> ExampleReport:
    return ExampleReport(
        title=row.case.replace("-", " "), lines=[f"{key}: {_value(value)}" for key, value in row.values.items()]
    )


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
