"""Pictures on their way from a tool to the log and back to handlers."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

import pytest

from reference_bridge.host import image_block
from reference_bridge.host.attachments import MemoryAttachments
from tests.fast.small_bridge import Bridged, bridged, pi_tool, text


def png(red: int = 255) -> bytes:
    """A picture of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(bytes([0, red, 0, 0]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def picture(red: int = 255, **more: Any) -> dict[str, Any]:
    return {"type": "image", "data": base64.b64encode(png(red)).decode(), "mimeType": "image/png", **more}


def log_of(stage: Bridged) -> str:
    return json.dumps([event.as_json() for event in stage.agent.session.events])


def stored() -> Any:
    return bridged(attachments=MemoryAttachments())


@stored()
async def test_the_log_has_a_reference_and_handlers_the_picture(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t", {"content": [picture(), text("caption")]}), watch=True)
    done = await stage.one("t")
    assert [block["type"] for block in done.content] == ["image", "text"]
    assert done.content[0]["attachment"]["mediaType"] == "image/png"
    assert picture()["data"] not in log_of(stage)
    for event in (stage.told("tool_result")[0]["content"], stage.told("tool_execution_end")[0]["result"]["content"]):
        assert event == [picture(), text("caption")]


@stored()
async def test_a_text_added_by_a_handler_keeps_the_picture(stage: Bridged) -> None:
    add = lambda event, ctx: {"content": [*event["content"], text("note")]}  # noqa: E731
    await stage.load("p", pi_tool("t", {"content": [picture()]}), tool_result=[add, add], watch=True)
    done = await stage.one("t")
    assert [block["type"] for block in done.content] == ["image", "text", "text"]
    assert stage.told("tool_execution_end")[0]["result"]["content"][0] == picture()


@stored()
async def test_a_new_picture_in_a_patch_is_stored(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t"), tool_result=lambda event, ctx: {"content": [picture(7)]})
    done = await stage.one("t")
    store = stage.host.attachments
    assert store is not None
    assert await store.load(done.content[0]["attachment"]) == png(7)


@stored()
async def test_a_natives_picture_is_shown_and_comes_back_as_it_was(stage: Bridged) -> None:
    store = stage.host.attachments
    assert store is not None
    reference = await store.save_image(png(), "image/png", "shot.png")
    stage.tool("shot", "x", render=lambda args, value: [image_block(reference)])
    await stage.load("p", tool_result=lambda event, ctx: {"content": [*event["content"], text("n")]}, watch=True)
    done = await stage.one("shot")
    assert done.content == [image_block(reference), text("n")]
    assert stage.told("tool_execution_end")[0]["result"]["content"][0] == picture()


@bridged()
async def test_without_the_service_the_result_says_so_and_has_no_base64(stage: Bridged) -> None:
    add = lambda event, ctx: {"content": [*event["content"], text("note")]}  # noqa: E731
    await stage.load("p", pi_tool("t", {"content": [picture(), text("kept")]}), tool_result=add, watch=True)
    done = await stage.one("t")
    assert [block["type"] for block in done.content] == ["text", "text", "text"]
    assert "attachments" in done.text
    assert done.is_error is False
    assert picture()["data"] not in log_of(stage)
    assert stage.told("tool_execution_end")[0]["result"]["content"] == done.content


@pytest.mark.parametrize(
    "broken",
    [
        picture(data="no base64!"),
        picture(data=base64.b64encode(b"no picture").decode()),
        picture(mimeType="image/gif"),
        {"type": "image"},
        {"type": "image", "source": {"data": "x"}},
    ],
)
@stored()
async def test_a_picture_that_cannot_be_stored_leaves_a_text(stage: Bridged, broken: dict[str, Any]) -> None:
    await stage.load("p", pi_tool("t", {"content": [broken, text("kept")]}))
    done = await stage.one("t")
    assert [block["type"] for block in done.content] == ["text", "text"]
    assert "left out" in done.text
    assert stage.requests == 2
