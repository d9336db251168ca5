"""What is said of the answers that packages get from the API: lists of tools, and whether a tool was taken back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.compare import same
from conformance.invariants import Story
from conformance.invariants._story import Call
from conformance.programs.gherkin import inline
from conformance.programs.places import listed
from conformance.programs.statements import Pair
from conformance.trace import Event

CHANGES = ("setActiveTools", "registerTool", "unregisterTool")


def compare_lists(pair: Pair, call: Call, other: Call, left_out: set[str]) -> None:
    """Say what was answered to the API calls that handlers and body of one call made.

    Within one handler, or one body, and only where nothing changed in the batch before it: whether a change is in force
    for the rest of its batch is the host's choice.
    """
    if not call.clear or not other.clear:
        return
    several = len(pair.right.kinds["agent.created"]) > 1
    for one, two in _entered(call, other):
        if several and one.kind == "native.enter":
            continue  # Whose list a package is given where none of it is at work has no rule.
        if _changed(pair.right, call, one) or _changed(pair.found, other, two):
            continue
        asked = [list(_asked(story, event)) for story, event in ((pair.right, one), (pair.found, two))]
        where = f"{call.label}: in {one['event'] or 'the body'} of {one['package'] or 'the native tool'}"
        _compare(pair, where, asked[0], asked[1], left_out, one)


def compare_idle(pair: Pair, done: int, before: int, left_out: set[str]) -> tuple[int, bool]:
    """Say what was answered outside any turn, from the call numbered ``done`` on, up to a place of the right story.

    Returns the number of the next call, and whether all answers were equal that a rule speaks about.
    """
    rights, founds = list(_idle(pair.right)), list(_idle(pair.found))
    upto = len([each for each in rights if pair.right.number(each[0]) < before])
    if [each[0]["call"] for each in founds[done:upto]] != [each[0]["call"] for each in rights[done:upto]]:
        return upto, False
    if len([event for event in pair.right.kinds["agent.created"] if pair.right.number(event) < before]) > 1:
        return upto, True  # Whose list an instance gives that serves several agents has no rule.
    return upto, _compare(pair, "outside any turn", rights[done:upto], founds[done:upto], left_out, None)


def _entered(call: Call, other: Call) -> Iterator[tuple[Event, Event]]:
    """Yield the entries of both sides that are of the same handler, or of the one body."""
    for event in call.handlers:
        rights, founds = _by_handler(call, event), _by_handler(other, event)
        for key in rights.keys() & founds.keys():
            if len(rights[key]) == len(founds[key]):
                yield from zip(rights[key], founds[key], strict=True)
    if len(call.bodies) == len(other.bodies) == 1 and call.bodies[0].kind == other.bodies[0].kind:
        yield call.bodies[0], other.bodies[0]


def _by_handler(call: Call, event: str) -> dict[tuple[str, str], list[Event]]:
    grouped: dict[tuple[str, str], list[Event]] = {}
    for enter in call.handled(event):
        grouped.setdefault((enter["package"], enter["handler"]), []).append(enter)
    return grouped


def _changed(story: Story, call: Call, enter: Event) -> bool:
    """Whether something else may have changed an agent's tools, from the step's beginning to the handler's end."""
    request = story.number(call.batch.request)
    begun = story.prepared(call.agent, request)
    since = request if begun is None else begun
    done = story.exit_of(enter)
    until = story.number(done) if done is not None else len(story.events)
    own = enter["invocation"]
    return any(since < n < until and story.events[n]["invocation"] != own for n in story.changes)


def _asked(story: Story, enter: Event) -> Iterator[tuple[Event, Any]]:
    """Yield the API calls of one invocation, with their outcomes."""
    for event in story.kinds["api.call"]:
        if event["invocation"] == enter["invocation"] and not _failed(story, event):
            yield event, story_outcome(story, event)


def _failed(story: Story, event: Event) -> bool:
    """Whether an API call is one of an instance that failed to load: what such a one may do has no rule."""
    made = story.instances.get(event["instance"] or "")
    return made is not None and made["error"] is not None


def story_outcome(story: Story, event: Event) -> Any:
    """Return how an API call was answered."""
    return next((each["outcome"] for each in story.kinds["api.return"] if each["api"] == event["api"]), None)


def _idle(story: Story) -> Iterator[tuple[Event, Any]]:
    """Yield the API calls that were made after the first agent was created, and in no turn."""
    created = story.kinds["agent.created"]
    if not created:
        return
    turns = 0
    for event in story.events[story.number(created[0]) :]:
        if event.kind == "turn.start":
            turns += 1
        elif event.kind == "turn.end":
            turns -= 1
        elif event.kind == "agent.disposed":
            return  # What an instance may still do whose agent is gone has no rule.
        elif event.kind == "api.call" and not event["invocation"] and turns <= 0:
            if event["call"] == "on" or _failed(story, event):
                continue
            yield event, story_outcome(story, event)


def _compare(
    pair: Pair,
    where: str,
    rights: list[tuple[Event, Any]],
    founds: list[tuple[Event, Any]],
    left_out: set[str],
    enter: Event | None,
) -> bool:
    if len(rights) != len(founds):
        return False
    last: str | None = None
    for (event, right), (_, found) in zip(rights, founds, strict=True):
        if not _one(pair, f"{where}: {event['call']}", event, right, found, left_out, last, enter):
            return False
        last = event["call"] if event["call"] in CHANGES else last
    return True


def _one(
    pair: Pair,
    where: str,
    event: Event,
    right: Any,
    found: Any,
    left_out: set[str],
    last: str | None,
    enter: Event | None,
) -> bool:
    name = event["call"]
    if not isinstance(right, dict) or "returned" not in right or not isinstance(found, dict):
        return True  # What throws on the right side is no list, or a name that may be refused.
    if name == "getActiveTools":
        sides = [_names(side.get("returned"), left_out) for side in (right, found)]
        then = _differ_in(pair.right, event, sides)
        return pair.say(_active_rule(last, enter), "active tools", where, *sides, then=then)
    if name == "getAllTools":
        # On Pi a tool that is switched off has its row.
        off = pair.beside_pi and listed(pair.right, pair.right.number(event))
        rule = "getAllTools.only-visible-tools" if off else "getAllTools.lists-native-and-migrated-alike"
        return _all(pair, where, event, rule, right["returned"], found.get("returned"), left_out)
    if name == "unregisterTool":
        return _taken(pair, where, event, right["returned"], found, left_out)
    if name == "setActiveTools":
        names = (event["args"] or [None])[0]
        if isinstance(names, list) and all(isinstance(each, str) for each in names):
            rule, threw = "setActiveTools.unknown-names-are-skipped", "threw" in found
            then = (f"{name} did not throw",) if _is_last(pair.right, event) else ()
            return pair.say(rule, "list", f"{where} throws", False, threw, then=then)
    return True


def _differ_in(story: Story, event: Event, sides: list[Any]) -> tuple[str, ...]:
    """Return the step that says what the last answer of its kind has, or lacks, on the right side alone."""
    call = event["call"]
    if not _is_last(story, event) or not all(isinstance(side, list) for side in sides):
        return ()
    name = min(set(sides[0]) ^ set(sides[1]), default=None)
    word = "with" if name in sides[0] else "without"
    return (f'{call} returned a list {word} "{name}"',) if name is not None and '"' not in name else ()


def _is_last(story: Story, event: Event) -> bool:
    """Whether an API call is the last of its name: the steps speak of that one."""
    return event is [each for each in story.kinds["api.call"] if each["call"] == event["call"]][-1]


def _names(returned: Any, left_out: set[str]) -> Any:
    return sorted(set(map(str, returned)) - left_out) if isinstance(returned, list) else returned


def _active_rule(last: str | None, enter: Event | None) -> str:
    if last == "setActiveTools":
        return "getActiveTools.follows-a-restriction-at-once"
    if last == "registerTool":
        running = enter is not None and enter.kind == "tool.enter"
        return "registerTool.active-at-once" if running else "getActiveTools.lists-a-tool-registered-a-moment-ago"
    if last == "unregisterTool":
        return "unregisterTool.gone-from-the-packages-lists"
    return "getActiveTools.lists-native-and-migrated-alike"


def _all(pair: Pair, where: str, event: Event, there: str, right: Any, found: Any, left_out: set[str]) -> bool:
    rights, founds = _rows(right), _rows(found)
    missing = sorted(rights.keys() - left_out - founds.keys())
    then = _differ_in(pair.right, event, [missing, []])
    if not pair.say(there, "all tools", f"{where} lacks", [], missing, then=then):
        return False
    more = sorted(founds.keys() - left_out - rights.keys())
    if not pair.say("getAllTools.only-visible-tools", "all tools", f"{where} has more", [], more):
        return False
    for name in sorted(rights.keys() - left_out):
        for key in ("description", "parameters"):
            told = f"{where}: the {key} of {name}"
            values = rights[name].get(key), founds[name].get(key)
            if _in_the_catalogue(pair.found, name, key, values[1]) or _as_then(pair, name, key, *values):
                continue  # It is in the list as the model reads it; whether that is right is another rule's.
            if not pair.say("getAllTools.rows-equal-the-catalogue", "all tools", told, *values):
                return False
        native = not pair.right.instances or not _is_own(pair.right, name)
        rule = "getAllTools.no-invented-guidelines-on-natives" if native else "getAllTools.no-guidelines-on-own-tools"
        guided = ["promptGuidelines" in side[name] for side in (rights, founds)]
        then = (f'the row of "{name}" from getAllTools is without "promptGuidelines"',)
        then = then if _is_last(pair.right, event) and not guided[0] else ()
        if not pair.say(rule, "all tools", f"{where}: guidelines of {name}", *guided, then=then):
            return False
        sourced = [isinstance(side[name].get("sourceInfo"), dict) for side in (rights, founds)]
        if not pair.say("getAllTools.rows-have-a-source", "all tools", f"{where}: a source of {name}", *sourced):
            return False
    return True


def _in_the_catalogue(story: Story, name: str, key: str, value: Any) -> bool:
    """Whether every request that lists a tool has this in its row; without one the catalogue is not known."""
    rows = [row for request in story.kinds["model.request"] for row in request["tools"] if row["name"] == name]
    return all(same(row.get(key), value) for row in rows)


def _as_then(pair: Pair, name: str, key: str, right: Any, found: Any) -> bool:
    """Whether a request that shows the model what the right list has shows it, on the other side, what that one has."""
    rows: list[dict[tuple[str | None, int], Any]] = [
        {
            (request.agent, request["request"]): row.get(key)
            for request in story.kinds["model.request"]
            for row in request["tools"]
            if row["name"] == name
        }
        for story in (pair.right, pair.found)
    ]
    return any(same(value, right) and at in rows[1] and same(rows[1][at], found) for at, value in rows[0].items())


def _rows(returned: Any) -> dict[str, dict[str, Any]]:
    rows = returned if isinstance(returned, list) else []
    return {str(row.get("name")): row for row in rows if isinstance(row, dict)}


def _is_own(story: Story, name: str) -> bool:
    return any(
        event["call"] == "registerTool" and isinstance(event["args"][0], dict) and event["args"][0].get("name") == name
        for event in story.kinds["api.call"]
        if event["args"]
    )


def _taken(pair: Pair, where: str, event: Event, right: Any, found: dict[str, Any], left_out: set[str]) -> bool:
    name = (event["args"] or [None])[0]
    if not isinstance(name, str):
        return pair.say(
            "unregisterTool.odd-values-are-false", "unregister", where, right, found.get("returned", "it threw")
        )
    if name in left_out and right is not False:
        return True
    rule = "unregisterTool.the-own-tool-goes"
    if right is False:
        again = any(
            each["call"] == "unregisterTool" and (each["args"] or [None])[0] == name
            for each in pair.right.kinds["api.call"]
            if pair.right.number(each) < pair.right.number(event)
        )
        if name in left_out:
            return True
        if not _is_own(pair.right, name):
            natives = any(name in (each["natives"] or ()) for each in pair.right.kinds["operator"])
            rule = "unregisterTool.a-native-tool-stays" if natives else "unregisterTool.an-unknown-name-is-false"
        else:
            rule = "unregisterTool.a-second-call-is-false" if again else "unregisterTool.another-packages-tool-stays"
    then = (f"unregisterTool returned {inline(right)}",) if _is_last(pair.right, event) else ()
    return pair.say(rule, "unregister", where, right, found.get("returned", "it threw"), then=then)
