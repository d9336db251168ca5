"""Small programs by what is special about them, and edits of the traces that they leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from conformance.drivers.protocol import (
    ApiCall,
    ModelAnswer,
    NativeAnswer,
    NativeSpec,
    Op,
    PolicySpec,
    Reply,
    Services,
    ToolCall,
    ToolSpec,
)
from conformance.peer import error, text_result
from conformance.programs.operations import (
    AddAgent,
    AddNative,
    AddPackage,
    AddPolicy,
    AddServices,
    AnyOperation,
    CallApi,
    Handler,
    Prompt,
    ReloadPackage,
    Tool,
    Turn,
    UnloadPackage,
)
from conformance.programs.pools.blocks import PICTURE, text
from conformance.programs.pools.tools import spec as tool_spec
from conformance.scripts import Behaviour, CallPi, Cancel, Match, NativeBehaviour, Say, Update
from conformance.trace import Event

OPEN = {"type": "object", "properties": {}}
EVENTS = ("tool_execution_start", "tool_call", "tool_execution_update", "tool_result", "tool_execution_end")


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


_ASSIGNS = Reply(ops=[Op(op="assign", path=["content"], value=[text("assigned")])])
LOOK = AddNative(native=NativeSpec(name="look", description="the native tool look"))
WATCH = AddPolicy(policy=PolicySpec(id="watch", answer="next"))
BLOCKS = replies(Reply(returns={"block": True, "reason": "not today"}))

FETCH = {"name": "fetch", "label": "fetch", "description": "the tool fetch", "parameters": OPEN}

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
    "a tool that asks for a number": [
        AddPackage(
            name="alpha",
            tools=[Tool(spec=tool_spec("stow", {"type": "object", "properties": {"n": {"type": "number"}}}, 0))],
        ),
        Prompt(
            turns=[Turn(messages=[ModelAnswer(calls=[ToolCall(id="1", name="stow", arguments='{"n":"7","s":"x"}')])])]
        ),
    ],
    "an empty text": [
        package("alpha", "stow"),
        Prompt(turns=[Turn(messages=[ModelAnswer(calls=[ToolCall(id="1", name="stow", arguments="")])])]),
    ],
    "a tool that writes into its input": [
        package(
            "alpha", "stow", body=Reply(returns=text_result("done"), ops=[Op(op="set", path=["s"], value="written")])
        ),
        asks("stow"),
    ],
    "a text changed in place": [
        package(
            "alpha",
            "stow",
            does={"tool_result": replies(Reply(ops=[Op(op="set", path=["content", 0, "text"], value="in place")]))},
        ),
        asks("stow"),
    ],
    "an error taken back": [
        package("alpha", "stow", does={"tool_result": replies(Reply(returns={"isError": True}))}),
        package("beta", does={"tool_result": replies(Reply(returns={"isError": False}))}),
        asks("stow"),
    ],
    "a result assigned": [
        package("alpha", "stow", does={"tool_result": replies(_ASSIGNS)}),
        asks("stow"),
    ],
    "a result assigned after an answer": [
        package("alpha", "stow", does={"tool_result": replies(Reply(returns={"content": [text("answered")]}))}),
        package("beta", does={"tool_result": replies(_ASSIGNS)}),
        asks("stow"),
    ],
    "a text that a tool throws": [package("alpha", "stow", body=Reply(throws="all is lost")), asks("stow")],
    "a blank guideline": [
        AddPackage(name="alpha", tools=[Tool(spec=tool_spec("stow", OPEN, 11))]),
        asks("stow"),
    ],
    "errors with pictures": [
        package(
            "alpha",
            "stow",
            does={"tool_result": replies(Reply(returns={"isError": True}))},
            body=Reply(returns={"content": [PICTURE]}),
        ),
        asks("stow", "stow"),
    ],
    "a list set twice": [
        LOOK,
        package("alpha", "look"),
        CallApi(package="alpha", call="setActiveTools", args=[[]]),
        CallApi(package="alpha", call="setActiveTools", args=[[]]),
    ],
    "a list of a package that fails": [
        LOOK,
        AddPackage(
            name="alpha",
            calls=[ApiCall(call="setActiveTools", args=[[]])],
            throws={"$": "error", "name": "Error", "message": "no loading"},
        ),
        asks("look"),
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
    "a cancel in a body": [busy(Behaviour(acts=[Cancel()], reply=Reply(returns=text_result("done")))), asks("stow")],
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
    "no json": [
        package("alpha", "stow"),
        Prompt(turns=[Turn(messages=[ModelAnswer(calls=[ToolCall(id="1", name="stow", arguments="not json")])])]),
    ],
    "a number too large": [
        package("alpha", "stow"),
        Prompt(turns=[Turn(messages=[ModelAnswer(calls=[ToolCall(id="1", name="stow", arguments='{"n":1e999}')])])]),
    ],
    "a changed input": [
        package(
            "alpha",
            "stow",
            does={"tool_call": replies(Reply(ops=[Op(op="set", path=["input", "s"], value="changed")]))},
        ),
        asks("stow"),
    ],
    "a function put into an input": [
        package(
            "alpha",
            "stow",
            does={"tool_call": replies(Reply(ops=[Op(op="set", path=["input", "s"], value={"$": "function"})]))},
        ),
        asks("stow"),
    ],
    "a thrown text": [
        package("alpha", "stow", does={"tool_call": replies(Reply(throws="words"))}),
        asks("stow"),
    ],
    "a returned isError": [busy(Behaviour(reply=Reply(returns=text_result("so so", isError=True)))), asks("stow")],
    "a tool registered between prompts": [
        package("alpha", "stow"),
        asks("stow"),
        CallApi(package="alpha", call="registerTool", args=[FETCH]),
        asks("fetch"),
    ],
    "a tool registered after a list": [
        package("alpha", "stow"),
        LOOK,
        asks("stow"),
        CallApi(package="alpha", call="setActiveTools", args=[["stow"]]),
        CallApi(package="alpha", call="registerTool", args=[FETCH]),
        asks("fetch"),
    ],
    "tools taken back": [
        package("alpha", "stow"),
        package("beta", "fetch"),
        LOOK,
        asks("stow"),
        *[CallApi(package="alpha", call="unregisterTool", args=[name]) for name in ("stow", "fetch", "look", "ghost")],
    ],
    "a removed package": [
        package("alpha", "stow"),
        package("beta", "fetch"),
        asks("stow"),
        UnloadPackage(package="alpha"),
        asks("fetch"),
    ],
    "a watched picture": [
        busy(Behaviour(reply=Reply(returns={"content": [{"type": "text", "text": "seen"}, PICTURE]}))),
        asks("stow"),
    ],
    "two tellers of each event": [
        busy(Behaviour(acts=[Update(update=text_result("part"))])),
        package("beta"),
        asks("stow"),
    ],
    "a truthy block": [
        package("alpha", "stow", does={"tool_call": replies(Reply(returns={"block": 1, "reason": "no"}))}),
        asks("stow"),
    ],
    "a tool taken back twice": [
        package("alpha", "stow"),
        asks("stow"),
        *[CallApi(package="alpha", call="unregisterTool", args=[name]) for name in ("stow", "stow", 7)],
    ],
    "a package that fails to load": [
        AddPackage(
            name="alpha",
            tools=[Tool(spec=tool_spec("stow", OPEN, 0))],
            handlers=[Handler(event="tool_call")],
            throws=error("no loading"),
        ),
        package("beta", "fetch"),
        asks("fetch"),
    ],
    "a tool with a snippet": [
        AddPackage(name="alpha", tools=[Tool(spec=tool_spec("stow", OPEN, 1))]),
        asks("stow"),
        CallApi(package="alpha", call="unregisterTool", args=["stow"]),
        asks("stow"),
    ],
    "a tool that cannot be prepared": [
        AddPackage(
            name="alpha",
            tools=[
                Tool(
                    spec=ToolSpec(
                        name="stow",
                        label="stow",
                        description="the tool stow",
                        parameters=OPEN,
                        prepare=Reply(throws=error("cannot be prepared")),
                    )
                )
            ],
        ),
        asks("stow"),
    ],
    "a result of nothing": [
        AddPackage(
            name="alpha",
            tools=[
                Tool(
                    spec=tool_spec("stow", OPEN, 0),
                    does=[Behaviour(reply=Reply(returns={"content": [], "details": {}}))],
                )
            ],
        ),
        asks("stow"),
    ],
    "a vain recovery": [
        package(
            "alpha",
            "stow",
            body=Reply(throws=error("the body broke")),
            does={"tool_result": replies(Reply(returns={"isError": False}))},
        ),
        asks("stow"),
    ],
    "an emptied result": [
        package("alpha", "stow", does={"tool_result": replies(Reply(returns={"content": []}))}),
        asks("stow"),
    ],
    "a patched failure": [
        package(
            "alpha",
            "stow",
            body=Reply(throws=error("the body broke")),
            does={"tool_result": replies(Reply(returns={"content": [{"type": "text", "text": "patched"}]}))},
        ),
        asks("stow"),
    ],
    "two watchers of which one throws": [
        package(
            "alpha",
            "stow",
            does={event: replies(Reply(throws=error("the watcher broke"))) for event in EVENTS if event != "tool_call"},
        ),
        package("beta"),
        asks("stow"),
    ],
    "a native's input set to the same": [
        package("alpha", does={"tool_call": replies(Reply(ops=[Op(op="set", path=["input", "s"], value="x")]))}),
        LOOK,
        asks("look"),
    ],
    "a tool that nobody judges": [
        AddPackage(name="alpha", tools=[Tool(spec=tool_spec("stow", OPEN, 0))]),
        asks("stow"),
    ],
    "a block with content": [
        package(
            "alpha",
            "stow",
            does={
                "tool_call": replies(
                    Reply(
                        returns={
                            "block": True,
                            "reason": "not today",
                            "content": [{"type": "text", "text": "beside the block"}],
                        }
                    )
                )
            },
        ),
        asks("stow"),
    ],
    "a tool registered again without a snippet": [
        AddPackage(name="alpha", tools=[Tool(spec=tool_spec("stow", OPEN, 1))]),
        asks("stow"),
        CallApi(package="alpha", call="registerTool", args=[{**FETCH, "name": "stow"}]),
        asks("stow"),
    ],
    "a name that two packages describe": [
        package("alpha", "stow"),
        AddPackage(name="beta", tools=[Tool(spec=tool_spec("stow", OPEN, 3))]),
        asks("stow"),
    ],
    "a call that does not pass": [
        AddPackage(
            name="alpha",
            tools=[Tool(spec=tool_spec("stow", {**OPEN, "required": ["n"]}, 0))],
            handlers=[Handler(event=event) for event in EVENTS],
        ),
        asks("stow"),
    ],
    "a reloaded package": [
        package("alpha", "stow"),
        package("beta", "fetch"),
        Prompt(),
        ReloadPackage(package="alpha"),
        asks("stow"),
    ],
    "a list and a package that goes": [
        package("alpha", "stow"),
        package("beta", "fetch"),
        LOOK,
        asks("stow"),
        CallApi(package="alpha", call="setActiveTools", args=[["stow"]]),
        UnloadPackage(package="beta"),
        asks("look"),
    ],
    "a native's input changed": [
        package("alpha", does={"tool_call": replies(Reply(ops=[Op(op="set", path=["input", "s"], value="y")]))}),
        LOOK,
        asks("look"),
    ],
    "another package's input changed": [
        package("alpha", does={"tool_call": replies(Reply(ops=[Op(op="set", path=["input", "s"], value="y")]))}),
        package("beta", "stow"),
        asks("stow"),
    ],
    "lists of two packages": [
        package("alpha", "stow"),
        package("beta", "fetch"),
        LOOK,
        asks("stow"),
        CallApi(package="alpha", call="setActiveTools", args=[["stow"]]),
        CallApi(package="beta", call="setActiveTools", args=[["look"]]),
        asks("look"),
    ],
    "a list and a later agent": [
        package(
            "alpha", "stow", does={"tool_call": [Behaviour(acts=[CallPi(call="setActiveTools", args=[["stow"]])])]}
        ),
        LOOK,
        asks("stow"),
        AddAgent(agent="other"),
        Prompt(turns=[Turn(agent="other")]),
    ],
    "a question that the user answers": [
        AddServices(services=Services(approval="allowed-once")),
        AddPackage(name="alpha", tools=[Tool(spec=tool_spec("stow", OPEN, 0))]),
        AddPolicy(policy=PolicySpec(id="may it", answer="ask", reason="may it?")),
        asks("stow"),
    ],
    "a listener of the host that throws": [
        package("alpha", "stow"),
        AddPolicy(policy=PolicySpec(id="breaks", answer="throw", reason="it broke")),
        asks("stow"),
    ],
    "a block without a reason after another": [
        package(
            "alpha",
            "stow",
            does={
                "tool_call": [
                    *replies(Reply(returns={"block": True, "reason": "never on mondays"})),
                    *replies(Reply(returns={"block": True}), call="2"),
                ]
            },
        ),
        asks("stow", "stow"),
    ],
    "a picture that is left out": [
        package(
            "alpha",
            "stow",
            does={"tool_result": replies(Reply(returns={"content": [{"type": "text", "text": "none"}]}))},
            body=Reply(returns={"content": [PICTURE]}),
        ),
        asks("stow"),
    ],
    "a native's picture": [
        package("alpha"),
        AddNative(
            native=NativeSpec(name="look", description="the native tool look"),
            does=[NativeBehaviour(answer=NativeAnswer(content=[PICTURE]))],
        ),
        asks("look"),
    ],
    "a list beside the host's transport": [
        package("alpha", "stow"),
        LOOK,
        AddNative(native=NativeSpec(name="run_code", reserved=True)),
        AddNative(native=NativeSpec(name="own_probe", description="of one agent", agent="main")),
        asks("stow"),
        CallApi(package="alpha", call="setActiveTools", args=[["stow", "run_code"]]),
        asks("stow"),
    ],
    "nobody asks": [package("alpha", "stow")],
    "a text beside a picture": [
        package("alpha", "stow", body=Reply(returns={"content": [PICTURE, text("beside")], "details": {"k": 1}})),
        asks("stow"),
    ],
    "arguments that are a list": [
        package("alpha", "stow"),
        Prompt(turns=[Turn(messages=[ModelAnswer(calls=[ToolCall(id="1", name="stow", arguments='["x"]')])])]),
    ],
    "a native's name given up": [
        LOOK,
        package("alpha", "look"),
        asks("look"),
        CallApi(package="alpha", call="unregisterTool", args=["look"]),
        asks("look"),
    ],
    "a package that is asked before a prompt": [
        AddPackage(name="alpha", handlers=[Handler(event="before_agent_start")]),
        LOOK,
        asks("look"),
    ],
    "a question": [
        package("alpha", "stow"),
        AddPolicy(policy=PolicySpec(id="may it", answer="ask", reason="may it?")),
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


def by_another(kind: str, **wanted: Any) -> Edit:
    """Let what happened to an agent have happened to another one."""

    def edit(events: list[Event]) -> list[Event]:
        number = at(events, kind, **wanted)
        return [*events[:number], msgspec.structs.replace(events[number], agent="other"), *events[number + 1 :]]

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


def reported_again(events: list[Event]) -> list[Event]:
    """Give the first notice once more, while the second list is set."""
    notice = events[at(events, "notice")]
    second = [number for number, event in enumerate(events) if event["call"] == "setActiveTools"][2]
    return [*events[: second + 1], notice, *events[second + 1 :]]


def untold(events: list[Event]) -> list[Event]:
    """Take every notice away."""
    return [event for event in events if event.kind != "notice"]


def unanswered(events: list[Event]) -> list[Event]:
    """Take away every request but the first."""
    return [event for event in events if not event.kind.startswith("model.") or event["request"] == 1]


def shown(event: str, **wanted: Any) -> Edit:
    """Tell the first handler of an event of another tool."""
    return told("handler.enter", {"payload": {"type": event, "toolName": "other"}}, event=event, **wanted)


def lacks(kind: str, name: str, **wanted: Any) -> Edit:
    """Take a tool out of a request's catalogue."""

    def edit(events: list[Event]) -> list[Event]:
        number = at(events, kind, **wanted)
        tools = [row for row in events[number]["tools"] if row["name"] != name]
        return told(kind, {"tools": tools}, **wanted)(events)

    return edit


def answered(name: Any, call: str, outcome: dict[str, Any], nth: int = 1) -> Edit:
    """Answer the API call about a name, the first or a later one, otherwise."""

    def edit(events: list[Event]) -> list[Event]:
        def about(event: Event) -> Any:
            first = (event["args"] or [None])[0]
            return first.get("name") if isinstance(first, dict) else first

        asked = [e["api"] for e in events if e.kind == "api.call" and e["call"] == call and about(e) == name]
        return told("api.return", {"outcome": outcome}, api=asked[nth - 1])(events)

    return edit


def unheard(event: str) -> Edit:
    """Let a handler of the second package hear nothing of an event."""
    return without("handler.enter", event=event, package="beta")


def overtaken(event: str) -> Edit:
    """Let the second package hear of an event before the first."""
    return moved("handler.enter", "handler.enter", {"event": event}, event=event, package="beta")


def runs(call_id: str) -> Edit:
    """Let a body run for a call, once the model has asked for it."""

    def edit(events: list[Event]) -> list[Event]:
        model = events[at(events, "log.assistant")]
        body = {"invocation": "new", "instance": "", "package": "alpha", "tool": "stow", "params": {}, "reply": {}}
        made = msgspec.structs.replace(model, kind="tool.enter", call_id=call_id, data=body)
        place = at(events, "log.assistant") + 1
        return [*events[:place], made, *events[place:]]

    return edit
