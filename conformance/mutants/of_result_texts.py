"""Defects of bridges that shorten, flatten or drop the texts of results and of what tools throw."""

from __future__ import annotations

import unicodedata
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import thrown_text
from reference_bridge.host import Execution


class _Throws(ToolRuns):
    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        try:
            return await super().execute(call, tool, execution)
        except Exception as error:
            raise RuntimeError(self.text(thrown_text(error))) from error

    def text(self, message: str) -> str:
        raise NotImplementedError


@mutant()
class LongErrorsCut(_Throws):
    """Cuts what a tool throws after five hundred characters."""

    def text(self, message: str) -> str:
        return message[:500]


@mutant()
class ErrorsInAscii(_Throws):
    """Writes a question mark for each character of a thrown message that is not ASCII."""

    def text(self, message: str) -> str:
        return message.encode("ascii", "replace").decode()


@mutant()
class ErrorsAfterTheLastColon(_Throws):
    """Takes what stands before the last colon of a thrown message for the name of the error."""

    def text(self, message: str) -> str:
        return message.rpartition(":")[2].strip()


@mutant()
class BlankTextsDropped(Contents):
    """Drops the texts of a result that are blanks alone."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        blocks = await super().to_host(content, pictures)
        return [each for each in blocks if each["type"] != "text" or each["text"].strip() or not each["text"]]


@mutant()
class TextsComposed(Contents):
    """Composes letters and marks in the texts of a result."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        blocks = await super().to_host(content, pictures)
        return [
            {**each, "text": unicodedata.normalize("NFC", each["text"])} if each["type"] == "text" else each
            for each in blocks
        ]
