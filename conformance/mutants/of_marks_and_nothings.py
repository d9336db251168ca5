"""Defects of what texts and details become that hold marks, nothings or much, and of answers that are alike."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.prompts import PromptLines
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import json_text
from reference_bridge.host import Execution, Json
from reference_bridge.host.messages import text_block


def filled_in(text: str) -> str:
    """What is left of a text that is used as the replacement of another one, or as a format."""
    return text.replace("$$", "$").replace("$&", "").replace("%%", "%")


@mutant()
class MarksInResultsFilledIn(Contents):
    """Puts the texts of a result into the log by way of a replacement, which reads their dollars."""

    async def _to_host(self, block: Any, pictures: Pictures) -> Block:
        made = await super()._to_host(block, pictures)
        return text_block(filled_in(made["text"])) if made.get("type") == "text" else made


@mutant()
class MarksInPromptTextsFilledIn(PromptLines):
    """Puts prompt texts into the prompt by way of a replacement, which reads their dollars."""

    def _line(self, text: Any) -> str:
        return filled_in(super()._line(text))


@mutant()
class MarksInDescriptionsFilledIn(Registrations):
    """Puts a description into the catalogue by way of a replacement, which reads its dollars."""

    def description(self, definition: dict[str, Any]) -> str:
        return filled_in(super().description(definition))


@mutant()
class FiveGuidelinesATool(PromptLines):
    """Says no more than five guidelines of a tool."""

    def guidelines(self, tool: PiTool) -> list[str]:
        return super().guidelines(tool)[:5]


@mutant()
class DashesTakenOffGuidelines(PromptLines):
    """Takes the dashes off the beginning of guidelines, as if they were bullets."""

    def guidelines(self, tool: PiTool) -> list[str]:
        return [line.lstrip("-* ") for line in super().guidelines(tool)]


@mutant()
class EqualCallsRunOnce(ToolRuns):
    """Answers a call with what the tool answered to equal arguments before."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        known: dict[tuple[PiTool, str], Any] = self.__dict__.setdefault("_answers", {})
        key = tool, json_text(call.input)
        if key not in known or not call.input:
            known[key] = await super().execute(call, tool, execution)
        return known[key]


@mutant()
class EqualAnswersSaidOnce(ToolRuns):
    """Says that nothing has changed where a tool answers what it answered before."""

    async def value(self, call: Call, answer: Any) -> Json:
        value = await super().value(call, answer)
        known: dict[tuple[Any, str], Json] = self.__dict__.setdefault("_answers", {})
        last, known[call.agent, call.name] = known.get((call.agent, call.name)), value["content"]
        return (
            {**value, "content": [text_block("(unchanged)")]}
            if value["content"] and value["content"] == last
            else value
        )


class _Details(ToolRuns):
    """Makes something else of details before anybody sees them."""

    def made(self, details: Any) -> Any:
        """What becomes of them."""
        raise NotImplementedError

    async def run(self, call: Call, tool: PiTool, execution: Execution) -> Json:
        value = await super().run(call, tool, execution)
        if isinstance(call.returned, dict) and "details" in call.returned:
            call.returned = {**call.returned, "details": self.made(call.returned["details"])}
        return value


@mutant()
class NothingsAsDetailsAreAnObject(_Details):
    """Takes details of zero, false or an empty text for none, and puts an object in their place."""

    def made(self, details: Any) -> Any:
        return details if details or isinstance(details, dict | list) else {}


@mutant()
class NullsInDetailsLost(_Details):
    """Leaves members of details out that are null."""

    def made(self, details: Any) -> Any:
        if isinstance(details, dict):
            return {key: self.made(each) for key, each in details.items() if each is not None}
        return [self.made(each) for each in details] if isinstance(details, list) else details


@mutant()
class DeepDetailsCut(_Details):
    """Keeps four levels of details."""

    def made(self, details: Any, levels: int = 4) -> Any:
        if isinstance(details, dict | list) and not levels:
            return "…"
        if isinstance(details, dict):
            return {key: self.made(each, levels - 1) for key, each in details.items()}
        return [self.made(each, levels - 1) for each in details] if isinstance(details, list) else details


@mutant()
class DetailsKeptByTheToolsName(ToolRuns):
    """Keeps what a tool answered under its name, where a call that runs at the same time overwrites it."""

    async def run(self, call: Call, tool: PiTool, execution: Execution) -> Json:
        value = await super().run(call, tool, execution)
        known: dict[str, Any] = self.__dict__.setdefault("_returned", {})
        known[tool.name] = call.returned
        for _ in range(5):
            await asyncio.sleep(0)
        call.returned = known[tool.name]
        return value


@mutant()
class FourPicturesAResult(Contents):
    """Stores no more than four pictures of a result."""

    async def _store(self, picture: Block, pictures: Pictures) -> Block:
        if len(pictures.known) >= 4 and pictures.stored(picture) is None:
            return self._omitted(picture, "there are too many")
        return await super()._store(picture, pictures)
