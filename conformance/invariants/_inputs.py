"""Invariants of a call's input: judges get what the model wrote, and what they leave of it is what runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from conformance.compare import same, show
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._lifetimes import named
from conformance.invariants._once import gathered, once
from conformance.invariants._story import Call, Story, parsed, tagged
from conformance.invariants._ways import ANYTHING, passes
from conformance.trace import Event

UNDEFINED = {"$": "undefined"}


@invariant("tool_call.every-call-is-judged", "tool_call.calls-share-no-arguments")
def judges_get_what_the_model_wrote(story: Story, context: Context) -> Answers:
    """About native tools, and about tools that ask for nothing and prepare nothing."""
    for call in story.calls if not story.listened else ():
        gates, record = call.handled("tool_call"), call.record
        if not call.clear or not gates or not isinstance(record, dict) or was_written_into(story, call):
            continue
        if is_native(story, call) or takes_anything(registered(story, call)):
            judged = (gates[0]["payload"] or {}).get("input")
            told = f"{call.label}: {gates[0]['package']} judges"
            yield None if same(judged, record) else f"{told} {show(judged)}, the model wrote {show(record)}"


@invariant("tool_call.mutation-reaches-the-tool", "tool_call.mutation-is-seen-by-later-handlers")
def what_judges_leave_is_what_runs(story: Story, context: Context) -> Answers:
    """Of a package's tool. A key of the value undefined may be left out on the way."""
    for call in story.calls if not story.listened else ():
        gates, bodies = call.handled("tool_call"), call.of("tool.enter")
        if not call.clear or len(bodies) != 1 or not story.wrote(gates):
            continue  # Whether judges see what will run is another rule's.
        if registered(story, call) is None:
            continue
        left = _left(story, gates, (gates[0]["payload"] or {}).get("input"), story.number(bodies[0]))
        if left is not None:
            ran = _defined(bodies[0]["params"])
            yield None if same(ran, left) else f"{call.label}: ran with {show(ran)}, its judges left {show(left)}"


@invariant("tool_call.only-a-different-value-is-a-mutation", roles="bridge")
def natives_run_when_their_input_is_the_same_in_the_end(story: Story, context: Context) -> Answers:
    for call, left in _left_to_natives(story):
        if same(left, call.record):
            told = f"{call.label}: its input was the same in the end, and the native tool did not run"
            yield None if call.bodies else told


@invariant("tool_call.deep-changes-are-mutations", roles="bridge")
def natives_do_not_run_when_their_input_is_another(story: Story, context: Context) -> Answers:
    for call, left in _left_to_natives(story):
        if not same(left, call.record):
            wrong = bool(call.bodies)
            yield f"{call.label}: its input was {show(left)} in the end, and the native tool ran" if wrong else None


@gathered
def _left_to_natives(story: Story) -> Iterator[tuple[Call, Any]]:
    """Yield the calls of native tools whose input handlers wrote into, with what it was in the end."""
    for call in story.calls:
        gates, record, result = call.handled("tool_call"), call.record, call.result
        if not isinstance(record, dict) or result is None or not story.wrote(gates):
            continue
        if not is_native(story, call) or not passes(story, call) or was_written_into(story, call):
            continue
        if any(event["decision"] is not None for event in call.of("policy") if event["phase"] == "exit"):
            continue  # An outer listener of the host may let it run with what is in the log.
        left = _left(story, gates, record, story.number(result))
        if left is not None:
            yield call, left


@invariant("registerTool.what-prepare-arguments-returns-is-validated")
def what_runs_is_an_object_where_one_is_asked_for(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        bodies = call.of("tool.enter")
        if not call.clear or not bodies or story.wrote(call.handled("tool_call")):
            continue
        schema = (registered(story, call) or {}).get("parameters")
        if isinstance(schema, dict) and schema.get("type") == "object":
            ran = bodies[0]["params"]
            yield None if isinstance(ran, dict) else f"{call.label}: asks for an object, and ran with {show(ran)}"


@invariant("registerTool.unknown-properties-are-kept", "registerTool.registering-again-moves-everything")
def a_tool_that_asks_for_nothing_runs(story: Story, context: Context) -> Answers:
    """Where nobody judges it; and it runs with what the model wrote."""
    judged = any(each.event == "tool_call" for each in story.subscriptions)
    for call in story.calls if not judged else ():
        # What is logged as an object need not have been one.
        if not isinstance(call.record, dict) or not isinstance(parsed(call.text), dict):
            continue
        spec = registered(story, call)
        if not takes_anything(spec) or not passes(story, call, judged=False):
            continue
        if any(row["name"] == call.name for row in call.batch.request["tools"]) and (spec or {}).get("executes", True):
            ran = call.of("tool.enter")
            yield None if ran else f"{call.label}: nothing stopped it, and its body did not run"


@invariant("tool_call.policy-sees-the-models-arguments", roles="bridge")
def policies_are_shown_what_the_model_wrote(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        for event in call.of("policy") if call.clear and call.record is not None else ():
            if event["phase"] == "enter":
                shown = event["arguments"]
                told = f"{call.label}: the host's policy was shown"
                written = call.record
                yield None if same(shown, written) else f"{told} {show(shown)}, the model wrote {show(written)}"


def is_native(story: Story, call: Call) -> bool:
    """Whether a call is of a native tool that is listed and whose name no package has."""
    listed = any(row["name"] == call.name for row in call.batch.request["tools"])
    return listed and call.name in story.natives and call.name not in story.registrations


def takes_anything(spec: dict[str, Any] | None) -> bool:
    """Whether a registration asks for nothing, and prepares nothing."""
    return spec is not None and spec.get("parameters") == ANYTHING and not spec.get("prepare")


def was_written_into(story: Story, call: Call) -> bool:
    """Whether a start handler wrote into the arguments: on Pi that takes effect."""
    return story.wrote(call.handled("tool_execution_start"))


@once
def registered(story: Story, call: Call) -> dict[str, Any] | None:
    """Return the registration that was in force for a call all the while; ``None`` where that is not beyond doubt."""
    rows = story.registrations.get(call.name, [])
    if not rows or call.name in story.natives or len(story.owners[call.name]) != 1:
        return None
    if any(named(event) == call.name for event in story.methods["unregisterTool"]):
        return None
    begin = story.prepared(call.agent, story.number(call.batch.request))
    if begin is None:
        return None
    end = story.number(call.result) if call.result is not None else len(story.events)
    last: Event | None = None
    for each in rows:
        if story.serves(each["instance"], call.agent):
            if story.answered.get(each["api"], len(story.events)) < begin:
                last = each
            elif story.number(each) < end:
                return None
    if last is None or "returned" not in story.outcomes.get(last["api"], {}):
        return None
    if story.gone.get(last["instance"], end + 1) <= end:
        return None
    spec = last["args"][0]
    return spec if isinstance(spec, dict) else None


def _left(story: Story, gates: Sequence[Event], given: Any, end: int) -> Any:
    """Return what handlers made of an input one after another; ``None`` where that is not beyond doubt."""
    left = _defined(deepcopy(given))
    for gate in gates:
        done = story.exit_of(gate)
        unknown = "reply" not in gate.data and not story.reply(gate)
        if unknown or done is None or story.number(done) > end or not isinstance(left, dict):
            return None
        for op in story.reply(gate).get("ops") or ():
            path = op["path"]
            if len(path) != 2 or path[0] != "input" or op["op"] not in ("set", "delete"):
                return None  # Another object in its place, or something further inside.
            if op.get("at") == "after-return":
                return None
            value = op.get("value", UNDEFINED)
            left.pop(path[1], None)
            if op["op"] == "set" and value != UNDEFINED:
                left[path[1]] = value
    return left if isinstance(left, dict) and not any(tagged(left)) else None


def _defined(value: Any) -> Any:
    """Return an input without its keys of the value undefined, which JSON does not carry."""
    return {key: each for key, each in value.items() if each != UNDEFINED} if isinstance(value, dict) else value
