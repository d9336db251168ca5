"""Defects of a native tool's pictures, and of pictures beside one that the attachment store refuses."""

from __future__ import annotations

from typing import Any

from conformance.mutants.of_results_and_others import Decides, is_picture
from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.values import same_json
from reference_bridge.host.messages import text_block


def _without_pictures(content: Any) -> Any:
    return [block for block in content if not is_picture(block)] if isinstance(content, list) else content


@mutant()
class NativesLoseTheirPictures(Decides):
    """Drops the pictures of a native tool's result that a handler is asked about."""

    def change(self, call: Call, outcome: Outcome, content: Any, fails: bool) -> tuple[Any, bool]:
        return (_without_pictures(content) if call.tool is None else content), fails


@mutant()
class PatchesDropNativesPictures(Decides):
    """Drops the pictures of a native tool's result whose content a handler changes."""

    def change(self, call: Call, outcome: Outcome, content: Any, fails: bool) -> tuple[Any, bool]:
        changed = call.tool is None and not same_json(content, outcome.result["content"])
        return (_without_pictures(content) if changed else content), fails


@mutant()
class NativesPicturesShownAsReferences(Contents):
    """Shows handlers the pictures of native tools as the host's references."""

    async def _to_pi(self, block: Any, pictures: Pictures) -> Any:
        return await super()._to_pi(block, pictures) if pictures.known else block


@mutant()
class BrokenPictureCostsTheOthers(Contents):
    """Leaves out everything beside a picture that the attachment store refuses."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        made = await super().to_host(content, pictures)
        given = [is_picture(block) for block in self.blocks(content)]
        refused = [block for block, was in zip(made, given, strict=True) if was and not is_picture(block)]
        return refused[:1] if refused and self._attachments() is not None else made


@mutant()
class PicturesWithFurtherFieldsBecomeTexts(Contents):
    """Takes a picture with a field that Pi's pictures do not have for a block of an unknown type."""

    async def _to_host(self, block: Any, pictures: Pictures) -> Block:
        if is_picture(block) and not block.keys() <= {"type", "mimeType", "data", "attachment"}:
            return text_block("a block of an unknown type")
        return await super()._to_host(block, pictures)
