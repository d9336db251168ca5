"""Invariants of what handlers of one call are told: whose call it is, and how each builds on the one before it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from conformance.compare import same, show
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._once import gathered
from conformance.invariants._story import Call, Story
from conformance.trace import Event, plain, same_text, text_of


@invariant("tool_execution_start.payload")
def starts_name_their_call(story: Story, context: Context) -> Answers:
    return _named(story, "tool_execution_start")


@invariant("tool_call.every-call-is-judged")
def judges_are_told_whose_call_it_is(story: Story, context: Context) -> Answers:
    return _named(story, "tool_call")


@invariant("tool_execution_update.from-on-update")
def updates_name_their_call(story: Story, context: Context) -> Answers:
    return _named(story, "tool_execution_update")


@invariant("tool_result.payload")
def results_name_their_call(story: Story, context: Context) -> Answers:
    return _named(story, "tool_result")


@invariant("tool_execution_end.payload")
def ends_name_their_call(story: Story, context: Context) -> Answers:
    return _named(story, "tool_execution_end")


def _named(story: Story, name: str) -> Answers:
    if story.listened:
        return  # A listener of the host's own may make it another tool's call.
    for call in story.calls:
        entered = call.handled(name)
        # What a handler writes into the event may be seen by the ones after it: no rule.
        if not call.clear or not entered or (len(entered) > 1 and any(_writes(story, event) for event in entered)):
            continue
        for event in entered:
            payload = event["payload"] if isinstance(event["payload"], dict) else {}
            told = [payload.get("type"), payload.get("toolName")]
            wrong = told != [name, call.name]
            yield f"{call.label}: a handler of {name} was told {show(told)} (event {event.seq})" if wrong else None


@invariant("tool_result.payload")
def the_first_to_see_a_result_sees_the_tools_own(story: Story, context: Context) -> Answers:
    for call, payload, reply in _first_shown(story):
        wanted: Any = reply.get("returns")
        if "throws" in reply or not _plain(wanted):
            continue
        told = f"{call.label}: {call.handled('tool_result')[0]['package']} was shown"
        shown = [payload.get("content"), payload.get("isError")]
        wrong = not same(shown, [wanted["content"], False])
        yield f"{told} {show(shown)} of {show(wanted['content'])}" if wrong else None
        if "details" in wanted and _is_lossless(wanted["details"]):
            details = payload.get("details")
            lost = not same(details, wanted["details"])
            yield f"{told} the details {show(details)} of {show(wanted['details'])}" if lost else None


@invariant("tool_result.fires-for-failed-tools")
def the_first_to_see_a_failure_sees_what_was_thrown(story: Story, context: Context) -> Answers:
    for call, payload, reply in _first_shown(story):
        message = _message(reply.get("throws"))
        if message:
            lost = payload.get("isError") is not True or plain(message) not in text_of(payload.get("content"))
            shown = [payload.get("content"), payload.get("isError")]
            told = f"{call.label}: {call.handled('tool_result')[0]['package']} was shown"
            yield f"{told} {show(shown)} of a tool that threw {message!r}" if lost else None


@gathered
def _first_shown(story: Story) -> Iterator[tuple[Call, dict[str, Any], dict[str, Any]]]:
    """Yield each call of a package's tool whose result was shown to somebody: the first payload, the tool's reply."""
    for call in story.calls if not story.listened else ():
        patches, bodies = call.handled("tool_result"), call.of("tool.enter")
        if call.clear and patches and len(bodies) == 1 and not call.batch.cut:
            payload = patches[0]["payload"]
            yield call, payload if isinstance(payload, dict) else {}, story.reply(bodies[0])


@invariant("tool_result.input-is-what-the-tool-ran-with")
def results_show_the_input_the_tool_ran_with(story: Story, context: Context) -> Answers:
    for call in story.calls:
        patches, bodies = call.handled("tool_result"), call.bodies
        if not call.clear or not patches or len(bodies) != 1 or call.batch.cut or story.listened:
            continue
        if story.reply(bodies[0]).get("ops") or not _may_be_told(story, call):
            continue  # What a tool makes of them may be seen: tool_result.input-has-what-the-tool-changed.
        ran = bodies[0]["params" if bodies[0].kind == "tool.enter" else "arguments"]
        shown = (patches[0]["payload"] or {}).get("input")
        if not _is_lossless(shown) or not _is_lossless(ran):
            continue  # A key without a value may be left out on the way.
        yield (
            None
            if same(shown, ran)
            else f"{call.label}: ran with {show(ran)}, {patches[0]['package']} was shown {show(shown)}"
        )


def _may_be_told(story: Story, call: Call) -> bool:
    return not any(
        op.get("at") == "after-return" for gate in call.handled("tool_call") for op in story.reply(gate).get("ops", ())
    )


@invariant("tool_result.patches-chain")
def patches_build_on_each_other(story: Story, context: Context) -> Answers:
    """Each handler of a result sees what the one before it saw, but for what that one answered."""
    for call in story.calls if not story.listened else ():
        seen = call.handled("tool_result")
        if len(seen) < 2 or not call.clear or call.batch.cut or any(_writes(story, event) for event in seen):
            continue  # What one writes into the event may be shown to the next, and counts on Pi beside a patch.
        for one, two in pairwise(seen):
            wanted, done = _patched(story, one), story.exit_of(one)
            if wanted is None or done is None or story.number(two) < story.number(done):
                continue
            found = two["payload"] or {}
            for key, value in wanted.items():
                wrong = not same(found.get(key), value)
                told = f"{call.label}: {two['package']} was shown the {key}"
                left = f"after {one['package']} left"
                yield f"{told} {show(found.get(key))} {left} {show(value)} (event {two.seq})" if wrong else None


@invariant("registerTool.text-results-reach-log-and-model")
def a_result_of_nothing_stays_empty(story: Story, context: Context) -> Answers:
    for call in story.calls if not story.listened else ():
        bodies, result = call.of("tool.enter"), call.result
        if not call.clear or len(bodies) != 1 or result is None or call.batch.cut or call.handled("tool_result"):
            continue
        returned = story.reply(bodies[0]).get("returns")
        if not isinstance(returned, dict) or "isError" in returned:
            continue  # Whether isError fails the call is another rule's.
        if returned.get("content") == [] and not story.threw(bodies[0]):
            if story.wrote(call.handled("tool_execution_end")):
                continue
            text = text_of(result["content"])
            yield f"{call.label}: its tool returned nothing, and the log keeps {show(text)}" if text else None


@invariant("tool_result.content-may-be-emptied")
def an_emptied_result_is_empty(story: Story, context: Context) -> Answers:
    for call, patches in patches_of(story):
        if patches[-1] != [] or call.result is None or call.result["isError"] is not False:
            continue
        text = text_of(call.result["content"])
        yield f"{call.label}: it was emptied, and the log keeps {show(text)}" if text else None


@invariant("tool_result.an-errors-text-is-replaced")
def an_errors_text_is_what_the_last_patch_gave(story: Story, context: Context) -> Answers:
    for call, patches in patches_of(story):
        texts = [block["text"] for block in patches[-1] if isinstance(block.get("text"), str) and block["text"].strip()]
        bodies, result = call.bodies, call.result
        if result is None or result["isError"] is not True or not texts or not story.threw(bodies[0]):
            continue
        kept = text_of(result["content"])
        lost = [text for text in texts if plain(text) not in kept]
        yield f"{call.label}: the log keeps {show(kept)} instead of {show(lost[0])}" if lost else None


@gathered
def patches_of(story: Story) -> Iterator[tuple[Call, list[list[dict[str, Any]]]]]:
    """Yield the calls whose content handlers replaced by texts and pictures, and nobody wrote into: what each gave.

    A null after another patch takes that back on Pi.
    """
    for call in story.calls if not story.listened else ():
        seen = call.handled("tool_result")
        if not seen or not call.clear or call.batch.cut or len(call.bodies) != 1:
            continue
        if any(_writes(story, event) for event in seen):
            continue
        if story.wrote(call.handled("tool_execution_end")):
            continue  # What an end handler writes into the result takes effect on Pi.
        returned = [story.reply(event).get("returns") for event in seen if "throws" not in story.reply(event)]
        given = [each["content"] for each in returned if isinstance(each, dict) and "content" in each]
        if given and all(isinstance(each, list) and all(map(_is_block, each)) for each in given):
            yield call, given


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("text", "image")


@invariant("tool_result.text-is-replaced")
def the_log_keeps_what_patches_leave(story: Story, context: Context) -> Answers:
    """The durable result is what the last handler that was shown it left, where it is of texts alone."""
    for call in story.calls if not story.listened else ():
        seen, result = call.handled("tool_result"), call.result
        if not seen or not call.clear or result is None or call.batch.cut:
            continue
        if any(_writes(story, event) for event in seen):
            continue  # What one writes into the event counts on Pi beside a patch.
        if any(op["op"] == "assign" for each in seen for op in story.reply(each).get("ops") or ()):
            continue  # What is assigned is shown to later handlers, and counts only once one of them answers.
        left = _patched(story, seen[-1])
        if left is None or not _texts(left.get("content")) or "isError" not in left:
            continue
        if story.wrote(call.handled("tool_execution_end")):
            continue  # What an end handler writes into the result takes effect on Pi.
        kept = [text_of(result["content"]), result["isError"]]
        wanted = [text_of(left["content"]), left["isError"]]
        told = f"{call.label}: {seen[-1]['package']} left"
        equal = same_text(kept[0], wanted[0]) and same(kept[1], wanted[1])
        yield None if equal else f"{told} {show(wanted)}, the log keeps {show(kept)}"


def _patched(story: Story, enter: Event) -> dict[str, Any] | None:
    """Return content and flag as a handler of a result leaves them, of those the rules tell; ``None`` for none."""
    payload, reply = enter["payload"], story.reply(enter)
    if not isinstance(payload, dict) or reply.get("ops") or ("reply" not in enter.data and not reply):
        return None
    if not isinstance(payload.get("isError"), bool):
        return None  # What an earlier one answered that is no flag is shown on Pi, and no rule says what it counts for.
    left = {key: payload.get(key) for key in ("content", "isError") if _is_lossless(payload.get(key))}
    patch = reply.get("returns")
    if "throws" in reply or not isinstance(patch, dict) or "$" in patch:
        return left
    if any(patch.get(key, "") is None for key in left):
        return None  # Null patches nothing, and may be shown to later handlers all the same.
    content = patch.get("content")
    if content is not None:
        if _texts(content):
            left["content"] = content
        else:
            left.pop("content", None)
    flag = patch.get("isError")
    if flag is True:
        left["isError"] = True
    elif flag is not None:
        return None  # A vain recovery changes nothing on a bridge, and recovers on Pi; others have no rule.
    return left


@invariant("tool_call.mutation-is-seen-by-later-handlers")
def judges_see_the_same_input_unless_one_changes_it(story: Story, context: Context) -> Answers:
    for call in story.calls:
        seen = call.handled("tool_call")
        if not call.clear or story.listened:
            continue
        for one, two in pairwise(seen):
            if _writes(story, one):
                break
            shown = [(event["payload"] or {}).get("input") for event in (one, two)]
            wrong = not same(*shown)
            told = f"{call.label}: {two['package']} judges"
            yield f"{told} {show(shown[1])}, and {one['package']} judged {show(shown[0])}" if wrong else None


@invariant("tool_call.the-gate-sees-checked-arguments")
def a_tool_runs_with_what_was_judged(story: Story, context: Context) -> Answers:
    for call in story.calls:
        gates, bodies = call.handled("tool_call"), call.of("tool.enter")
        if not call.clear or not gates or len(bodies) != 1 or story.listened:
            continue
        if any(_writes(story, gate) for gate in gates):
            continue
        if story.changed(story.number(call.batch.request), story.number(bodies[0])):
            continue  # It may be another tool's by then, which prepares its arguments.
        judged, ran = (gates[-1]["payload"] or {}).get("input"), bodies[0]["params"]
        yield None if same(judged, ran) else f"{call.label}: ran with {show(ran)}, was judged with {show(judged)}"


def _writes(story: Story, enter: Event) -> bool:
    """Whether a handler wrote into what it was given, as far as is known: one that was not answered may have."""
    return bool(story.reply(enter).get("ops")) or ("reply" not in enter.data and not story.reply(enter))


def _plain(returned: Any) -> bool:
    return isinstance(returned, dict) and "isError" not in returned and _texts(returned.get("content"))


def _texts(content: Any) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and all(
            isinstance(block, dict)
            and block.keys() == {"type", "text"}
            and block["type"] == "text"
            and isinstance(block["text"], str)
            for block in content
        )
    )


def _is_lossless(value: Any) -> bool:
    """Whether a value is one that JSON can carry: others travel as tags."""
    if isinstance(value, dict):
        return "$" not in value and all(map(_is_lossless, value.values()))
    return not isinstance(value, list) or all(map(_is_lossless, value))


def _message(thrown: Any) -> str:
    text = thrown.get("message") if isinstance(thrown, dict) and thrown.get("$") == "error" else ""
    return text if isinstance(text, str) else ""
