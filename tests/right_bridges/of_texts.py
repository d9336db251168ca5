"""Right bridges and hosts with other words in the errors that the model reads."""

from __future__ import annotations

from typing import Any

from reference_bridge.bridge.arguments import ArgumentsInvalid
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import same_json
from reference_bridge.host import Execution, Host, Json
from reference_bridge.host.approval import AskResolution
from reference_bridge.host.errors import ToolNotFoundError
from reference_bridge.host.messages import text_block
from reference_bridge.host.pipeline import Pipeline
from reference_bridge.host.tools import Tools
from tests.right_bridges.table import right

ERRORS = ("registerTool.a-validation-error*", "registerTool.an-invalid*", "registerTool.arguments*", "tool_call.*")


class _OtherWords(ToolCallGate):
    def reason_text(self, reason: Any) -> str:
        text = super().reason_text(reason)
        return "no package wanted this" if text == "Tool execution was blocked" else text

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        if call.tool is not None or same_json(call.input, logged):
            return None
        return Verdict(
            f"{call.name} is one of the host's own tools. Its arguments were changed before it ran, and may not be "
            "changed: what runs is what was written down. Nothing was done"
        )


@right(*ERRORS, "tool_result.*", "tool_execution_end.*")
class OtherWordsForBlocks(_OtherWords):
    """Words blocks without a reason and refusals in its own way.

    Free: the text of a block without a reason is free but for that it is one, and a refusal names the tool and says
    that its arguments may not be changed (`tool_call.native-arguments-are-never-rewritten`).
    """


class _Prefixed(ToolCallGate):
    def reason_text(self, reason: Any) -> str:
        return f"[blocked] {super().reason_text(reason)} (decided by a package)"


@right(*ERRORS, "tool_result.*", "tool_execution_end.*")
class ReasonsWithAFrame(_Prefixed):
    """Puts the reason of a block between words of its own.

    Free: texts of errors are compared by what they contain.
    """


class _Hinting(ToolRuns):
    def validated(self, tool: PiTool, arguments: Any) -> Any:
        try:
            return super().validated(tool, arguments)
        except ArgumentsInvalid as error:
            if not error.text.startswith("Validation failed"):
                raise
            raise ArgumentsInvalid(f"{error.text}\n\nCorrect the arguments and call the tool again.") from None


@right(*ERRORS)
class ValidationErrorsWithAHint(_Hinting):
    """Ends each validation error with a sentence that says what to do.

    Free: of a validation error the first line's frame, the paths and the echoed arguments are compared, by containment.
    """


class _Reworded(ToolRuns):
    def validated(self, tool: PiTool, arguments: Any) -> Any:
        try:
            return super().validated(tool, arguments)
        except ArgumentsInvalid as error:
            head, sep, echo = error.text.partition("\n\nReceived arguments:\n")
            if not sep:
                raise
            first, *lines = head.split("\n")
            told = [f"  * {line.strip(' -').partition(':')[0]}: is not what the schema asks for" for line in lines]
            raise ArgumentsInvalid(
                "\n".join([f"{first.rstrip(':')} ({len(told)} problems):", *told]) + sep + echo
            ) from None


@right(*ERRORS)
class ValidationErrorsInOtherWords(_Reworded):
    """Says of each problem only where it is, in words of its own, and counts the problems in the first line.

    Free: of a validation error the first line's frame, the paths and the echoed arguments are compared; Pi itself
    changed the rest.
    """


class _UnknownRegistry(Tools):
    def resolve(self, *args: Any, **more: Any) -> Any:
        try:
            return super().resolve(*args, **more)
        except ToolNotFoundError as error:
            raise ToolNotFoundError(error.args[0].split('"')[1], "ask for one of the tools that are listed") from None


@right("*unknown*", "registerTool.only-visible*", "setActiveTools.a-tool-switched-off*", "unregisterTool.*")
class OtherWordsForUnknownTools(Host):
    """Adds a hint to the error about a name that no tool has.

    Free: the error of an unknown tool contains its name; the rest is the host's.
    """

    tools_type = _UnknownRegistry


class _OtherAsk(AskResolution):
    async def __call__(self, execution: Execution, ask: Json) -> tuple[Json, bool]:
        decision, cancelled = await super().__call__(execution, ask)
        if decision.get("kind") == "deny":
            reason = decision.get("reason")
            decision = {"kind": "deny", "reason": f"Denied: {reason}. The user can change this in the settings."}
        return decision, cancelled


@right("registerTool.a-question*", "registerTool.a-denial*", "tool_call.*")
class OtherWordsForDenials(Host):
    """Words what becomes of a question to the user in its own way, around the reason.

    Free: the text of a denial is the host's.
    """

    asks_type = _OtherAsk


class _NoPrefix(Pipeline):
    async def commit(self, step: Any) -> Any:
        result = step.result
        if result is not None and result.is_error and not result.frozen:
            result.content = _bare(result.content)
        return await super().commit(step)

    def _finished(self, execution: Execution, result: Any) -> Any:
        final = super()._finished(execution, result)
        return final.with_changes(content=_bare(final.content)).finalized() if final.is_error else final


def _bare(content: Any) -> Any:
    return [
        text_block(block["text"].removeprefix("Error: ")) if block.get("type") == "text" else block for block in content
    ]


class _NoPrefixTools(Tools):
    pipeline_type = _NoPrefix


@right(*ERRORS, "tool_result.*", "tool_execution_end.*", "registerTool.*error*")
class ErrorsWithoutAPrefix(Host):
    """Leaves the word *Error* out of the errors that the model reads.

    Free: one leading ``Error: `` is the host's, and texts are compared without it.
    """

    tools_type = _NoPrefixTools
