"""Lays a trace out as a sequence diagram: who has a lane, and which row each event is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from conformance.reporting._diagram import BRIDGE, HOST, MODEL, Diagram, Lane, LaneKind, Row, Span, Tone
from conformance.reporting._fewer_rows import merged
from conformance.reporting._spoken import clean, dicts, failure, name_of, spoken
from conformance.trace import Event, text_of

MOST_LANES = 4
"""Packages, and tools, that get a lane each; of more, all share one."""
EDGES = frozenset(
    {"agent.created", "agent.disposed", "turn.start", "turn.end", "step.start", "step.end"},
)
"""Kinds that divide the picture; those in a row become one line."""


def diagram(events: Iterable[Event], most: int | None = None) -> Diagram:
    """Lay out a trace. Of more than ``most`` rows the last are kept, and a gap says how many events went before."""
    known = sorted(events, key=lambda event: event.seq)
    drawn = _Drawing(known)
    rows = list(merged(drawn.rows(known)))
    if most is not None and len(rows) > most:
        left_out = sum(len(row.events) for row in rows[:-most])
        rows = [Row("gap", f"{left_out} earlier events are left out"), *rows[-most:]]
    agents = dict.fromkeys(event.agent for event in known if event.agent)
    calls = dict.fromkeys(event.call_id for event in known if event.call_id)
    spans = tuple(_spans(rows))
    for span in spans:
        for at in (span.first, span.last):
            if at is not None:
                rows[at] = replace(rows[at], depth=span.depth)
    return Diagram(tuple(drawn.lanes), tuple(rows), spans, tuple(agents), tuple(calls))


class _Drawing:
    """Who is who in one trace, and the row of each event."""

    def __init__(self, events: list[Event]) -> None:
        self.packages: dict[str, str] = {}
        self.places: dict[str, tuple[LaneKind, str]] = {}
        self.causes: dict[str, Event] = {}
        self.asked: dict[str, Event] = {}
        names: dict[LaneKind, dict[str, str]] = {"package": {}, "tool": {}}
        for event in events:
            instance, package, tool = event["instance"], event["package"], event["tool"]
            if package is not None:
                names["package"].setdefault(str(package), "package")
                if instance is not None:
                    self.packages[str(instance)] = str(package)
            if event.kind == "api.call":
                self.asked[str(event["api"])] = event
            if event.kind in ("tool.enter", "native.enter") and tool is not None:
                names["tool"][str(tool)] = "native tool" if event.kind == "native.enter" else "tool"
            if event.kind in ("tool.enter", "native.enter", "handler.enter") and event["invocation"] is not None:
                kind: LaneKind = "package" if event.kind == "handler.enter" else "tool"
                self.causes[str(event["invocation"])] = event
                self.places[str(event["invocation"])] = (kind, str(package if kind == "package" else tool))
            for call in dicts(event["calls"]) if event.kind == "model.answer" else ():
                names["tool"].setdefault(str(call.get("name")), "tool, never run")
        self.lanes = [
            Lane("model", "model", "asked by the host"),
            Lane("host", "host", "loop, log, policy"),
            Lane("bridge", "bridge", "under test"),
        ]
        self.at: dict[tuple[LaneKind, str], int] = {}
        for kind, found in names.items():
            if len(found) <= MOST_LANES:
                for name, under in found.items():
                    self.at[kind, name] = len(self.lanes)
                    self.lanes.append(Lane(clean(name), kind, under))
            else:
                self.at.update({(kind, name): len(self.lanes) for name in found})
                self.lanes.append(Lane(f"{len(found)} {kind}s", kind, "share this lane"))
        self.shared = {kind for kind, found in names.items() if len(found) > MOST_LANES}

    def rows(self, events: Iterable[Event]) -> Iterator[Row]:
        """The row of each event."""
        for event in events:
            # What happens inside of a handler or a tool belongs to the call it was entered for.
            cause = self.causes.get(str(self._question(event)["invocation"]), event)
            agent, call = event.agent or cause.agent, event.call_id or cause.call_id
            yield replace(self._row(event), agent=agent, call=call, events=(event,))

    def _row(self, event: Event) -> Row:
        if event.kind in EDGES:
            return _edge(event)
        group = event.kind.partition(".")[0]
        make = getattr(self, f"_{group}", None)
        # A kind of a later suite is shown as it is.
        made: Row = make(event) if make is not None else Row("note", name_of(event.kind), spoken(event.data), HOST)
        return made

    def _lane(self, kind: LaneKind, name: Any) -> int:
        return self.at.get((kind, str(name)), BRIDGE)

    def _named(self, kind: LaneKind, name: Any, word: str) -> str:
        """The word, with the party's name where its lane does not say it."""
        return f"{name_of(name)} {word}" if kind in self.shared else word

    def _question(self, event: Event) -> Event:
        """The call that a return belongs to, which alone says who made it; of anything else, itself."""
        return self.asked.get(str(event["api"]), event) if event.kind == "api.return" else event

    def _caller(self, event: Event) -> tuple[LaneKind, str]:
        asked = self._question(event)
        place = self.places.get(str(asked["invocation"]))
        return place or ("package", self.packages.get(str(asked["instance"]), ""))

    def _model(self, event: Event) -> Row:
        if event.kind == "model.request":
            tools = [name_of(tool.get("name")) for tool in dicts(event["tools"])]
            offered = f"offers {', '.join(tools)}" if tools else "offers no tool"
            return Row("arrow", f"request {name_of(event['request'])}", offered, HOST, MODEL)
        said = f" ({name_of(event['finish'])})" if event["finish"] not in (None, "stop", "tool-calls") else ""
        return Row("arrow", "answers", _answer(event) + said, MODEL, HOST, answer=True)

    def _log(self, event: Event) -> Row:
        what = event.kind.partition(".")[2]
        if what == "result":
            code = f" {name_of(event['code'])}" if event["code"] else ""
            return Row(
                "note",
                f"log result{code}",
                spoken(text_of(event["content"])),
                HOST,
                tone="bad" if event["isError"] else "plain",
            )
        if what == "call":
            tail = f"{name_of(event['name'])} {name_of(event['arguments'])}"
        else:
            tail = _answer(event) if what == "assistant" else spoken(event["text"])
        return Row("note", f"log {what}", tail, HOST)

    def _handler(self, event: Event) -> Row:
        package = self._lane("package", event["package"])
        name = self._named("package", event["package"], name_of(event["event"]))
        if event.kind == "handler.enter":
            return Row("arrow", name, _payload(event["payload"]), BRIDGE, package)
        return _answered(event, name, package, BRIDGE)

    def _tool(self, event: Event) -> Row:
        if event.kind == "tool.aborted":
            kind, name = self.places.get(str(event["invocation"]), ("tool", ""))
            return Row("arrow", "abort signal fires", "", BRIDGE, self._lane(kind, name), tone="warn")
        tool = self._lane("tool", event["tool"])
        if event.kind == "tool.enter":
            return Row("arrow", self._named("tool", event["tool"], "execute"), spoken(event["params"]), BRIDGE, tool)
        return _answered(event, self._named("tool", event["tool"], "execute"), tool, BRIDGE)

    def _native(self, event: Event) -> Row:
        tool = self._lane("tool", event["tool"])
        if event.kind == "native.enter":
            return Row("arrow", self._named("tool", event["tool"], "runs"), spoken(event["arguments"]), HOST, tool)
        return _answered(event, self._named("tool", event["tool"], "runs"), tool, HOST)

    def _api(self, event: Event) -> Row:
        kind, name = self._caller(event)
        lane = self._lane(kind, name)
        word = self._named(kind, name, f"pi.{name_of(event['call'])}")
        if event.kind == "api.call":
            return Row("arrow", word, _arguments(event), lane, BRIDGE)
        outcome = event["outcome"] if isinstance(event["outcome"], dict) else {}
        if "threw" in outcome:
            tail = f"threw {failure(outcome['threw'])}"
            return Row("arrow", word, tail, BRIDGE, lane, answer=True, tone="bad")
        return Row("arrow", word, f"→ {spoken(outcome.get('returned'))}", BRIDGE, lane, answer=True)

    def _instance(self, event: Event) -> Row:
        name = self.packages.get(str(event["instance"]), "")
        lane = self._lane("package", event["package"] or name)
        if event.kind == "instance.disposed":
            return Row("arrow", self._named("package", name, "unloaded"), "", BRIDGE, lane)
        word = self._named("package", event["package"], "loaded")
        if event["error"] is not None:
            return Row("arrow", word, f"factory threw {failure(event['error'])}", BRIDGE, lane, tone="bad")
        return Row("arrow", word, f"({name_of(event['role'])} instance)", BRIDGE, lane)

    def _policy(self, event: Event) -> Row:
        word = f"policy {name_of(event['id'])}"
        decision = event["decision"]
        if event["phase"] == "enter" or not isinstance(decision, dict):
            asked = f"{name_of(event['tool'])} {spoken(event['arguments'])}"
            return Row("note", word, asked if event["phase"] == "enter" else "left", HOST)
        kind, reason = name_of(decision.get("kind")), decision.get("reason")
        told = f"{kind} {spoken(reason)}" if reason else kind
        return Row("note", word, told, HOST, tone="warn" if kind in ("deny", "ask") else "plain")

    def _host(self, event: Event) -> Row:
        result = event["result"]
        text = f" {spoken(text_of(result.get('content')))}" if isinstance(result, dict) else ""
        execution = event["exec"] if isinstance(event["exec"], dict) else {}
        tail = f"heard by {name_of(event['listener'])}: {name_of(execution.get('name', ''))}{text}"
        return Row("note", name_of(event["event"]), tail, HOST)

    def _spawn(self, event: Event) -> Row:
        argv = event["argv"] if isinstance(event["argv"], list) else []
        via = "" if event["via"] == "provider" else f" ({name_of(event['via'])})"
        return Row("note", f"spawn{via}", clean(" ".join(map(str, argv[:20]))), HOST)

    def _notice(self, event: Event) -> Row:
        level = str(event["level"])
        tone: Tone = "bad" if level == "error" else "warn" if level == "warn" else "plain"
        return Row("note", f"notice ({clean(level)})", name_of(event["text"]), BRIDGE, tone=tone)

    def _operator(self, event: Event) -> Row:
        return Row("note", "operator", name_of(event["act"]), HOST)

    def _crash(self, event: Event) -> Row:
        return Row("note", "crash", name_of(event["text"]), BRIDGE, tone="bad")


def _edge(event: Event) -> Row:
    subject, _, what = event.kind.partition(".")
    if subject == "agent":
        return Row("line", f"agent {name_of(event.agent)} {what}")
    ends = " ends" if what == "end" else ""
    why = f": {name_of(event['reason'])}" if ends and event["reason"] else ""
    return Row("line", f"{subject} {name_of(event[subject])}{ends}{why}", strong=subject == "turn")


def _answer(event: Event) -> str:
    calls = [f"calls {name_of(call.get('name'))} {name_of(call.get('arguments'))}" for call in dicts(event["calls"])]
    alike = [(call, len(list(group))) for call, group in groupby(calls)]
    said = [spoken(event["text"])] if event["text"] else []
    return " · ".join([*said, *(f"{call} × {count}" if count > 1 else call for call, count in alike)]) or '""'


def _payload(payload: Any) -> str:
    """What a handler hears, beyond the name of the event."""
    if not isinstance(payload, dict):
        return spoken(payload)
    match payload.get("type"):
        case "tool_call":
            what = spoken(payload.get("input"))
        case "tool_execution_start":
            what = spoken(payload.get("args"))
        case "tool_result":
            what = _result(payload, payload.get("isError"))
        case "tool_execution_end":
            what = _result(payload.get("result"), payload.get("isError"))
        case "tool_execution_update":
            what = _result(payload.get("partialResult"), False)
        case _:
            return spoken({key: value for key, value in payload.items() if key != "type"})
    return f"{name_of(payload.get('toolName'))} {what}"


def _result(result: Any, failed: Any) -> str:
    text = spoken(text_of(result.get("content"))) if isinstance(result, dict) else spoken(result)
    return f"error {text}" if failed else text


def _arguments(event: Event) -> str:
    args = event["args"] if isinstance(event["args"], list) else []
    if event["call"] == "on" or event["call"] == "registerTool":
        key = "event" if event["call"] == "on" else "name"
        return ", ".join(name_of(arg.get(key)) if isinstance(arg, dict) else spoken(arg) for arg in args)
    return ", ".join(map(spoken, args))


def _answered(event: Event, word: str, source: int, target: int) -> Row:
    threw = "threw" in event.data
    tail = f"threw {failure(event['threw'])}" if threw else "returned"
    return Row("arrow", word, tail, source, target, answer=True, tone="bad" if threw else "plain")


def _spans(rows: list[Row]) -> Iterator[Span]:
    """What runs from row to row; runs that overlap on a lane get a depth each."""
    open_: dict[tuple[str, str], tuple[int, int, int]] = {}
    depths: dict[int, set[int]] = {}
    for at, row in enumerate(rows):
        if row.shape != "arrow":
            continue
        event = row.events[-1]
        key = (event.kind.partition(".")[0], str(event["invocation"]))
        if event.kind.endswith(".enter"):
            taken = depths.setdefault(row.target, set())
            depth = next(number for number in range(len(taken) + 1) if number not in taken)
            taken.add(depth)
            open_[key] = (row.target, at, depth)
        elif event.kind.endswith(".exit") and key in open_:
            lane, first, depth = open_.pop(key)
            depths[lane].discard(depth)
            yield Span(lane, first, at, depth)
    for lane, first, depth in open_.values():
        yield Span(lane, first, None, depth)
