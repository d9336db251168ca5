"""Steps on packages: what they register, how their handlers and tools behave, and what they call."""

from __future__ import annotations

from typing import Any

import msgspec
from pytest_bdd import given, when

from conformance.drivers.protocol import ApiCall, Op, PackageReload, PackageSpec, Reply, ToolSpec
from conformance.peer import error, text_result
from conformance.plan import PackagePlan
from conformance.scripts import AnyAct, Behaviour, CallPi, Cancel, Hold, Match, Update
from conformance.stage import Stage
from conformance.steps._phrase import document, phrase, rows

OPEN_OBJECT = {"type": "object", "properties": {}}


def tool_spec(name: str, fields: dict[str, Any] | None = None) -> ToolSpec:
    """Return a tool with the usual description and an open object schema; ``fields`` as on the wire, ``null`` kept.

    A field of the value undefined is left out.
    """
    base = {"name": name, "label": name, "description": f"the tool {name}", "parameters": OPEN_OBJECT}
    given = {key: value for key, value in {**base, **(fields or {})}.items() if value != {"$": "undefined"}}
    return msgspec.convert(given, ToolSpec)


def behaviour(fields: dict[str, Any]) -> Behaviour:
    """Return a behaviour from a doc string: a reply's fields, with ``when`` (a match) and ``acts`` beside them."""
    rest = {key: value for key, value in fields.items() if key not in ("when", "acts", "tag")}
    return msgspec.convert({"match": fields.get("when", {}), "acts": fields.get("acts", []), "reply": rest}, Behaviour)


def _answer(
    stage: Stage, package: str, event: str, reply: Reply, acts: list[AnyAct] | None = None, **match: Any
) -> None:
    plan = stage.plan.package(package)
    plan.handles(plan.listen(event), Behaviour(Match(**match), acts or [], reply))


def _handles(plan: PackagePlan, handler: str, fields: dict[str, Any]) -> None:
    """``sync: true`` makes the handler one that never waits and always answers the same."""
    if fields.pop("sync", False):
        plan.make_sync(handler, behaviour(fields).reply)
    else:
        plan.handles(handler, behaviour(fields))


def _executes(stage: Stage, tool: str, reply: Reply, acts: list[AnyAct] | None = None) -> None:
    stage.plan.owner_of(tool).executes(tool, Behaviour(Match(), acts or [], reply))


def add_to_body(stage: Stage, tool: str, act: AnyAct) -> None:
    """Add an act to the tool's last behaviour, so that several such steps happen in one body."""
    owner = stage.plan.owner_of(tool)
    known = owner.executing.setdefault((tool, ""), [])
    last = known.pop() if known else Behaviour(reply=Reply(returns=text_result(f"{tool} ok")))
    known.append(msgspec.structs.replace(last, acts=[*last.acts, act]))


# --- what a package is ------------------------------------------------------------------------------------------------


@given(phrase('a package "{package}"'))
def a_package(stage: Stage, package: str) -> None:
    stage.plan.package(package)


@given(phrase('a package "{package}" with the tool "{tool}"'))
@given(phrase('package "{package}" registers the tool "{tool}"'))
def registers_tool(stage: Stage, package: str, tool: str) -> None:
    stage.plan.package(package).tools.append(tool_spec(tool))


@given(phrase('a package "{package}" with the tool "{tool}" and'))
@given(phrase('package "{package}" registers the tool "{tool}" with'))
def registers_tool_with(stage: Stage, package: str, tool: str, docstring: str) -> None:
    stage.plan.package(package).tools.append(tool_spec(tool, document(docstring)))


@given(phrase('the factory of package "{package}" throws "{message}"'))
def factory_throws(stage: Stage, package: str, message: str) -> None:
    stage.plan.package(package).throws = error(message)


@given(phrase('package "{package}" calls {call:method} with {args:json} while loading'))
def calls_while_loading(stage: Stage, package: str, call: str, args: list[Any]) -> None:
    stage.plan.package(package).calls.append(ApiCall(call=call, args=args))


# --- how its tools behave ---------------------------------------------------------------------------------------------


@given(phrase('the tool "{tool}" answers "{text}"'))
def tool_answers_text(stage: Stage, tool: str, text: str) -> None:
    _executes(stage, tool, Reply(returns=text_result(text)))


@given(phrase('the tool "{tool}" asks to stop'))
def tool_asks_to_stop(stage: Stage, tool: str) -> None:
    _executes(stage, tool, Reply(returns=text_result(f"{tool} ok", terminate=True)))


@given(phrase('the tool "{tool}" throws "{message}"'))
def tool_throws(stage: Stage, tool: str, message: str) -> None:
    _executes(stage, tool, Reply(throws=error(message)))


@given(phrase('the tool "{tool}" does'))
def tool_does(stage: Stage, tool: str, docstring: str) -> None:
    """``tag`` in the doc string picks the registration of that tag, where a package registers a name twice."""
    fields = document(docstring)
    stage.plan.owner_of(tool).executes(tool, behaviour(fields), fields.get("tag", ""))


@given(phrase('the tool "{tool}" calls {call:method} with {args:json}'))
def tool_calls(stage: Stage, tool: str, call: str, args: list[Any]) -> None:
    add_to_body(stage, tool, CallPi(call=call, args=args))


@given(phrase('the tool "{tool}" sends the update "{text}"'))
def tool_updates(stage: Stage, tool: str, text: str) -> None:
    add_to_body(stage, tool, Update(update=text_result(text)))


@given(phrase('the user cancels while the tool "{tool}" runs'))
def cancel_in_body(stage: Stage, tool: str) -> None:
    add_to_body(stage, tool, Cancel())


# --- how its handlers behave ------------------------------------------------------------------------------------------


@given(phrase('package "{package}" listens to {event:event}'))
def listens(stage: Stage, package: str, event: str) -> None:
    stage.plan.package(package).listen(event)


@given(phrase('package "{package}" listens to every tool event'))
def listens_to_all(stage: Stage, package: str) -> None:
    for event in ("tool_execution_start", "tool_call", "tool_execution_update", "tool_result", "tool_execution_end"):
        stage.plan.package(package).listen(event)


@given(phrase('package "{package}" answers {event:event} with'))
def answers_with(stage: Stage, package: str, event: str, docstring: str) -> None:
    plan = stage.plan.package(package)
    _handles(plan, plan.listen(event), document(docstring))


@given(phrase('a further handler of package "{package}" answers {event:event} with'))
def further_answers_with(stage: Stage, package: str, event: str, docstring: str) -> None:
    plan = stage.plan.package(package)
    _handles(plan, plan.listen(event, further=True), document(docstring))


@given(phrase('a further handler of package "{package}" listens to {event:event}'))
def further_listens(stage: Stage, package: str, event: str) -> None:
    stage.plan.package(package).listen(event, further=True)


@given(phrase('package "{package}" blocks "{tool}" with the reason "{reason}"'))
def blocks(stage: Stage, package: str, tool: str, reason: str) -> None:
    _answer(stage, package, "tool_call", Reply(returns={"block": True, "reason": reason}), tool=tool)


@given(phrase('package "{package}" blocks "{tool}" asking to stop'))
def blocks_asking_to_stop(stage: Stage, package: str, tool: str) -> None:
    reply = Reply(returns={"block": True, "reason": f"{package} blocks {tool}", "terminate": True})
    _answer(stage, package, "tool_call", reply, tool=tool)


@given(phrase('package "{package}" throws "{message}" from {event:event}'))
def throws_from(stage: Stage, package: str, message: str, event: str) -> None:
    _answer(stage, package, event, Reply(throws=error(message)))


@given(phrase('package "{package}" changes the argument "{name}" of "{tool}" to {value:json}'))
def changes_argument(stage: Stage, package: str, name: str, tool: str, value: Any) -> None:
    change = Op(op="set", path=["input", name], value=value)
    _answer(stage, package, "tool_call", Reply(ops=[change]), tool=tool)


@given(phrase('package "{package}" replaces the text of results by "{text}"'))
def replaces_text(stage: Stage, package: str, text: str) -> None:
    _answer(stage, package, "tool_result", Reply(returns={"content": [{"type": "text", "text": text}]}))


@given(phrase('package "{package}" calls {call:method} with {args:json} in {event:event}'))
def calls_in_event(stage: Stage, package: str, call: str, args: list[Any], event: str) -> None:
    _answer(stage, package, event, Reply(), [CallPi(call=call, args=args)])


@given(phrase('package "{package}" holds {event:event} until {other:event} is entered'))
def holds_until(stage: Stage, package: str, event: str, other: str) -> None:
    _answer(stage, package, event, Reply(), [Hold(kinds=["handler.enter"], event=other)])


@given(phrase('package "{package}" holds {event:event} until something else happens'))
def holds_until_any(stage: Stage, package: str, event: str) -> None:
    kinds = ["handler.enter", "tool.enter", "native.enter", "log.result", "model.request", "step.end", "turn.end"]
    _answer(stage, package, event, Reply(), [Hold(kinds=kinds)])


# --- what the operator does with it ----------------------------------------------------------------------------------


@when(phrase('package "{package}" is reloaded and its factory throws "{message}"'))
def is_reloaded_and_throws(stage: Stage, package: str, message: str) -> None:
    stage.open()
    replacement = PackageSpec(name=package, throws=error(message))
    stage.outcomes.append((f"reload {package}", stage.ask(PackageReload(package=package, replacement=replacement))))


# --- what it calls outside any handler --------------------------------------------------------------------------------


@when(phrase('package "{package}" calls {call:method} with {args:json}'))
def calls_outside(stage: Stage, package: str, call: str, args: list[Any]) -> None:
    stage.call_pi(package, call, args, agent="main")


__all__ = ["behaviour", "error", "rows", "tool_spec"]
