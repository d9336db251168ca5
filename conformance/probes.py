"""Looks once for each capability, by what it does: declared and not there is told from there and not declared."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import UNSET

from conformance.drivers.driver import HarnessError, RequestFailed, Unsupported
from conformance.drivers.envelope import UNKNOWN_METHOD
from conformance.drivers.protocol import (
    AgentCreate,
    AgentDispose,
    AgentPrompt,
    HostCall,
    ModelAnswer,
    NativeRegister,
    NativeSpec,
    NativeUnregister,
    OperatorBash,
    Outcome,
    PackageReload,
    PackageUnload,
    PolicySpec,
    ProcessAnswer,
    Reply,
    Services,
    ToolCall,
    ToolSpec,
)
from conformance.peer import error, text_result
from conformance.plan import MAIN
from conformance.scripts import AnyAct, Behaviour, CallCtx, CallPi, Cancel, Hold, Match, NativeBehaviour, Say
from conformance.stage import Stage
from conformance.trace import images_of, text_of
from conformance.verdicts import Finding

TOOL, OTHER = "probe_tool", "probe_other_tool"
PACKAGE = "probe-package"
WORD = "probe-word"
ECHO = ["/bin/sh", ["-c", f"echo {WORD}"]]
"""What a probe of exec runs: portable, instant and harmless."""
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A PNG of one pixel."""
PATIENCE = 0.5
"""Seconds without news after which a probe stops holding a body open."""


OF_PACKAGES = frozenset(
    {
        "package-tools-restrictable",
        "unregister-tool",
        "late-load",
        "unload",
        "reload",
        "attachments",
        "exec",
        "subprocess",
        "subprocess-scripted",
        "ctx",
    }
)
"""What a host by itself cannot have: it is about packages."""


class Found(StrEnum):
    """What a probe says.

    ``THERE``: its effect was seen. ``LACKING``: the implementation says that it lacks it, or nothing of it is to be
    seen where it could not be missed. ``UNCLEAR``: neither; then a declaration is believed, and the rules decide.
    ``UNTRIED``: the probe has no means here, and the same follows.
    """

    THERE = "there"
    LACKING = "lacking"
    UNCLEAR = "unclear"
    UNTRIED = "untried"


NewStage = Callable[[], Stage]
Probe = Callable[[NewStage], Found]


def look(capability: str, new_stage: NewStage) -> Found:
    """Run the probe of one capability on stages of its own, which are closed again.

    Raises :class:`HarnessError` when the connection broke: then nothing is known, and the driver is used up.
    """
    opened: list[Stage] = []

    def stage() -> Stage:
        opened.append(new_stage())
        opened[-1].peer.window = PATIENCE
        if opened[-1].role == "host" and capability in OF_PACKAGES:
            raise Unsupported(capability)
        return opened[-1]

    try:
        found = _decided(PROBES[capability], stage)
        for made in opened:
            with suppress(Unsupported, RequestFailed, Finding):
                made.close()
    finally:
        for made in opened:
            made.leave()
    return found


def _decided(probe: Probe, new_stage: NewStage) -> Found:
    try:
        return probe(new_stage)
    except Unsupported:
        return Found.LACKING
    except RequestFailed as failure:
        return Found.LACKING if failure.code == UNKNOWN_METHOD else Found.UNCLEAR
    except Finding:
        return Found.UNCLEAR


# --- what probes share ------------------------------------------------------------------------------------------------


def _tool(stage: Stage, *acts: AnyAct, name: str = TOOL, reply: Reply | None = None) -> None:
    """Put a tool on the stage whose body does this: a package's, or where there are no packages the host's own."""
    if stage.role == "host":
        stage.plan.natives.append(NativeSpec(name=name, description=name))
        stage.plan.native_bodies[name] = [NativeBehaviour(acts=list(acts))]
        return
    package = stage.plan.package(PACKAGE)
    schema = {"type": "object", "properties": {}}
    package.tools.append(ToolSpec(name=name, label=name, description=name, parameters=schema))
    package.executes(name, Behaviour(Match(), list(acts), reply or Reply(returns=text_result("ok"))))


def _say(stage: Stage, *batches: list[str], agent: str = MAIN) -> None:
    """Let the model call these tools, one message a batch, and prompt."""
    for number, batch in enumerate(batches):
        calls = [ToolCall(id=f"probe-{number}-{at}", name=name, arguments="{}") for at, name in enumerate(batch)]
        stage.plan.script(agent).append(ModelAnswer(calls=calls))
    stage.prompt(agent=agent)


def _names(stage: Stage, at: int = -1, agent: str = MAIN) -> list[Any]:
    """The tools of one model request."""
    requests = stage.requests(agent)
    return [tool["name"] for tool in requests[at]["tools"]] if requests else []


def _seen(stage: Stage, text: str) -> bool:
    """Whether a model request after the first holds this text as a user's."""
    return any(
        text in text_of(message["content"])
        for request in stage.requests()[1:]
        for message in request["messages"]
        if message["role"] == "user"
    )


def _there(seen: bool) -> Found:
    return Found.THERE if seen else Found.UNCLEAR


def _must(seen: bool) -> Found:
    return Found.THERE if seen else Found.LACKING


def _is_missing(outcome: Outcome) -> bool:
    """Whether a call failed because there is no such member."""
    threw = outcome.threw
    text = str(threw.get("message", "")) if isinstance(threw, dict) else ""
    return "is not a function" in text or "has no attribute" in text


# --- tools of the host ------------------------------------------------------------------------------------------------


def _native_tools(new: NewStage) -> Found:
    stage = new()
    stage.plan.natives.append(NativeSpec(name=TOOL, description=TOOL))
    _say(stage, [TOOL])
    return _there(bool(stage.trace.of("native.enter", tool=TOOL)))


def _parallel_natives(new: NewStage) -> Found:
    stage = new()
    for name, other in ((TOOL, OTHER), (OTHER, "")):
        stage.plan.natives.append(NativeSpec(name=name, description=name, parallel=True))
        acts: list[AnyAct] = [Hold(kinds=["native.enter"])] if other else []
        stage.plan.native_bodies[name] = [NativeBehaviour(acts=acts)]
    _say(stage, [TOOL, OTHER])
    kinds = [event.kind for event in stage.trace.of("native.enter", "native.exit")]
    return _there(kinds[:2] == ["native.enter", "native.enter"])


def _late_natives(new: NewStage) -> Found:
    stage = new()
    stage.open()
    stage.ask(NativeRegister(native=NativeSpec(name=TOOL, description=TOOL)))
    stage.prompt()
    with_it = TOOL in _names(stage)
    stage.ask(NativeUnregister(name=TOOL))
    stage.prompt()
    return _there(with_it and TOOL not in _names(stage))


def _scoped_natives(new: NewStage) -> Found:
    stage = new()
    stage.plan.natives.append(NativeSpec(name=TOOL, description=TOOL, agent=MAIN))
    stage.prompt()
    return _there(TOOL in _names(stage))


def _reserved_natives(new: NewStage) -> Found:
    stage = new()
    stage.plan.natives.append(NativeSpec(name=TOOL, reserved=True))
    stage.prompt()
    return _there(bool(_names(stage)))


# --- agents -----------------------------------------------------------------------------------------------------------


def _two_agents(new: NewStage, parent: str | None) -> Found:
    stage = new()
    stage.prompt()
    created: Outcome = stage.ask(AgentCreate(agent="second", parent=parent))
    if created.threw is not UNSET:
        return Found.UNCLEAR
    stage.prompt(agent="second")
    return _there(bool(stage.requests() and stage.requests("second")))


def _agent_dispose(new: NewStage) -> Found:
    stage = new()
    stage.prompt()
    before = len(stage.requests())
    ended: Outcome = stage.ask(AgentDispose(agent=MAIN))
    if ended.threw is not UNSET:
        return Found.UNCLEAR
    with suppress(RequestFailed, Unsupported, HarnessError):
        stage.ask(AgentPrompt(agent=MAIN, text=WORD))
    return _there(len(stage.requests()) == before > 0)


def _resume(new: NewStage) -> Found:
    stage = new()
    stage.prompt(WORD)
    ended: Outcome = stage.ask(AgentDispose(agent=MAIN))
    resumed: Outcome = stage.ask(AgentCreate(agent="second", resumes=MAIN))
    if ended.threw is not UNSET or resumed.threw is not UNSET:
        return Found.UNCLEAR
    stage.prompt(agent="second")
    asked = stage.requests("second")
    return _there(bool(asked) and WORD in json.dumps(asked[-1]["messages"]))


# --- packages ---------------------------------------------------------------------------------------------------------


def _restrictable(new: NewStage) -> Found:
    stage = new()
    _tool(stage, CallPi(call="setActiveTools", args=[[TOOL]]))
    _tool(stage, name=OTHER)
    _say(stage, [TOOL])
    stage.prompt()  # When a list is in force is for the rules to say.
    return _there(OTHER in _names(stage, 0) and OTHER not in _names(stage))


def _unregister_tool(new: NewStage) -> Found:
    stage = new()
    _tool(stage, CallPi(call="unregisterTool", args=[OTHER]))
    _tool(stage, name=OTHER)
    _say(stage, [TOOL])
    outcomes = stage.returned("unregisterTool")
    if any(_is_missing(outcome) for outcome in outcomes):
        return Found.LACKING
    return _there(OTHER in _names(stage, 0) and OTHER not in _names(stage))


def _late_load(new: NewStage) -> Found:
    stage = new()
    stage.prompt()
    _tool(stage)
    stage.load(PACKAGE)
    stage.prompt()
    return _there(TOOL in _names(stage))


def _unload(new: NewStage) -> Found:
    stage = new()
    _tool(stage)
    stage.prompt()
    stage.ask(PackageUnload(package=PACKAGE))
    stage.prompt()
    return _there(TOOL in _names(stage, 0) and TOOL not in _names(stage))


def _reload(new: NewStage) -> Found:
    stage = new()
    _tool(stage)
    stage.prompt()
    made = len(stage.trace.of("instance.created", package=PACKAGE))
    stage.ask(PackageReload(package=PACKAGE))
    stage.prompt()
    return _there(len(stage.trace.of("instance.created", package=PACKAGE)) > made and TOOL in _names(stage))


def _ctx(new: NewStage) -> Found:
    stage = new()
    _tool(stage, CallCtx(call="cwd"))
    _say(stage, [TOOL])
    outcomes = stage.returned("cwd")
    return _there(bool(outcomes) and isinstance(outcomes[-1].returned, str))


# --- a running turn ---------------------------------------------------------------------------------------------------


def _added(new: NewStage, how: str) -> Found:
    stage = new()
    _tool(stage, Say(how=how, text=WORD))
    _say(stage, [TOOL])
    return _there(_seen(stage, WORD))


def _cancel(new: NewStage) -> Found:
    stage = new()
    _tool(stage, Cancel())
    _tool(stage, name=OTHER)
    _say(stage, [TOOL], [OTHER])
    ran = {event["tool"] for event in stage.trace.of("tool.enter", "native.enter")}
    return _there(ran == {TOOL})


# --- the operator -----------------------------------------------------------------------------------------------------


def _operator_bash(new: NewStage) -> Found:
    stage = new()
    stage.open()
    outcome: Outcome = stage.ask(OperatorBash(agent=MAIN, command=f"echo {WORD}"))
    return _there(outcome.threw is UNSET and WORD in msgspec.json.encode(outcome).decode())


def _host_policy(new: NewStage) -> Found:
    stage = new()
    _tool(stage)
    stage.plan.policies.append(PolicySpec(id="probe", tools=[TOOL], answer="deny", reason=WORD))
    _say(stage, [TOOL])
    ran = bool(stage.trace.of("tool.enter", "native.enter", tool=TOOL))
    return _there(not ran and len(stage.requests()) > 1)


def _host_ask(new: NewStage) -> Found:
    ran = []
    for answer in ("rejected", "allowed-once"):
        stage = new()
        _tool(stage)
        stage.plan.services = msgspec.convert({"approval": answer}, Services)
        stage.plan.policies.append(PolicySpec(id="probe", tools=[TOOL], answer="ask", reason=WORD))
        _say(stage, [TOOL])
        ran.append(bool(stage.trace.of("tool.enter", "native.enter", tool=TOOL)))
        stage.close()
    return _there(ran == [False, True])


# --- services of the host ---------------------------------------------------------------------------------------------


def _shows_picture(stage: Stage) -> bool:
    picture = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    _tool(stage, reply=Reply(returns={"content": [picture], "details": {}}))
    _say(stage, [TOOL])
    messages = stage.requests()[-1]["messages"] if len(stage.requests()) > 1 else []
    return any(images_of(message["content"]) for message in messages if message["role"] == "tool")


def _attachments(new: NewStage) -> Found:
    return _there(_shows_picture(new()))


def _attachments_optional(new: NewStage) -> Found:
    stage = new()
    stage.plan.services = Services(attachments=False)
    if stage.role == "host":
        stage.prompt()
        return _there(bool(stage.requests()))
    shows = _shows_picture(stage)
    return _there(not shows and len(stage.requests()) > 1)


def _run(stage: Stage) -> Outcome | None:
    """Let a package run the program and return how that ended."""
    _tool(stage, CallPi(call="exec", args=ECHO))
    _say(stage, [TOOL])
    outcomes = stage.returned("exec")
    return outcomes[-1] if outcomes else None


def _printed(outcome: Outcome | None, text: str = WORD) -> bool:
    return outcome is not None and isinstance(outcome.returned, dict) and text in str(outcome.returned.get("stdout"))


def _exec(new: NewStage) -> Found:
    outcome = _run(new())
    if outcome is not None and _is_missing(outcome):
        return Found.LACKING
    return _there(_printed(outcome))


def _subprocess(new: NewStage) -> Found:
    stage = new()
    _run(stage)
    return _there(bool(stage.trace.of("spawn", via="provider")))


def _subprocess_scripted(new: NewStage) -> Found:
    stage = new()
    stage.plan.services = Services(subprocess="scripted")
    stage.peer.scripted_processes.append(ProcessAnswer(stdout="a script"))
    return _there(_printed(_run(stage), "a script"))


def _subprocess_optional(new: NewStage) -> Found:
    stage = new()
    stage.plan.services = Services(subprocess="none")
    if stage.role == "host":
        stage.prompt()
        return _there(bool(stage.requests()))
    outcome = _run(stage)
    return _there(outcome is not None and not _printed(outcome) and not stage.trace.of("spawn"))


def _spawn_observer(new: NewStage) -> Found:
    stage = new()
    if stage.role == "host":
        return Found.UNTRIED  # There is no package to run a program; the rules on its own children tell.
    outcome = _run(stage)
    if not _printed(outcome):
        return Found.UNCLEAR
    return _must(bool(stage.trace.of("spawn")))


# --- what is noted ----------------------------------------------------------------------------------------------------


def _durable_log(new: NewStage) -> Found:
    stage = new()
    stage.prompt()
    if not stage.requests():
        return Found.UNCLEAR
    return _must(bool(stage.trace.of("log.user", "log.assistant", "log.call", "log.result")))


def _notices(new: NewStage) -> Found:
    stage = new()
    if stage.role == "host":
        return Found.UNTRIED
    _tool(stage)
    package = stage.plan.package(PACKAGE)
    package.handles(package.listen("tool_execution_start"), Behaviour(reply=Reply(throws=error(WORD))))
    _say(stage, [TOOL])
    return _there(bool(stage.trace.of("notice")))


def _host_seams(new: NewStage) -> Found:
    stage = new()
    stage.open()
    outcome: Outcome = stage.ask(HostCall(target="tools", call="schemas"))
    return _there(isinstance(outcome.returned, list))


PROBES = MappingProxyType[str, Probe](
    {
        "native-tools": _native_tools,
        "parallel-natives": _parallel_natives,
        "late-natives": _late_natives,
        "scoped-natives": _scoped_natives,
        "reserved-natives": _reserved_natives,
        "multiple-agents": lambda new: _two_agents(new, None),
        "child-agents": lambda new: _two_agents(new, MAIN),
        "agent-dispose": _agent_dispose,
        "resume": _resume,
        "package-tools-restrictable": _restrictable,
        "unregister-tool": _unregister_tool,
        "late-load": _late_load,
        "unload": _unload,
        "reload": _reload,
        "steer": lambda new: _added(new, "steer"),
        "follow-up": lambda new: _added(new, "follow_up"),
        "cancel": _cancel,
        "operator-bash": _operator_bash,
        "host-policy": _host_policy,
        "host-ask": _host_ask,
        "attachments": _attachments,
        "attachments-optional": _attachments_optional,
        "exec": _exec,
        "subprocess": _subprocess,
        "subprocess-scripted": _subprocess_scripted,
        "subprocess-optional": _subprocess_optional,
        "spawn-observer": _spawn_observer,
        "durable-log": _durable_log,
        "notices": _notices,
        "ctx": _ctx,
        "host-seams": _host_seams,
    }
)
"""The probe of each capability."""
