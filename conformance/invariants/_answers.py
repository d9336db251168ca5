"""Invariants of answers easily read amiss: what is changed in place, taken back, thrown as a text, or empty."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.compare import same, show
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._once import gathered
from conformance.invariants._pictures import PNG, keeps_pictures
from conformance.invariants._story import Call, Story, tagged
from conformance.trace import Event, images_of, text_of

_POINTS = "-*\u2022"
_BULLET = re.compile(r"^\s*[-*\u2022]\s*$", re.MULTILINE)
_BUILT_IN = re.compile(r"built.?in", re.IGNORECASE)


@invariant("tool_execution_start.empty-text-is-an-empty-object", roles="bridge")
def an_empty_text_starts_as_an_empty_object(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        for start in call.handled("tool_execution_start")[:1] if call.clear and call.text == "" else ():
            shown = (start["payload"] or {}).get("args")
            yield f"{call.label}: its text is empty, and it starts with {show(shown)}" if shown != {} else None


@invariant("getAllTools.rows-have-a-source")
def no_tool_of_a_package_is_built_in(story: Story, context: Context) -> Answers:
    for event in story.kinds["api.return"]:
        rows = (event["outcome"] or {}).get("returned") if event["call"] == "getAllTools" else None
        for row in rows if isinstance(rows, list) else ():
            name = row.get("name") if isinstance(row, dict) else None
            source = row.get("sourceInfo") if isinstance(row, dict) else None
            if name in story.registrations and name not in story.natives and isinstance(source, dict):
                built = _BUILT_IN.search(str(source.get("source")))
                yield f"getAllTools calls the package's {name} built in (event {event.seq})" if built else None


@invariant("tool_result.input-has-what-the-tool-changed")
def results_show_what_the_tool_made_of_its_input(story: Story, context: Context) -> Answers:
    for call, patches in _executed(story):
        body = call.bodies[0]
        ops = story.reply(body).get("ops") or []
        if body.kind != "tool.enter" or not ops or not isinstance(body["params"], dict):
            continue
        if any(op["op"] != "set" or len(op["path"]) != 1 or op.get("at") == "after-return" for op in ops):
            continue
        shown = (patches[0]["payload"] or {}).get("input")
        for op in ops:
            if "value" in op and not any(tagged(op["value"])):
                key = op["path"][0]
                lost = not isinstance(shown, dict) or not same(shown.get(key), op["value"])
                told = f"{call.label}: its tool set {key} to {show(op['value'])}, and {patches[0]['package']} is shown"
                yield f"{told} {show(shown)}" if lost else None


@invariant("tool_result.changed-in-place")
def a_text_that_is_changed_in_place_is_changed(story: Story, context: Context) -> Answers:
    """By the only handler that is asked, and that says nothing else."""
    for call, patches in _executed(story):
        reply = story.reply(patches[0])
        ops = reply.get("ops") or []
        if len(patches) != 1 or len(ops) != 1 or "returns" in reply or "throws" in reply or not _succeeded(patches):
            continue
        op, content = ops[0], (patches[0]["payload"] or {}).get("content")
        if op["path"] != ["content", 0, "text"] or op["op"] != "set" or op.get("at") == "after-return":
            continue
        if isinstance(content, list) and content and isinstance(content[0], dict) and content[0].get("type") == "text":
            kept = text_of(call.result["content"]) if call.result is not None else ""
            lost = op["value"] not in kept
            yield (
                f"{call.label}: {show(op['value'])} was written into its text, and it is {show(kept)}" if lost else None
            )


@invariant("tool_result.a-handlers-error-may-be-taken-back")
def what_handlers_made_an_error_they_may_take_back(story: Story, context: Context) -> Answers:
    for call, patches in _executed(story):
        replies = [story.reply(each) for each in patches]
        returned = [each.get("returns") for each in replies]
        if any(each.get("ops") or "throws" in each for each in replies) or not _succeeded(patches):
            continue
        if "isError" in str(story.reply(call.bodies[0])) or not all(isinstance(each, dict | None) for each in returned):
            continue
        flags = [each["isError"] for each in returned if each is not None and "isError" in each]
        if not all(isinstance(flag, bool) for flag in flags) or True not in flags or flags[-1] is True:
            continue
        failed = call.result is not None and call.result["isError"] is True
        yield (
            f"{call.label}: a handler made it an error, the last one took that back, and it failed" if failed else None
        )


@invariant("tool_result.assigned-fields-alone-change-nothing")
def what_is_assigned_alone_changes_nothing(story: Story, context: Context) -> Answers:
    """Where no handler answers anything, and at least one assigns."""
    for call, patches in _executed(story):
        replies = [reply for each in patches if (reply := story.reply(each))]
        payload = patches[0]["payload"] or {}
        if not replies or any(set(each) != {"ops"} or not _assigns(each) for each in replies):
            continue
        if _succeeded(patches) and isinstance(payload.get("content"), list) and call.result is not None:
            was, kept = text_of(payload["content"]), text_of(call.result["content"])
            right = call.result["isError"] is False and was == kept
            told = f"{call.label}: fields of its result were assigned and nobody answered"
            yield None if right else f"{told}, and {show(was)} became {show(kept)}"


@invariant("tool_result.assigned-fields-count-beside-a-patch")
def what_is_assigned_after_a_patch_counts(story: Story, context: Context) -> Answers:
    """By the last handler, that answers nothing, where an earlier one has given another content."""
    for call, patches in _executed(story):
        *earlier, last = [story.reply(each) for each in patches]
        given = [each["returns"] for each in earlier if isinstance(each.get("returns"), dict)]
        if "returns" in last or "throws" in last or not _assigns(last) or not _succeeded(patches):
            continue
        if len(given) != len(earlier) or not any(isinstance(each.get("content"), list) for each in given):
            continue
        wanted = [text_of(op["value"]) for op in last["ops"] if op["path"] == ["content"]]
        if wanted and call.result is not None:
            kept = text_of(call.result["content"])
            told = f"{call.label}: its content was assigned beside an answer, and it is {show(kept)}"
            yield told if wanted[-1] not in kept else None


@invariant("registerTool.a-thrown-text-reaches-the-model")
def a_text_that_a_tool_throws_is_told(story: Story, context: Context) -> Answers:
    """Where no handler has anything to say of the result."""
    for call in story.calls if not story.listened else ():
        if not call.clear or call.batch.cut or len(call.bodies) != 1 or story.wrote(call.handled("tool_execution_end")):
            continue
        body, patches = call.bodies[0], call.handled("tool_result")
        thrown = story.reply(body).get("throws")
        if body.kind != "tool.enter" or not isinstance(thrown, str) or len(thrown) < 4 or call.result is None:
            continue
        if not any(story.reply(each) for each in patches):
            kept = text_of(call.result["content"])
            yield (
                f"{call.label}: its tool threw {show(thrown)}, and it says {show(kept)}" if thrown not in kept else None
            )


@invariant("registerTool.prompt-snippet-while-active")
def blank_guidelines_leave_no_trace(story: Story, context: Context) -> Answers:
    """Where no text is given that begins like a point: how lines are broken has no rule."""
    blank: dict[str, int] = {}
    for name, events in story.registrations.items():
        for event in events:
            lines = event["args"][0].get("promptGuidelines") or ()
            given = [line for line in lines if isinstance(line, str)]
            if any(line.lstrip()[:1] in _POINTS for line in given if line.strip()):
                return
            if any(not line.strip() for line in given):
                blank.setdefault(name, story.number(event))
    requests = story.kinds["model.request"] if blank else []
    for request in requests:
        if any(blank.get(row["name"], len(story.events)) < story.number(request) for row in request["tools"]):
            empty = _BULLET.search(str(request["system"] or ""))
            yield f"request {request['request']} of {request.agent}: a point of its prompt is empty" if empty else None
        elif _BULLET.search(str(request["system"] or "")):
            return  # It is how prompts look there.


@invariant("tool_result.an-error-keeps-its-pictures", roles="bridge")
def an_error_keeps_its_pictures(story: Story, context: Context) -> Answers:
    """Where the host keeps pictures at all, and the only handler makes an error of a result and leaves its content."""
    if not keeps_pictures(story):
        return
    for call, patches in _executed(story):
        body = call.bodies[0]
        returned = story.reply(body).get("returns")
        if body.kind != "tool.enter" or not isinstance(returned, dict) or story.threw(body) or call.result is None:
            continue
        given = images_of(returned.get("content"))
        if not given or not all(str(each.get("data", "")).startswith(PNG) for each in given):
            continue
        if len(patches) == 1 and story.reply(patches[0]) == {"returns": {"isError": True}}:
            kept = images_of(call.result["content"])
            yield f"{call.label}: a handler made it an error, and its picture is gone" if not kept else None


@invariant("tool_result.details-stay-the-tools-own", roles="bridge")
def the_log_keeps_no_details_but_the_tools(story: Story, context: Context) -> Answers:
    """Of a success; details that a tool does not give may be none, or nothing at all."""
    for call in story.calls if not story.listened else ():
        bodies, result = call.of("tool.enter"), call.result
        if not call.clear or len(bodies) != 1 or result is None or call.batch.cut or result["isError"] is not False:
            continue
        returned = story.reply(bodies[0]).get("returns")
        if not isinstance(returned, dict) or story.wrote([*bodies, *call.handled("tool_result")]):
            continue
        given, kept = returned.get("details"), result["details"]
        if any(tagged(given)) or kept in (None, {}):
            continue
        yield None if same(given, kept) else f"{call.label}: the log keeps the details {show(kept)} of {show(given)}"


def _assigns(reply: dict[str, Any]) -> bool:
    """Whether all that a handler does is to assign the content or the flag of a result, in time."""
    ops = reply.get("ops") or []
    fields = (["content"], ["isError"])
    return bool(ops) and all(
        op["op"] == "assign" and op["path"] in fields and op.get("at") != "after-return" for op in ops
    )


def _succeeded(patches: list[Event]) -> bool:
    """Whether the first handler was shown a success: a tool may fail otherwise than by a throw."""
    return (patches[0]["payload"] or {}).get("isError") is False


@gathered
def _executed(story: Story) -> Iterator[tuple[Call, list[Event]]]:
    """Yield the calls whose one body ran and came to an end by itself, with the handlers that saw the result.

    Not those whose end handlers write into what they are told: on Pi that takes effect.
    """
    for call in story.calls if not story.listened else ():
        patches = call.handled("tool_result")
        whole = call.clear and not call.batch.cut and len(call.bodies) == 1 and call.result is not None and patches
        if whole and not story.wrote(call.handled("tool_execution_end")):
            yield call, patches
