"""What Allure is told of a test in words: its name, its labels, and the rule behind it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from conformance._pytest.plan import Task
from conformance.catalogue import Pickle, Rule
from conformance.reporting import allure
from conformance.verdicts import Verdict

MANY = "several rules at once"
"""Where a test of several rules stands."""


def title(task: Task, pickle: Pickle | None) -> str:
    """The name of a test: the scenario's own with its row, else the example or property in words."""
    if pickle is None:
        return f"{task.kind}: {task.item.removeprefix('test_').removeprefix(f'{task.rule.id}--')}".replace("_", " ")
    title = pickle.scenario
    for name, value in pickle.values.items():
        title = title.replace(f"<{name}>", value)
    row = ", ".join(pickle.values.values()) if title == pickle.scenario and pickle.row is not None else ""
    return f"{title} ({row})" if row else title


def labels(task: Task, outcome: Verdict) -> Iterator[tuple[str, str]]:
    """What a report groups, filters and sorts by."""
    rule = task.rule
    yield allure.BRIDGE, task.bridge.label
    yield "epic", rule.source.document
    # A test of several rules stands once, beside the surfaces: below each rule it would count as several.
    one = len(task.rules) == 1
    yield "feature", rule.surface if one else MANY
    yield allure.RULE, rule.id if one else MANY
    yield "parentSuite", task.bridge.label
    yield "suite", rule.surface if one else MANY
    yield "subSuite", rule.id if one else task.item
    for each in task.rules:
        yield "story", each.id
    yield "severity", allure.SEVERITY[rule.level]
    yield "level", rule.level
    yield "relation", rule.relation
    yield "proof", task.kind
    yield "verdict", str(outcome)
    if outcome is not Verdict.PASS:
        yield "tag", str(outcome)
    if outcome is Verdict.DEVIATION:
        yield "deviation", task.deviation.where if task.deviation is not None else ""


def description(task: Task) -> Iterator[str]:
    """What the test is about and how to repeat it, in Markdown, where a sharp bracket would begin a tag."""
    for rule in task.rules:
        yield from (escape(line, quote=False) for line in _rule(rule))
    yield f"Proof: {task.kind}, {task.where}"
    if task.deviation is not None:
        yield escape(f"Deviation: {task.deviation.reason} ({task.deviation.where})", quote=False)
    yield f"Again:\n\n```sh\nbridge-conformance run --bridge={task.bridge.given} --rule={task.selector}\n```"


def _rule(rule: Rule) -> Iterator[str]:
    yield f"**{rule.level}** ({rule.relation}): {rule.text}"
    if rule.on_pi:
        yield f"On Pi: {rule.on_pi}"
    if rule.because:
        yield f"Because: {rule.because}"
    yield f"Source: {rule.source}, {rule.where}"
