"""A trace read once: batches and calls with their events, who listens, what the operator did, what was cut short."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from conformance import compare
from conformance.trace import Event, Trace

CUT = frozenset({"aborted", "cancelled", "error", "length", "max-tokens", "interrupted", "unknown"})
"""Reasons for which a turn ends otherwise than by the model's or a batch's wish."""
CHANGES = frozenset({"registerTool", "unregisterTool", "setActiveTools"})
"""Methods after which an agent may see other tools."""
OPERATORS = frozenset({"load", "reload", "unload", "native", "drop-native", "host"})
"""Acts of the operator after which an agent may see other tools."""

PLAIN = re.compile(r"[a-z]{2,40}")
"""Names that no bridge may find odd."""


@dataclass(slots=True, eq=False)
class Call:
    """Everything one call of the model left in the trace, on the agent ``agent``; ``asked`` is its request's number.

    ``events`` are those of this occurrence of the id, by kind; ``clear`` is false where the trace does not tell which
    occurrence an event belongs to. ``text`` is the raw argument text the model wrote. What follows ``handlers`` is
    known once the whole trace is read.
    """

    agent: str
    id: str
    occurrence: int
    name: str
    text: str
    asked: int
    batch: Batch
    clear: bool = True
    events: dict[str, list[Event]] = field(default_factory=dict)
    handlers: dict[str, list[Event]] = field(default_factory=dict)
    bodies: list[Event] = field(default_factory=list)
    """The entries into a package's tool or a native one."""
    result: Event | None = None
    """The first durable result."""
    record: Any = None
    """The arguments as the log keeps them; ``None`` for what is no JSON or loses numbers on the way.

    What the model wrote decides that: a log may keep something else than what could not be kept.
    """
    host_broke: bool = False
    """Whether a listener or a guard of the host threw: it was asked and did not answer."""

    @property
    def label(self) -> str:
        """Return how to name the call in a sentence."""
        again = f" (occurrence {self.occurrence})" if self.occurrence > 1 else ""
        return f'call "{self.id}" of {self.name}{again}'

    def of(self, *kinds: str) -> list[Event]:
        """Return the call's events of these kinds, kind by kind."""
        if len(kinds) == 1:
            return self.events.get(kinds[0], [])
        return [event for kind in kinds for event in self.events.get(kind, ())]

    def handled(self, event: str) -> list[Event]:
        """Return the entries of handlers of one Pi event for this call, in order."""
        return self.handlers.get(event, [])

    def conclude(self) -> None:
        """Find out, of the whole trace, what most of the invariants ask."""
        self.bodies = self.of("tool.enter", "native.enter")
        policies = self.of("policy")
        self.host_broke = len([event for event in policies if event["phase"] == "enter"]) * 2 != len(policies)
        self.result = next(iter(self.of("log.result")), None)
        logged = self.of("log.call")
        self.record = parsed(logged[0]["arguments"]) if logged and parsed(self.text) is not None else None


@dataclass(slots=True, eq=False)
class Batch:
    """The calls of one assistant message. ``finish`` as the model said; ``after`` is the agent's next request.

    ``begin`` and ``end`` number the message and the end of its turn. ``cut`` says that the turn was cancelled, or ended
    otherwise than by itself, or that the trace does not show its end.
    """

    agent: str
    request: Event
    begin: int
    finish: str | None
    calls: list[Call] = field(default_factory=list)
    after: Event | None = None
    end: int | None = None
    reason: str | None = None
    cut: bool = True
    spoken: bool = False
    """Whether the user said something until the next request that was not yet in this one's."""


@dataclass(slots=True)
class Subscription:
    """One ``pi.on`` of one instance; ``since`` numbers the event that made it."""

    instance: str
    handler: str
    event: str
    since: int
    sync: Any = None


class Story:
    """What the invariants ask of a trace. Numbers are places in the trace."""

    def __init__(self, trace: Trace) -> None:
        self.events = trace.events
        self.at = {event: number for number, event in enumerate(self.events)}
        self.batches: list[Batch] = []
        self.calls: list[Call] = []
        """Every call, in model order."""
        self.exits: dict[str, Event] = {}
        self.enters: dict[str, Event] = {}
        self.subscriptions: list[Subscription] = []
        self.instances: dict[str, Event] = {}
        self.gone: dict[str, int] = {}
        """Where an instance was no longer there for sure: it failed, was disposed, or its package began to go."""
        self.kinds: dict[str, list[Event]] = defaultdict(list)
        self.acts: dict[str, list[Event]] = defaultdict(list)
        """What the operator did, by act."""
        self.methods: dict[str, list[Event]] = defaultdict(list)
        """The calls of the Pi API, by method."""
        self.changes: list[int] = []
        """Where something happened that may change what tools an agent sees."""
        self.listened = False
        """Whether the suite used the host's own seams: then what it put there may decide anything."""
        self.kept: dict[Any, Any] = {}
        """Answers to questions that several invariants ask."""
        self._steps: dict[str | None, list[tuple[int, str]]] = defaultdict(list)
        self._read()

    @cached_property
    def outcomes(self) -> dict[str, dict[str, Any]]:
        """How each call of the Pi API was answered, by its id."""
        return {event["api"]: event["outcome"] or {} for event in self.kinds["api.return"]}

    @cached_property
    def registrations(self) -> dict[str, list[Event]]:
        """The calls of ``registerTool``, by the name that they register."""
        found: dict[str, list[Event]] = {}
        for event in self.methods["registerTool"]:
            about = (event["args"] or [None])[0]
            if isinstance(about, dict) and isinstance(about.get("name"), str):
                found.setdefault(about["name"], []).append(event)
        return found

    @cached_property
    def owners(self) -> dict[str, frozenset[str]]:
        """The packages that registered a name."""
        return {name: frozenset(map(self.package_of, rows)) for name, rows in self.registrations.items()}

    @cached_property
    def plain(self) -> frozenset[str]:
        """Names that no bridge may find odd, of tools that one package alone has and that ask for an object."""
        return frozenset(
            name
            for name, rows in self.registrations.items()
            if PLAIN.fullmatch(name) and name not in self.natives and len(self.owners[name]) == 1
            if all(is_plain(each["args"][0]) for each in rows)
        )

    @cached_property
    def natives(self) -> dict[str, list[int]]:
        """Where a native tool was registered, by each name that one had at some time."""
        found: dict[str, list[int]] = {}
        for event in self.kinds["operator"]:
            for name in event["natives"] or ():
                found.setdefault(name, []).append(self.number(event))
        return found

    @cached_property
    def answered(self) -> dict[str, int]:
        """Where each call of the Pi API was answered, by its id."""
        found: dict[str, int] = {}
        for event in self.kinds["api.return"]:
            found.setdefault(event["api"], self.number(event))
        return found

    def close(self) -> None:
        """Let calls and batches, which know each other, be let go of at once instead of by the garbage collector."""
        for batch in self.batches:
            batch.calls.clear()

    def number(self, event: Event) -> int:
        """Return the event's place in the trace."""
        return self.at[event]

    def exit_of(self, enter: Event) -> Event | None:
        """Return the end of an invocation, if it is known."""
        return self.exits.get(enter["invocation"])

    def threw(self, enter: Event) -> bool:
        """Whether an invocation ended by a throw."""
        found = self.exit_of(enter)
        return found is not None and "threw" in found.data

    def reply(self, enter: Event) -> dict[str, Any]:
        """Return what the suite replied at an entry, or what a synchronous handler always does."""
        found = enter.data.get("reply")
        if found is None:
            found = next(
                (
                    each.sync
                    for each in reversed(self.subscriptions)
                    if each.instance == enter["instance"] and each.handler == enter["handler"]
                ),
                None,
            )
        return found if isinstance(found, dict) else {}

    def wrote(self, enters: Iterable[Event]) -> bool:
        """Whether one of these handlers, or bodies, wrote into what it was given."""
        return any(self.reply(enter).get("ops") for enter in enters)

    def package_of(self, event: Event) -> str:
        """Return the package whose instance made an API call."""
        made = self.instances.get(event["instance"])
        return str(event["instance"] if made is None else made["package"])

    def changed(self, begin: int, end: int) -> bool:
        """Whether something that may change an agent's tools happened between two places."""
        return any(begin < number < end for number in self.changes)

    def prepared(self, agent: str, before: int) -> int | None:
        """Return where the agent's step that began last before a place may first have looked at the tools.

        A host prepares a step once the one before is over, or the turn has started, and tells then that it begins.
        """
        step: int | None = None
        for number, kind in reversed(self._steps[agent]):
            if step is None:
                step = number if kind == "step.start" and number < before else None
            elif kind != "step.start":
                return number
        return step

    def listening(self, begin: int, end: int, *events: str) -> list[str]:
        """Return the instances that listened to every one of ``events`` all the time between two places."""
        found: dict[str, set[str]] = defaultdict(set)
        for each in self.subscriptions:
            known = each.instance in self.instances and each.since < begin
            if known and self.gone.get(each.instance, end + 1) > end:
                found[each.instance].add(each.event)
        return [instance for instance, names in found.items() if names.issuperset(events)]

    def serves(self, instance: str, agent: str) -> bool:
        """Whether an instance is told of this agent's calls."""
        made = self.instances.get(instance)
        return made is not None and (made["role"] == "shared" or (made["role"] == "agent" and made.agent == agent))

    # --- reading ------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        last: dict[str, Batch] = {}
        open_batches: dict[str, list[Batch]] = defaultdict(list)
        requests: dict[str, Event] = {}
        cancelled: dict[str, bool] = defaultdict(bool)
        spoken: dict[str, bool] = defaultdict(bool)
        # What waits for a turn of its own waits through all the steps of this one.
        waiting: dict[str, int] = defaultdict(int)
        # Of several things that were said Pi tells the model one at a time.
        unheard: dict[str, int] = defaultdict(int)
        calls = _Calls(self)
        for number, event in enumerate(self.events):
            kind, agent = event.kind, event.agent or ""
            self.kinds[kind].append(event)
            if kind in _STEPS:
                self._steps[event.agent].append((number, kind))
            if kind == "turn.start":
                cancelled[agent] = spoken[agent] = False
                waiting[agent] = max(0, waiting[agent] - 1)
            elif kind == "model.request":
                requests[agent] = event
                if agent in last and last[agent].after is None:
                    last[agent].after = event
                spoken[agent] = False
            elif kind == "model.answer":
                if event["calls"] and agent in requests:
                    batch = last[agent] = Batch(agent, requests[agent], number, event["finish"])
                    batch.cut = cancelled[agent]
                    batch.spoken = spoken[agent] or waiting[agent] > 0 or unheard[agent] > 0
                    self.batches.append(batch)
                    open_batches[agent].append(batch)
                    calls.begin(batch, event["calls"])
            elif kind == "log.user":
                unheard[agent] = max(0, unheard[agent] - 1)
            elif kind == "turn.end":
                unheard[agent] = 0
                cut = cancelled[agent] or event["reason"] in CUT
                for batch in open_batches.pop(agent, ()):
                    batch.end, batch.reason, batch.cut = number, event["reason"], batch.cut or cut
            elif kind == "operator":
                act = event["act"]
                self.acts[act].append(event)
                if act in ("cancel", "dispose"):
                    cancelled[agent] = True
                    for batch in open_batches[agent]:
                        batch.cut = True
                elif act in ("steer", "follow_up", "prompt"):
                    spoken[agent] = True
                    waiting[agent] += act != "steer"
                    unheard[agent] += act != "follow_up"
                    for batch in open_batches[agent]:
                        batch.spoken = True
                elif act in OPERATORS:
                    self.changes.append(number)
                    if act in ("unload", "reload"):
                        self._leave(event["package"], number)
                self.listened = self.listened or act in ("host", "listen")
            elif kind == "api.call":
                self._api(number, event)
            elif kind == "agent.disposed":
                last.pop(agent, None)  # An agent that is made under its name has read nothing of it.
            elif kind == "instance.created":
                self.instances[event["instance"]] = event
                self.changes.append(number)
                if event["error"] is not None:  # Its factory threw: nothing of it is there.
                    self.gone.setdefault(event["instance"], number)
            elif kind == "instance.disposed":
                self.gone.setdefault(event["instance"], number)
                self.changes.append(number)
            elif event.data.get("invocation") and kind in _SIDES:
                side = self.exits if _SIDES[kind] else self.enters
                side.setdefault(event.data["invocation"], event)
            if event.call_id is not None:
                calls.take(event)
        for batches in open_batches.values():
            for batch in batches:
                batch.cut = batch.cut or batch.after is None
        self.calls = [call for batch in self.batches for call in batch.calls]
        for call in self.calls:
            call.conclude()

    def _leave(self, package: str | None, number: int) -> None:
        for instance, made in self.instances.items():
            if package is not None and made["package"] == package:
                self.gone.setdefault(instance, number)

    def _api(self, number: int, event: Event) -> None:
        self.methods[event["call"]].append(event)
        if event["call"] in CHANGES:
            self.changes.append(number)
        elif event["call"] == "on":
            spec = (event["args"] or [None])[0]
            if isinstance(spec, dict) and spec.get("callable", True):
                self.subscriptions.append(
                    Subscription(event["instance"], spec.get("id", ""), spec.get("event", ""), number, spec.get("sync"))
                )


def is_plain(spec: dict[str, Any]) -> bool:
    """Whether a registration's parameters are an object's, as Pi's own are."""
    schema = spec.get("parameters")
    return isinstance(schema, dict) and schema.get("type") == "object" and "$" not in schema


_STEPS = frozenset({"turn.start", "step.start", "step.end"})
"""Kinds of events after which, or at which, a host looks at the tools."""
_SIDES = {
    "handler.enter": False,
    "tool.enter": False,
    "native.enter": False,
    "handler.exit": True,
    "tool.exit": True,
    "native.exit": True,
}


class _Calls:
    """Gives each event of a call id to the occurrence it belongs to."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._known: dict[tuple[str, str], list[Call]] = {}
        self._current: dict[tuple[str, str], int] = {}

    def begin(self, batch: Batch, rows: list[dict[str, Any]]) -> None:
        """Make the calls of a message."""
        for row in rows:
            key = (batch.agent, row["id"])
            known = self._known.setdefault(key, [])
            call = Call(
                batch.agent,
                row["id"],
                len(known) + 1,
                row["name"],
                row["arguments"],
                batch.request["request"],
                batch,
            )
            known.append(call)
            batch.calls.append(call)
            if len(known) > 1 and known[-2].batch is not batch:
                # A message of its own: what comes now is this call's, unless the one before is still going on.
                if not self._over(known[self._current[key]]):
                    known[self._current[key]].clear = call.clear = False
                self._current[key] = len(known) - 1
            self._current.setdefault(key, 0)

    def take(self, event: Event) -> None:
        """Keep an event with its call; a durable call that is a second one begins the next occurrence."""
        key = (event.agent or "", event.call_id or "")
        known = self._known.get(key)
        if known is None:
            return
        at = self._current[key]
        call = known[at]
        if len(known) > 1 and event.kind == "log.call" and call.of("log.call"):
            if at + 1 < len(known):
                # Once two were at work together, what looks like the end of the later one may be the earlier one's.
                if not call.clear or not self._over(call):
                    call.clear = known[at + 1].clear = False
                self._current[key] = at = at + 1
                call = known[at]
            else:
                call.clear = False
        call.events.setdefault(event.kind, []).append(event)
        if event.kind == "handler.enter":
            call.handlers.setdefault(event["event"], []).append(event)

    def _over(self, call: Call) -> bool:
        """Whether nothing of the call can still come: it has its result, and whoever listens was told start and end."""
        if not call.of("log.result"):
            return False
        for event in ("tool_execution_start", "tool_execution_end"):
            told = {enter["instance"] for enter in call.handled(event)}
            if any(
                each.event == event and each.instance not in self._story.gone and each.instance not in told
                for each in self._story.subscriptions
                if self._story.serves(each.instance, call.agent)
            ):
                return False
        return all(
            event["invocation"] in self._story.exits for event in call.of("handler.enter", "tool.enter", "native.enter")
        )


_LOSSY = re.compile(r"-0(?:\.0*)?(?![.\d])|[eE][+-]?\d{3}")
"""Numbers that JSON text can write and JSON values cannot give back: minus zero, overflow and underflow."""


@lru_cache(maxsize=1024)
def parsed(text: Any) -> Any:
    """Return the value of an argument text; ``None`` for what is no JSON or holds numbers that are lost on the way."""
    try:
        return None if _LOSSY.search(text) else compare.parsed(text)
    except (TypeError, ValueError, RecursionError):
        return None


def tagged(value: Any) -> Iterator[bool]:
    """Yield, of every object in a value, whether it stands for what JSON cannot carry."""
    if isinstance(value, dict):
        yield "$" in value
        for each in value.values():
            yield from tagged(each)
    elif isinstance(value, list):
        for each in value:
            yield from tagged(each)
