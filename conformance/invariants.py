"""Predicates over a whole trace that hold in every run, whatever the run was about.

Each answers with the breaches it found; an invariant that cannot tell, because the trace lacks what it looks at or the
path has no rule, finds none. Per-call predicates are keyed by agent, call id and occurrence: equal ids are legal.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.trace import Event, Trace


@dataclass(frozen=True)
class Context:
    """What an invariant may know besides the trace: who was run, and on which mount."""

    role: str
    mount: str | None = None
    capabilities: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Broken:
    """One breach: the invariant's name, the rules it speaks for, and a sentence with the numbers of the events."""

    invariant: str
    rules: tuple[str, ...]
    sentence: str


@dataclass
class Call:
    """Everything one call of the model left in the trace, on the agent ``agent``; ``asked`` is its request's number.

    ``events`` are those of this occurrence of the id. ``text`` is the raw argument text the model wrote.
    """

    agent: str
    id: str
    occurrence: int
    name: str
    text: str
    asked: int
    events: list[Event] = field(default_factory=list)

    @property
    def label(self) -> str:
        """Return how to name the call in a sentence."""
        again = f" (occurrence {self.occurrence})" if self.occurrence > 1 else ""
        return f'call "{self.id}" of {self.name}{again}'

    def of(self, *kinds: str, **wanted: Any) -> list[Event]:
        """Return the call's events of these kinds."""
        return [e for e in self.events if e.kind in kinds and all(e[k] == v for k, v in wanted.items())]

    def handled(self, event: str) -> list[Event]:
        """Return the entries of handlers of one Pi event for this call."""
        return self.of("handler.enter", event=event)


@dataclass
class Batch:
    """The calls of one assistant message; ``finish`` as the model said, ``after`` the next request of the agent."""

    agent: str
    request: int
    finish: str | None
    calls: list[Call]
    after: Event | None = None


class Story:
    """A trace read once: batches and calls with their events, invocations, cancels and unloads."""

    def __init__(self, trace: Trace) -> None:
        self.events = trace.events
        self.at = {id(event): number for number, event in enumerate(self.events)}
        self.batches: list[Batch] = []
        self.exits: dict[str, Event] = {}
        self.enters: dict[str, Event] = {}
        self.cancelled: set[str] = set()
        self.ambiguous: set[tuple[str, str]] = set()
        self._read()

    @property
    def calls(self) -> Iterator[Call]:
        """Every call, in model order."""
        for batch in self.batches:
            yield from batch.calls

    def number(self, event: Event) -> int:
        """Return the event's place in the trace."""
        return self.at[id(event)]

    def listening_to(self, *events: str) -> list[str]:
        """Return the instances that subscribed to every one of ``events``, with a function, before the first call."""
        first = next((self.at[id(e)] for e in self.events if e.kind == "model.answer"), len(self.events))
        found: dict[str, set[str]] = defaultdict(set)
        for event in self.events[:first]:
            spec = (event["args"] or [None])[0] if event.kind == "api.call" and event["call"] == "on" else None
            if isinstance(spec, dict) and spec.get("callable", True):
                found[event["instance"]].add(spec.get("event", ""))
        return [instance for instance, names in found.items() if names.issuperset(events)]

    def _read(self) -> None:
        last: dict[str, Batch] = {}
        seen: dict[tuple[str, str], int] = defaultdict(int)
        open_calls: dict[tuple[str, str], list[Call]] = defaultdict(list)
        for event in self.events:
            agent = event.agent or ""
            if event.kind == "model.request" and agent in last:
                last[agent].after = last[agent].after or event
            if event.kind == "model.answer" and event["calls"]:
                calls = []
                for call in event["calls"]:
                    key = (agent, call["id"])
                    seen[key] += 1
                    made = Call(agent, call["id"], seen[key], call["name"], call["arguments"], event["request"])
                    calls.append(made)
                    open_calls[key].append(made)
                last[agent] = Batch(agent, event["request"], event["finish"], calls)
                self.batches.append(last[agent])
            if event["invocation"]:
                side = self.exits if event.kind.endswith(".exit") else self.enters
                side.setdefault(event["invocation"], event)
            if event.kind == "turn.end" and event["reason"] in ("aborted", "cancelled"):
                self.cancelled.add(agent)
            if event.call_id is not None:
                waiting = open_calls.get((agent, event.call_id), [])
                if len(waiting) > 1:
                    self.ambiguous.add((agent, event.call_id))
                if waiting:
                    waiting[0].events.append(event)
                    if event.kind == "log.result" and len(waiting) > 1:
                        waiting.pop(0)


Judge = Callable[[Story, Context], Iterator[str]]


@dataclass(frozen=True)
class Invariant:
    """A predicate with its name, the roles it holds for, and the rules it proves."""

    name: str
    rules: tuple[str, ...]
    roles: frozenset[str]
    judge: Judge


INVARIANTS: dict[str, Invariant] = {}
"""Every invariant, by name."""


def invariant(*rules: str, roles: str = "bridge pi") -> Callable[[Judge], Judge]:
    """Register a predicate under its function's name, with hyphens."""

    def register(judge: Judge) -> Judge:
        name = judge.__name__.replace("_", "-")
        INVARIANTS[name] = Invariant(name, rules, frozenset(roles.split()), judge)
        return judge

    return register


def judge(trace: Trace, context: Context) -> list[Broken]:
    """Return what this trace breaks of the invariants that hold for the context's role."""
    story = Story(trace)
    return [
        Broken(known.name, known.rules, sentence)
        for known in INVARIANTS.values()
        if context.role in known.roles
        for sentence in known.judge(story, context)
    ]


def _per_instance(events: list[Event]) -> dict[tuple[str, str], list[Event]]:
    """Group handler entries by instance and handler: each sees every event once."""
    grouped: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        grouped[event["instance"], event["handler"]].append(event)
    return grouped


@invariant("tool_execution_end.one-end-for-every-start")
def one_end_for_every_start(story: Story, context: Context) -> Iterator[str]:
    for call in story.calls:
        if (call.agent, call.id) in story.ambiguous or not call.of("log.result"):
            continue
        starts, ends = (_per_instance(call.handled(f"tool_execution_{side}")) for side in ("start", "end"))
        for handler, found in {**starts, **ends}.items():
            if len(found) > 1:
                yield f"{call.label}: handler {handler[1]} of {handler[0]} was entered {len(found)} times"
        for instance in story.listening_to("tool_execution_start", "tool_execution_end"):
            began, ended = (any(i == instance for i, _ in side) for side in (starts, ends))
            if began != ended:
                yield f"{call.label}: instance {instance} was told its {'start' if began else 'end'} only"


@invariant("tool_execution_end.one-end-for-every-start")
def start_comes_first(story: Story, context: Context) -> Iterator[str]:
    for call in story.calls:
        if (call.agent, call.id) in story.ambiguous:
            continue
        starts = call.handled("tool_execution_start")
        if not starts:
            continue
        others = [e for e in call.of("handler.enter") if e["event"] != "tool_execution_start"]
        early = [e for e in others if story.number(e) < story.number(starts[0])]
        for event in early:
            yield f"{call.label}: {event['event']} (event {event.seq}) came before its start (event {starts[0].seq})"


@invariant("tool_execution_start.arguments-equal-the-durable-record")
def start_arguments_equal_the_durable_record(story: Story, context: Context) -> Iterator[str]:
    for call in story.calls:
        logged = call.of("log.call")
        record = _parsed(logged[0]["arguments"]) if logged else None
        if not isinstance(record, dict):
            continue
        for start in call.handled("tool_execution_start"):
            found = (start["payload"] or {}).get("args")
            if found != record:
                yield f"{call.label}: start saw {found!r}, the log keeps {record!r}"


@invariant("tool_execution_end.nothing-of-a-call-after-its-end")
def nothing_of_a_call_after_its_end(story: Story, context: Context) -> Iterator[str]:
    for call in story.calls:
        ends = call.handled("tool_execution_end")
        if not ends or (call.agent, call.id) in story.ambiguous:
            continue
        last = {event["instance"]: story.number(event) for event in ends}
        for event in call.of("handler.enter", "tool.enter", "native.enter"):
            if event["event"] == "tool_execution_end":
                continue
            ended = last.get(event["instance"], max(last.values()) if event.kind != "handler.enter" else None)
            if ended is not None and story.number(event) > ended:
                what = event["event"] or "the body"
                yield f"{call.label}: {what} (event {event.seq}) came after its end"


@invariant("tool_result.durable-results-in-model-order")
def results_in_model_order(story: Story, context: Context) -> Iterator[str]:
    for batch in story.batches:
        wanted = [call for call in batch.calls if call.of("log.result")]
        at = [story.number(call.of("log.result")[0]) for call in wanted]
        if at != sorted(at) and not any((call.agent, call.id) in story.ambiguous for call in wanted):
            order = ", ".join(call.id for _, call in sorted(zip(at, wanted, strict=True), key=lambda pair: pair[0]))
            yield f"request {batch.request} of {batch.agent}: results are logged in the order {order}"


@invariant("registerTool.only-visible-tools-run")
def only_visible_tools_run(story: Story, context: Context) -> Iterator[str]:
    catalogues = {
        (e.agent, e["request"]): {row["name"] for row in e["tools"]} for e in story.events if e.kind == "model.request"
    }
    for call in story.calls:
        listed = catalogues.get((call.agent, call.asked), set())
        bodies = call.of("tool.enter", "native.enter")
        # The host resolves at dispatch, Pi at the request: a tool may come or go in between, so only a tool that the
        # next request does not list either, and that nobody registered meanwhile, is out of sight on both.
        later = catalogues.get((call.agent, call.asked + 1), listed)
        moved = any(e.kind == "api.call" and e["call"] in ("registerTool", "setActiveTools") for e in story.events)
        for body in bodies:
            if call.name not in listed and call.name not in later and not moved:
                yield f"{call.label}: its body ran (event {body.seq}) though no catalogue listed the tool"


@invariant("tool_result.one-durable-result-a-call")
def one_durable_result_a_call(story: Story, context: Context) -> Iterator[str]:
    for batch in story.batches:
        if batch.finish in ("length", "error"):
            continue
        for call in batch.calls:
            if (call.agent, call.id) in story.ambiguous:
                continue
            found = len(call.of("log.result"))
            if found > 1:
                yield f"{call.label} has {found} durable results"
            if found == 0 and batch.after is not None and call.agent not in story.cancelled:
                yield f"{call.label} has no durable result, and the loop went on"


@invariant("user_bash.never-fires", roles="bridge")
def user_bash_never_fires(story: Story, context: Context) -> Iterator[str]:
    for event in story.events:
        if event.kind == "handler.enter" and event["event"] == "user_bash":
            yield f"user_bash was fired (event {event.seq})"


@invariant("tool_call.native-arguments-are-never-rewritten", roles="bridge")
def native_arguments_equal_the_logged(story: Story, context: Context) -> Iterator[str]:
    if any(event.kind == "host.event" for event in story.events):
        return  # A listener of the host's own may replace a call's arguments; then nothing is told of the bridge.
    for call in story.calls:
        logged = call.of("log.call")
        record = _parsed(logged[0]["arguments"]) if logged else None
        for body in call.of("native.enter"):
            if isinstance(record, dict) and body["arguments"] != record:
                yield f"{call.label}: ran with {body['arguments']!r}, the log keeps {record!r}"


@invariant("setActiveTools.agents-are-apart")
def calls_act_on_their_own_agent(story: Story, context: Context) -> Iterator[str]:
    owners = {e["instance"]: e.agent for e in story.events if e.kind == "instance.created" and e["role"] == "agent"}
    for event in story.events:
        owner = owners.get(event["instance"]) if event.kind in ("handler.enter", "tool.enter") else None
        if owner is not None and event.agent is not None and event.agent != owner:
            what = event["event"] or f"the body of {event['tool']}"
            yield f"the instance of agent {owner} was handed {what} of agent {event.agent} (event {event.seq})"


@invariant("tool_result.the-model-reads-the-durable-result")
def the_model_reads_the_durable_result(story: Story, context: Context) -> Iterator[str]:
    for batch in story.batches:
        if batch.after is None:
            continue
        shown = [m for m in batch.after["messages"] if m.get("role") == "tool"]
        for call in batch.calls:
            logged = call.of("log.result")
            if not logged or (call.agent, call.id) in story.ambiguous:
                continue
            mine = [m for m in shown if m.get("callId") == call.id]
            # Content that is empty is left out of the request as it travels.
            found = mine[-1].get("content", []) if mine else None
            if mine and found != logged[0]["content"]:
                yield f"{call.label}: the next request shows {found!r}, the log {logged[0]['content']!r}"


_LOSSY = re.compile(r"-0(?:\.0*)?(?![.\d])|[eE]-?\d{3}")
"""Numbers that JSON text can write and JSON values cannot give back: minus zero, overflow and underflow."""


def _parsed(text: Any) -> Any:
    """Return the value of an argument text; ``None`` for what is no JSON or holds numbers that are lost on the way."""
    try:
        return None if _LOSSY.search(text) else json.loads(text)
    except (TypeError, ValueError):
        return None
