"""What is missing at the end of a log whose harness died inside a turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reference_bridge.host.json_values import Json, freeze
from reference_bridge.host.messages import Message, text_block
from reference_bridge.host.session_events import SessionEvent

_NOT_STARTED = (
    {"name": "ToolNotStartedError", "code": "TOOL_NOT_STARTED"},
    "The harness stopped before this call was started. Call again if it is still needed.",
)
_OUTCOME_UNKNOWN = (
    {"name": "ToolOutcomeUnknownError", "code": "TOOL_OUTCOME_UNKNOWN"},
    "The harness stopped after this call was started and before its result was kept, so nobody knows what it did. "
    "Call again only if that does no harm; else look first, or ask the user.",
)


def closing_events(events: Sequence[SessionEvent]) -> Iterator[SessionEvent]:
    """The events that complete an open turn: a result for each call without one, then the ends of step and turn.

    Nothing for a log that is complete. They carry the time of the last event that was really written.
    """
    turn, step = None, None
    unanswered: dict[str, int | None] = {}
    for event in events:
        data = event.data
        if event.type in ("turn/start", "turn/end"):
            turn, step = data["turn"] if event.type == "turn/start" else None, None
            unanswered.clear()
        elif event.type in ("step/start", "step/end"):
            step = data["step"] if event.type == "step/start" else None
            unanswered.clear()
        elif event.type == "assistant/message":
            calls = (block for block in data["message"]["content"] if block["type"] == "tool-call")
            unanswered.update((call["id"], None) for call in calls)
        elif event.type == "tool/call":
            unanswered[data["callId"]] = event.seq
        elif event.type == "tool/result":
            unanswered.pop(data["message"]["source"]["callId"], None)
    if turn is None:
        return
    seq, time = len(events), events[-1].time
    for call_id, call_seq in unanswered.items():
        error, text = _NOT_STARTED if call_seq is None else _OUTCOME_UNKNOWN
        message = _result_message(f"interrupted-tool-result-{call_id}-{seq}", call_id, text)
        data = freeze({"turn": turn, "step": step, "message": message, "error": error})
        yield SessionEvent("tool/result", seq, time, data, "append", None if call_seq is None else (call_seq,))
        seq += 1
    if step is not None:
        yield SessionEvent("step/end", seq, time, freeze({"turn": turn, "step": step}))
        seq += 1
    yield SessionEvent("turn/end", seq, time, freeze({"turn": turn, "reason": {"kind": "interrupted"}}))


def _result_message(id: str, call_id: str, text: str) -> Message:
    block: dict[str, Json] = {"type": "tool-result", "toolCallId": call_id, "content": [text_block(text)]}
    source = {"kind": "tool", "callId": call_id}
    return {"role": "user", "content": [{**block, "isError": True}], "source": source, "id": id}
