"""A Hypothesis strategy of programs: 1 to 12 operations, about 5 on average, small names and odd values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any

import msgspec
from hypothesis import strategies as st

from conformance.drivers.protocol import ApiCall, ModelAnswer, NativeSpec, PolicySpec, Reply, Services, ToolSpec
from conformance.plan import MAIN
from conformance.programs import pools
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
    Prompt,
    ReloadPackage,
    Tell,
    Tool,
    Turn,
    UnloadPackage,
)
from conformance.programs.themes import DRAWN, THEMES, Theme
from conformance.scripts import (
    AnyAct,
    Behaviour,
    CallPi,
    Cancel,
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
_Makers = Mapping[str, "_Maker"]

MOST = 12
"""The longest program."""
EVERYTHING = frozenset(
    [
        "native-tools",
        "parallel-natives",
        "late-natives",
        "multiple-agents",
        "agent-dispose",
        "unregister-tool",
        "late-load",
        "unload",
        "reload",
        "steer",
        "follow-up",
        "cancel",
        "host-policy",
        "host-ask",
        "attachments-optional",
    ]
)
"""The capabilities that programs make use of."""


_KIND = range(20)
_MORE = range(4)
_SELDOM = range(8)
_ANY_OWN = ("stow", "stow", "stow", "fetch", "look")
_NATIVE = ("probe", "probe", "look", "look", "stow")
_GOES_ON = range(4)
_LISTINGS = ("getActiveTools", "getActiveTools", "getAllTools")
_FINISH = pools.FINISHES
_APPROVAL = ("allowed-once", "allowed-once", "rejected", "none")
_WHEN = ("body", "tool_call", "request", "tool_result", "tool_execution_start", "tool_execution_end")
_BOOL = (False, True)
_NTH = (1, 1, 2, 3)
_LATER = (2, 2, 3, 4)
ALL_EVENTS = ("tool_execution_start", "tool_call", "tool_execution_update", "tool_result", "tool_execution_end")


def programs(capabilities: Collection[str] = EVERYTHING) -> st.SearchStrategy[list[AnyOperation]]:
    """Return a strategy of programs that ask only for these capabilities of whoever runs them."""
    return _programs(_makers(frozenset(capabilities)))


_BYTES = st.binary(min_size=64, max_size=64)


@st.composite
def _programs(draw: Callable[[st.SearchStrategy[bytes]], bytes], makers: _Makers) -> list[AnyOperation]:
    """Pick by bytes that Hypothesis draws many at a time: a draw for each pick was dearer than carrying it all out.

    A smaller byte picks something further to the front.
    """
    picks = (byte for _ in count() for byte in draw(_BYTES))
    return _program(lambda options: options[next(picks) * len(options) >> 8], makers)


def random_programs(examples: int, number: int, capabilities: Collection[str] = EVERYTHING) -> list[list[AnyOperation]]:
    """Return so many programs of plain random numbers, the same ones for the same ``number``.

    Unlike what Hypothesis generates no program is a neighbour of the one before it, so that few of them reach much.
    """
    random, makers = Random(number), _makers(frozenset(capabilities))
    return [_program(random.choice, makers) for _ in range(examples)]


def _program(draw: Draw, makers: _Makers) -> list[AnyOperation]:
    return _Program(draw, makers[draw(DRAWN)]).make()


def _makers(capabilities: frozenset[str]) -> _Makers:
    return {name: _Maker(capabilities, theme) for name, theme in THEMES.items()}


class _Maker:
    """Which operations and acts there are for some capabilities: as often in the list as they are to be drawn."""

    def __init__(self, capabilities: frozenset[str], theme: Theme) -> None:
        def weighed(*rows: tuple[str, int, str]) -> Sequence[str]:
            return [
                name
                for name, weight, need in rows
                if need in ("", *capabilities)
                for _ in range(weight * theme.more.get(name, 1))
            ]

        self.theme = theme
        self.capabilities = capabilities
        self.first = weighed(
            ("native", 2, "native-tools"),
            ("package", 5, ""),
            ("prompt", 5, ""),
            ("pi", 5, ""),
            ("policy", 3, "host-policy"),
            ("agent", 3, "multiple-agents"),
            ("services", 3, "attachments-optional"),
        )
        """Operations before the stage has opened; :attr:`later` after that."""
        self.later = weighed(
            ("native", 3, "late-natives"),
            ("package", 3, "late-load"),
            ("prompt", 9, ""),
            ("pi", 9, ""),
            ("policy", 4, "host-policy"),
            ("agent", 2, "multiple-agents"),
            ("unload", 1, "unload"),
            ("reload", 1, "reload"),
            ("drop-native", 1, "late-natives"),
            ("drop-agent", 1, "agent-dispose"),
            ("say", 1, "steer"),
            ("cancel", 1, "cancel"),
        )
        self.act = weighed(
            ("setActiveTools", 4, ""),
            ("getActiveTools", 3, ""),
            ("getAllTools", 2, ""),
            ("registerTool", 3, ""),
            ("unregisterTool", 1, "unregister-tool"),
            ("cancel", 1, "cancel"),
            ("steer", 2, "steer"),
            ("follow_up", 2, "follow-up"),
            ("policy", 1, "host-policy"),
            ("native", 1, "late-natives"),
            ("drop-native", 1, "late-natives"),
            ("unload", 1, "unload"),
        )
        self.call = weighed(
            ("setActiveTools", 4, ""),
            ("getActiveTools", 2, ""),
            ("getAllTools", 2, ""),
            ("registerTool", 4, ""),
            ("unregisterTool", 2, "unregister-tool"),
        )


class _Program:
    """One program while it is drawn."""

    def __init__(self, draw: Draw, maker: _Maker) -> None:
        self.draw = draw
        self.maker = maker
        self.theme = maker.theme
        self.calls = 0
        self.packages = 0
        self.schemas: dict[str, int] = {}
        """Which schema the tool of a name was last registered with."""
        self.has_other = False
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
            kind = draw(self.maker.later if self.opened else self.maker.first)
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
        name = pools.PACKAGES[min(self.packages, len(pools.PACKAGES) - 1)]
        self.packages += 1
        first = pools.OWN[min(self.packages, len(pools.OWN)) - 1]
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
        calls = [self.load_call()] if draw(self.theme.load_calls) else []
        throws = {"$": "error", "name": "Error", "message": "no loading"} if draw(self.theme.fails) else None
        more = {} if throws is None else {"throws": throws}
        return AddPackage(name=name, tools=tools, handlers=handlers, calls=calls, **more)

    def native(self, name: str | None = None) -> AddNative:
        draw = self.draw
        name = name or draw(_NATIVE)
        does = (
            [NativeBehaviour(acts=self.acts(self.some()), answer=draw(self.theme.native_bodies))] if draw(_BOOL) else []
        )
        parallel = "parallel-natives" in self.maker.capabilities and self.seldom()
        described = "" if self.seldom() and self.seldom() else f"the native tool {name}"
        spec = NativeSpec(name=name, description=described, parallel=parallel)
        if draw(_MORE) == 3:
            spec = msgspec.structs.replace(spec, parameters=pools.NATIVE_SCHEMA)
        return AddNative(native=spec, does=does)

    def drop_native(self) -> DropNative:
        return DropNative(name=self.draw(_NATIVE))

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
        self.has_other = True
        return AddAgent(agent="other")

    def drop_agent(self) -> DropAgent:
        return DropAgent(agent=self.whose())

    def pi(self) -> CallApi:
        call, args = self.api(self.draw(self.maker.call))
        return CallApi(package=self.some(), call=call, args=args, agent=self.whose())

    def prompt(self) -> Prompt:
        draw = self.draw
        turns = [self.turn(self.whose())]
        if self.has_other and draw(_BOOL):
            turns.append(self.turn("other" if turns[0].agent == MAIN else MAIN))
        meanwhile = [self.timed()] if draw(_MORE) == 3 else []
        return Prompt(turns=turns, meanwhile=meanwhile)

    def say(self) -> Tell:
        how: Any = "follow_up" if self.draw(_BOOL) and "follow-up" in self.maker.capabilities else "steer"
        return Tell(how=how, agent=self.whose(), messages=[self.message()])

    def cancel(self) -> CancelTurn:
        return CancelTurn(agent=self.whose())

    def unload(self) -> UnloadPackage:
        return UnloadPackage(package=self.some())

    def reload(self) -> ReloadPackage:
        return ReloadPackage(package=self.some())

    def services(self) -> AddServices:
        draw = self.draw
        approval: Any = draw(_APPROVAL) if "host-ask" in self.maker.capabilities else "none"
        return AddServices(services=Services(attachments=draw(_BOOL), approval=approval))

    # --- what they are made of ----------------------------------------------------------------------------------------

    def whose(self) -> str:
        """Draw an agent."""
        return "other" if self.has_other and self.draw(_BOOL) else MAIN

    def some(self) -> str:
        """Draw the name of a package, one that was loaded."""
        loaded = pools.PACKAGES[: self.packages]
        return str(self.draw(loaded)) if len(loaded) > 1 else loaded[0]

    def turn(self, agent: str) -> Turn:
        messages = [self.message()]
        while len(messages) < 3 and self.draw(_MORE) > 1:
            messages.append(self.message())
        return Turn(agent=agent, messages=messages)

    def message(self) -> ModelAnswer:
        draw = self.draw
        calls = [self.one_call()]
        while len(calls) < 5 and draw(self.theme.more_calls):
            calls.append(self.one_call())
        return pools.message(calls, draw(_FINISH))

    def one_call(self) -> tuple[str, str, str]:
        self.calls += 1
        kind = self.draw(_KIND)
        odd = {17: pools.ODD_ID, 18: pools.LONG_ID}
        id = "1" if kind == 19 else f"{odd.get(kind, '')}{self.calls}"
        name = self.draw(self.theme.called)
        telling = pools.TELLING.get(self.schemas.get(name, 0), ())
        if telling and self.draw(self.theme.fits):
            return id, name, pools.ARGUMENTS[self.draw(telling)]
        return id, name, self.draw(self.theme.arguments)

    def tool(self, name: str | None = None) -> ToolSpec:
        draw = self.draw
        name, schema = name or draw(self.theme.own), draw(self.theme.schemas)
        self.schemas[name] = schema
        return pools.tool_spec(name, pools.SCHEMAS[schema], draw(self.theme.tool_kinds))

    def bodies(self) -> list[Behaviour]:
        draw = self.draw
        if draw(self.theme.plain_bodies):
            return []
        acts = self.acts()
        while len(acts) < 3 and draw(self.theme.more_updates):
            acts.append(Update(update=draw(self.theme.updates)))
        first = Behaviour(acts=acts, reply=draw(self.theme.bodies))
        return [first, *self.second(self.theme.bodies)]

    def second(self, replies: Sequence[Reply]) -> list[Behaviour]:
        """Draw what is done at one of the next calls: mostly the same.

        Which call that is does not depend on how often a handler is asked: that is not everywhere the same.
        """
        if not self.draw(self.theme.second_replies):
            return []
        call = str(self.calls + self.draw(_LATER))
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
        if self.draw(_BOOL):
            # What a change did is told by the lists, at once.
            lists = self.draw(_LISTINGS)
            acts.append(CallPi(call=lists, package=package))
        return acts

    def timed(self) -> Timed:
        draw = self.draw
        when = draw(_WHEN)
        act = self.act(self.some() if when == "request" or draw(_BOOL) else None)
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
            return RegisterNative(native=NativeSpec(name=draw(_NATIVE), description="a late native"))
        if kind == "drop-native":
            return UnregisterNative(name=draw(_NATIVE))
        if kind == "unload":
            return Unload(package=self.some())
        call, args = self.api(kind)
        return CallPi(call=call, args=args, package=package)

    def load_call(self) -> ApiCall:
        call, args = self.api(self.draw(self.maker.call))
        return ApiCall(call=call, args=args)

    def api(self, call: str) -> tuple[str, list[Any]]:
        """Draw the arguments of a method."""
        draw = self.draw
        if call == "setActiveTools":
            return call, [draw(self.theme.lists)]
        if call == "registerTool":
            return call, [msgspec.to_builtins(self.tool(draw(_ANY_OWN)))]
        if call == "unregisterTool":
            return call, [draw(pools.TAKEN)]
        return call, []
