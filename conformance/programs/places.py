"""From which place of a story on a program may mean something else to another implementation, and until where not."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from conformance.invariants import Story
from conformance.invariants._story import CHANGES, Batch, Call, Subscription
from conformance.programs.statements import Pair
from conformance.trace import Event

BESIDE = ("cancel", "steer", "follow_up")
ENDS = ("tool_result", "tool_execution_end")


def interfered(story: Story, agent: str, before: int) -> bool:
    """Whether the user cancelled or spoke to an agent before, in a turn or beside one, or packages came or went."""
    created = story.kinds["agent.created"][:1]
    for event in story.kinds["operator"]:
        if story.number(event) >= before:
            break
        if event["act"] in ("unload", "reload") or (event["act"] in BESIDE and event.agent == agent):
            return True
        if event["act"] == "load" and any(story.number(each) < story.number(event) for each in created):
            return True
    return _narrowed_for_nobody(story, before) or _changed_by_a_failed_package(story, before)


def _changed_by_a_failed_package(story: Story, before: int) -> bool:
    """Whether a package that failed to load changed something afterwards: on Pi it may, and no rule says so."""
    failed = {name: story.number(made) for name, made in story.instances.items() if made["error"] is not None}
    return any(
        failed.get(event["instance"], before) < story.number(event) < before
        for event in (story.kinds["api.call"] if failed else ())
        if event["call"] in ("setActiveTools", "registerTool", "unregisterTool")
    )


def _narrowed_for_nobody(story: Story, before: int) -> bool:
    """Whether a list was set where no package is at work, and there are several agents: whose it is has no rule."""
    agents = [story.number(event) for event in story.kinds["agent.created"]]
    if len(agents) < 2 or agents[1] > before:
        return False
    return any(
        event["call"] == "setActiveTools" and _is_nobodys(story, event) and agents[0] < story.number(event) < before
        for event in story.kinds["api.call"]
    )


def _is_nobodys(story: Story, event: Event) -> bool:
    """Whether an API call was made outside any handler and tool of a package; a native's body is none of these."""
    enter = story.enters.get(event["invocation"] or "")
    return not event["invocation"] or (enter is not None and enter.kind == "native.enter")


def lists_while_loading(story: Story) -> set[tuple[str, bool]]:
    """Return the lists that were set before there was an agent, and whether the call threw: on Pi each does."""
    created = story.kinds["agent.created"]
    ready = story.number(created[0]) if created else len(story.events)
    outcomes = {event["api"]: event["outcome"] or {} for event in story.kinds["api.return"]}
    return {
        (str(event["args"]), "threw" in outcomes.get(event["api"], {}))
        for event in story.kinds["api.call"]
        if event["call"] == "setActiveTools" and story.number(event) < ready
    }


def shared_changes(story: Story, before: int) -> list[Any]:
    """Return what was done before that concerns every agent: tools and handlers that came or went, and policies."""
    return [change for event in story.events[:before] if (change := _shared(event)) is not None]


def changes_for(story: Story, agent: str, before: int) -> list[Any]:
    """Return what was done before that concerns an agent: what concerns every one, and the lists that were set for it.

    Where agents work at once, a list may meet either of them.
    """
    found = []
    for event in story.events[:before]:
        change = _shared(event)
        if event.kind == "api.call" and event["call"] == "setActiveTools":
            enter = story.enters.get(event["invocation"] or "")
            if enter is None or enter.agent == agent:
                change = [event["call"], event["args"]]
        if change is not None:
            found.append(change)
    return found


def _shared(event: Event) -> list[Any] | None:
    late = event["call"] == "on" and event["invocation"]
    if event.kind == "api.call" and (late or event["call"] in ("registerTool", "unregisterTool")):
        return [event["call"], event["args"]]
    if event.kind == "operator" and event["act"] in ("native", "drop-native", "policy"):
        return [event["act"], event["natives"]]
    return None


def met_while_made(story: Story, request: Event) -> bool:
    """Whether something that may change its tools was done for a call while a request was made.

    A host may look at the tools as soon as the step before is over; what is told beside the pipeline comes when it may.
    """
    at = story.number(request)
    begun = story.prepared(request.agent or "", at)
    for event in story.events[at if begun is None else begun : at]:
        if event.kind == "api.call" and event["call"] in CHANGES:
            enter = story.enters.get(event["invocation"] or "")
            if enter is not None and enter["event"] != "before_agent_start":
                return True
    return False


def steady(pair: Pair, call: Call, other: Call, event: str) -> tuple[list[Event], list[Event]]:
    """Return the entries of handlers that were there on both sides when the call's batch began.

    Whether one that is added meanwhile is told is the implementation's choice; and where there are several agents, for
    which of them it listens.
    """
    late = _late(pair.right, call) | _late(pair.found, other)
    right, found = (
        [each for each in side.handled(event) if (each["package"], each["handler"]) not in late]
        for side in (call, other)
    )
    return right, found


def _late(story: Story, call: Call) -> set[tuple[str, str]]:
    """Return, by package and name, the handlers that were added at work after a call's batch had begun."""
    several = len(story.kinds["agent.created"]) > 1
    return {
        (story.package_of(story.events[each.since]), each.handler)
        for each in story.subscriptions
        if is_late(story, each) and (several or each.since > call.batch.begin)
    }


def is_late(story: Story, subscription: Subscription) -> bool:
    """Whether a package began to listen after its factory had run."""
    made = story.instances.get(subscription.instance)
    at_work = story.events[subscription.since]["invocation"] is not None
    return at_work or (made is not None and subscription.since > story.number(made))


def is_cut(story: Story, batch: Batch) -> bool:
    """Whether a batch ended, or may have ended, otherwise than by the batch rule."""
    return batch.cut or batch.finish is not None or _concluded(batch)


def was_cut(story: Story, batch: Batch) -> bool:
    """Whether something but the implementation itself may have cut a batch short."""
    acts = [event for event in story.kinds["operator"] if event["act"] in ("cancel", "dispose", "unload", "reload")]
    return bool(acts) or batch.finish is not None or _concluded(batch)


def _concluded(batch: Batch) -> bool:
    replies = [body["reply"] or {} for call in batch.calls for body in call.of("native.enter")]
    return any(reply.get("conclude") for reply in replies)


def listed(story: Story, before: int) -> bool:
    """Whether anybody set a list before."""
    return any(e["call"] == "setActiveTools" and story.number(e) < before for e in story.kinds["api.call"])


def switched_off(story: Story, agent: str, before: int, own: Collection[str]) -> set[str]:
    """Return which packages' tools the list in force for an agent leaves out: they go or stay, as the bridge can."""
    lists = []
    for event in story.kinds["api.call"]:
        if event["call"] == "setActiveTools" and story.number(event) < before:
            enter = story.enters.get(event["invocation"] or "")
            if enter is None and len(story.kinds["agent.created"]) > 1:
                return set(own)  # Whose list it is has no rule.
            if enter is None or enter.agent == agent:
                lists.append(event)
    if not lists:
        return set()
    last, begun = lists[-1], story.prepared(agent, before)
    names, since = (last["args"] or [None])[0], story.number(last)
    # A list that was set after the step had begun is in force for its request or not.
    if not isinstance(names, list) or (begun is not None and since > begun):
        return set(own)
    # One that was set while packages were loaded is applied once there is an agent, and means what is there by then.
    applied = max([since, *map(story.number, story.kinds["agent.created"][:1])])
    return set(own) - set(map(str, names)) - _registered_after(story, applied, before)


def _registered_after(story: Story, since: int, before: int) -> set[str]:
    """Return the names that were registered for the first time between two places."""
    first: dict[str, int] = {}
    for event in story.kinds["api.call"]:
        about = (event["args"] or [None])[0]
        if event["call"] == "registerTool" and isinstance(about, dict):
            first.setdefault(str(about.get("name")), story.number(event))
    return {name for name, number in first.items() if since < number < before}


def goes_on(story: Story, batch: Batch) -> bool:
    """Whether the model is asked again for the same prompt."""
    if batch.after is None:
        return False
    return batch.end is None or story.number(batch.after) <= batch.end


def unchanged(story: Story, call: Call) -> bool:
    """Whether the call's tool, and the host's policy, were the same when it was dispatched as when it was asked for."""
    batch = call.batch
    change = _change(story, call)
    if change is None:
        return True
    ended = [event for name in ENDS for event in call.handled(name)]
    known = [story.number(event) for event in call.bodies or [*ended, *call.of("log.result")]]
    return bool(known) and batch.begin < min(known) < change


def unsettled_by_others(story: Story, call: Call) -> bool:
    """Whether a package went or came while the call's batch ran beside another agent, whose act it may have been."""
    batch, others = call.batch, len(story.kinds["agent.created"]) > 1
    end = len(story.events) if batch.end is None else batch.end
    gone = (event for event in story.kinds["operator"] if event["act"] in ("unload", "reload"))
    return others and any(batch.begin < story.number(event) < end for event in gone)


def _change(story: Story, call: Call) -> int | None:
    """Return where what the call's tool is may first have changed while its batch ran."""
    batch = call.batch
    end = story.number(batch.after) if batch.after is not None else batch.end
    numbers = {story.number(event) for event in story.kinds["operator"] if event["act"] not in ("settle", "prompt")}
    numbers |= {each.since for each in story.subscriptions if each.sync is not None and is_late(story, each)}
    for number in sorted(numbers.union(story.changes)):
        if batch.begin < number and (end is None or number < end) and _concerns(story, story.events[number], call):
            return number
    return None


def _concerns(story: Story, event: Event, call: Call) -> bool:
    if event.kind == "operator":
        if event["act"] == "native":
            return call.name in (event["natives"] or ())
        return event["act"] not in BESIDE or event.agent == call.agent
    if event.kind != "api.call":
        return True
    if event["call"] == "setActiveTools":
        enter = story.enters.get(event["invocation"] or "")
        return enter is None or enter.agent == call.agent
    about = (event["args"] or [None])[0]
    if event["call"] == "on":
        return True
    return (about.get("name") if isinstance(about, dict) else about) == call.name
