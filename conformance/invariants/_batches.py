"""Invariants of a message's calls together: their results, their order, and whether the loop goes on."""

from __future__ import annotations

from typing import Any

from conformance.compare import same, show
from conformance.invariants._gates import blocking
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._story import Batch, Call, Story
from conformance.trace import plain, text_of


@invariant("tool_result.durable-results-in-model-order")
def results_in_model_order(story: Story, context: Context) -> Answers:
    for batch in story.batches:
        logged = [(call, call.result) for call in batch.calls]
        wanted = [(call, story.number(result)) for call, result in logged if result is not None]
        if len(wanted) < 2 or not all(call.clear for call, _ in wanted):
            continue
        order = sorted(wanted, key=lambda pair: pair[1])
        ids = ", ".join(call.id for call, _ in order)
        wrong = order != wanted
        yield f"request {batch.request['request']} of {batch.agent}: results in the order {ids}" if wrong else None


@invariant("tool_result.one-durable-result-a-call")
def one_durable_result_a_call(story: Story, context: Context) -> Answers:
    for batch in story.batches:
        if batch.finish not in (None, "calls"):
            continue
        for call in batch.calls:
            if not call.clear:
                continue
            found = len(call.of("log.result"))
            over = not batch.cut and (batch.after is not None or batch.end is not None)
            if found > 1:
                yield f"{call.label} has {found} durable results"
            elif found == 1:
                yield None
            elif over and not concluded(story, batch):
                yield f"{call.label} has no durable result, and the loop went on"


@invariant("tool_result.the-model-reads-the-durable-result")
def the_model_reads_the_durable_result(story: Story, context: Context) -> Answers:
    for batch in story.batches:
        if batch.after is None or batch.cut:
            continue
        shown = [message for message in batch.after["messages"] if message.get("role") == "tool"]
        for call in batch.calls:
            result = call.result
            mine = [message for message in shown if message.get("callId") == call.id]
            if not call.clear or result is None or len(mine) > 1 or call.occurrence > 1:
                continue
            if not mine:
                yield f"{call.label}: the next request does not show its result"
                continue
            # Content that is empty is left out of the request as it travels.
            read = mine[0].get("content", [])
            wrong = not same(read, result["content"])
            yield (
                f"{call.label}: the model reads {show(read)}, the log has {show(result['content'])}" if wrong else None
            )


def concluded(story: Story, batch: Batch) -> bool:
    """Whether a native tool of the batch may have ended the turn by itself."""
    return any(story.reply(body).get("conclude") for call in batch.calls for body in call.of("native.enter"))


@invariant("tool_call.the-loop-stops-only-when-every-call-asked")
def the_loop_stops_when_every_call_asked(story: Story, context: Context) -> Answers:
    for batch in story.batches:
        if batch.finish not in (None, "calls") or batch.cut or batch.end is None:
            continue
        if story.listened or concluded(story, batch) or any(call.result is None for call in batch.calls):
            continue
        again = batch.after is not None and story.number(batch.after) < batch.end
        asked = [_asked(story, call) for call in batch.calls]
        name = f"the batch of request {batch.request['request']} of {batch.agent}"
        if False in asked:
            which = batch.calls[asked.index(False)].label
            yield None if again else f"{name}: the loop stopped, though {which} did not ask to"
        elif None not in asked and not batch.spoken:
            yield f"{name}: every call asked to stop, and the model was asked again" if again else None


def _asked(story: Story, call: Call) -> bool | None:
    """Whether a finalized call asked to stop; ``None`` where the trace or the rules do not decide."""
    if not call.clear:
        return None
    gates, bodies = call.handled("tool_call"), call.of("tool.enter")
    wishes = [story.reply(gate).get("returns") for gate in gates]
    if any(isinstance(wish, dict) and wish.get("block") and wish.get("terminate") for wish in wishes):
        gate = blocking(story, call)
        return True if gate is not None and _plain_block(story, call, wishes) else None
    if not bodies:
        return False
    reply = story.reply(bodies[0])
    result = reply.get("returns")
    if story.threw(bodies[0]) or "throws" in reply or not isinstance(result, dict):
        return False
    if result.get("terminate") is not True:
        return False
    return True if _plain_result(story, call, result) else None


@invariant("registerTool.text-results-reach-log-and-model")
def texts_of_results_reach_the_log(story: Story, context: Context) -> Answers:
    for call in story.calls:
        bodies, result = call.of("tool.enter"), call.result
        if not call.clear or len(bodies) != 1 or result is None or call.batch.cut or story.listened:
            continue
        returned = story.reply(bodies[0]).get("returns")
        if not isinstance(returned, dict) or "isError" in returned or not returned.get("content"):
            continue
        if not _texts(returned.get("content")) or _patched(call, context.role) or story.threw(bodies[0]):
            continue
        if not _json(returned):
            continue  # Details that JSON cannot carry may cost the result: registerTool.details-that-json-cannot-carry.
        kept, wanted = result["content"], returned["content"]
        told = f"{call.label}: the tool returned"
        right = same(kept, wanted) and not result["isError"]
        yield None if right else f"{told} {show(wanted)}, the log keeps {show([kept, result['isError']])}"


@invariant("registerTool.a-thrown-error-reaches-the-model")
def thrown_errors_reach_the_log(story: Story, context: Context) -> Answers:
    for call in story.calls:
        bodies, result = call.of("tool.enter"), call.result
        if not call.clear or len(bodies) != 1 or result is None or call.batch.cut or story.listened:
            continue
        thrown = story.reply(bodies[0]).get("throws")
        message = thrown.get("message") if isinstance(thrown, dict) and thrown.get("$") == "error" else None
        if not message or _patched(call, context.role):
            continue
        lost = not result["isError"] or plain(message) not in text_of(result["content"])
        yield f"{call.label}: threw {message!r}, the log keeps {show(result['content'])}" if lost else None


def _patched(call: Call, role: str = "bridge") -> bool:
    """Whether a handler may have made another result of it: any that is synchronous, or that replied.

    On Pi that is also true of end handlers: what they write into the result reaches the log.
    """
    events = ("tool_result", "tool_execution_end") if role == "pi" else ("tool_result",)
    return any(event["reply"] != {} for name in events for event in call.handled(name))


def _json(value: Any) -> bool:
    """Whether a value is one that JSON can carry: others travel as tags."""
    if isinstance(value, dict):
        return "$" not in value and all(map(_json, value.values()))
    return not isinstance(value, list) or all(map(_json, value))


def _texts(content: Any) -> bool:
    return isinstance(content, list) and all(
        isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
        for block in content
    )


def _plain_block(story: Story, call: Call, wishes: list[Any]) -> bool:
    """Whether the one that blocks asks to stop with true, nobody else disturbs it, and the name is a tool's."""
    listed = {row["name"] for row in call.batch.request["tools"]}
    return (
        isinstance(wishes[-1], dict)
        and wishes[-1].get("block") is True
        and wishes[-1].get("terminate") is True
        and not any(story.threw(gate) or story.reply(gate).get("ops") for gate in call.handled("tool_call"))
        and not call.of("policy")
        and not call.bodies
        and call.name in listed
        and call.result is not None
        and not story.changed(story.number(call.batch.request), story.number(call.result))
    )


def _plain_result(story: Story, call: Call, result: dict[str, Any]) -> bool:
    """Whether a result is one of texts that nobody made anything else of."""
    durable = call.result
    kept = durable is not None and not durable["isError"]
    return kept and _texts(result.get("content")) and not result.get("isError") and not _patched(call)
