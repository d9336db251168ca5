"""Moments of a trace, as steps name them: `the tool_call of call "1"`, `request 2`, `the end of the turn`."""

from __future__ import annotations

import re
from collections.abc import Callable

from conformance.drivers.driver import HarnessError
from conformance.steps._phrase import EVENTS
from conformance.trace import Event, Trace

_Find = Callable[[Trace, re.Match[str]], Event | None]

_POINTS: list[tuple[re.Pattern[str], _Find]] = [
    (
        re.compile(rf'the ({EVENTS}) of call "([^"]*)"(?: in package "([^"]*)")?'),
        lambda trace, m: _handler(trace, "handler.enter", m),
    ),
    (
        re.compile(rf'the return of ({EVENTS}) of call "([^"]*)"(?: in package "([^"]*)")?'),
        lambda trace, m: _handler(trace, "handler.exit", m),
    ),
    (
        re.compile(r'the body of call "([^"]*)"'),
        lambda trace, m: trace.first("tool.enter", "native.enter", call_id=m[1]),
    ),
    (
        re.compile(r'the end of the body of call "([^"]*)"'),
        lambda trace, m: _exit_of(trace, trace.first("tool.enter", "native.enter", call_id=m[1])),
    ),
    (
        re.compile(r'the abort of call "([^"]*)"'),
        lambda trace, m: _same_invocation(trace, trace.first("tool.enter", call_id=m[1]), "tool.aborted"),
    ),
    (re.compile(r'the durable call "([^"]*)"'), lambda trace, m: trace.first("log.call", call_id=m[1])),
    (re.compile(r'the durable result of call "([^"]*)"'), lambda trace, m: trace.first("log.result", call_id=m[1])),
    (
        re.compile(r'handler "([^"]*)" of call "([^"]*)"'),
        lambda trace, m: trace.first("handler.enter", handler=m[1], call_id=m[2]),
    ),
    (
        re.compile(r'listener "([^"]*)" of call "([^"]*)"'),
        lambda trace, m: trace.first("host.event", listener=m[1], call_id=m[2]),
    ),
    (re.compile(r"request (\d+)"), lambda trace, m: trace.first("model.request", request=int(m[1]))),
    (re.compile(r"the end of the step"), lambda trace, m: trace.first("step.end")),
    (re.compile(r"the end of the turn"), lambda trace, m: trace.first("turn.end")),
]


def point(trace: Trace, text: str) -> Event | None:
    """Return the event that ``text`` names, or ``None`` when it did not happen.

    Raises :class:`HarnessError` for a text that names no kind of moment.
    """
    for pattern, find in _POINTS:
        found = pattern.fullmatch(text)
        if found:
            return find(trace, found)
    raise HarnessError(f"no moment of a trace is called {text!r}", "see conformance/steps/_points.py for the words")


def _handler(trace: Trace, kind: str, found: re.Match[str]) -> Event | None:
    wanted = {"event": found[1], "call_id": found[2]} | ({"package": found[3]} if found[3] else {})
    enter = trace.first("handler.enter", **wanted)
    return enter if kind == "handler.enter" else _exit_of(trace, enter)


def _exit_of(trace: Trace, enter: Event | None) -> Event | None:
    return _same_invocation(trace, enter, "handler.exit", "tool.exit", "native.exit")


def _same_invocation(trace: Trace, enter: Event | None, *kinds: str) -> Event | None:
    return trace.first(*kinds, invocation=enter["invocation"]) if enter is not None else None
