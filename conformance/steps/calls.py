"""Steps on the model: the calls of its messages."""

from __future__ import annotations

import json
from typing import Any

from pytest_bdd import given, when

from conformance.drivers.protocol import ModelAnswer, ToolCall
from conformance.plan import MAIN
from conformance.stage import Stage
from conformance.steps._phrase import phrase, rows


def say(
    stage: Stage,
    calls: list[tuple[str, str]],
    agent: str = MAIN,
    ids: list[str] | None = None,
    finish: Any = None,
) -> None:
    """Queue one assistant message with these calls (tool name, raw argument text); ids count on from 1."""
    count = stage.plan.call_count
    stage.plan.call_count += len(calls)
    names = ids or [str(count + i + 1) for i in range(len(calls))]
    message = ModelAnswer(
        calls=[ToolCall(id=id, name=name, arguments=text) for id, (name, text) in zip(names, calls, strict=True)],
        finish=finish,
    )
    stage.plan.script(agent).append(message)


def say_table(stage: Stage, datatable: list[list[str]], agent: str = MAIN) -> None:
    """Queue one message of the calls of a table. An id that is empty or has blanks at its ends stands in quotes.

    ``finish`` in the first row says how the message ended, where it ended otherwise than with its calls. Beside ids an
    empty cell of ``arguments`` is an empty text.
    """
    calls = rows(datatable, "tool", optional=("id", "arguments", "finish"))
    ids = [_id(row["id"]) for row in calls] if "id" in datatable[0] else None
    finish = calls[0].get("finish") or None
    texts = [(row["tool"], row.get("arguments", "{}") if ids else row.get("arguments") or "{}") for row in calls]
    say(stage, texts, agent, ids=ids, finish=finish)


def _id(cell: str) -> str:
    return json.loads(cell) if cell.startswith('"') else cell


@given(phrase('the model first calls "{tool}"'))
def first_calls(stage: Stage, tool: str) -> None:
    say(stage, [(tool, "{}")])


@given(phrase('the model first calls "{tool}" with {arguments:json}'))
def first_calls_with(stage: Stage, tool: str, arguments: Any) -> None:
    say(stage, [(tool, json.dumps(arguments))])


@when(phrase('the model calls "{tool}"'))
def calls(stage: Stage, tool: str) -> None:
    say(stage, [(tool, "{}")])
    stage.prompt()


@when(phrase('the model calls "{tool}" with {arguments:json}'))
def calls_with(stage: Stage, tool: str, arguments: Any) -> None:
    say(stage, [(tool, json.dumps(arguments))])
    stage.prompt()


@when(phrase('the model calls "{tool}" with the argument text'))
def calls_with_text(stage: Stage, tool: str, docstring: str) -> None:
    say(stage, [(tool, docstring)])
    stage.prompt()


@when(phrase("the model calls in one message"))
def calls_batch(stage: Stage, datatable: list[list[str]]) -> None:
    say_table(stage, datatable)
    stage.prompt()


@when(phrase('the model of agent "{agent}" calls "{tool}"'))
def agent_calls(stage: Stage, agent: str, tool: str) -> None:
    say(stage, [(tool, "{}")], agent)
    stage.prompt(agent=agent)
