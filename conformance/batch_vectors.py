"""Runs one row of the batch rule: a batch of calls of the named kinds, and whether the loop stops after it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from conformance.compare import check
from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import ModelAnswer, NativeSpec, Op, PolicySpec, Reply, ToolCall, ToolSpec
from conformance.peer import error, text_result
from conformance.scripts import Behaviour, Match
from conformance.stage import Stage

_STRICT = {"type": "object", "properties": {"weight": {"type": "number"}}, "required": ["weight"]}
_OPEN = {"type": "object", "properties": {}}


def run_batch(stage: Stage, row: Mapping[str, Any]) -> None:
    """``batch`` names the kind of each call, in order; ``stops`` says whether the loop stops after it.

    Kinds: ``asks-by-block``, ``asks-by-result``, ``plain``, ``blocked``, ``throws``, ``unknown``, ``invalid``,
    ``refused`` (a native tool whose arguments a handler changed) and ``denied`` (by the host's policy). ``parallel``
    true makes every tool of the batch one that may run beside others.
    """
    mode = "parallel" if row.get("parallel") else "sequential"
    calls = []
    stage.plan.package("voters").listen("tool_call")
    for number, kind in enumerate(row["batch"], 1):
        tool = f"{kind.replace('-', '_')}_{number}"
        set_up = _KINDS.get(kind)
        if set_up is None:
            raise HarnessError(f"no kind of call is named {kind!r}", f"use one of {', '.join(_KINDS)}")
        set_up(stage, tool, mode)
        calls.append(ToolCall(id=str(number), name=tool, arguments=json.dumps({"path": "/here"})))
    if calls:
        stage.plan.script().append(ModelAnswer(calls=calls))
    stage.prompt()
    asked = len(stage.requests())
    named = " + ".join(row["batch"]) or "no calls"
    if not calls or row["stops"]:
        check(asked == 1, f"the loop stops after the batch {named}", f"the model was asked {asked} time(s)")
    else:
        check(asked == 2, f"the loop goes on after the batch {named}", f"the model was asked {asked} time(s)")
    found = [event.call_id for event in stage.results()]
    check(found == [call.id for call in calls], "one durable result a call, in model order", f"results of {found}")


def _tool(stage: Stage, tool: str, mode: str, parameters: Any = _OPEN) -> None:
    spec = ToolSpec(name=tool, label=tool, description=f"the tool {tool}", parameters=parameters, execution_mode=mode)
    stage.plan.package("voters").tools.append(spec)


def _answers(reply: Reply) -> Callable[[Stage, str, str], None]:
    def set_up(stage: Stage, tool: str, mode: str) -> None:
        _tool(stage, tool, mode)
        stage.plan.package("voters").executes(tool, Behaviour(reply=reply))

    return set_up


def _judged(reply: Reply) -> Callable[[Stage, str, str], None]:
    def set_up(stage: Stage, tool: str, mode: str) -> None:
        _tool(stage, tool, mode)
        stage.plan.package("voters").handles("tool_call", Behaviour(Match(tool=tool), [], reply))

    return set_up


def _unknown(stage: Stage, tool: str, mode: str) -> None:
    """Registers nothing: no tool has that name."""


def _invalid(stage: Stage, tool: str, mode: str) -> None:
    _tool(stage, tool, mode, _STRICT)


def _refused(stage: Stage, tool: str, mode: str) -> None:
    stage.plan.natives.append(NativeSpec(name=tool, description=f"the native tool {tool}", parallel=mode == "parallel"))
    change = Reply(ops=[Op(op="set", path=["input", "path"], value="/elsewhere")])
    stage.plan.package("voters").handles("tool_call", Behaviour(Match(tool=tool), [], change))


def _denied(stage: Stage, tool: str, mode: str) -> None:
    _tool(stage, tool, mode)
    stage.plan.policies.append(PolicySpec(id=f"deny {tool}", tools=[tool], answer="deny", reason="denied", skip=True))


_KINDS: dict[str, Callable[[Stage, str, str], None]] = {
    "asks-by-block": _judged(Reply(returns={"block": True, "reason": "blocked", "terminate": True})),
    "asks-by-result": _answers(Reply(returns=text_result("stop", terminate=True))),
    "plain": _answers(Reply(returns=text_result("plain"))),
    "blocked": _judged(Reply(returns={"block": True, "reason": "blocked"})),
    "throws": _answers(Reply(throws=error("thrown"))),
    "unknown": _unknown,
    "invalid": _invalid,
    "refused": _refused,
    "denied": _denied,
}
