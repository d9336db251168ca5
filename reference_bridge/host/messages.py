"""The messages of a conversation, as the log and the model see them."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex
from typing import TypeAlias

from reference_bridge.host.json_values import Json

Message: TypeAlias = dict[str, Json]
"""`{role, content: [block], source, id}`."""

Content: TypeAlias = list[Json]
"""Content blocks. The harness checks that they are JSON, never what is in them."""


def text_block(text: str) -> dict[str, Json]:
    """`{type: "text", text}`."""
    return {"type": "text", "text": text}


def image_block(attachment: dict[str, Json]) -> dict[str, Json]:
    """A picture by reference: `attachment` is what `AttachmentStore.save_image` answered."""
    return {"type": "image", "attachment": attachment}


def user_message(content: str | Sequence[Json], source: dict[str, Json] | None = None) -> Message:
    """A message for the model; `source` says who wrote it, the user unless told."""
    blocks = [text_block(content)] if isinstance(content, str) else list(content)
    return {"role": "user", "content": blocks, "source": source or {"kind": "user"}, "id": token_hex(16)}


def plugin_message(content: str | Sequence[Json], plugin: str) -> Message:
    """A message for the model written by `plugin`, not by the user."""
    return user_message(content, {"kind": "plugin", "plugin": plugin})


def assistant_message(content: Content, provider: str, model: str) -> Message:
    """What the model answered."""
    source = {"kind": "model", "provider": provider, "model": model}
    return {"role": "assistant", "content": content, "source": source, "id": token_hex(16)}


def tool_result_message(call_id: str, content: Json, is_error: bool) -> Message:
    """The answer to one tool call; `isError` is always there."""
    block = {"type": "tool-result", "toolCallId": call_id, "content": content, "isError": is_error}
    return user_message([block], {"kind": "tool", "callId": call_id})
