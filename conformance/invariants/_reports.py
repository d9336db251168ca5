"""Invariants of what is reported and left behind: a notice for each cause at most, and no child of the provider."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import Any

from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._story import Story
from conformance.trace import Event

_WORD = re.compile(r"\w+")
_KEYWORDS = frozenset(
    {
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "enum",
        "const",
    }
)
"""Keywords that a catalogue may lose, of those that are no usual words."""
SHORTEST = 8
"""Characters of a thrown message below which finding it in a notice may be chance."""


@invariant("setActiveTools.what-cannot-be-switched-off-is-reported-once", roles="bridge")
def one_list_reports_each_thing_once(story: Story, context: Context) -> Answers:
    """Within one call of ``setActiveTools``, which returns before anything else can happen."""
    said: Counter[tuple[Any, ...]] | None = None
    for event in story.events if story.methods["setActiveTools"] else ():
        if event.kind == "api.call":
            said = Counter() if event["call"] == "setActiveTools" else None
        elif event.kind != "notice" or said is None:
            said = None
        else:
            said[_key(event)] += 1
            again = said[_key(event)] > 1
            yield f"one setActiveTools was reported twice: {event['text']!r} (event {event.seq})" if again else None


@invariant("registerTool.each-keyword-reaches-the-model-or-is-announced")
def a_lost_keyword_is_announced_once(story: Story, context: Context) -> Answers:
    """Within one call of ``registerTool``: no two notices are about the same keyword of the same property."""
    for call in story.methods["registerTool"] if story.kinds["notice"] else ():
        spec = (call["args"] or [None])[0]
        properties: Any = spec.get("parameters") if isinstance(spec, dict) else None
        properties = properties.get("properties") if isinstance(properties, dict) else None
        said: set[tuple[str, frozenset[str], frozenset[str]]] = set()
        for event in story.events[story.number(call) + 1 :] if isinstance(properties, dict) else ():
            if event.kind != "notice":
                break
            words = frozenset(_WORD.findall(str(event["text"])))
            about = (str(event["channel"]), words & _KEYWORDS, words & frozenset(properties))
            twice = about in said and bool(about[1]) and bool(about[2])
            told = f"one registerTool was told twice of {', '.join(sorted(about[1]))} of {', '.join(sorted(about[2]))}"
            yield f"{told} (event {event.seq})" if twice else None
            said.add(about)


@invariant("setActiveTools.the-same-call-again-adds-no-notice", roles="bridge")
def the_same_list_again_is_not_reported(story: Story, context: Context) -> Answers:
    """Of one agent, for which one instance sets it twice, and nothing that an agent may see changed between."""
    if len(story.kinds["agent.created"]) != 1 or story.listened:
        return
    lists = story.methods["setActiveTools"]
    ready = story.number(story.kinds["agent.created"][0])
    for one, two in pairwise(lists):
        begin, end = story.number(one), story.number(two)
        if one["instance"] != two["instance"] or one["args"] != two["args"] or begin < ready:
            continue
        if story.changed(begin, end) or not all(
            "returned" in story.outcomes.get(each["api"], {}) for each in (one, two)
        ):
            continue
        said = _said(story, begin)
        again = sorted(str(key[2]) for key in _said(story, end) & said)
        if said:
            yield f"the same list was set again (event {two.seq}), and reported again: {again[0]}" if again else None


def _said(story: Story, call: int) -> set[tuple[Any, ...]]:
    """Return the notices that were given while an API call was answered."""
    found = set()
    for event in story.events[call + 1 :]:
        if event.kind != "notice":
            break
        found.add(_key(event))
    return found


@invariant("tool_execution_end.a-throwing-handler-is-reported", "tool_result.a-throwing-handler-is-reported")
def a_throw_is_reported_once(story: Story, context: Context) -> Answers:
    """No more equal notices than throws that they can be about."""
    throws: Counter[str] = Counter()
    for event in [*story.kinds["handler.exit"], *story.kinds["tool.exit"], *story.kinds["native.exit"]]:
        message = _message(event["threw"])
        if message is not None:
            throws[message] += 1
    notices = Counter(_key(event) for event in story.kinds["notice"])
    for key, count in notices.items():
        about = [number for message, number in throws.items() if message in str(key[2])]
        if about:
            many = count > sum(about)
            yield f"{sum(about)} throw(s) were reported {count} times: {key[2]!r}" if many else None


@invariant("tool_execution_start.a-throwing-handler-is-reported")
def what_start_handlers_throw_is_reported(story: Story, context: Context) -> Answers:
    return _reported(story, context, "tool_execution_start")


@invariant("tool_execution_update.a-throwing-handler-is-reported")
def what_update_handlers_throw_is_reported(story: Story, context: Context) -> Answers:
    return _reported(story, context, "tool_execution_update")


@invariant("tool_result.a-throwing-handler-is-reported")
def what_result_handlers_throw_is_reported(story: Story, context: Context) -> Answers:
    return _reported(story, context, "tool_result")


@invariant("tool_execution_end.a-throwing-handler-is-reported")
def what_end_handlers_throw_is_reported(story: Story, context: Context) -> Answers:
    return _reported(story, context, "tool_execution_end")


def _reported(story: Story, context: Context, name: str) -> Answers:
    """Some notice has the message: one for several equal ones is right, and so is one before the handler's end."""
    if "notices" not in context.capabilities or not context.settled:
        return
    told = [str(event["text"]) for event in story.kinds["notice"]]
    for event in story.kinds["handler.exit"]:
        message = _message(event["threw"]) if event["event"] == name else None
        if message is not None:
            lost = not any(message in text for text in told)
            yield f"a {name} handler of {event['package']} threw {message!r}, and no notice says so" if lost else None


@invariant("tool_result.a-vain-recovery-is-reported", roles="bridge")
def a_vain_recovery_is_reported(story: Story, context: Context) -> Answers:
    if "notices" not in context.capabilities or not context.settled or story.listened:
        return
    told = [str(event["text"]) for event in story.kinds["notice"]]
    for call in story.calls:
        bodies, result = call.bodies, call.result
        if not call.clear or len(bodies) != 1 or result is None or result["isError"] is not True or call.batch.cut:
            continue
        for patch in call.handled("tool_result") if story.threw(bodies[0]) else ():
            returned = story.reply(patch).get("returns")
            if isinstance(returned, dict) and returned.get("isError") is False:
                silent = not any(patch["package"] in text or call.name in text for text in told)
                vain = f"{call.label}: {patch['package']} took its failure back in vain"
                yield f"{vain}, and no notice says so" if silent else None


@invariant("exec.the-whole-group-goes", roles="bridge")
def no_child_outlives_the_stage(story: Story, context: Context) -> Answers:
    for event in story.acts["close"]:
        if event["children"] is not None:
            left = ", ".join(map(str, event["children"]))
            yield f"children of the provider outlived the stage: {left}" if left else None


def _key(event: Event) -> tuple[Any, ...]:
    return event["channel"], event["level"], event["text"], event["instance"]


def _message(thrown: Any) -> str | None:
    text = thrown.get("message") if isinstance(thrown, dict) else thrown
    return text if isinstance(text, str) and len(text) >= SHORTEST else None
