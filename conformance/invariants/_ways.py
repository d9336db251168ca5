"""Invariants of the way a call goes: what nobody stops runs, what no rule lets run does not, nothing fails unasked."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from conformance.compare import same, show
from conformance.invariants._gates import blocking
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._once import once
from conformance.invariants._story import Call, Story, tagged
from conformance.trace import Event, plain, text_of

_ALLOWS = (None, {"kind": "allow"})
_CUTS = ("cancel", "dispose", "unload", "reload")
SHORTEST = 3
"""Characters of a thrown text below which finding it in a result may be chance."""


@invariant("registerTool.text-that-is-no-json-does-not-run", roles="bridge")
def what_is_no_json_does_not_run(story: Story, context: Context) -> Answers:
    # What a tool prepares may be an object, whatever the model wrote; and a schema may want a text.
    free = {name for name, spec in _specs(story) if spec.get("prepare") is not None or not _wants_object(spec)}
    for call in story.calls if not story.listened else ():
        if call.clear and call.text.strip() and not _is_json(call.text) and call.name not in free:
            ran = call.of("tool.enter")
            yield f"{call.label}: its arguments are no JSON, and its body ran (event {ran[0].seq})" if ran else None


@invariant("registerTool.numbers-that-json-cannot-carry", roles="bridge")
def what_json_cannot_carry_does_not_run(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        if call.clear and _loses(call.text):
            ran = call.bodies
            yield f"{call.label}: {show(call.text)} is not what its body got (event {ran[0].seq})" if ran else None


def _wants_object(spec: dict[str, Any]) -> bool:
    schema = spec.get("parameters")
    return isinstance(schema, dict) and schema.get("type") == "object"


@lru_cache(maxsize=1024)
def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(word: str) -> None:
    raise ValueError(word)


@lru_cache(maxsize=1024)
def _loses(text: str) -> bool:
    """Whether a number of a JSON text is not the same after a round trip: minus zero, or one too large."""
    return _is_json(text) and _has_lossy(json.loads(text))


def _has_lossy(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0)
    if isinstance(value, dict):
        return any(map(_has_lossy, value.values()))
    return isinstance(value, list) and any(map(_has_lossy, value))


@invariant("tool_call.only-a-block-decides")
def what_is_judged_and_not_blocked_runs(story: Story, context: Context) -> Answers:
    """A package's own tool, where somebody was asked: then its arguments are right."""
    missing = {name for name, spec in _specs(story) if not spec.get("executes", True)}
    own = story.registrations.keys() - story.natives.keys()
    for call in story.calls:
        if call.name in missing or call.name not in own or not _goes_through(story, call):
            continue
        if not any(row["name"] == call.name for row in call.batch.request["tools"]):
            continue
        told = f"{call.label}: nobody stopped it, and its body did not run"
        if not _is_invalid(call):  # Then nobody should have been asked: the next one's.
            yield None if call.of("tool.enter") else told


@invariant("tool_call.invalid-calls-are-not-judged")
def what_is_invalid_is_not_judged(story: Story, context: Context) -> Answers:
    """Where no handler changed the arguments that did not pass."""
    own = story.registrations.keys() - story.natives.keys()
    for call in story.calls if not story.listened else ():
        if not call.clear or call.name not in own or call.result is None or not _is_invalid(call) or call.bodies:
            continue
        if not story.changed(story.number(call.batch.request), story.number(call.result)):
            gates = call.handled("tool_call")
            if not any(story.reply(gate) for gate in gates):
                told = f"{call.label}: its arguments did not pass, and {gates[0]['package']} was asked" if gates else ""
                yield told or None


def _is_invalid(call: Call) -> bool:
    return call.result is not None and "Validation failed for tool" in text_of(call.result["content"])


@invariant("tool_call.mutation-reaches-the-tool")
def what_judges_change_runs(story: Story, context: Context) -> Answers:
    return _changed(story, owned=True)


@invariant("tool_call.what-json-cannot-carry-harms-no-change")
def what_judges_add_beyond_json_costs_no_call(story: Story, context: Context) -> Answers:
    return _changed(story, owned=True, carried=False)


@invariant("tool_call.mutation-is-not-validated-again")
def what_judges_change_is_not_validated_again(story: Story, context: Context) -> Answers:
    own = story.registrations.keys() - story.natives.keys()
    for call in story.calls:
        if call.name in own and _goes_through(story, call, changed=True):
            told = f"{call.label}: its input was changed after it had passed, and did not pass again"
            yield told if _is_invalid(call) and not call.bodies else None


@invariant("tool_call.mutation-reaches-any-packages-tool")
def what_other_packages_judges_change_runs(story: Story, context: Context) -> Answers:
    return _changed(story, owned=False)


def _changed(story: Story, owned: bool, carried: bool = True) -> Answers:
    """A package's tool whose arguments were right, and were then changed: they are not validated again.

    It is ``owned`` where the package of the tool was the only one that was asked, and ``carried`` where JSON can carry
    all that was put in.
    """
    missing = {name for name, spec in _specs(story) if not spec.get("executes", True)}
    own = story.registrations.keys() - story.natives.keys()
    for call in story.calls:
        if call.name in missing or call.name not in own or not _goes_through(story, call, changed=True):
            continue
        packages = {event["package"] for event in call.handled("tool_call")}
        if (packages == story.owners[call.name]) is not owned or _is_beyond_json(story, call) is carried:
            continue
        if any(row["name"] == call.name for row in call.batch.request["tools"]):
            told = f"{call.label}: its input was changed and it was not blocked, and its body did not run"
            if not _is_invalid(call):
                yield None if call.of("tool.enter") else told


def _is_beyond_json(story: Story, call: Call) -> bool:
    """Whether a handler put something into the input that JSON cannot carry."""
    values = [op.get("value") for gate in call.handled("tool_call") for op in story.reply(gate).get("ops") or ()]
    return any(any(tagged(value)) for value in values if value != {"$": "undefined"})


@invariant("tool_call.only-a-different-value-is-a-mutation", roles="bridge")
def a_native_call_that_nobody_touches_runs(story: Story, context: Context) -> Answers:
    for call in story.calls:
        if call.record is None or call.name in story.registrations or not _goes_through(story, call):
            continue
        if not any(row["name"] == call.name for row in call.batch.request["tools"]):
            continue
        told = f"{call.label}: nobody stopped or changed it, and the native tool did not run"
        yield None if call.bodies else told


def _goes_through(story: Story, call: Call, changed: bool = False) -> bool:
    """Whether a call :func:`passes` and no handler did anything; or, where it was ``changed``, only to its input."""
    gates = call.handled("tool_call")
    if not gates or changed is not any(_changes(story, gate, call.record) for gate in gates):
        return False
    if not passes(story, call):
        return False
    return not changed or all(_is_in_input(op) for gate in gates for op in story.reply(gate).get("ops") or ())


@once
def passes(story: Story, call: Call, judged: bool = True) -> bool:
    """Whether handlers were asked about a call, none stopped it, and nothing came in between; or nobody was asked."""
    batch, gates = call.batch, call.handled("tool_call")
    if not call.clear or bool(gates) is not judged or call.result is None or batch.cut:
        return False
    if story.listened or call.host_broke or batch.finish not in (None, "calls"):
        return False
    if any(_stops(story, gate) for gate in gates):
        return False
    if any(event["decision"] not in _ALLOWS for event in call.of("policy") if event["phase"] == "exit"):
        return False
    if any((body["reply"] or {}).get("conclude") for each in batch.calls for body in each.of("native.enter")):
        return False
    return not story.changed(story.number(batch.request), story.number(call.result))


def _stops(story: Story, gate: Event) -> bool:
    """Whether a handler may have stopped a call: one that was not answered may have."""
    reply, done = story.reply(gate), story.exit_of(gate)
    returned = reply.get("returns")
    # Truth is JavaScript's: an empty list blocks, an empty text does not.
    blocks = isinstance(returned, dict) and returned.get("block") not in (None, False, 0, "")
    silent = "reply" not in gate.data and not reply
    return blocks or "throws" in reply or story.threw(gate) or done is None or silent


def _changes(story: Story, gate: Event, record: Any) -> bool:
    """Whether a handler wrote anything but a new key of the value undefined into the input."""
    return any(not _is_nothing(op, record) for op in story.reply(gate).get("ops") or ())


def _is_nothing(op: dict[str, Any], record: Any) -> bool:
    path = op["path"]
    fresh = len(path) == 2 and path[0] == "input" and isinstance(record, dict) and path[1] not in record
    return fresh and op["op"] == "set" and op.get("value") == {"$": "undefined"} and op.get("at") != "after-return"


def _is_in_input(op: dict[str, Any]) -> bool:
    return op["path"][:1] == ["input"] and len(op["path"]) > 1 and op.get("at") != "after-return"


def _specs(story: Story) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every registration by a package: its name, and what was given."""
    for name, rows in story.registrations.items():
        for event in rows:
            yield name, event["args"][0]


@invariant("registerTool.arguments-are-coerced-as-on-pi")
def a_tool_that_asks_for_nothing_gets_what_was_written(story: Story, context: Context) -> Answers:
    """Where nobody judges the call, and no registration of the tool has properties or prepares its arguments."""
    asks = {name for name, spec in _specs(story) if spec.get("parameters") != ANYTHING or spec.get("prepare")}
    for call in story.calls if not story.listened else ():
        bodies = call.of("tool.enter")
        if not call.clear or len(bodies) != 1 or call.name in asks or not isinstance(call.record, dict):
            continue
        if call.handled("tool_call") or any(
            story.reply(each).get("ops") for each in call.handled("tool_execution_start")
        ):
            continue
        ran = bodies[0]["params"]
        wrong = not same(ran, call.record)
        yield f"{call.label}: ran with {show(ran)}, the model wrote {show(call.record)}" if wrong else None


ANYTHING = {"type": "object", "properties": {}}
"""The parameters of a tool that asks for nothing."""


@invariant("registerTool.a-throwing-prepare-arguments-fails-the-call")
def what_cannot_be_prepared_does_not_run(story: Story, context: Context) -> Answers:
    throws = {name for name, spec in _specs(story) if "throws" in (spec.get("prepare") or {})}
    throws -= {name for name, spec in _specs(story) if "throws" not in (spec.get("prepare") or {})}
    throws -= story.natives.keys()
    for call in story.calls if throws and not story.listened else ():
        # Whether a name that is unknown is judged has no must.
        listed = any(row["name"] == call.name for row in call.batch.request["tools"])
        if call.clear and listed and call.name in throws and call.record is not None:
            ran = [*call.of("tool.enter"), *call.handled("tool_call")]
            told = f"{call.label}: its arguments could not be prepared, and it went on"
            yield f"{told} (event {ran[0].seq})" if ran else None


@invariant("tool_call.a-blocks-other-fields-are-ignored")
def what_is_blocked_says_nothing_but_why(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        gate, result = blocking(story, call), call.result
        if not call.clear or result is None or call.batch.cut or call.bodies or gate is None:
            continue
        returned, kept = story.reply(gate)["returns"], text_of(result["content"])
        content = returned.get("content")
        written = story.wrote(call.handled("tool_execution_end"))
        texts = [block.get("text") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        for text in texts if not written else ():
            if isinstance(text, str) and len(text) > SHORTEST and text not in str(returned.get("reason")):
                told = f"{call.label}: it was blocked, and its result says"
                yield f"{told} {show(text)}, which stood beside the block" if text in kept else None


@invariant("tool_call.a-block-without-a-reason-still-says-something")
def what_is_blocked_says_something(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        result = call.result
        gate = blocking(story, call)
        if not call.clear or result is None or call.batch.cut or call.bodies or gate is None:
            continue
        reason = story.reply(gate)["returns"].get("reason", "")
        if not isinstance(reason, str) or (reason and not reason.strip()):
            continue  # What text a reason of another type becomes is another rule's; and blanks are a text.
        if story.wrote(call.handled("tool_execution_end")):
            continue  # What an end handler writes into the result takes effect on Pi.
        silent = not text_of(result["content"]).strip().removeprefix("Error:").strip()
        yield f"{call.label}: it was blocked, and its result says nothing (event {result.seq})" if silent else None


@invariant("tool_call.a-block-keeps-the-tool-from-running")
def what_is_blocked_says_why(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        gate, result = blocking(story, call), call.result
        reason = story.reply(gate)["returns"].get("reason") if gate is not None else None
        if not call.clear or result is None or call.batch.cut or call.bodies or not isinstance(reason, str):
            continue
        if story.wrote(call.handled("tool_call")):
            continue  # Which reason a native call has whose arguments were changed, too, is another rule's.
        decided = [event["decision"] or {} for event in call.of("policy") if event["phase"] == "exit"]
        written = story.wrote(call.handled("tool_execution_end"))
        if len(reason) >= SHORTEST and not written and all(each.get("reason") == reason for each in decided):
            lost = plain(reason) not in text_of(result["content"])
            told = f"{call.label}: it was blocked because of"
            yield f"{told} {show(reason)}, and its result says {show(text_of(result['content']))}" if lost else None


@invariant("tool_execution_end.cut-calls-do-not-run")
def what_was_cut_off_does_not_run(story: Story, context: Context) -> Answers:
    for batch in story.batches:
        for call in batch.calls if batch.finish == "length" and not story.listened else ():
            ran = call.bodies if call.clear else []
            yield f"{call.label}: its message was cut off, and its body ran (event {ran[0].seq})" if ran else None


@invariant("tool_call.any-truthy-block-blocks")
def what_is_blocked_by_any_truth_does_not_run(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        returned = [story.reply(gate).get("returns") for gate in call.handled("tool_call") if not story.threw(gate)]
        blocks = [each["block"] for each in returned if isinstance(each, dict) and "block" in each]
        kinds = [(event["decision"] or {}).get("kind") for event in call.of("policy") if event["phase"] == "exit"]
        if call.clear and any(_is_truth(each) for each in blocks) and all(kind == "deny" for kind in kinds):
            ran = call.bodies
            yield f"{call.label}: it was blocked by {show(blocks)}, and its body ran" if ran else None


def _is_truth(value: Any) -> bool:
    """Whether a value is truthy in JavaScript, but not true."""
    return value is not True and not isinstance(value, dict) and (isinstance(value, list) or bool(value))


@invariant("tool_call.a-thrown-value-is-told")
def what_a_judge_throws_is_told(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        gates, result = call.handled("tool_call"), call.result
        threw = [gate for gate in gates if story.threw(gate)]
        if not call.clear or result is None or len(threw) != 1 or call.batch.cut or call.bodies:
            continue
        done = story.exit_of(threw[0])
        thrown = done["threw"] if done is not None else None
        # What a listener of the host decides outside of the judges may overrule them, either way.
        others = any(event["decision"] is not None for event in call.of("policy") if event["phase"] == "exit")
        written = story.wrote(call.handled("tool_execution_end"))
        if not isinstance(thrown, str) or len(thrown) < SHORTEST or others or written:
            continue
        if blocking(story, call) is not None or call.host_broke:
            continue
        lost = thrown not in text_of(result["content"])
        told = f"{call.label}: {threw[0]['package']} threw"
        yield f"{told} {show(thrown)}, and its result says {show(text_of(result['content']))}" if lost else None


@invariant("registerTool.a-returned-iserror-is-no-error")
def what_a_tool_returns_is_a_success(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        bodies, result = call.of("tool.enter"), call.result
        if not call.clear or len(bodies) != 1 or result is None or call.batch.cut:
            continue
        returned = story.reply(bodies[0]).get("returns")
        if not isinstance(returned, dict) or returned.get("isError") is not True or story.threw(bodies[0]):
            continue
        if not _is_blocks(returned.get("content")):
            continue
        handlers = [*call.handled("tool_result"), *call.handled("tool_execution_end")]
        if any(_flags(story.reply(enter)) or ("reply" not in enter.data) for enter in handlers):
            continue
        yield f"{call.label}: its tool returned isError, and it failed" if result["isError"] is True else None


def _is_blocks(content: Any) -> bool:
    return isinstance(content, list) and all(
        isinstance(block, dict) and block.get("type") == "text" for block in content
    )


def _flags(reply: dict[str, Any]) -> bool:
    """Whether a handler may have set the flag of a result, or may have broken it."""
    returned = reply.get("returns")
    odd = returned is not None and (not isinstance(returned, dict) or "$" in returned or "isError" in returned)
    if isinstance(returned, dict) and "content" in returned and not _is_blocks(returned["content"]):
        return True
    return odd or any(op["path"][:1] in (["isError"], ["result"]) for op in reply.get("ops") or ())


@invariant(
    "registerTool.an-odd-result-costs-one-result",
    "registerTool.whatever-is-thrown-is-one-error",
    "registerTool.a-missing-execute-spares-the-others",
    roles="bridge",
)
def nothing_is_aborted_that_nobody_cancelled(story: Story, context: Context) -> Answers:
    if story.listened or any(story.acts[act] for act in _CUTS):
        return
    for call in story.calls:
        if call.clear and call.result is not None and call.batch.finish in (None, "calls"):
            code = str(call.result["code"] or "")
            told = f"{call.label}: its result is {code}, and nobody cancelled anything"
            yield told if code.startswith("ABORTED") else None
