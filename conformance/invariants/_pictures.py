"""Invariants of pictures: the bytes of a tool's picture are in no durable record and in no request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from conformance.compare import show
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._once import gathered
from conformance.invariants._story import PLAIN, Call, Story
from conformance.trace import images_of, text_of

SHORTEST = 32
"""Characters of base64 below which finding them in a record may be chance."""

PNG = "iVBORw0KGgo"
"""How the base64 of a PNG begins: one that begins otherwise is refused by a host that looks."""


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


@invariant("tool_result.pictures-are-shown")
def pictures_are_shown(story: Story, context: Context) -> Answers:
    """To the first handler of a result of PNGs, where the log has pictures of packages' tools."""
    for call in story.calls if keeps_pictures(story) and not story.listened else ():
        asked, bodies = call.handled("tool_result"), call.of("tool.enter")
        if not call.clear or not asked or len(bodies) != 1 or call.batch.cut or story.threw(bodies[0]):
            continue
        returned = story.reply(bodies[0]).get("returns")
        given = _data(returned)
        if given and asked[0]["payload"] and _is_sound(returned):
            shown = json.dumps(asked[0]["payload"].get("content"))
            lost = not all(data in shown for data in given)
            yield f"{call.label}: {asked[0]['package']} was not shown the tool's picture" if lost else None


@invariant("tool_execution_end.carries-the-pictures")
def ends_carry_the_pictures(story: Story, context: Context) -> Answers:
    """As many as the durable result of a package's tool has."""
    for call in story.calls if not story.listened else ():
        ends, result = call.handled("tool_execution_end"), call.result
        if not call.clear or not ends or result is None or len(call.of("tool.enter")) != 1 or call.batch.cut:
            continue
        told = ends[0]["payload"].get("result") if isinstance(ends[0]["payload"], dict) else None
        kept = len(images_of(result["content"]))
        if kept and isinstance(told, dict) and not story.wrote([*ends, *call.handled("tool_result")]):
            shown = len(images_of(told.get("content")))
            yield f"{call.label}: its end has {shown} of its {kept} pictures" if shown < kept else None


@invariant("registerTool.a-broken-picture-spares-the-others", roles="bridge")
def texts_beside_pictures_are_kept(story: Story, context: Context) -> Answers:
    """Where no handler has anything to say of the result."""
    for call in story.calls if not story.listened else ():
        bodies, result = call.of("tool.enter"), call.result
        if not call.clear or len(bodies) != 1 or result is None or call.batch.cut:
            continue
        returned = story.reply(bodies[0]).get("returns")
        handlers = [*call.handled("tool_result"), *call.handled("tool_execution_end")]
        if not isinstance(returned, dict) or story.threw(bodies[0]) or any(map(story.reply, handlers)):
            continue
        content = returned.get("content")
        if "isError" in returned or not isinstance(content, list) or not images_of(content):
            continue
        for block in content:
            text = block.get("text") if isinstance(block, dict) else None
            if isinstance(text, str) and PLAIN.fullmatch(text):
                lost = text not in text_of(result["content"])
                yield f"{call.label}: the log lacks {show(text)}, which stands beside a picture" if lost else None


def keeps_pictures(story: Story) -> bool:
    """Whether the log has a picture of a package's tool: then there is a place to keep them."""
    return any(
        images_of(call.result["content"]) for call in story.calls if call.result is not None and call.of("tool.enter")
    )


@gathered
def _pictures(story: Story) -> Iterator[tuple[Call, str]]:
    """Yield the pictures that packages' tools returned, and those that handlers of a result gave."""
    for call in story.calls if not story.listened else ():
        for enter in [*call.of("tool.enter"), *call.handled("tool_result")] if call.clear else ():
            for data in _data(story.reply(enter).get("returns")):
                yield call, data


def _is_sound(returned: Any) -> bool:
    """Whether each picture is the PNG it says it is: a host need not keep any other."""
    blocks = images_of(returned.get("content")) if isinstance(returned, dict) else []
    return all(each.get("mimeType") == "image/png" and str(each.get("data")).startswith(PNG) for each in blocks)


def _data(returned: Any) -> list[str]:
    blocks = images_of(returned.get("content")) if isinstance(returned, dict) else []
    data = [block.get("data") for block in blocks]
    return [each for each in data if isinstance(each, str) and len(each) >= SHORTEST]
