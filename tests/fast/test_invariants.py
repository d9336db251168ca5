"""Each invariant on a trace that holds, on one that breaks it, and on one of which it cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from conformance.drivers.backend import InProcessDriver
from conformance.drivers.protocol import ModelAnswer, NativeSpec, PolicySpec, Reply, ToolCall
from conformance.drivers.reference import make_backend
from conformance.invariants import INVARIANTS, Context, Holding, examine, judge
from conformance.peer import error, text_result
from conformance.programs.operations import (
    AddAgent,
    AddNative,
    AddPackage,
    AddPolicy,
    AnyOperation,
    CallApi,
    Handler,
    Prompt,
    Tool,
    Turn,
)
from conformance.programs.pools import PICTURE, PNG, tool_spec
from conformance.programs.run import Connection, run_program
from conformance.programs.search import own_connection
from conformance.scripts import Behaviour, CallPi, Cancel, Match, Say, Update
from conformance.trace import Event, Trace

OPEN = {"type": "object", "properties": {}}
EVENTS = ("tool_execution_start", "tool_call", "tool_execution_update", "tool_result", "tool_execution_end")


@pytest.fixture(scope="module")
def reference() -> Iterator[Connection]:
    at = own_connection(InProcessDriver("reference", lambda suite: make_backend(suite, "root")))
    yield at
    at.runner.run(at.driver.close())
    at.runner.close()


def package(
    name: str, *tools: str, does: dict[str, list[Behaviour]] | None = None, body: Reply | None = None
) -> AddPackage:
    behaviours = does or {}
    return AddPackage(
        name=name,
        tools=[Tool(spec=tool_spec(tool, OPEN, 0), does=[Behaviour(reply=body)] if body else []) for tool in tools],
        handlers=[Handler(event=event, does=behaviours.get(event, [])) for event in EVENTS],
    )


def asks(*names: str, agent: str = "main", finish: Any = None) -> Prompt:
    calls = [ToolCall(id=str(number), name=name, arguments='{"s":"x"}') for number, name in enumerate(names, 1)]
    return Prompt(turns=[Turn(agent=agent, messages=[ModelAnswer(calls=calls, finish=finish)])])


def replies(reply: Reply, **match: Any) -> list[Behaviour]:
    return [Behaviour(match=Match(**match), reply=reply)]


def busy(body: Behaviour, name: str = "alpha") -> AddPackage:
    """Return a package that listens to everything, whose one tool does something before it answers."""
    tools = [Tool(spec=tool_spec("stow", OPEN, 0), does=[body])]
    return AddPackage(name=name, tools=tools, handlers=[Handler(event=event) for event in EVENTS])


LOOK = AddNative(native=NativeSpec(name="look", description="the native tool look"))
WATCH = AddPolicy(policy=PolicySpec(id="watch", answer="next"))
BLOCKS = replies(Reply(returns={"block": True, "reason": "not today"}))

PROGRAMS: dict[str, list[AnyOperation]] = {
    "two calls": [package("alpha", "stow"), LOOK, WATCH, asks("stow", "look")],
    "a block": [package("alpha", "stow", does={"tool_call": BLOCKS}), package("beta"), asks("stow")],
    "a gate that throws": [
        package("alpha", "stow", does={"tool_call": replies(Reply(throws=error("the gate broke")))}),
        asks("stow"),
    ],
    "a denial": [
        package("alpha", "stow"),
        AddPolicy(policy=PolicySpec(id="no", answer="deny", reason="no")),
        asks("stow"),
    ],
    "a stop": [package("alpha", "stow", body=Reply(returns=text_result("last", terminate=True))), asks("stow")],
    "a failure": [package("alpha", "stow", body=Reply(throws=error("the body broke"))), asks("stow")],
    "a throwing watcher": [
        package("alpha", "stow", does={"tool_execution_end": replies(Reply(throws=error("the watcher broke")))}),
        asks("stow"),
    ],
    "lists": [
        package(
            "alpha",
            "stow",
            does={
                "tool_call": [
                    Behaviour(
                        acts=[
                            CallPi(call="getActiveTools"),
                            CallPi(call="getAllTools"),
                            CallPi(call="setActiveTools", args=[["stow"]]),
                        ]
                    )
                ]
            },
        ),
        LOOK,
        asks("stow"),
    ],
    "two agents": [
        package(
            "alpha",
            "stow",
            does={
                "tool_call": [
                    Behaviour(match=Match(agent="other"), acts=[CallPi(call="setActiveTools", args=[["stow"]])])
                ]
            },
        ),
        LOOK,
        AddAgent(agent="other"),
        asks("stow"),
        asks("stow", agent="other"),
        asks("stow"),
    ],
    "a cancel": [
        package("alpha", "stow", does={"tool_call": [Behaviour(acts=[Cancel()])]}),
        LOOK,
        asks("stow", "look"),
    ],
    "equal ids at once": [
        package("alpha", "stow"),
        Prompt(turns=[Turn(messages=[ModelAnswer(calls=[ToolCall(id="1", name="stow", arguments="{}")] * 2)])]),
    ],
    "a cut message": [package("alpha", "stow"), asks("stow", finish="length")],
    "nothing": [Prompt()],
    "an allowing policy": [
        package("alpha", "stow", does={"tool_call": BLOCKS}),
        AddPolicy(policy=PolicySpec(id="yes", answer="allow")),
        asks("stow"),
    ],
    "a list between prompts": [
        package("alpha", "stow"),
        LOOK,
        asks("stow"),
        CallApi(package="alpha", call="setActiveTools", args=[["stow"]]),
        asks("look"),
    ],
    "two packages": [package("alpha", "stow"), package("beta", "fetch"), LOOK, asks("stow")],
    "an update": [busy(Behaviour(acts=[Update(update=text_result("part"))])), asks("stow")],
    "a cancel in a body": [busy(Behaviour(acts=[Cancel()])), asks("stow")],
    "a sequential tool": [
        AddPackage(name="alpha", tools=[Tool(spec=tool_spec("stow", OPEN, 2))]),
        LOOK,
        asks("stow", "look"),
    ],
    "a picture": [
        busy(Behaviour(reply=Reply(returns={"content": [{"type": "text", "text": "seen"}, PICTURE]}))),
        asks("stow"),
    ],
    "a name twice": [package("alpha", "stow", "stow"), asks("stow")],
    "a name of two packages": [package("alpha", "stow"), package("beta", "stow"), asks("stow")],
    "a native's name": [package("alpha", "look"), LOOK, asks("look")],
    "input in a batch": [
        package("alpha", "stow", does={"tool_call": [Behaviour(acts=[Say("steer", "more")])]}),
        asks("stow"),
    ],
    "throwing handlers": [
        package(
            "alpha",
            does={
                event: replies(Reply(throws=error(f"the {event} handler broke")))
                for event in EVENTS
                if event != "tool_call"
            },
        ),
        busy(Behaviour(acts=[Update(update=text_result("part"))]), "beta"),
        asks("stow"),
    ],
}
"""Programs by what is special about them; run on the reference they give traces in which everything holds."""

Edit = Callable[[list[Event]], list[Event]]


def at(events: list[Event], kind: str, **wanted: Any) -> int:
    """The place of the first event of a kind with these fields or data."""
    for number, event in enumerate(events):
        if event.kind == kind and all(getattr(event, k, None) == v or event[k] == v for k, v in wanted.items()):
            return number
    raise AssertionError(f"no {kind} with {wanted}")


def without(kind: str, **wanted: Any) -> Edit:
    def edit(events: list[Event]) -> list[Event]:
        number = at(events, kind, **wanted)
        return events[:number] + events[number + 1 :]

    return edit


def twice(kind: str, **wanted: Any) -> Edit:
    def edit(events: list[Event]) -> list[Event]:
        number = at(events, kind, **wanted)
        return [*events[: number + 1], *events[number:]]

    return edit


def told(kind: str, new: dict[str, Any], **wanted: Any) -> Edit:
    def edit(events: list[Event]) -> list[Event]:
        number = at(events, kind, **wanted)
        changed = msgspec.structs.replace(events[number], data={**events[number].data, **new})
        return [*events[:number], changed, *events[number + 1 :]]

    return edit


def moved(kind: str, before: str, of: dict[str, Any] | None = None, **wanted: Any) -> Edit:
    """Move an event before the first of another kind that has ``of``."""

    def edit(events: list[Event]) -> list[Event]:
        number = at(events, kind, **wanted)
        rest = events[:number] + events[number + 1 :]
        place = at(rest, before, **(of or {}))
        return [*rest[:place], events[number], *rest[place:]]

    return edit


def also(
    kind: str, like: str, new: dict[str, Any], after: str, of: dict[str, Any] | None = None, **wanted: Any
) -> Edit:
    """Put an event of ``kind``, in all else like another one, after the first of ``after``."""

    def edit(events: list[Event]) -> list[Event]:
        model = events[at(events, like, **wanted)]
        made = msgspec.structs.replace(model, kind=kind, data={**model.data, **new})
        place = at(events, after, **(of or {})) + 1
        return [*events[:place], made, *events[place:]]

    return edit


def untold(events: list[Event]) -> list[Event]:
    """Take every notice away."""
    return [event for event in events if event.kind != "notice"]


def unanswered(events: list[Event]) -> list[Event]:
    """Take away every request but the first."""
    return [event for event in events if not event.kind.startswith("model.") or event["request"] == 1]


def shown(event: str, **wanted: Any) -> Edit:
    """Tell the first handler of an event of another tool."""
    return told("handler.enter", {"payload": {"type": event, "toolName": "other"}}, event=event, **wanted)


TWICE = {"tools": [{"name": "stow", "description": "the tool stow", "parameters": OPEN}] * 2}
HANDLER = {"handler": "tool_call"}
GATE = {"event": "tool_call", "invocation": "new", "reply": {}}
BODY = {"invocation": "new", "tool": "stow", "reply": {}}
NOTICE = {"channel": "logger", "level": "warn", "text": "the tool look stays", "instance": None}

CASES: dict[str, tuple[str, Edit, str]] = {
    "one-end-for-every-start": (
        "two calls",
        without("handler.enter", event="tool_execution_end", call_id="1"),
        "nothing",
    ),
    "every-call-starts": (
        "two calls",
        without("handler.enter", event="tool_execution_start", call_id="1"),
        "a cut message",
    ),
    "starts-follow-the-durable-record": ("two calls", moved("log.call", "tool.enter", call_id="1"), "nothing"),
    "start-comes-first": (
        "two calls",
        moved("handler.enter", "tool.enter", event="tool_execution_start", call_id="1"),
        "nothing",
    ),
    "starts-are-awaited-before-the-gate": (
        "two calls",
        without("handler.exit", event="tool_execution_start"),
        "a cut message",
    ),
    "start-arguments-equal-the-durable-record": (
        "two calls",
        told("log.call", {"arguments": '{"s":"y"}'}, call_id="1"),
        "nothing",
    ),
    "nothing-of-a-call-after-its-end": (
        "two calls",
        also("tool.enter", "tool.enter", BODY, "log.result", {"call_id": "1"}),
        "nothing",
    ),
    "ends-come-after-tool-result": ("two calls", without("handler.exit", event="tool_result"), "a block"),
    "ends-come-before-the-durable-result": (
        "two calls",
        moved("log.result", "handler.enter", {"event": "tool_execution_end"}, call_id="1"),
        "a cancel",
    ),
    "tool-result-comes-before-the-durable-result": (
        "two calls",
        moved("log.result", "handler.enter", {"event": "tool_result"}, call_id="1"),
        "a block",
    ),
    "the-end-tells-the-durable-result": ("two calls", told("log.result", {"isError": True}, call_id="1"), "a cancel"),
    "what-is-blocked-does-not-run": (
        "a block",
        also("tool.enter", "handler.enter", BODY, "handler.exit", HANDLER, event="tool_call"),
        "an allowing policy",
    ),
    "nobody-is-asked-after-a-block": (
        "a block",
        also("handler.enter", "handler.enter", GATE, "handler.exit", HANDLER, event="tool_call"),
        "two calls",
    ),
    "a-call-whose-gate-throws-does-not-run": (
        "a gate that throws",
        also("tool.enter", "handler.enter", BODY, "handler.exit", HANDLER, event="tool_call"),
        "two calls",
    ),
    "what-the-host-denies-does-not-run": (
        "a denial",
        also("tool.enter", "policy", BODY, "policy", {"phase": "exit"}),
        "two calls",
    ),
    "denials-have-a-reason": (
        "a denial",
        told("policy", {"decision": {"kind": "deny", "reason": ""}}, phase="exit"),
        "two calls",
    ),
    "native-arguments-equal-the-logged": ("two calls", told("native.enter", {"arguments": {"s": "y"}}), "a block"),
    "blocked-results-are-not-patched": (
        "a block",
        also(
            "handler.enter",
            "handler.enter",
            {"event": "tool_result", "invocation": "new"},
            "handler.exit",
            HANDLER,
            event="tool_call",
        ),
        "two calls",
    ),
    "user-bash-never-fires": (
        "two calls",
        also("handler.enter", "handler.enter", {"event": "user_bash", "payload": {}}, "turn.start"),
        "nothing",
    ),
    "results-in-model-order": (
        "two calls",
        moved("log.result", "log.result", {"call_id": "1"}, call_id="2"),
        "a block",
    ),
    "one-durable-result-a-call": ("two calls", twice("log.result", call_id="1"), "a cut message"),
    "the-model-reads-the-durable-result": ("two calls", told("log.result", {"content": []}, call_id="1"), "a stop"),
    "the-loop-stops-when-every-call-asked": (
        "a stop",
        told("tool.enter", {"reply": {"returns": text_result("last")}}),
        "a cancel",
    ),
    "texts-of-results-reach-the-log": (
        "two calls",
        told("log.result", {"content": [{"type": "text", "text": "other"}]}, call_id="1"),
        "a block",
    ),
    "thrown-errors-reach-the-log": (
        "a failure",
        told("log.result", {"content": [{"type": "text", "text": "other"}]}),
        "two calls",
    ),
    "only-visible-tools-run": ("two calls", told("model.request", {"tools": []}), "nothing"),
    "calls-act-on-their-own-agent": ("two calls", told("instance.created", {"role": "agent"}), "nothing"),
    "tools-are-described-as-registered": (
        "two calls",
        told("model.request", {"tools": [{"name": "stow", "description": "mine"}]}),
        "nothing",
    ),
    "a-list-reaches-no-other-agent": (
        "two agents",
        told("model.request", {"tools": []}, agent="main", request=3),
        "a list between prompts",
    ),
    "active-tools-equal-the-catalogue": ("lists", told("model.request", {"tools": []}), "two calls"),
    "all-tools-equal-the-catalogue": ("lists", told("model.request", {"tools": [{"name": "more"}]}), "two calls"),
    "one-list-reports-each-thing-once": (
        "lists",
        lambda events: twice("notice")(
            also("notice", "api.call", NOTICE, "api.call", {"call": "setActiveTools"})(events)
        ),
        "two calls",
    ),
    "a-throw-is-reported-once": ("a throwing watcher", twice("notice"), "two calls"),
    "judges-are-asked-one-after-another": (
        "two packages",
        without("handler.exit", event="tool_call"),
        "two calls",
    ),
    "updates-are-awaited-before-the-result": (
        "an update",
        without("handler.exit", event="tool_execution_update"),
        "two calls",
    ),
    "ends-come-before-the-next-request": (
        "two calls",
        without("handler.exit", event="tool_execution_end"),
        "nothing",
    ),
    "sequential-tools-run-alone": ("a sequential tool", moved("native.enter", "tool.exit"), "two calls"),
    "a-cancel-reaches-the-running-tool": ("a cancel in a body", without("tool.aborted"), "two calls"),
    "a-cancel-in-a-gate-starts-nothing-more": (
        "a cancel",
        also("tool.enter", "handler.enter", BODY, "handler.exit", HANDLER, event="tool_call"),
        "two calls",
    ),
    "each-prompt-reaches-the-model": ("nothing", without("model.request"), "a cancel"),
    "what-the-user-says-in-a-batch-is-answered": ("input in a batch", unanswered, "two calls"),
    "starts-name-their-call": ("two calls", shown("tool_execution_start"), "nothing"),
    "judges-are-told-whose-call-it-is": ("two calls", shown("tool_call"), "nothing"),
    "updates-name-their-call": ("an update", shown("tool_execution_update"), "two calls"),
    "results-name-their-call": ("two calls", shown("tool_result"), "nothing"),
    "ends-name-their-call": ("two calls", shown("tool_execution_end"), "nothing"),
    "the-first-to-see-a-result-sees-the-tools-own": ("two calls", shown("tool_result"), "a block"),
    "the-first-to-see-a-failure-sees-what-was-thrown": ("a failure", shown("tool_result"), "two calls"),
    "results-show-the-input-the-tool-ran-with": ("two calls", shown("tool_result"), "a block"),
    "patches-build-on-each-other": ("two packages", shown("tool_result", package="beta"), "two calls"),
    "the-log-keeps-what-patches-leave": ("two calls", told("log.result", {"isError": True}, call_id="1"), "a block"),
    "judges-see-the-same-input-unless-one-changes-it": (
        "two packages",
        shown("tool_call", package="beta"),
        "two calls",
    ),
    "a-tool-runs-with-what-was-judged": ("two calls", told("tool.enter", {"params": {"s": "y"}}), "a block"),
    "what-start-handlers-throw-is-reported": ("throwing handlers", untold, "two calls"),
    "what-update-handlers-throw-is-reported": ("throwing handlers", untold, "two calls"),
    "what-result-handlers-throw-is-reported": ("throwing handlers", untold, "two calls"),
    "what-end-handlers-throw-is-reported": ("throwing handlers", untold, "two calls"),
    "schemas-reach-the-model-or-a-notice-names-the-tool": (
        "two calls",
        told("model.request", {"tools": [{"name": "stow", "description": "the tool stow", "parameters": {}}]}),
        "nothing",
    ),
    "a-package-has-one-tool-of-a-name": ("a name twice", told("model.request", TWICE), "two calls"),
    "packages-have-one-tool-of-a-name": ("a name of two packages", told("model.request", TWICE), "two calls"),
    "a-native-and-a-package-have-one-tool-of-a-name": (
        "a native's name",
        told("model.request", {"tools": [{"name": "look", "description": "the tool look"}] * 2}),
        "two calls",
    ),
    "a-name-that-two-packages-register-is-told": ("a name of two packages", untold, "two calls"),
    "a-registration-that-a-native-tool-hides-is-told": (
        "a native's name",
        told("model.request", {"tools": [{"name": "look", "description": "the native tool look"}]}),
        "two calls",
    ),
    "bytes-of-pictures-stay-out-of-the-log": (
        "a picture",
        told("log.result", {"content": [{"type": "image", "data": PNG}]}),
        "two calls",
    ),
    "bytes-of-pictures-stay-out-of-requests": (
        "a picture",
        told("model.request", {"messages": [{"role": "tool", "callId": "1", "content": [{"data": PNG}]}]}, request=2),
        "two calls",
    ),
    "no-child-outlives-the-stage": (
        "two calls",
        also("operator", "operator", {"act": "close", "children": [7]}, "turn.end"),
        "two calls",
    ),
}
"""For each invariant: a program whose trace holds, an edit that breaks it, and a program of which it cannot tell."""


def numbered(events: list[Event]) -> Trace:
    return Trace([msgspec.structs.replace(event, seq=number) for number, event in enumerate(events, 1)])


def traced(reference: Connection, program: str) -> list[Event]:
    return run_program(reference, PROGRAMS[program]).trace.events


CONTEXT = Context("bridge", "root", frozenset({"notices"}), settled=True)


def test_every_invariant_has_a_case() -> None:
    assert sorted(CASES) == sorted(INVARIANTS)


@pytest.mark.parametrize("name", CASES)
def test_an_invariant_holds(reference: Connection, name: str) -> None:
    program, _, _ = CASES[name]
    events = traced(reference, program)
    if name == "no-child-outlives-the-stage":
        events = also("operator", "operator", {"act": "close", "children": []}, "turn.end")(events)
    if name == "one-list-reports-each-thing-once":
        events = also("notice", "api.call", NOTICE, "api.call", {"call": "setActiveTools"})(events)
    if name == "calls-act-on-their-own-agent":
        events = [
            msgspec.structs.replace(event, agent="main", data={**event.data, "role": "agent"})
            if event.kind == "instance.created"
            else event
            for event in events
        ]
    assert examine(numbered(events), CONTEXT)[name] is Holding.HOLDS


@pytest.mark.parametrize("name", CASES)
def test_an_invariant_breaks(reference: Connection, name: str) -> None:
    program, edit, _ = CASES[name]
    events = edit(traced(reference, program))
    if name == "calls-act-on-their-own-agent":
        number = at(events, "instance.created")
        events[number] = msgspec.structs.replace(events[number], agent="another")
    trace = numbered(events)
    assert examine(trace, CONTEXT)[name] is Holding.BROKEN
    mine = [each for each in judge(trace, CONTEXT) if each.invariant == name]
    assert mine
    assert all(each.rules == INVARIANTS[name].rules and each.sentence for each in mine)


@pytest.mark.parametrize("name", CASES)
def test_an_invariant_cannot_tell(reference: Connection, name: str) -> None:
    events = traced(reference, CASES[name][2])
    assert examine(numbered(events), CONTEXT)[name] is Holding.CANNOT_TELL


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_accused_on_the_reference(reference: Connection, program: str) -> None:
    trace = numbered(traced(reference, program))
    assert judge(trace, CONTEXT) == []
    assert Holding.BROKEN not in examine(trace, CONTEXT).values()


def test_an_invariant_of_bridges_says_nothing_of_pi(reference: Connection) -> None:
    events = CASES["user-bash-never-fires"][1](traced(reference, "two calls"))
    assert examine(numbered(events), Context("pi"))["user-bash-never-fires"] is Holding.CANNOT_TELL


def test_equal_ids_one_after_the_other_are_told_apart(reference: Connection) -> None:
    """What breaks in the second occurrence is found, and named as the second."""
    program: list[AnyOperation] = [package("alpha", "stow"), asks("stow"), asks("stow")]
    events = run_program(reference, program).trace.events
    number = max(n for n, e in enumerate(events) if e.kind == "handler.enter" and e["event"] == "tool_execution_end")
    del events[number]
    found = judge(numbered(events), CONTEXT)
    assert [each.invariant for each in found] == ["one-end-for-every-start"]
    assert "(occurrence 2)" in found[0].sentence


def test_an_end_that_is_only_late_is_no_breach_before_everything_settled(reference: Connection) -> None:
    program: list[AnyOperation] = [package("alpha", "stow"), asks("stow")]
    events = run_program(reference, program).trace.events
    cut = events[: at(events, "handler.enter", event="tool_execution_end")]
    assert "one-end-for-every-start" not in [each.invariant for each in judge(numbered(cut), Context("bridge", "root"))]


def test_nobody_owes_a_child_agents_call_its_start(reference: Connection) -> None:
    """Whether packages are told of it at all has no rule; every other call starts."""
    program: list[AnyOperation] = [package("alpha", "stow"), asks("stow")]
    events = run_program(reference, program).trace.events
    told = [event for event in events if event["event"] not in ("tool_execution_start", "tool_execution_end")]
    agents = frozenset(event.agent for event in events if event.agent)
    served = Context("bridge", "root", settled=True)
    helping = Context("bridge", "root", settled=True, child_agents=agents)
    assert "every-call-starts" in [each.invariant for each in judge(numbered(told), served)]
    assert "every-call-starts" not in [each.invariant for each in judge(numbered(told), helping)]
