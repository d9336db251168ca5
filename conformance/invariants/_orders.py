"""Invariants of what waits for what: handlers for each other, the model for handlers, tools for tools."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._story import Batch, Call, Story
from conformance.trace import Event

END = "tool_execution_end"


@invariant("tool_call.handlers-are-asked-in-load-order")
def judges_are_asked_one_after_another(story: Story, context: Context) -> Answers:
    for call in story.calls:
        asked = call.handled("tool_call")
        for one, two in pairwise(asked) if call.clear else ():
            done = story.exit_of(one)
            beside = done is None or story.number(done) > story.number(two)
            told = f"{call.label}: {two['package']} was asked while {one['package']} had not answered (event {two.seq})"
            yield told if beside else None


@invariant("tool_call.handlers-are-asked-in-load-order")
def judges_are_asked_in_load_order(story: Story, context: Context) -> Answers:
    return _in_order(story, "tool_call")


@invariant("tool_call.a-reload-keeps-the-order")
def judges_keep_their_place_through_a_reload(story: Story, context: Context) -> Answers:
    return _in_order(story, "tool_call", reloaded=True)


@invariant("tool_execution_start.handlers-are-told-in-load-order")
def start_handlers_are_told_in_load_order(story: Story, context: Context) -> Answers:
    return _in_order(story, "tool_execution_start")


@invariant("tool_result.patches-chain")
def result_handlers_are_asked_in_load_order(story: Story, context: Context) -> Answers:
    return _in_order(story, "tool_result")


@invariant("tool_execution_end.handlers-are-told-in-load-order")
def end_handlers_are_told_in_load_order(story: Story, context: Context) -> Answers:
    return _in_order(story, END)


def _in_order(story: Story, name: str, reloaded: bool = False) -> Answers:
    """Packages as they were first loaded, and one package's handlers as it listened; where no package went for good.

    Whether one that is ``reloaded`` keeps its place is a rule of its own.
    """
    if story.acts["unload"] or bool(story.acts["reload"]) is not reloaded:
        return
    several = [call for call in story.calls if call.clear and len(call.handled(name)) > 1]
    if not several:
        return
    order: dict[str, int] = {}
    # An older recording does not say what was loaded; when instances are made is the implementation's own affair.
    loads = [event["package"] for event in story.acts["load"]]
    made = [event["package"] for event in story.instances.values()]
    for package in made if None in loads else [*loads, *made]:
        order.setdefault(package, len(order))
    since: dict[tuple[str, str], list[int]] = {}
    for each in story.subscriptions:
        since.setdefault((each.instance, each.handler), []).append(each.since)
    for call in several:
        for one, two in pairwise(call.handled(name)):
            begun = story.number(call.handled(name)[0])
            added = [since.get((each["instance"], each["handler"]), [0]) for each in (one, two)]
            if added[0][-1] > begun or added[1][-1] > begun:
                continue  # Where one stands that is added while the event is told is the implementation's choice.
            # One that was added several times is told as often.
            places = (order.get(one["package"], 0), added[0][0]), (order.get(two["package"], 0), added[1][-1])
            told = f"{call.label}: {name} came to {two['handler']} of {two['package']}"
            yield (
                f"{told} after {one['handler']} of {one['package']} (event {two.seq})"
                if places[0] > places[1]
                else None
            )


@invariant("tool_execution_start.handlers-wait-for-each-other")
def start_handlers_wait_for_each_other(story: Story, context: Context) -> Answers:
    return _one_after_another(story, "tool_execution_start")


@invariant("tool_execution_update.handlers-wait-for-each-other")
def update_handlers_wait_for_each_other(story: Story, context: Context) -> Answers:
    return _one_after_another(story, "tool_execution_update")


@invariant("tool_execution_end.handlers-wait-for-each-other")
def end_handlers_wait_for_each_other(story: Story, context: Context) -> Answers:
    return _one_after_another(story, END)


def _one_after_another(story: Story, name: str) -> Answers:
    """Of an event of which each handler was told once; two updates may be told at a time."""
    for call in story.calls:
        told = call.handled(name)
        if len(told) < 2 or not call.clear:
            continue
        if len({(event["instance"], event["handler"]) for event in told}) < len(told):
            continue
        for one, two in pairwise(told):
            done = story.exit_of(one)
            beside = done is None or story.number(done) > story.number(two)
            said = f"{call.label}: {two['handler']} of {two['package']} was told"
            yield f"{said} while {one['handler']} had not answered (event {two.seq})" if beside else None


@invariant("tool_execution_update.awaited-before-the-result")
def updates_are_awaited_before_the_result(story: Story, context: Context) -> Answers:
    for call in story.calls:
        asked = call.handled("tool_result")
        if not call.clear or not asked:
            continue
        first = story.number(asked[0])
        for update in call.handled("tool_execution_update"):
            done = story.exit_of(update)
            late = done is None or story.number(done) > first
            yield f"{call.label}: its result was shown while an update was told (event {update.seq})" if late else None


@invariant("tool_execution_end.before-the-next-request")
def ends_come_before_the_next_request(story: Story, context: Context) -> Answers:
    # A guard that throws, and arguments that are no lossless JSON, are another rule's.
    return _ended(story, lambda call: isinstance(call.record, dict) and not call.host_broke)


@invariant("tool_execution_end.ends-of-other-broken-calls-precede-the-next-request", roles="bridge")
def ends_of_broken_calls_come_before_the_next_request(story: Story, context: Context) -> Answers:
    return _ended(story, lambda call: call.record is None and call.text.strip() not in ("", "null"), turns=False)


def _ended(story: Story, fits: Callable[[Call], bool], turns: bool = True) -> Answers:
    """Of the calls that fit: handlers of the end are done before the next request; of ``turns`` before their end."""
    for batch in story.batches:
        if batch.cut or story.listened or (batch.after is None and batch.end is None):
            continue
        next_ = batch.end if batch.after is None else story.number(batch.after)
        if batch.end is not None and next_ is not None:
            if not turns and next_ >= batch.end:
                continue
            next_ = min(next_, batch.end)
        for call in batch.calls:
            if not call.clear or not fits(call):
                continue
            for end in call.handled(END):
                done = story.exit_of(end)
                late = next_ is not None and (done is None or story.number(done) > next_)
                yield f"{call.label}: the model was asked, or the turn ended, before its end was told" if late else None


@invariant("tool_execution_start.a-throwing-handler-silences-nobody")
def a_start_handler_that_throws_silences_nobody(story: Story, context: Context) -> Answers:
    return _silenced(story, "tool_execution_start")


@invariant("tool_result.a-throwing-handler-changes-nothing")
def a_result_handler_that_throws_silences_nobody(story: Story, context: Context) -> Answers:
    return _silenced(story, "tool_result")


@invariant("tool_execution_end.a-throwing-handler-silences-nobody")
def an_end_handler_that_throws_silences_nobody(story: Story, context: Context) -> Answers:
    return _silenced(story, END)


def _silenced(story: Story, name: str) -> Answers:
    """Of calls of which one handler of an event threw: all who listen to the event are told."""
    for call in story.calls if not story.listened else ():
        told = call.handled(name)
        if not call.clear or call.batch.cut or call.batch.end is None or not any(map(story.threw, told)):
            continue
        heard = {(event["instance"], event["handler"]) for event in told}
        for each in story.subscriptions:
            made = story.instances.get(each.instance)
            there = made is not None and made["error"] is None and each.since < call.batch.begin
            if each.event != name or not there or story.gone.get(each.instance, len(story.events)) < call.batch.end:
                continue
            if story.serves(each.instance, call.agent):
                lost = (each.instance, each.handler) not in heard
                yield f"{call.label}: a {name} handler threw, and {each.handler} was not told" if lost else None


@invariant("registerTool.sequential-tools-never-overlap")
def sequential_tools_run_alone(story: Story, context: Context) -> Answers:
    modes: dict[str, set[str]] = {}
    for event in story.methods["registerTool"]:
        spec = (event["args"] or [None])[0]
        if isinstance(spec, dict):
            modes.setdefault(str(spec.get("name")), set()).add(str(spec.get("executionMode")))
    for batch in story.batches if {"sequential"} in modes.values() else ():
        bodies = _bodies(story, batch)
        for one in bodies:
            if one.kind != "tool.enter" or modes.get(one["tool"]) != {"sequential"}:
                continue
            begun, done = story.number(one), story.exit_of(one)
            for two in bodies:
                if two is one or done is None:
                    continue
                beside = begun < story.number(two) < story.number(done)
                told = f"request {batch.request['request']} of {batch.agent}: {two['tool']} ran beside {one['tool']}"
                yield f"{told}, which is sequential (event {two.seq})" if beside else None


def _bodies(story: Story, batch: Batch) -> list[Event]:
    return [body for call in batch.calls if call.clear for body in call.bodies]


@invariant("registerTool.a-cancel-reaches-the-running-tool")
def a_cancel_reaches_the_running_tool(story: Story, context: Context) -> Answers:
    aborted = {event["invocation"] for event in story.kinds["tool.aborted"]}
    for call in story.calls if context.settled and story.acts["cancel"] else ():
        for body in call.of("tool.enter"):
            if call.clear and not body["aborted"] and _cancelled_inside(story, body):
                lost = body["invocation"] not in aborted
                yield f"{call.label}: the user cancelled while it ran, and its signal did not fire" if lost else None


@invariant("tool_call.a-cancel-in-a-gate-starts-nothing-more")
def a_cancel_in_a_gate_starts_nothing_more(story: Story, context: Context) -> Answers:
    for batch in story.batches if story.acts["cancel"] and not story.listened else ():
        for place, call in enumerate(batch.calls):
            for gate in call.handled("tool_call") if call.clear else ():
                inside = _cancelled_inside(story, gate)
                if not inside:
                    continue
                ran = [
                    event
                    for other in batch.calls[place:]
                    if other.clear
                    for event in [*other.bodies, *(other.handled("tool_call") if other is not call else ())]
                    if story.number(event) > story.number(inside[0])
                ]
                told = (
                    f"{call.label}: the user cancelled while it was judged, and event {ran[0].seq} came" if ran else ""
                )
                yield told or None


def _cancelled_inside(story: Story, enter: Event) -> list[Event]:
    """Return the user's cancels while one handler, or one body, was at work and nothing else was.

    What the suite does and what an implementation tells come to the trace by two ways: of several that are at work it
    cannot be said who had answered already.
    """
    done = story.exit_of(enter)
    if done is None or len(story.kinds["agent.created"]) > 1:
        return []
    begin, end = story.number(enter), story.number(done)
    cancels = [event for event in story.acts["cancel"] if begin < story.number(event) < end]
    for other in story.enters.values() if cancels else ():
        closed = story.exit_of(other)
        if other is not enter and story.number(other) < end and (closed is None or story.number(closed) > begin):
            return []
    return [event for event in cancels if event.agent == enter.agent]


@invariant("tool_call.a-vote-ends-with-its-batch")
def each_prompt_reaches_the_model(story: Story, context: Context) -> Answers:
    """Where the agent was at rest, and nobody cancelled it."""
    for prompt in story.acts["prompt"] if context.settled and not story.listened else ():
        begin = story.number(prompt)
        begun, ended, requests = (
            [story.number(event) for event in story.kinds[kind] if event.agent == prompt.agent]
            for kind in ("turn.start", "turn.end", "model.request")
        )
        running = max((at for at in begun if at < begin), default=-1) > max(
            (at for at in ended if at < begin), default=-1
        )
        act = next((e for e in story.kinds["operator"] if e.agent == prompt.agent and story.number(e) > begin), None)
        if running or (act is not None and act["act"] not in ("prompt", "settle")):
            continue
        end = len(story.events) if act is None else story.number(act)
        asked = any(begin < at < end for at in requests)
        yield None if asked else f"a prompt of {prompt.agent} (event {prompt.seq}) did not reach the model"


@invariant("tool_call.input-at-the-stop-is-answered")
def what_the_user_says_in_a_batch_is_answered(story: Story, context: Context) -> Answers:
    for batch in story.batches if story.acts["steer"] or story.acts["follow_up"] else ():
        results = [call.result for call in batch.calls]
        concluded = any(
            (body["reply"] or {}).get("conclude") for call in batch.calls for body in call.of("native.enter")
        )
        if batch.cut or batch.finish not in (None, "calls") or concluded or story.listened or None in results:
            continue
        last = max(story.number(result) for result in results if result is not None)
        said = [
            event
            for event in story.kinds["operator"]
            if event.agent == batch.agent and event["act"] in ("steer", "follow_up")
            if batch.begin < story.number(event) < last
        ]
        if said:
            lost = batch.after is None
            told = f"request {batch.request['request']} of {batch.agent}: what the user said (event {said[0].seq})"
            yield f"{told} was never answered" if lost else None
