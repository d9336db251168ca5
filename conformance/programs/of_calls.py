"""What is said of one call: who is told of it, in which order and what; whether its body runs, and with what."""

from __future__ import annotations

import json
from typing import Any

from conformance.invariants import Story
from conformance.invariants._story import Call
from conformance.programs.gherkin import inline
from conformance.programs.of_results import compare_results
from conformance.programs.paths import Path, has_null, path_of
from conformance.programs.places import steady
from conformance.programs.statements import Pair
from conformance.trace import Event, text_of

GATE, RESULT, START, END, UPDATE = (
    "tool_call",
    "tool_result",
    "tool_execution_start",
    "tool_execution_end",
    "tool_execution_update",
)
ORDER = {
    START: "tool_execution_start.handlers-are-told-in-load-order",
    GATE: "tool_call.handlers-are-asked-in-load-order",
    RESULT: "tool_result.patches-chain",
    END: "tool_execution_end.handlers-are-told-in-load-order",
}
SILENCED = {
    START: "tool_execution_start.a-throwing-handler-silences-nobody",
    UPDATE: "tool_execution_update.a-throwing-handler-silences-nobody",
    RESULT: "tool_result.a-throwing-handler-changes-nothing",
    END: "tool_execution_end.a-throwing-handler-silences-nobody",
}
_BODIES = ("tool.enter", "native.enter")


def compare_calls(pair: Pair, call: Call, other: Call) -> bool:
    """Say everything of one call of both sides; return whether they are equal in all that the rules tell."""
    path, theirs = path_of(pair.right, call), path_of(pair.found, other)
    if path.way == "unknown" and theirs.way in ("blocked", "gate threw"):
        return False  # Whether a name that is unknown is judged has no must, and what a judge does counts.
    if path.free or path.way == "not run" or theirs.free or (path.way == "denied") != (theirs.way == "denied"):
        return False  # Who is asked about a call that the host denies is the host's choice, and so what they answer.
    if path.own and has_null(call) and path.way != theirs.way:
        return False  # A null for an optional property has two right answers: the call is valid with one of them alone.
    if not _told(pair, call, other, path, START, GATE) or not _inputs(pair, call, other, path):
        return False
    if not path.host_broke:
        ran = [[_body(each) for each in side.bodies] for side in (call, other)]
        total = len([e for e in pair.right.events if e.kind in _BODIES and e["tool"] == call.name])
        then = f'the tool "{call.name}" runs {total} times' if total else f'the tool "{call.name}" does not run'
        if not pair.say(_body_rule(pair.right, call, path), "body", f"{call.label}: its body", *ran, then=(then,)):
            return False
        if len(ran[0]) == 1 and not _given(pair, call, other, path):
            return False
    if not _told(pair, call, other, path, UPDATE, RESULT, END) or not _updates(pair, call, other, path):
        return False
    if path.host_broke or not _logged(pair, call, other, path):
        return False
    return compare_results(pair, call, other, path)


def _body_rule(story: Story, call: Call, path: Path) -> str:
    """Return the rule on whether the body runs; where a start handler answered or threw, that this changes nothing."""
    starts = call.handled(START)
    if path.mutated and not path.own:
        return path.rule  # Whether a native tool runs with changed arguments is what matters.
    if call.bodies and any("returns" in story.reply(event) for event in starts):
        return "tool_execution_start.answers-change-nothing"
    if call.bodies and any(story.threw(event) for event in starts):
        return "tool_execution_start.a-throwing-handler-silences-nobody"
    return path.rule


def _given(pair: Pair, call: Call, other: Call, path: Path) -> bool:
    """Say with what the one body runs."""
    one, two = call.bodies[0], other.bodies[0]
    if path.own and path.exact:
        params = one["params"], two["params"]
        then = (f'call "{call.id}" of "{call.name}" runs with {inline(params[0])}',)
        if not pair.say(path.arguments, "arguments", f"{call.label}: what it runs with", *params, then=then):
            return False
    if one.kind == "tool.enter" == two.kind:
        extras = one["extras"] or {}, two["extras"] or {}
        for key, rule in _EXTRAS.items():
            sides = [each.get(key) for each in extras]
            then = (f'the tool "{call.name}" is handed {inline({key: sides[0]})} beside its arguments',)
            if not pair.say(rule, "extras", f"{call.label}: its {key}", *sides, then=then):
                return False
    return True


_EXTRAS = {
    "onUpdate": "registerTool.on-update-is-always-a-function",
    "signal": "registerTool.execute-gets-a-signal-and-a-context",
    "ctx": "registerTool.execute-gets-a-signal-and-a-context",
}


def _logged(pair: Pair, call: Call, other: Call, path: Path) -> bool:
    """Say what arguments the log keeps of a call whose text is JSON."""
    if call.record is None or other.record is None or path.writes:
        return True
    rule = (
        "tool_call.mutation-never-reaches-the-log"
        if path.mutated
        else "registerTool.the-log-keeps-what-the-model-wrote"
    )
    then = (f'the log keeps {inline(call.record)} as the arguments of call "{call.id}"',)
    return pair.say(rule, "log", f"{call.label}: its arguments in the log", call.record, other.record, then=then)


# --- events -----------------------------------------------------------------------------------------------------------


def _told(pair: Pair, call: Call, other: Call, path: Path, *events: str) -> bool:
    for event in events:
        rule = path.told(event)
        if rule is None:
            continue
        right, found = map(_listeners, steady(pair, call, other, event))
        if sorted(right) != sorted(found):
            packages = sorted({row[0] for row in (*right, *found)})
            package = next(name for name in packages if _of(right, name) != _of(found, name)) if right or found else ""
            total = len(
                [e for e in pair.right.kinds["handler.enter"] if (e["event"], e["package"]) == (event, package)]
            )
            then = (
                f'package "{package}" sees {event} {total} times'
                if total
                else f'package "{package}" never sees {event}'
            )
            if event == GATE and len(found) < len(right):
                rule = "tool_call.every-call-is-judged"
            if event in SILENCED and len(found) < len(right) and _threw(pair.found, other, event):
                rule = SILENCED[event]
            where = f"{call.label}: who is told {event}"
            if not pair.say(rule, event, where, sorted(right), sorted(found), then=(then,)):
                return False
            continue
        if event == UPDATE and len({tuple(row) for row in right}) == len(right):
            # Of several updates the next may be told before the last is heard.
            rule = "tool_execution_update.handlers-are-told-in-load-order"
            if not pair.say(rule, "order", f"{call.label}: who is told {event} first", right, found):
                return False
        if event in ORDER and not pair.say(
            ORDER[event], "order", f"{call.label}: who is told {event} first", right, found
        ):
            return False
    return True


def _inputs(pair: Pair, call: Call, other: Call, path: Path) -> bool:
    if path.writes or path.told(GATE) is None or not (path.exact or not path.own) or call.record is None:
        return True
    if len(call.handled(GATE)) > 1 and any(_assigns(pair.right, each) for each in call.handled(GATE)):
        return False  # Whether the next judge is shown what one assigns is the implementation's choice.
    for number, (one, two) in enumerate(zip(*steady(pair, call, other, GATE), strict=False)):
        rule = "tool_call.mutation-is-seen-by-later-handlers"
        if not number:
            rule = "tool_call.the-gate-sees-checked-arguments" if path.own else "tool_call.every-call-is-judged"
        seen = [(each["payload"] or {}).get("input") for each in (one, two)]
        then = f'package "{one["package"]}" sees {GATE} of call "{call.id}" with {inline({"input": seen[0]})}'
        if not pair.say(rule, "input", f"{call.label}: what {one['package']} judges", *seen, then=(then,)):
            return False
    return True


def _updates(pair: Pair, call: Call, other: Call, path: Path) -> bool:
    """Say what each handler is told of a running tool, and in which order."""
    if path.told(UPDATE) is None:
        return True
    entered = steady(pair, call, other, UPDATE)
    rights, founds = _partials(pair.right, entered[0]), _partials(pair.found, entered[1])
    for key in sorted(rights.keys() & founds.keys()):
        right, found = rights[key], founds[key]
        where = f"{call.label}: the updates that {key[0]} is told"
        plain = [[each for each in side if isinstance(each, dict) and "$" not in each] for side in (right, found)]
        moved = sorted(map(json.dumps, plain[0])) == sorted(map(json.dumps, plain[1]))
        rule = "tool_execution_update.in-order" if moved else "tool_execution_update.from-on-update"
        alone = len([each for each in rights if each[0] == key[0]]) == 1
        then = _sees_updates(call, key[0], right, found) if alone else ()
        if not pair.say(rule, "updates", where, *plain, then=then):
            return False
        if not pair.say("tool_execution_update.odd-partials-pass", "updates", where, right, found, then=then):
            return False
    return True


def _sees_updates(call: Call, package: str, right: list[Any], found: list[Any]) -> tuple[str, ...]:
    texts = [
        [text_of(each.get("content")) if isinstance(each, dict) else each for each in side] for side in (right, found)
    ]
    if texts[0] != texts[1]:
        return (f'package "{package}" sees the updates {inline(texts[0])} of call "{call.id}"',)
    lost = [inline({"partialResult": each}) for each in right if each not in found]
    return tuple(f'package "{package}" sees {UPDATE} of call "{call.id}" with {each}' for each in lost[:1])


def _partials(story: Story, entered: list[Event]) -> dict[tuple[str, str], list[Any]]:
    """Return the partial results by package and handler; of a handler that writes into them, nothing."""
    found: dict[tuple[str, str], list[Any]] = {}
    if any(story.reply(event).get("ops") for event in entered):
        return found
    for event in entered:
        found.setdefault((event["package"], event["handler"]), []).append((event["payload"] or {}).get("partialResult"))
    return found


def _listeners(entered: list[Event]) -> list[list[str]]:
    """Package and handler of every entry, in order."""
    return [[str(each["package"]), str(each["handler"])] for each in entered]


def _assigns(story: Story, gate: Event) -> bool:
    return any(op["op"] == "assign" for op in story.reply(gate).get("ops") or ())


def _threw(story: Story, call: Call, event: str) -> bool:
    return any(story.threw(each) for each in call.handled(event))


def _of(rows: list[list[str]], package: str) -> int:
    return len([row for row in rows if row[0] == package])


def _body(event: Event) -> list[str]:
    if event.kind == "native.enter":
        return ["native", event["tool"]]
    return [event["package"], event["tool"], event["tag"] or ""]
