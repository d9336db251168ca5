"""Invariants of the system prompt: it has what the listed tools gave for it, and nothing of the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.compare import show
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._once import gathered
from conformance.invariants._story import Story
from conformance.trace import Event


@invariant("registerTool.prompt-snippet-while-active")
def prompts_have_what_listed_tools_gave(story: Story, context: Context) -> Answers:
    for request, name, spec in _given(story):
        texts = _texts(spec)
        if texts and any(row["name"] == name for row in request["tools"]):
            for text in texts:
                lost = text not in _one_line(request["system"])
                told = f"request {request['request']} of {request.agent} lists {name}, and its system prompt lacks"
                yield f"{told} {show(text)}" if lost else None


@invariant("registerTool.no-prompt-snippet-while-inactive")
def prompts_have_nothing_of_other_tools(story: Story, context: Context) -> Answers:
    for request, name, spec in _given(story):
        texts = _texts(spec)
        if texts and all(row["name"] != name for row in request["tools"]):
            for text in texts:
                there = text in _one_line(request["system"])
                told = (
                    f"request {request['request']} of {request.agent} does not list {name}, and its system prompt has"
                )
                yield f"{told} {show(text)}" if there else None


@invariant("registerTool.prompt-snippet-while-active", "registerTool.registering-again-moves-everything")
def prompts_have_nothing_that_was_replaced(story: Story, context: Context) -> Answers:
    """What an earlier registration of a tool gave for it, and the last one does not."""
    said = [
        (name, text) for name, rows in story.registrations.items() for row in rows for text in _texts(row["args"][0])
    ]
    for request, name, spec in _given(story) if said else ():
        now = _texts(spec)
        for owner, text in said:
            if owner == name and text not in now and all(other == name for other, each in said if text in each):
                told = f"request {request['request']} of {request.agent} has {show(text)} in its system prompt"
                again = text in _one_line(request["system"])
                yield f"{told}, and {name} was registered again without" if again else None


@gathered
def _given(story: Story) -> Iterator[tuple[Event, str, dict[str, Any]]]:
    """Yield the first request of each turn with each tool that one package has; where there is one agent."""
    made = [(name, rows) for name, rows in story.registrations.items() if name in story.plain]
    returned = {event["api"] for event in story.kinds["api.return"] if "returned" in event["outcome"]}
    turns = story.kinds["turn.start"]
    alone = len(story.kinds["agent.created"]) == 1 and not story.listened
    for request in story.kinds["model.request"] if alone and made else ():
        at = story.number(request)
        begun = max(
            (story.number(turn) for turn in turns if turn.agent == request.agent and story.number(turn) < at),
            default=None,
        )
        if begun is None or request["system"] is None or story.changed(begun, at):
            continue
        if any(
            begun < story.number(other) < at and other.agent == request.agent for other in story.kinds["model.request"]
        ):
            continue
        for name, rows in made:
            if all(each["api"] in returned and story.answered[each["api"]] < begun for each in rows):
                yield request, name, rows[-1]["args"][0]


def _texts(spec: dict[str, Any]) -> list[str]:
    """Return what a tool gives for the prompt, each in one line: how lines are broken there has no rule."""
    given = [spec.get("promptSnippet"), *(spec.get("promptGuidelines") or [])]
    lines = [_one_line(text) for text in given if isinstance(text, str) and text.strip() == text]
    return [text for text in lines if len(text) > 4]


def _one_line(text: Any) -> str:
    return " ".join(str(text).split())
