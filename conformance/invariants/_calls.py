"""Invariants of one call: its start, its end, their order, and what they tell."""

from __future__ import annotations

from collections import Counter, defaultdict

from conformance.compare import same, show
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._story import Call, Story
from conformance.trace import Event, same_text, text_of

START, END = "tool_execution_start", "tool_execution_end"


def _per_handler(events: list[Event]) -> dict[tuple[str, str], list[Event]]:
    """Group entries by instance and handler: each sees every event once."""
    grouped: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        grouped[event["instance"], event["handler"]].append(event)
    return grouped


def _disturbed(story: Story, call: Call) -> bool:
    """Whether the host broke the call's path, or its turn or message was cut: then the path table has no such rule."""
    cut = call.batch.cut or call.batch.finish == "length"
    return cut or story.listened or call.record is None or call.host_broke


@invariant("tool_execution_end.one-end-for-every-start")
def one_end_for_every_start(story: Story, context: Context) -> Answers:
    """A handler that a package added several times is told as often at most."""
    added = Counter((each.instance, each.handler) for each in story.subscriptions)
    for call in story.calls:
        if not call.clear or not (call.result or context.settled):
            continue
        starts, ends = _per_handler(call.handled(START)), _per_handler(call.handled(END))
        for handler, found in [*starts.items(), *ends.items()]:
            many = len(found) > max(1, added[handler])
            yield f"{call.label}: handler {handler[1]} of {handler[0]} was entered {len(found)} times" if many else None
        told = {instance for instance, _ in starts}, {instance for instance, _ in ends}
        exits = [story.exit_of(event) for event in call.handled(START)]
        seen = [*(events[-1] for events in call.events.values()), *[event for event in exits if event is not None]]
        # A package that went before its start handler had answered has no end to hear.
        last = max(map(story.number, seen), default=call.batch.begin)
        for instance in story.listening(call.batch.begin, max(last, call.batch.end or 0), START, END):
            began, ended = instance in told[0], instance in told[1]
            only = "start" if began else "end"
            yield f"{call.label}: instance {instance} was told its {only} only" if began != ended else None


@invariant("tool_execution_start.every-call-starts")
def every_call_starts(story: Story, context: Context) -> Answers:
    for call in story.calls:
        if not call.clear or call.result is None or _disturbed(story, call) or not isinstance(call.record, dict):
            continue
        if call.agent in context.child_agents:
            continue
        last = story.number(call.result)
        started = {event["instance"] for event in call.handled(START)}
        for instance in story.listening(call.batch.begin, last, START):
            if story.serves(instance, call.agent):
                missing = instance not in started
                yield f"{call.label}: instance {instance} was not told its start" if missing else None


@invariant("tool_execution_start.follows-the-durable-record")
def starts_follow_the_durable_record(story: Story, context: Context) -> Answers:
    for call in story.calls:
        starts, logged = call.handled(START), call.of("log.call")
        if call.clear and starts and logged:
            early = story.number(starts[0]) < story.number(logged[0])
            yield f"{call.label}: its start (event {starts[0].seq}) came before its record" if early else None


@invariant("tool_execution_end.one-end-for-every-start")
def start_comes_first(story: Story, context: Context) -> Answers:
    for call in story.calls:
        starts = call.handled(START)
        if not call.clear or not starts:
            continue
        first = story.number(starts[0])
        for event in call.of("handler.enter", "tool.enter", "native.enter"):
            if event["event"] == START:
                continue
            what = event["event"] or "the body"
            early = story.number(event) < first
            yield f"{call.label}: {what} (event {event.seq}) came before its start" if early else None


@invariant("tool_execution_start.awaited-before-the-call-is-judged")
def starts_are_awaited_before_the_gate(story: Story, context: Context) -> Answers:
    for call in story.calls:
        gates = call.handled("tool_call")
        if not call.clear or not gates:
            continue
        first = story.number(gates[0])
        for start in call.handled(START):
            done = story.exit_of(start)
            late = done is None or story.number(done) > first
            yield f"{call.label}: was judged while start handler {start['handler']} was at work" if late else None


@invariant("tool_execution_start.arguments-equal-the-durable-record")
def start_arguments_equal_the_durable_record(story: Story, context: Context) -> Answers:
    for call in story.calls:
        record, starts = call.record, call.handled(START)
        if not call.clear or not starts or not isinstance(record, dict):
            continue
        # What a handler writes may be seen by the ones after it: no rule.
        told = (starts[0]["payload"] or {}).get("args")
        equal = same(told, record)
        yield None if equal else f"{call.label}: start saw {show(told)}, the log keeps {show(record)}"


@invariant("tool_execution_start.arguments-that-are-no-object")
def start_arguments_equal_a_record_that_is_no_object(story: Story, context: Context) -> Answers:
    """Of a list, a text, a number or a truth value."""
    for call in story.calls if not story.listened else ():
        record, starts = call.record, call.handled(START)
        if call.clear and starts and isinstance(record, list | str | int | float):
            told = (starts[0]["payload"] or {}).get("args")
            equal = same(told, record)
            yield None if equal else f"{call.label}: start saw {show(told)}, the log keeps {show(record)}"


@invariant("tool_execution_end.nothing-of-a-call-after-its-end")
def nothing_of_a_call_after_its_end(story: Story, context: Context) -> Answers:
    for call in story.calls:
        ends = call.handled(END)
        if not call.clear or not ends:
            continue
        last = {event["instance"]: story.number(event) for event in ends}
        latest = max(last.values())
        for event in call.of("handler.enter", "tool.enter", "native.enter"):
            if event["event"] == END:
                continue
            ended = last.get(event["instance"], latest if event.kind != "handler.enter" else None)
            if ended is None:
                continue
            what = event["event"] or "the body"
            late = story.number(event) > ended
            yield f"{call.label}: {what} (event {event.seq}) came after its end" if late else None


@invariant("tool_execution_end.after-tool-result")
def ends_come_after_tool_result(story: Story, context: Context) -> Answers:
    for call in story.calls:
        ends, patches = call.handled(END), call.handled("tool_result")
        if not call.clear or not ends or not patches:
            continue
        first = story.number(ends[0])
        for patch in patches:
            done = story.exit_of(patch)
            early = done is None or story.number(done) > first
            yield f"{call.label}: its end came while handler {patch['handler']} was at work" if early else None


@invariant("tool_execution_end.before-the-durable-result")
def ends_come_before_the_durable_result(story: Story, context: Context) -> Answers:
    for call in story.calls:
        result = call.result
        if not call.clear or result is None or _disturbed(story, call) or not isinstance(call.record, dict):
            continue
        for end in call.handled(END):
            done = story.exit_of(end)
            late = done is None or story.number(done) > story.number(result)
            yield f"{call.label}: was logged before end handler {end['handler']} was done" if late else None


@invariant("tool_result.awaited-before-the-log")
def tool_result_comes_before_the_durable_result(story: Story, context: Context) -> Answers:
    for call in story.calls:
        result = call.result
        if not call.clear or result is None or call.batch.cut:
            continue
        for patch in call.handled("tool_result"):
            done = story.exit_of(patch)
            late = done is None or story.number(done) > story.number(result)
            yield f"{call.label}: was logged before handler {patch['handler']} was done" if late else None


@invariant("tool_execution_end.equals-the-durable-result")
def the_end_tells_the_durable_result(story: Story, context: Context) -> Answers:
    for call in story.calls:
        ends, result = call.handled(END), call.result
        if not call.clear or not ends or result is None or _disturbed(story, call):
            continue
        if not isinstance(call.record, dict):
            continue
        if any(story.reply(event).get("ops") for event in [*ends, *call.handled("tool_result")]):
            continue  # Who writes into what is told may be seen or not: no rule.
        payload = ends[0]["payload"] or {}
        shown = payload.get("result")
        if not isinstance(shown, dict):
            continue  # An odd result of the tool's, shown as it is.
        told = text_of(shown.get("content"))
        kept = text_of(result["content"])
        equal = same_text(told, kept) and bool(payload.get("isError")) is bool(result["isError"])
        yield (
            None
            if equal
            else (
                f"{call.label}: the end tells {show([told, payload.get('isError')])}, "
                f"the log keeps {show([kept, result['isError']])}"
            )
        )


@invariant("tool_execution_end.equals-the-durable-result")
def the_end_of_a_cut_call_tells_its_failure(story: Story, context: Context) -> Answers:
    """Of a call that never ran, since the user cancelled before."""
    for call in story.calls if not story.listened else ():
        ends, result = call.handled(END), call.result
        if not call.clear or not ends or result is None or call.bodies or not call.batch.cut:
            continue
        if isinstance(call.record, dict) and not call.host_broke and call.batch.finish in (None, "calls"):
            flags = [bool((ends[0]["payload"] or {}).get("isError")), bool(result["isError"])]
            told = f"{call.label}: the end tells isError {show(flags[0])}, the log keeps {show(flags[1])}"
            yield None if flags[0] is flags[1] else told
