"""Defects of how a package's tool is run, and of what becomes of what it answers or throws."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.context import Context
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.packages import working_for
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object, is_error, is_truthy, json_text, thrown_text
from reference_bridge.host import Execution, Json, NotLosslessError
from reference_bridge.host.json_values import clone
from reference_bridge.host.messages import text_block
from reference_bridge.host.signals import AbortController
from reference_bridge.host.waterfall import Next, settle


def _end_turn(call: Call) -> None:
    if call.agent is not None:
        call.agent.cancel({"kind": "user"})


class _HandsOtherwise(ToolRuns):
    def handed(self, execution: Execution) -> tuple[Any, Any]:
        """The signal and the onUpdate a tool is handed."""
        raise NotImplementedError

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        signal, on_update = self.handed(execution)
        with working_for(call.agent):
            context = Context(call.agent, execution.signal)
            return await settle(tool.definition["execute"](call.call_id, call.input, signal, on_update, context))


@mutant()
class OnUpdateOnlyWithAListener(_HandsOtherwise):
    """Hands a tool no onUpdate."""

    def handed(self, execution: Execution) -> tuple[Any, Any]:
        return execution.signal, UNDEFINED


@mutant()
class ExecuteWithoutASignal(_HandsOtherwise):
    """Hands a tool no signal."""

    def handed(self, execution: Execution) -> tuple[Any, Any]:
        return UNDEFINED, lambda partial=UNDEFINED: None


@mutant()
class SignalNeverFires(_HandsOtherwise):
    """Hands a tool a signal that nobody aborts."""

    def handed(self, execution: Execution) -> tuple[Any, Any]:
        return AbortController().signal, lambda partial=UNDEFINED: None


@mutant()
class AllowedCallRunsTwice(Bridge):
    """Runs every call twice."""

    async def around_body(self, execution: Execution, following: Next) -> Any:
        await super().around_body(execution, following)
        return await following()


@mutant()
class MissingExecuteEndsTheTurn(ToolRuns):
    """Ends the turn when a tool has nothing to execute."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        if not callable(tool.definition.get("execute")):
            _end_turn(call)
        return await super().execute(call, tool, execution)


class _ChangesBlocks(ToolRuns):
    def blocks(self, content: list[Any]) -> list[Any]:
        raise NotImplementedError

    async def value(self, call: Call, answer: Any) -> Json:
        content = as_object(answer).get("content")
        if isinstance(content, list):
            answer = {**answer, "content": self.blocks(content)}
        return await super().value(call, answer)


@mutant()
class OnlyTheFirstBlockIsKept(_ChangesBlocks):
    """Keeps the first block of a result."""

    def blocks(self, content: list[Any]) -> list[Any]:
        return content[:1]


@mutant()
class EmptyResultsGetAPlaceholder(_ChangesBlocks):
    """Puts a text into a result without any."""

    def blocks(self, content: list[Any]) -> list[Any]:
        return content or [text_block("(no output)")]


@mutant()
class TextTrimmed(_ChangesBlocks):
    """Strips the texts of a result."""

    def blocks(self, content: list[Any]) -> list[Any]:
        return [
            {**block, "text": block["text"].strip()} if isinstance(as_object(block).get("text"), str) else block
            for block in content
        ]


@mutant()
class ResultLoggedAsJsonText(_ChangesBlocks):
    """Makes one text of a result, the JSON of its blocks."""

    def blocks(self, content: list[Any]) -> list[Any]:
        return [text_block(json_text(content))]


@mutant()
class PictureBytesInTheLog(Contents):
    """Stores no picture and logs its bytes."""

    async def _store(self, picture: Block, pictures: Pictures) -> Block:
        return dict(picture)


@mutant()
class PicturesDropped(Contents):
    """Drops pictures."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        return [block for block in await super().to_host(content, pictures) if block["type"] != "image"]


@mutant()
class TextsBesidePicturesDropped(Contents):
    """Drops the texts of a result that has pictures."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        made = await super().to_host(content, pictures)
        return [block for block in made if block["type"] == "image"] or made


@mutant()
class PictureBytesAsAFallback(Contents):
    """Logs the bytes of a picture where there is no attachment service."""

    def _omitted(self, picture: Block, why: str) -> Block:
        return dict(picture) if self._attachments() is None else super()._omitted(picture, why)


@mutant()
class PictureDroppedWithoutAWord(Contents):
    """Drops pictures without a word where there is no attachment service."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        blocks = self.blocks(content)
        if self._attachments() is None:
            blocks = [block for block in blocks if as_object(block).get("type") != "image"]
        return await super().to_host(blocks, pictures)


@mutant()
class BrokenPictureInTheLog(Contents):
    """Logs a picture that the attachment service refuses as it is."""

    def _omitted(self, picture: Block, why: str) -> Block:
        return super()._omitted(picture, why) if self._attachments() is None else dict(picture)


class _OddAnswerEndsTheTurn(ToolRuns):
    def is_odd(self, answer: Any) -> bool:
        raise NotImplementedError

    async def value(self, call: Call, answer: Any) -> Json:
        if self.is_odd(answer):
            _end_turn(call)
        return await super().value(call, answer)


@mutant()
class OddResultEndsTheTurn(_OddAnswerEndsTheTurn):
    """Ends the turn when a tool answers with what is no object."""

    def is_odd(self, answer: Any) -> bool:
        return not isinstance(answer, dict)


@mutant()
class OddBlockEndsTheTurn(_OddAnswerEndsTheTurn):
    """Ends the turn when a result's content is no list of texts and pictures."""

    def is_odd(self, answer: Any) -> bool:
        content = as_object(answer).get("content")
        known = ("text", "image")
        return not isinstance(content, list) or any(as_object(block).get("type") not in known for block in content)


def _is_lossy(answer: Any) -> bool:
    details = as_object(answer).get("details", UNDEFINED)
    try:
        clone(None if details is UNDEFINED else details)
    except NotLosslessError:
        return True
    return False


@mutant()
class OddDetailsEndTheTurn(_OddAnswerEndsTheTurn):
    """Ends the turn when JSON cannot carry a result's details."""

    def is_odd(self, answer: Any) -> bool:
        return _is_lossy(answer)


class _AnswerFails(ToolRuns):
    def failure(self, answer: Any) -> str | None:
        raise NotImplementedError

    async def value(self, call: Call, answer: Any) -> Json:
        why = self.failure(answer)
        if why is not None:
            raise ValueError(why)
        return await super().value(call, answer)


@mutant()
class OddDetailsFailTheCall(_AnswerFails):
    """Fails a call whose details JSON cannot carry."""

    def failure(self, answer: Any) -> str | None:
        return "the details are no JSON" if _is_lossy(answer) else None


@mutant()
class ReturnedIserrorLosesTheText(_AnswerFails):
    """Fails a call that answers isError with a text of its own."""

    def failure(self, answer: Any) -> str | None:
        return "the tool failed" if is_truthy(as_object(answer).get("isError")) else None


@mutant()
class ReturnedIserrorFailsTheCall(_AnswerFails):
    """Fails a call that answers isError."""

    def failure(self, answer: Any) -> str | None:
        members = as_object(answer)
        return str(members["content"][0]["text"]) if members.get("isError") is True else None


class _ThrownOtherwise(ToolRuns):
    def thrown(self, call: Call, error: Exception) -> Any:
        """What the call answers in place of the error, or raises."""
        raise NotImplementedError

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        try:
            return await super().execute(call, tool, execution)
        except Exception as error:
            return self.thrown(call, error)


@mutant()
class ThrownMessageLost(_ThrownOtherwise):
    """Loses the message of a thrown error."""

    def thrown(self, call: Call, error: Exception) -> Any:
        raise ValueError("the tool failed")


@mutant()
class ThrownErrorEndsTheTurn(_ThrownOtherwise):
    """Ends the turn when a tool throws."""

    def thrown(self, call: Call, error: Exception) -> Any:
        _end_turn(call)
        raise error


@mutant()
class FieldsOfAnErrorCount(_ThrownOtherwise):
    """Takes the content a thrown error carries for a result."""

    def thrown(self, call: Call, error: Exception) -> Any:
        content = as_object(getattr(error, "fields", None)).get("content")
        if content:
            return {"content": content, "details": {}}
        raise error


@mutant()
class ThrownNothingIsASuccess(_ThrownOtherwise):
    """Takes a tool that throws undefined, null, false or an empty text for one that answered."""

    def thrown(self, call: Call, error: Exception) -> Any:
        if thrown_text(error) in ("undefined", "null", "false", ""):
            return {"content": [], "details": {}}
        raise error


@mutant()
class ThrownTextLost(_ThrownOtherwise):
    """Loses what a tool throws that is no error."""

    def thrown(self, call: Call, error: Exception) -> Any:
        raise error if is_error(error) else ValueError("the tool failed")


@mutant()
class DetailsOfAnErrorLostInSilence(ResultPatches):
    """Says nothing about the details of a result that became an error."""

    def details_lost(self, call: Call, outcome: Outcome) -> None:
        return
