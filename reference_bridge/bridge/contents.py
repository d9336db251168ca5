"""Content between Pi's form and the host's: texts stay, pictures go to the attachment service and come back."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reference_bridge.bridge.values import UNDEFINED, json_text
from reference_bridge.host.attachments import AttachmentStore
from reference_bridge.host.errors import error_message
from reference_bridge.host.json_values import js_string
from reference_bridge.host.messages import image_block, text_block

Block = dict[str, Any]


@dataclass(eq=False, slots=True)
class Pictures:
    """The pictures of one call in both forms, so that each is stored once and comes back as it was."""

    known: list[tuple[Block, Block]] = field(default_factory=list)

    def stored(self, picture: Block) -> Block | None:
        """The host's block for a picture of Pi's."""
        for pi, host in self.known:
            if (pi.get("data"), pi.get("mimeType")) == (picture.get("data"), picture.get("mimeType")):
                return host
        return None

    def shown(self, block: Block) -> Block | None:
        """Pi's picture for a block of the host's."""
        for pi, host in self.known:
            if host == block:
                return pi
        return None


class Contents:
    """Maps content blocks; `attachments` gives the host's service, `None` where there is none."""

    def __init__(self, attachments: Callable[[], AttachmentStore | None]) -> None:
        self._attachments = attachments

    def blocks(self, content: Any) -> list[Any]:
        """The blocks that any answer stands for: a list as it is, a text or number as one text, nothing as none."""
        if isinstance(content, list):
            return content
        if content is None or content is UNDEFINED:
            return []
        return [text_block(content if isinstance(content, str) else json_text(content))]

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        """What the host logs and the model reads."""
        return [await self._to_host(block, pictures) for block in self.blocks(content)]

    async def to_pi(self, content: Any, pictures: Pictures) -> list[Any]:
        """What handlers are shown."""
        return [await self._to_pi(block, pictures) for block in self.blocks(content)]

    async def _to_host(self, block: Any, pictures: Pictures) -> Block:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and "text" in block:
            return text_block(js_string(block["text"]))
        if kind == "image" and isinstance(block.get("attachment"), dict):
            return {"type": "image", "attachment": block["attachment"]}
        if kind == "image":
            return await self._store(block, pictures)
        # Not lost and not guessed at: the model reads what the package wrote.
        return text_block(block if isinstance(block, str) else json_text(block))

    async def _store(self, picture: Block, pictures: Pictures) -> Block:
        known = pictures.stored(picture)
        if known is not None:
            return known
        attachments = self._attachments()
        if attachments is None:
            return self._omitted(picture, "this host keeps no attachments")
        try:
            data = base64.b64decode(picture["data"], validate=True)
            stored = image_block(await attachments.save_image(data, picture["mimeType"]))
        except (KeyError, TypeError, binascii.Error):
            return self._omitted(picture, "it has no data that could be decoded")
        except Exception as error:
            return self._omitted(picture, error_message(error))
        pictures.known.append((dict(picture), stored))
        return stored

    def _omitted(self, picture: Block, why: str) -> Block:
        return text_block(f"[picture {js_string(picture.get('mimeType'))} left out: {why}]")

    async def _to_pi(self, block: Any, pictures: Pictures) -> Any:
        if not isinstance(block, dict) or block.get("type") != "image":
            return block
        shown = pictures.shown(block)
        if shown is not None:
            return dict(shown)
        attachments = self._attachments()
        reference = block.get("attachment")
        if attachments is None or not isinstance(reference, dict):
            return block
        try:
            data = base64.b64encode(await attachments.load(reference)).decode()
        except Exception:
            # The reference is all there is to show.
            return block
        picture = {"type": "image", "data": data, "mimeType": reference.get("mediaType")}
        pictures.known.append((dict(picture), block))
        return picture
