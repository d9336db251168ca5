"""Invariants of pictures: the bytes of a tool's picture are in no durable record and in no request."""

from __future__ import annotations

import json
from typing import Any

from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._story import Call, Story
from conformance.trace import images_of

SHORTEST = 32
"""Characters of base64 below which finding them in a record may be chance."""


@invariant("registerTool.pictures-go-through-the-attachment-store", roles="bridge")
def bytes_of_pictures_stay_out_of_the_log(story: Story, context: Context) -> Answers:
    for call, data in _pictures(story):
        kept = data in json.dumps(call.result["content"] if call.result is not None else None)
        yield f"{call.label}: the log keeps the bytes of its picture" if kept else None


@invariant("registerTool.pictures-go-through-the-attachment-store", roles="bridge")
def bytes_of_pictures_stay_out_of_requests(story: Story, context: Context) -> Answers:
    for call, data in _pictures(story):
        if call.batch.after is not None:
            sent = data in json.dumps(call.batch.after["messages"])
            yield f"{call.label}: the next request has the bytes of its picture" if sent else None


def _pictures(story: Story) -> list[tuple[Call, str]]:
    """Return the pictures that packages' tools returned, where no patch brings one along."""
    found: list[tuple[Call, str]] = []
    for call in story.calls:
        replies = [story.reply(event).get("returns") for event in call.handled("tool_result")]
        if not call.clear or any(_data(reply) for reply in replies):
            continue
        for body in call.of("tool.enter"):
            found += [(call, data) for data in _data(story.reply(body).get("returns"))]
    return found


def _data(returned: Any) -> list[str]:
    blocks = images_of(returned.get("content")) if isinstance(returned, dict) else []
    data = [block.get("data") for block in blocks]
    return [each for each in data if isinstance(each, str) and len(each) >= SHORTEST]
