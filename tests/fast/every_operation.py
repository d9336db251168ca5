"""One program in which every kind of operation is: what the writer of scenarios must be able to say."""

from __future__ import annotations

from conformance.drivers.protocol import (
    ApiCall,
    ModelAnswer,
    NativeSpec,
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
    CancelTurn,
    DropAgent,
    DropNative,
    Handler,
    LoadAgain,
    Prompt,
    ReloadPackage,
    Tell,
    Tool,
    Turn,
    UnloadPackage,
)
from conformance.scripts import Behaviour, CallPi, Cancel, Match, NativeBehaviour, Timed, Update

OBJECT = {"type": "object", "properties": {"s": {"type": "string"}}}


def tool(name: str, tag: str = "") -> ToolSpec:
    """Return a registration of a tool that takes a text."""
    return ToolSpec(name=name, label=name, description=f"the tool {name}", parameters=OBJECT, tag=tag)


def says(*calls: tuple[str, str, str]) -> ModelAnswer:
    """Return an assistant message of calls (id, tool, arguments)."""
    return ModelAnswer(calls=[ToolCall(id=id, name=name, arguments=text) for id, name, text in calls])


EVERY_OPERATION: list[AnyOperation] = [
    AddServices(services=Services(attachments=False, approval="rejected")),
    AddPackage(
        name="alpha",
        tools=[
            Tool(spec=tool("stow"), does=[Behaviour(acts=[Update(update=text_result("part"))])]),
            Tool(spec=tool("stow", "second"), does=[Behaviour(reply=Reply(returns=text_result("stowed")))]),
        ],
        handlers=[
            Handler(
                event="tool_call", does=[Behaviour(match=Match(tool="look"), reply=Reply(returns={"block": False}))]
            ),
            Handler(event="tool_call"),
            Handler(event="tool_result", sync=Reply(returns={"isError": True})),
            Handler(event="tool_result", does=[Behaviour(), Behaviour(match=Match(tool="stow"))]),
            Handler(event="tool_execution_end"),
        ],
        calls=[ApiCall(call="getActiveTools")],
    ),
    AddPackage(name="beta", throws=error("no loading")),
    AddNative(native=NativeSpec(name="look", description="looks", parallel=True), does=[NativeBehaviour()]),
    AddNative(native=NativeSpec(name="probe", description="the native tool probe")),
    AddPolicy(policy=PolicySpec(id="first", tools=["probe"], answer="deny", reason="the policy says so")),
    AddAgent(agent="other"),
    Prompt(turns=[Turn(messages=[says(("1", "look", "{}")), says(("2", "stow", '{"s":"a|b\\\\n"}'), ("3", "x", ""))])]),
    AddPolicy(policy=PolicySpec(id="first", answer="next")),
    Prompt(
        turns=[Turn(messages=[says(("4", "look", "{}"))]), Turn(agent="other", messages=[says(("5", "look", "{}"))])],
        meanwhile=[Timed(when="body", acts=[CallPi(call="getActiveTools", package="alpha")], call="5")],
    ),
    Prompt(turns=[Turn(agent="other")]),
    CallApi(package="alpha", call="setActiveTools", args=[["stow", "look"]]),
    CallApi(package="alpha", call="getActiveTools", agent="other"),
    AddNative(native=NativeSpec(name="late", description="late")),
    DropNative(name="late"),
    AddPackage(name="gamma", handlers=[Handler(event="tool_call")]),
    Tell(how="steer", agent="other", messages=[says(("6", "look", "{}"))]),
    Prompt(turns=[Turn(messages=[says(("7", "look", "{}"))])], meanwhile=[Timed(when="tool_call", acts=[Cancel()])]),
    CancelTurn(),
    ReloadPackage(package="alpha"),
    UnloadPackage(package="gamma"),
    LoadAgain(package="gamma"),
    AddAgent(agent="third"),
    AddAgent(agent="helper", parent="third"),
    DropAgent(agent="other"),
    AddAgent(agent="heir", resumes="other"),
]
