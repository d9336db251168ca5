"""Draws one program: operations and what they are made of, each with what the ones before it left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from conformance.drivers.protocol import ApiCall, ModelAnswer, NativeSpec, PolicySpec, Reply, Services, ToolSpec
from conformance.plan import MAIN
from conformance.programs.makers import Maker
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
from conformance.programs.pools import calls, names, tools
from conformance.programs.schemas import Composed, composed
from conformance.scripts import (
    AnyAct,
    Behaviour,
    CallCtx,
    CallPi,
    Cancel,
    EndAgent,
    Match,
    NativeBehaviour,
    RegisterNative,
    Say,
    SetPolicy,
    Timed,
    Unload,
    UnregisterNative,
    Update,
)

Draw = Callable[[Sequence[Any]], Any]
"""Picks one of at most 256 options, each as often as it is among them."""

MOST = 12
"""The longest program."""
_KIND = range(20)
_MORE = range(4)
_SELDOM = range(8)
_ANY_OWN = ("stow", "stow", "stow", "fetch", "look")
_OF_AGENTS = ("other", "other", "helper")
_AFTERWARDS = ("nothing", "nothing", "nothing", "list", "list", "list", "act", "act")
_CROWD = (11, 12)
_ODD_ONE = (None, 0, -1, -1)
"""Which call of a crowd is unlike the others."""
_DESCRIBED = (*["the native tool {}"] * 12, "", *["{}, of the host"] * 3)
_GOES_ON = range(4)
_LISTINGS = ("getActiveTools", "getActiveTools", "getAllTools")
_FINISH = calls.FINISHES
_APPROVAL = ("allowed-once", "allowed-once", "rejected", "none")
_WHEN = ("body", "tool_call", "request", "tool_result", "tool_execution_start", "tool_execution_end")
_BOOL = (False, True)
_NTH = (1, 1, 2, 3)
_LATER = (2, 2, 3, 4)
ALL_EVENTS = ("tool_execution_start", "tool_call", "tool_execution_update", "tool_result", "tool_execution_end")


class Drawing:
    """One program while it is drawn."""

    def __init__(self, draw: Draw, maker: Maker) -> None:
        self.draw = draw
        self.maker = maker
        self.theme = maker.theme
        self.calls = 0
        self.packages = 0
        self.schemas: dict[str, int | Composed] = {}
        """Which schema the tool of a name was last registered with."""
        self.agents = [MAIN]
        self.ended: list[str] = []
        self.removed: list[str] = []
        self.scoped = False
        """Whether a native tool is in the one agent's own scope: then there are no others."""
        self.late = 0
        self.then = ""
        """The kind of the next operation, where one calls for another."""
        self.alike: Sequence[str] = draw(self.theme.alike)
        self.ids: Sequence[str] | None = draw(self.theme.ids) if draw(self.theme.restarts) else None
        self.opened = False

    def make(self) -> list[AnyOperation]:
        """Draw a package, some operations, and a prompt if there was none since the last change."""
        draw = self.draw
        operations: list[AnyOperation] = [self.package()]
        if "attachments-optional" in self.maker.capabilities and draw(self.theme.served):
            operations.append(self.services())
        if "native-tools" in self.maker.capabilities and draw(_MORE):
            operations.append(self.native("look"))
        while len(operations) < MOST - 1 and draw(_GOES_ON):
            kind, self.then = self.then or draw(self.maker.later if self.opened else self.maker.first), ""
            if kind == "agent" and self.scoped:
                kind = "prompt"
            self.opened = self.opened or kind in ("prompt", "pi")
            operations.append(getattr(self, kind.replace("-", "_"))())
        if not isinstance(operations[-1], Prompt):
            operations.append(self.prompt())
        return operations

    def seldom(self) -> bool:
        """Draw true once in eight."""
        return bool(self.draw(_SELDOM) == 7)

    # --- operations ---------------------------------------------------------------------------------------------------

    def package(self) -> AddPackage:
        draw = self.draw
        name = names.PACKAGES[min(self.packages, len(names.PACKAGES) - 1)]
        self.packages += 1
        first = names.OWN[min(self.packages, len(names.OWN)) - 1]
        kind = 0 if self.packages == 1 else draw(_SELDOM)
        tools = [Tool(spec=self.tool(first if kind < 5 else None), does=self.bodies())] if kind < 7 else []
        while kind < 7 and len(tools) < 3 and draw(self.theme.more_tools):
            tools.append(Tool(spec=self.tool(), does=self.bodies()))
        if draw(self.theme.hears_all):
            handlers = [self.handler(event) for event in ALL_EVENTS]
            if draw(_MORE) == 3:
                handlers.append(self.handler(draw(self.theme.events)))
        else:
            handlers = []
            while len(handlers) < 4 and draw(_MORE):
                handlers.append(self.handler(draw(self.theme.events)))
        calls: list[ApiCall] = []
        while len(calls) < 2 and draw(self.theme.load_calls):
            calls.append(self.load_call())
        throws = {"$": "error", "name": "Error", "message": "no loading"} if draw(self.theme.fails) else None
        more = {} if throws is None else {"throws": throws}
        return AddPackage(name=name, tools=tools, handlers=handlers, calls=calls, **more)

    def native(self, name: str | None = None) -> AddNative:
        draw = self.draw
        name = name or draw(self.theme.natives)
        does = (
            [NativeBehaviour(acts=self.acts(self.some()), answer=draw(self.theme.native_bodies))] if draw(_BOOL) else []
        )
        parallel = "parallel-natives" in self.maker.capabilities and self.seldom()
        described = draw(_DESCRIBED).format(name)
        spec = NativeSpec(name=name, description=described, parallel=parallel)
        if draw(_MORE) == 3:
            spec = msgspec.structs.replace(spec, parameters=tools.NATIVE_SCHEMA)
        return AddNative(native=self.placed(spec), does=does)

    def placed(self, spec: NativeSpec) -> NativeSpec:
        """Draw whether a native tool is the host's transport, or in an agent's own scope; mostly it is neither."""
        if not self.draw(self.theme.places) or spec.name == "look":
            return spec
        if not self.opened and self.draw(_BOOL) and "reserved-natives" in self.maker.capabilities:
            return NativeSpec(name="run_code", reserved=True)
        if self.agents == [MAIN] and "scoped-natives" in self.maker.capabilities:
            self.scoped = True
            return msgspec.structs.replace(spec, name="own_probe", agent=MAIN)
        return spec

    def drop_native(self) -> DropNative:
        return DropNative(name=self.draw(self.theme.natives))

    def policy(self) -> AddPolicy:
        return AddPolicy(policy=self.policy_spec())

    def policy_spec(self) -> PolicySpec:
        draw = self.draw
        answer = draw(self.theme.answers)
        if answer == "ask" and "host-ask" not in self.maker.capabilities:
            answer = "deny"
        after = draw(_BOOL) and answer not in ("guard", "guard-throw")
        return PolicySpec(
            id="second" if self.seldom() else "first",
            place="after" if after else "before",
            tools=None if self.seldom() else [draw(self.theme.called)],
            answer=answer,
            reason=None if answer in ("next", "allow") or self.seldom() else "the policy says so",
        )

    def agent(self) -> AddAgent:
        kind = self.draw(_OF_AGENTS)
        if self.ended and "resume" in self.maker.capabilities and "heir" not in self.agents and self.draw(_BOOL):
            self.agents.append("heir")
            return AddAgent(agent="heir", resumes=self.ended[-1])
        if kind == "helper" and "child-agents" in self.maker.capabilities and "helper" not in self.agents:
            parent = self.whose()
            self.opened = True
            self.agents.append("helper")
            return AddAgent(agent="helper", parent=parent)
        if "other" not in self.agents:
            self.agents.append("other")
        return AddAgent(agent="other")

    def drop_agent(self) -> DropAgent:
        agent = self.whose()
        if len(self.agents) > 1:
            self.agents.remove(agent)
            self.ended.append(agent)
            if self.draw(_BOOL) and not self.scoped and "multiple-agents" in self.maker.capabilities:
                self.then = "agent"
        return DropAgent(agent=agent)

    def pi(self) -> CallApi:
        call, args = self.api(self.draw(self.maker.call))
        return CallApi(package=self.some(), call=call, args=args, agent=self.whose())

    def prompt(self) -> Prompt:
        draw = self.draw
        turns = [self.turn(self.whose())]
        if len(self.agents) > 1 and draw(_BOOL):
            turns.append(self.turn(draw([agent for agent in self.agents if agent != turns[0].agent])))
        meanwhile = [self.timed(turns)] if draw(_MORE) == 3 else []
        return Prompt(turns=turns, meanwhile=meanwhile)

    def say(self) -> Tell:
        how: Any = "follow_up" if self.draw(_BOOL) and "follow-up" in self.maker.capabilities else "steer"
        return Tell(how=how, agent=self.whose(), messages=[self.message()])

    def cancel(self) -> CancelTurn:
        return CancelTurn(agent=self.whose())

    def unload(self) -> UnloadPackage:
        package = self.some()
        self.removed.append(package)
        if self.draw(_BOOL) and "late-load" in self.maker.capabilities:
            self.then = "load_again"
        return UnloadPackage(package=package)

    def load_again(self) -> LoadAgain | UnloadPackage:
        return LoadAgain(package=self.removed.pop()) if self.removed else self.unload()

    def reload(self) -> ReloadPackage:
        return ReloadPackage(package=self.some())

    def services(self) -> AddServices:
        draw = self.draw
        approval: Any = draw(_APPROVAL) if "host-ask" in self.maker.capabilities else "none"
        return AddServices(services=Services(attachments=draw(_BOOL), approval=approval))

    # --- what they are made of ----------------------------------------------------------------------------------------

    def whose(self) -> str:
        """Draw an agent."""
        return str(self.draw(self.agents)) if len(self.agents) > 1 else self.agents[0]

    def some(self) -> str:
        """Draw the name of a package, one that was loaded."""
        loaded = names.PACKAGES[: self.packages]
        return str(self.draw(loaded)) if len(loaded) > 1 else loaded[0]

    def turn(self, agent: str) -> Turn:
        messages = [self.message()]
        while len(messages) < 3 and self.draw(self.theme.more_messages):
            messages.append(self.message())
        return Turn(agent=agent, messages=messages)

    def message(self) -> ModelAnswer:
        draw = self.draw
        made = [self.one_call(1)]
        if draw(self.theme.crowds):
            id, name, arguments = made[0]
            crowd = [(f"{id}.{number}", name, arguments) for number in range(draw(_CROWD))]
            odd = draw(_ODD_ONE)
            if odd is not None:
                crowd[odd] = (crowd[odd][0], *self.one_call(1)[1:])
            return calls.message(crowd)
        while len(made) < 5 and draw(self.theme.more_calls):
            made.append(self.one_call(len(made) + 1))
        return calls.message(made, draw(_FINISH))

    def one_call(self, place: int) -> tuple[str, str, str]:
        """Draw a call, the ``place``-th of its message."""
        self.calls += 1
        name = self.draw((*self.alike, "look") if self.alike else self.theme.called)
        return self.id(place), name, self.arguments(name)

    def id(self, place: int) -> str:
        if self.ids is not None:
            return self.ids[place - 1]
        kind = self.draw(_KIND)
        odd = {17: names.ODD_ID, 18: names.LONG_ID}
        return "1" if kind == 19 else f"{odd.get(kind, '')}{self.calls}"

    def arguments(self, name: str) -> str:
        schema = self.schemas.get(name, 0)
        if isinstance(schema, Composed):
            return schema.arguments(self.draw)
        telling = calls.TELLING.get(schema, ())
        return str(
            calls.ARGUMENTS[self.draw(telling)]
            if telling and self.draw(self.theme.fits)
            else self.draw(self.theme.arguments)
        )

    def tool(self, name: str | None = None) -> ToolSpec:
        draw = self.draw
        name = name or draw(self.alike or self.theme.own)
        if draw(self.theme.composes):
            before = self.schemas.get(name)
            made = composed(draw, before if isinstance(before, Composed) else None)
            self.schemas[name] = made
            return tools.spec(name, made.schema, draw(self.theme.tool_kinds))
        schema = self.schemas[name] = draw(self.theme.schemas)
        return tools.spec(name, tools.SCHEMAS[schema], draw(self.theme.tool_kinds))

    def bodies(self) -> list[Behaviour]:
        draw = self.draw
        if draw(self.theme.plain_bodies):
            return []
        acts = self.acts()
        first = not acts or draw(_BOOL)
        while len(acts) < 3 and draw(self.theme.more_updates):
            acts.insert(len(acts) if first else 0, Update(update=draw(self.theme.updates)))
            first = draw(_BOOL)
        if acts and isinstance(acts[-1], Update) and draw(self.theme.crowds):
            acts += acts[-1:] * 17
        usual = Behaviour(acts=acts, reply=draw(self.theme.bodies))
        return [usual, *self.second(self.theme.bodies)]

    def second(self, replies: Sequence[Reply]) -> list[Behaviour]:
        """Draw what is done at one of the next calls: mostly the same.

        Which call that is does not depend on how often a handler is asked: that is not everywhere the same.
        """
        if not self.draw(self.theme.second_replies):
            return []
        later = self.draw(_LATER)
        call = self.ids[later - 1] if self.ids is not None else str(self.calls + later)
        return [Behaviour(match=Match(call=call), reply=self.draw(replies))]

    def handler(self, event: str) -> Handler:
        """Draw a handler. Each of a package that listens to everything mostly just watches."""
        draw = self.draw
        if draw(self.theme.plain_handlers):
            return Handler(event=event)
        reply = draw(self.theme.replies[event])
        if draw(_KIND) == 19 and reply.delay_ms == 0 and not any(op.at != "enter" for op in reply.ops):
            return Handler(event=event, sync=reply)
        match = {"match": Match(tool=draw(self.theme.called))} if draw(self.theme.narrow_handlers) else {}
        if event not in ALL_EVENTS:
            # What is said before every turn makes another turn, without end.
            call, args = self.api(draw(self.maker.call))
            return Handler(event=event, does=[Behaviour(acts=[CallPi(call=call, args=args)], reply=reply)])
        first = Behaviour(acts=self.acts(), reply=reply, **match)
        return Handler(event=event, does=[first, *([] if match else self.second(self.theme.replies[event]))])

    def acts(self, package: str | None = None) -> list[AnyAct]:
        """Draw what is done meanwhile: mostly nothing, at most two things."""
        if not self.draw(self.theme.acts):
            return []
        acts = [self.act(package)]
        then = self.draw(_AFTERWARDS)
        if then == "act":
            acts.append(self.act(package))
        elif then == "list":
            # What a change did is told by the lists, at once.
            acts.append(CallPi(call=self.draw(_LISTINGS), package=package))
        return acts

    def timed(self, turns: Sequence[Turn]) -> Timed:
        draw = self.draw
        busy = {turn.agent for turn in turns}
        # Who is at work would wait for itself, and so would the agent that it works for.
        idle = [agent for agent in self.agents if agent not in busy] if "helper" not in busy else []
        if idle and "agent-dispose" in self.maker.capabilities and draw(self.theme.ends):
            return Timed(when=draw(_WHEN), acts=[EndAgent(agent=draw(idle))])
        when = draw(_WHEN)
        # What a package does with its context it does where its own code runs.
        act = self.act(self.some() if when in ("request", "body") or draw(_BOOL) else None)
        if when == "request":
            return Timed(when=when, acts=[act], nth=2 if draw(_BOOL) else 1)
        return Timed(when=when, acts=[act], nth=draw(_NTH))

    def act(self, package: str | None = None) -> AnyAct:
        draw = self.draw
        kind = draw(self.maker.act)
        if kind == "cancel":
            return Cancel()
        if kind in ("steer", "follow_up"):
            return Say(how=kind, text="and more")
        if kind == "policy":
            return SetPolicy(policy=self.policy_spec())
        if kind == "native":
            return RegisterNative(native=NativeSpec(name=draw(self.theme.natives), description="a late native"))
        if kind == "drop-native":
            return UnregisterNative(name=draw(self.theme.natives))
        if kind == "unload":
            return Unload(package=self.some())
        if kind == "abort":
            if package is None:
                return CallCtx(call="abort")
            kind = "getActiveTools"
        call, args = self.api(kind)
        return CallPi(call=call, args=args, package=package)

    def load_call(self) -> ApiCall:
        call, args = self.api(self.draw(self.maker.call))
        return ApiCall(call=call, args=args)

    def api(self, call: str) -> tuple[str, list[Any]]:
        """Draw the arguments of a method."""
        draw = self.draw
        if call == "setActiveTools":
            if self.alike and draw(_BOOL):
                return call, [[draw(self.alike), "look"]]
            return call, [draw(self.theme.lists)]
        if call == "registerTool":
            return call, [msgspec.to_builtins(self.tool(draw(_ANY_OWN)))]
        if call == "unregisterTool":
            return call, [draw(self.alike or self.theme.taken)]
        return call, [self.late_handler()] if call == "on" else []

    def late_handler(self) -> dict[str, Any]:
        """Draw a handler that is added at work: one that listens, or always replies the same."""
        draw = self.draw
        self.late += 1
        event = draw(self.theme.events)
        spec = {"id": f"late {self.late}", "event": event}
        reply = draw(self.theme.replies[event]) if draw(_BOOL) else None
        if event != "tool_call" and self.seldom():
            return spec | {"callable": False}  # As a judge it would block every call.
        if reply is None or reply.delay_ms or any(op.at != "enter" for op in reply.ops):
            return spec
        return spec | {"sync": msgspec.to_builtins(reply)}
