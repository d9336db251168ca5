"""Invariants of what an agent sees: only visible tools run, lists tell the catalogue, agents are apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.compare import same, show
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._lifetimes import settled
from conformance.invariants._once import gathered
from conformance.invariants._story import Story
from conformance.trace import Event


def _names(request: Event) -> set[str]:
    return {row["name"] for row in request["tools"]}


@invariant("registerTool.only-visible-tools-run")
def only_visible_tools_run(story: Story, context: Context) -> Answers:
    if story.listened:
        return  # A listener of the host's own may make it another tool's call.
    for call in story.calls:
        for body in call.bodies if call.clear else ():
            if body["tool"] != call.name:
                yield f"{call.label}: the body of {body['tool']} ran (event {body.seq})"
            # The host resolves at dispatch, Pi at the request: what changed in between may be seen or not.
            elif any(row["name"] == call.name for row in call.batch.request["tools"]):
                yield None
            elif not story.changed(story.number(call.batch.request), story.number(body)):
                yield f"{call.label}: its body ran (event {body.seq}) though the catalogue does not list the tool"


@invariant("registerTool.described-as-registered")
def tools_are_described_as_registered(story: Story, context: Context) -> Answers:
    if story.listened:
        return
    given: dict[Any, list[Any]] = {}
    natives: set[str] = set()
    for event in story.events:
        if event.kind == "operator":
            natives.update(event["natives"] or ())
        elif event.kind == "api.call" and event["call"] == "registerTool":
            spec = (event["args"] or [None])[0]
            if isinstance(spec, dict) and isinstance(spec.get("name"), str):
                given.setdefault(spec["name"], []).append(spec.get("description"))
        elif event.kind == "model.request":
            for row in event["tools"]:
                known = given.get(row["name"])
                if not known or row["name"] in natives or not all(isinstance(each, str) for each in known):
                    continue
                told = f"request {event['request']} of {event.agent}: {row['name']} is described as"
                yield None if row["description"] in known else f"{told} {show(row['description'])}"


@invariant("setActiveTools.agents-are-apart")
def calls_act_on_their_own_agent(story: Story, context: Context) -> Answers:
    owners = {name: made.agent for name, made in story.instances.items() if made["role"] == "agent"}
    for event in [*story.kinds["handler.enter"], *story.kinds["tool.enter"]]:
        owner = owners.get(event["instance"])
        if owner is None or event.agent is None:
            continue
        what = event["event"] or f"the body of {event['tool']}"
        foreign = event.agent != owner
        yield (
            f"the instance of agent {owner} was handed {what} of agent {event.agent} (event {event.seq})"
            if foreign
            else None
        )


@invariant("setActiveTools.agents-are-apart")
def a_list_reaches_no_other_agent(story: Story, context: Context) -> Answers:
    """Where nothing but lists set in other agents' handlers came between two requests, both carry the same tools."""
    last: dict[str, Event] = {}
    for request in story.kinds["model.request"] if story.methods["setActiveTools"] else ():
        agent = request.agent or ""
        before, last[agent] = last.get(agent), request
        if before is None:
            continue
        # What came while the earlier request was prepared may show in the later one only.
        begin = story.prepared(agent, story.number(before)) or story.number(before)
        end = story.number(request)
        if any(number <= begin < settled(story, number) for rows in story.natives.values() for number in rows):
            continue
        between = [number for number in story.changes if begin < number < end]
        if not between or not all(_is_foreign(story, story.events[number], agent) for number in between):
            continue
        wrong = _names(before) ^ _names(request)
        what = f"{', '.join(sorted(map(str, wrong)))} came or went with a list set for another agent"
        yield f"request {request['request']} of {agent}: {what}" if wrong else None


def _is_foreign(story: Story, event: Event, agent: str) -> bool:
    enter = _made_in(story, event)
    return event.kind == "api.call" and event["call"] == "setActiveTools" and enter is not None and enter.agent != agent


def _made_in(story: Story, event: Event) -> Event | None:
    """Return the entry of the handler or tool an API call was made in; in a native's body no package is at work."""
    enter = story.enters.get(event["invocation"] or "")
    return None if enter is None or enter.kind == "native.enter" else enter


@invariant("getActiveTools.equals-the-catalogue")
def active_tools_equal_the_catalogue(story: Story, context: Context) -> Answers:
    for event, answer, request in _asked_in_turn(story, "getActiveTools"):
        if not isinstance(answer, list):
            yield f"getActiveTools (event {event.seq}) gave {show(answer)}"
            continue
        wrong = set(map(str, answer)) ^ _names(request)
        told = f"getActiveTools (event {event.seq}) and request {request['request']} differ in"
        yield f"{told} {', '.join(sorted(wrong))}" if wrong else None


@invariant("getAllTools.rows-equal-the-catalogue", roles="bridge")
def all_tools_equal_the_catalogue(story: Story, context: Context) -> Answers:
    keys = ("description", "parameters")
    for event, answer, request in _asked_in_turn(story, "getAllTools"):
        rows = {row.get("name"): row for row in answer if isinstance(row, dict)} if isinstance(answer, list) else {}
        for wanted in request["tools"]:
            row = rows.get(wanted["name"])
            told = f"getAllTools (event {event.seq}): the row of {wanted['name']}"
            if row is None:
                yield f"{told} is missing"
                continue
            wrong = [key for key in keys if not same(row.get(key), wanted.get(key))]
            yield f"{told} has another {wrong[0]} than the catalogue" if wrong else None


@invariant("getAllTools.only-visible-tools", roles="bridge")
def all_tools_has_no_more_than_the_catalogue(story: Story, context: Context) -> Answers:
    for event, answer, request in _asked_in_turn(story, "getAllTools"):
        if isinstance(answer, list):
            more = {str(row.get("name")) for row in answer if isinstance(row, dict)} - _names(request)
            told = (
                f"getAllTools (event {event.seq}) has {', '.join(sorted(more))}, and request {request['request']} not"
            )
            yield told if more else None


@gathered
def _asked_in_turn(story: Story, call: str) -> Iterator[tuple[Event, Any, Event]]:
    """Yield calls of a method made in a handler or tool of a step that saw no change, with answer and request."""
    for event in story.methods[call]:
        enter = _made_in(story, event)
        if enter is None or "returned" not in story.outcomes.get(event["api"], {}):
            continue
        at = story.number(event)
        # What changed after a step was entered may be in its request or not; what changed before is.
        step = story.prepared(enter.agent or "", at)
        made = [e for e in story.kinds["model.request"] if e.agent == enter.agent and story.number(e) < at]
        if step is None or not made or not step < story.number(made[-1]) < story.number(enter):
            continue
        if not story.changed(step, at):
            yield event, story.outcomes[event["api"]]["returned"], made[-1]
