"""Invariants of effects that need their own cause: a signal's abort, a turn's end, a reason, a picture, a notice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.invariants._gates import blocking
from conformance.invariants._inputs import is_native, registered, takes_anything
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._lists import in_force
from conformance.invariants._payloads import patches_of
from conformance.invariants._pictures import PNG
from conformance.invariants._story import Call, Story
from conformance.trace import Event, images_of, text_of

_ENDED = ("dispose", "unload", "reload", "host", "listen")
_CANCELLED = ("aborted", "cancelled")
SHORTEST = 8
"""Characters of a reason below which finding it in another text may be chance."""
_TELLING = re.compile(r"[a-z]+_[a-z_]{2,}")
"""Names that no sentence has by chance."""


def _quiet(story: Story) -> bool:
    """Whether nothing but the user, or a package, can have cut a turn short."""
    return not story.listened and not any(story.acts[act] for act in _ENDED)


@invariant("registerTool.a-cancel-ends-with-its-turn")
def a_signal_is_aborted_by_a_cancel_of_its_turn(story: Story, context: Context) -> Answers:
    """Where no agent ended and no package went."""
    for call in story.calls if _quiet(story) else ():
        for enter in call.of("tool.enter") if call.clear and call.agent not in context.child_agents else ():
            if enter["aborted"] is not None:
                alone = enter["aborted"] is True and not _cancels(story, call.agent, story.number(enter))
                told = f"{call.label}: its body was handed an aborted signal, and nobody had cancelled its turn"
                yield f"{told} (event {enter.seq})" if alone else None


@invariant("registerTool.a-cancel-ends-with-its-turn")
def a_cancel_ends_no_other_agents_turn(story: Story, context: Context) -> Answers:
    """Where no agent ended and no package went; the reason says that the turn was cancelled."""
    if not story.acts["cancel"] or not _quiet(story):
        return
    for end in story.kinds["turn.end"]:
        agent = end.agent or ""
        if agent in context.child_agents:
            continue
        alone = end["reason"] in _CANCELLED and not _cancels(story, agent, story.number(end))
        yield f"{agent}'s turn was cancelled, and by nobody (event {end.seq})" if alone else None


def _cancels(story: Story, agent: str, before: int) -> bool:
    """Whether anybody cancelled an agent's turn before a place, since the turn before it ended.

    A cancel that comes just before the start is told may still meet the turn.
    """
    begun = (story.number(event) for event in story.kinds["turn.start"] if event.agent == agent)
    start = max((number for number in begun if number < before), default=-1)
    ended = (story.number(event) for event in story.kinds["turn.end"] if event.agent == agent)
    since = max((number for number in ended if number < start), default=-1)
    return any(event.agent == agent and since < story.number(event) < before for event in story.acts["cancel"])


@invariant("tool_call.a-block-without-a-reason-still-says-something")
def what_is_blocked_without_a_reason_says_no_others(story: Story, context: Context) -> Answers:
    reasons: set[str] = set()
    wordless: list[Call] = []
    for call in story.calls if not story.listened else ():
        for gate in call.handled("tool_call"):
            returned = story.reply(gate).get("returns")
            reason = returned.get("reason") if isinstance(returned, dict) else None
            if isinstance(reason, str) and len(reason.strip()) >= SHORTEST:
                reasons.add(reason.strip())
        blocked = blocking(story, call)
        if blocked is not None and not story.reply(blocked)["returns"].get("reason"):
            wordless.append(call)
    for call in wordless if reasons else ():
        if not call.clear or call.result is None or call.bodies or call.batch.cut or call.of("policy"):
            continue
        if story.wrote(call.handled("tool_execution_end")):
            continue  # What an end handler writes into the result takes effect on Pi.
        said = text_of(call.result["content"])
        others = sorted(reason for reason in reasons if reason in said)
        yield f"{call.label}: it was blocked without a reason, and says {others[0]!r}" if others else None


@invariant("tool_call.the-rest-of-the-chain-decides", roles="bridge")
def what_the_hosts_listener_breaks_does_not_run(story: Story, context: Context) -> Answers:
    """Of calls about which one listener was asked, which threw."""
    for call in story.calls if not story.listened else ():
        asked = call.of("policy")
        if call.clear and call.host_broke and len(asked) == 1 and not call.batch.cut:
            ran = [body for body in call.bodies if story.number(body) > story.number(asked[0])]
            told = f"{call.label}: the host's listener threw (event {asked[0].seq}), and its body ran"
            yield f"{told} (event {ran[0].seq})" if ran else None


@invariant("registerTool.a-question-of-the-host-is-asked", "tool_call.the-rest-of-the-chain-decides", roles="bridge")
def what_the_user_allows_runs(story: Story, context: Context) -> Answers:
    """A tool that asks for nothing, at which judges only look, and about which one listener asks the user."""
    opened = next(iter(story.acts["open"]), None)
    if opened is None or opened["approval"] != "allowed-once" or story.listened:
        return
    for call in story.calls:
        batch, spec = call.batch, registered(story, call)
        decided = [event for event in call.of("policy") if event["phase"] == "exit"]
        if not call.clear or batch.cut or call.result is None or batch.finish not in (None, "calls"):
            continue
        if len(decided) != 1 or call.host_broke or (decided[0]["decision"] or {}).get("kind") != "ask":
            continue
        if any(story.reply(gate) or story.threw(gate) for gate in call.handled("tool_call")):
            continue
        if not isinstance(call.record, dict) or not (takes_anything(spec) or is_native(story, call)):
            continue
        listed = any(row["name"] == call.name for row in batch.request["tools"])
        steady = not story.changed(story.number(batch.request), story.number(call.result))
        concluded = any(story.reply(body).get("conclude") for each in batch.calls for body in each.of("native.enter"))
        if listed and steady and not concluded and (spec or {}).get("executes", True):
            yield None if call.bodies else f"{call.label}: the user allowed it, and its body did not run"


@invariant("tool_result.a-picture-left-out-is-gone")
def a_picture_that_is_left_out_is_gone(story: Story, context: Context) -> Answers:
    """Of a package's tool, where the last patch of the content has no picture."""
    for call, given in patches_of(story):
        body, result = call.bodies[0], call.result
        returned = story.reply(body).get("returns")
        if body.kind != "tool.enter" or result is None or not isinstance(returned, dict) or story.threw(body):
            continue
        if images_of(returned.get("content")) and not images_of(given[-1]):
            kept = bool(images_of(result["content"]))
            yield f"{call.label}: a picture that a handler left out is in its result" if kept else None


@invariant("tool_result.a-natives-pictures-stay", roles="bridge")
def a_natives_pictures_stay(story: Story, context: Context) -> Answers:
    """In a result at which handlers only look."""
    for call in story.calls if not story.listened else ():
        bodies, result = call.of("native.enter"), call.result
        if not call.clear or len(bodies) != 1 or result is None or call.batch.cut or call.host_broke:
            continue
        content = story.reply(bodies[0]).get("content")
        given = images_of(content) if isinstance(content, list) else []
        seen = [*call.handled("tool_result"), *call.handled("tool_execution_end")]
        if not given or not seen or result["isError"] is True or any(story.reply(each) for each in seen):
            continue
        if all(str(each.get("data", "")).startswith(PNG) for each in given):
            lost = len(images_of(result["content"])) < len(given)
            yield f"{call.label}: a picture of its result is gone" if lost else None


@invariant("setActiveTools.what-cannot-be-switched-off-is-reported-once", roles="bridge")
def what_a_list_names_is_not_reported(story: Story, context: Context) -> Answers:
    """In the notices that are given while the list is set; of names that no sentence has by chance."""
    for event in story.methods["setActiveTools"] if "notices" in context.capabilities else ():
        names = (event["args"] or [None])[0]
        telling = [name for name in names if _is_telling(name)] if isinstance(names, list) else []
        for notice in _notices_of(story, event) if telling else ():
            named = [name for name in telling if _names(notice, name)]
            told = f"setActiveTools (event {event.seq}) names {', '.join(named)}, which the notice names too"
            yield f"{told} (event {notice.seq})" if named else None


@invariant("setActiveTools.each-agents-list-is-reported", roles="bridge")
def each_agents_list_is_reported(story: Story, context: Context) -> Answers:
    """Of native tools whose names no sentence has by chance: told since an agent's list was first set, if it stays."""
    if "notices" not in context.capabilities:
        return
    for request, since, names in in_force(story, context):
        last = story.events[since]
        first = min(
            story.number(each)
            for each in story.methods["setActiveTools"]
            if each["instance"] == last["instance"] and each["args"] == last["args"]
            if _agent_of(story, each) == _agent_of(story, last) and story.number(each) <= since
        )
        told = [event for event in story.kinds["notice"] if story.number(event) > first]
        for name in {row["name"] for row in request["tools"]} - names:
            there = story.natives.get(name, ())
            if _is_telling(name) and name not in story.registrations and there and max(there) < first:
                silent = not any(_names(notice, name) for notice in told)
                has = f"request {request['request']} of {request.agent} has {name}, which its list leaves out"
                yield f"{has}, and no notice since says so" if silent else None


def _is_telling(name: object) -> bool:
    return isinstance(name, str) and len(name) >= SHORTEST and _TELLING.fullmatch(name) is not None


def _names(notice: Event, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", str(notice["text"])) is not None


def _agent_of(story: Story, call: Event) -> str | None:
    enter = story.enters.get(call["invocation"] or "")
    return enter.agent if enter is not None else None


def _notices_of(story: Story, call: Event) -> Iterator[Event]:
    """Yield the notices that were given while an API call was answered."""
    for event in story.events[story.number(call) + 1 :]:
        if event.kind != "notice":
            return
        yield event
