"""Steps on the host's own seams: calling them, listening on them, and what they did."""

from __future__ import annotations

from typing import Any

import msgspec
from pytest_bdd import given, then, when

from conformance.compare import check, holds, show
from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import AgentCreate, HostCall, Outcome
from conformance.plan import MAIN, ListenerPlan
from conformance.scripts import Behaviour, CallHost, NativeBehaviour
from conformance.stage import Stage
from conformance.steps._phrase import document, phrase, rows
from conformance.trace import Event

STAGES = {
    "tools/pre-execute": "pre",
    "guard": "guard",
    "tools/execute": "exec",
    "tools/post-execute": "post",
    "tools/result": "emit",
}
"""The stages of the host's pipeline that can be listened on, and the short names steps give them."""
WATCH = "watch "
"""What the names of the watching listeners begin with."""


# --- listening --------------------------------------------------------------------------------------------------------


@given(phrase("the host's pipeline is watched"))
def pipeline_is_watched(stage: Stage) -> None:
    for event, short in STAGES.items():
        listener = ListenerPlan(WATCH + short, event)
        stage.plan.listeners[listener.name] = listener


@given(phrase('a listener "{name}" of {event:word}'))
def a_listener(stage: Stage, name: str, event: str) -> None:
    stage.plan.listeners[name] = ListenerPlan(name, event)


@given(phrase('a listener "{name}" of {event:word} that'))
def a_listener_that(stage: Stage, name: str, event: str, docstring: str) -> None:
    """``in`` and ``prepend`` say where it stands; ``when``, ``acts``, ``returns``, ``throws`` and ``ops`` what it does.

    Without ``returns`` and ``throws`` it answers what its last ``next`` gave, or hands on.
    """
    fields = document(docstring)
    place = {"scope": fields.pop("in", None), "prepend": fields.pop("prepend", False)}
    listener = stage.plan.listeners.setdefault(name, ListenerPlan(name, event, **place))
    if fields:
        match, acts = fields.pop("when", {}), fields.pop("acts", [])
        listener.behaviours.append(msgspec.convert({"match": match, "acts": acts, "reply": fields}, Behaviour))


@given(phrase('the body of "{tool}" does'))
def body_does(stage: Stage, tool: str, docstring: str) -> None:
    """``when`` and ``acts`` as everywhere, beside the fields of a native tool's answer."""
    fields = document(docstring)
    match, acts = fields.pop("when", {}), fields.pop("acts", [])
    behaviour = msgspec.convert({"match": match, "acts": acts, "answer": fields}, NativeBehaviour)
    stage.plan.native_bodies.setdefault(tool, []).append(behaviour)


# --- calling ----------------------------------------------------------------------------------------------------------


def _calls(stage: Stage, datatable: list[list[str]]) -> list[tuple[dict[str, str], Outcome]]:
    made = []
    for row in rows(datatable, "call", optional=("arguments", "in", "as", "answer")):
        args = _yaml(row.get("arguments", ""))
        args = [] if args is None else args if isinstance(args, list) else [args]
        act = CallHost(call=row["call"], args=args, scope=row.get("in") or None, name=row.get("as") or None)
        made.append((row, stage.call_host(act)))
    return made


@given(phrase("the host is called"))
@when(phrase("the host is called"))
def host_is_called(stage: Stage, datatable: list[list[str]]) -> None:
    """One call a row: ``call`` is TARGET.METHOD or ``dispose``, ``in`` a scope, ``as`` the name of what it gives."""
    for row, outcome in _calls(stage, datatable):
        if outcome.threw is not msgspec.UNSET:
            raise HarnessError(f"{row['call']} threw {show(outcome.threw)}", "use the step `the host answers` for that")


@then(phrase("the host answers"))
def host_answers(stage: Stage, datatable: list[list[str]]) -> None:
    """As above, one check a row: ``answer`` is ``returns: VALUE``, ``throws: TEXT`` (contained) or ``returns``."""
    for row, outcome in _calls(stage, datatable):
        wanted = _yaml(row["answer"])
        wanted = {wanted: None} if isinstance(wanted, str) else wanted
        where = f"{row['call']} {row.get('arguments', '')}".strip()
        if "throws" in wanted:
            text = _message(outcome.threw)
            check(text is not None and wanted["throws"] in text, f"{where} throws {wanted['throws']!r}", _told(outcome))
        else:
            right = outcome.threw is msgspec.UNSET
            right &= wanted["returns"] is None or holds(outcome.returned, wanted["returns"])
            check(right, f"{where} returns {show(wanted['returns'])}", _told(outcome))


@when(phrase('an agent "{agent}" is created as a child of "{parent}"'))
def child_is_created(stage: Stage, agent: str, parent: str) -> None:
    stage.open()
    stage.child_agents.append(agent)
    stage.ask(AgentCreate(agent=agent, parent=parent))


# --- what was seen ----------------------------------------------------------------------------------------------------


@then(phrase('call "{call}" passes the stages "{stages}"'))
def passes_the_stages(stage: Stage, call: str, stages: str) -> None:
    seen = [name for event in stage.trace if event.call_id == call and (name := _stage_of(event)) is not None]
    check(seen == stages.split(), f'call "{call}" passes the stages {stages}', " ".join(seen) or "none")


@then(phrase('the result of call "{call}" has no error code'))
def has_no_code(stage: Stage, call: str) -> None:
    found = [event["code"] for event in stage.trace.of("log.result", call_id=call)]
    check(found == [None], f'the one result of call "{call}" has no error code', show(found))


@then(phrase('listener "{name}" is told {value:json}'))
def is_told(stage: Stage, name: str, value: Any) -> None:
    """What it was called with, once a call: ``exec`` and ``result``, by containment."""
    seen = [{"exec": event["exec"], "result": event["result"]} for event in stage.trace.of("host.event", listener=name)]
    check(holds(seen, value), f'listener "{name}" is told {show(value)}', f"it was told {show(seen)}")


@then(phrase('next() gives listener "{name}" {value:json}'))
def next_gives(stage: Stage, name: str, value: Any) -> None:
    seen = [msgspec.to_builtins(outcome) for outcome in stage.returned(f"next of {name}")]
    check(holds(seen, value), f'next() gives listener "{name}" {show(value)}', f"it gave {show(seen)}")


@then(phrase('listener "{name}" is called {count:int} times'))
def is_called_times(stage: Stage, name: str, count: int) -> None:
    if count:
        stage.do(stage.peer.until(lambda trace: len(trace.of("host.event", listener=name)) >= count, window=0.5))
    found = len(stage.trace.of("host.event", listener=name))
    check(found == count, f'listener "{name}" is called {count} time(s)', f"it was called {found} time(s)")


@then(phrase("request {number:int} names the tools {names:json} in this order"))
def request_names(stage: Stage, number: int, names: list[str]) -> None:
    found = (
        [tool["name"] for tool in stage.requests()[number - 1]["tools"]] if len(stage.requests()) >= number else None
    )
    check(found == names, f"request {number} names the tools {show(names)}", show(found))


@then(phrase("turn {number:int} ends as {reason:word}"))
def turn_ends_as(stage: Stage, number: int, reason: str) -> None:
    found = [event["reason"] for event in stage.trace.of("turn.end", agent=MAIN, turn=number)]
    check(found == [reason], f"turn {number} ends once, as {reason}", f"it ended {show(found)}")


@then(phrase("the durable log holds, in this order"))
def log_holds(stage: Stage, datatable: list[list[str]]) -> None:
    """Each row is the ``type`` of an event and, as YAML, what its ``data`` has at least; others may lie between."""
    outcome: Outcome = stage.ask(HostCall(target="session", call="events", scope=MAIN))
    events: list[Any] = outcome.returned if isinstance(outcome.returned, list) else []
    at = 0
    for row in rows(datatable, "type", optional=("data",)):
        wanted = _yaml(row.get("data", "")) or {}
        found = [
            index
            for index, event in enumerate(events[at:], at)
            if event["type"] == row["type"] and holds(event["data"], wanted)
        ]
        types = ", ".join(event["type"] for event in events[at:])
        check(bool(found), f"the log holds {row['type']} {show(wanted)}", f"after that place it holds {types}")
        at = found[0] + 1


def _stage_of(event: Event) -> str | None:
    if event.kind == "host.event":
        name = str(event["listener"])
        return name.removeprefix(WATCH) if name.startswith(WATCH) else None
    if event.kind == "policy":
        return "guard" if event["phase"] == "enter" and str(event["id"]).startswith("guard") else None
    return {"log.call": "call", "log.result": "result", "native.enter": "body"}.get(event.kind)


def _message(threw: Any) -> str | None:
    if threw is msgspec.UNSET:
        return None
    return str(threw.get("message")) if isinstance(threw, dict) else str(threw)


def _told(outcome: Outcome) -> str:
    return show(msgspec.to_builtins(outcome))


def _yaml(text: str) -> Any:
    return document(text, f"{text!r} in the table of this step")
