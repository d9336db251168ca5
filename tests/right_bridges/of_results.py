"""Right bridges that make something else of what tools and handlers answer, where rules leave that open."""

from __future__ import annotations

from typing import Any

from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object, private_copy, thrown_text
from reference_bridge.host import Execution, Host, HostOptions, Json, ToolResult
from reference_bridge.host.attachments import MemoryAttachments
from tests.right_bridges.table import right

RESULTS = ("tool_result.*", "registerTool.*result*", "registerTool.*details*", "registerTool.whatever*")


class _EmptyIsFine(ToolRuns):
    async def value(self, call: Call, answer: Any) -> Json:
        if answer is None or answer is UNDEFINED:
            answer = {"content": []}
        elif not isinstance(answer, dict | list):
            raise TypeError(f"tool {call.name!r} answered with no object")
        return await super().value(call, answer)


@right(*RESULTS)
class NothingIsASuccess(_EmptyIsFine):
    """Takes a tool that answers nothing for a success without content, and one that answers a text for a failure.

    Free: `registerTool.an-odd-result-costs-one-result` asks for one result and that the loop go on.
    """


class _Honouring(ToolRuns):
    async def value(self, call: Call, answer: Any) -> Json:
        value = await super().value(call, answer)
        if as_object(answer).get("isError") is True:
            texts = [block["text"] for block in value["content"] if block.get("type") == "text"]
            call.asked_to_stop = False
            raise RuntimeError("\n".join(texts) or "the tool reports an error")
        return value


@right(*RESULTS, departs=("registerTool.a-returned-iserror-is-no-error",))
class AReturnedIsErrorFails(_Honouring):
    """Makes a failure of a result that says isError, as later releases of Pi do.

    Free: `registerTool.a-returned-iserror-keeps-the-text` is the must, `registerTool.a-returned-iserror-is-no-error` a
    should.
    """


class _AskedAlways(ResultPatches):
    def is_asked(self, call: Call) -> bool:
        return super().is_asked(call) or (call.input is not UNDEFINED and not call.known)


@right(*RESULTS, departs=("tool_result.not-for-unknown-names", "tool_result.not-for-refused-calls"))
class ResultsOfUnknownNamesShown(_AskedAlways):
    """Shows tool_result handlers the errors of names that no tool has, as the host shows its own listeners.

    Free: `tool_result.not-for-unknown-names` is a should, and so is `tool_result.not-for-refused-calls`, of such a name
    that the host denied.
    """


class _AsksAboutUnknown(ToolCallGate):
    def is_asked(self, call: Call) -> bool:
        return call.invalid is None


@right("tool_call.*", departs=("tool_call.unknown-names-end-as-unknown",))
class UnknownNamesJudged(_AsksAboutUnknown):
    """Asks tool_call handlers about names that no tool has, too, as the host asks its own listeners.

    Free: whether it is asked about them no rule says; how they end does `tool_call.unknown-names-end-as-unknown`, a
    should, where a handler blocks.
    """


class _CopiesOut(ResultPatches):
    async def ask(self, subscriptions: Any, call: Call, event: Event, execution: Execution) -> bool:
        answered = False
        for subscription in subscriptions:
            shown = {**event, "content": private_copy(event["content"]), "details": private_copy(event["details"])}
            try:
                answer = await subscription.call(shown, call.agent, execution.signal)
            except Exception as error:
                self._dispatch.failed(subscription, event, error)
            else:
                answered = self.patch(subscription, call, event, as_object(answer)) or answered
        return answered


@right(*RESULTS, departs=("tool_result.changed-in-place", "tool_result.assigned-fields-count-beside-a-patch"))
class EachHandlerGetsACopy(_CopiesOut):
    """Shows each tool_result handler a copy, so that nothing but what it returns counts.

    Free: `tool_result.changed-in-place` and `tool_result.assigned-fields-count-beside-a-patch` are shoulds.
    """


class _NoLateRecovery(ResultPatches):
    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        if event["isError"] is True:
            call.failed = True
        return super().patch(subscription, call, event, answer)


@right(*RESULTS, departs=("tool_result.a-handlers-error-may-be-taken-back",))
class AnErrorIsAnError(_NoLateRecovery):
    """Lets no handler take back the error that an earlier one made of a success.

    Free: `tool_result.a-handlers-error-may-be-taken-back` is a should.
    """


class _TellsMore(ExecutionEvents):
    def start_event(self, call: Call) -> Event:
        return {**super().start_event(call), "parentToolCallId": UNDEFINED, "label": call.name}

    def update_event(self, call: Call, partial: Any) -> Event:
        return {**super().update_event(call, partial), "sequence": len(call.updates)}

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        return {**super().end_event(call, outcome), "durationMs": 12.5}


class _GateTellsMore(ToolCallGate):
    def event(self, call: Call) -> Event:
        return {**super().event(call), "cwd": "/", "parentToolCallId": None}


class _PatchesTellMore(ResultPatches):
    def event(self, call: Call, outcome: Outcome) -> Event:
        return {**super().event(call, outcome), "usage": UNDEFINED, "durationMs": 12.5}


@right("*payload*", "tool_call.*", *RESULTS)
class EventsWithMoreFields(Bridge):
    """Gives every event further fields, as later releases of Pi do.

    Free: `tool_execution_start.payload` and its like say what is in an event, not what else is.
    """

    events_type = _TellsMore
    gate_type = _GateTellsMore
    patches_type = _PatchesTellMore


class _NativePicturesAsTheyAre(Contents):
    async def _to_pi(self, block: Any, pictures: Pictures) -> Any:
        if isinstance(block, dict) and block.get("type") == "image" and pictures.shown(block) is None:
            return block
        return await super()._to_pi(block, pictures)


@right("tool_result.*picture*", "registerTool.*picture*", departs=("tool_result.a-natives-pictures-are-shown",))
class NativesPicturesInTheHostsForm(_NativePicturesAsTheyAre):
    """Shows handlers the pictures of native tools in the host's form.

    Free: `tool_result.a-natives-pictures-are-shown` is a should; a bridge may hand on what it did not make.
    """


class _SaysLittle(Contents):
    def _omitted(self, picture: Block, why: str) -> Block:
        return {"type": "text", "text": "An image was returned. It cannot be shown on this host."}


@right("tool_result.*picture*", "registerTool.*picture*")
class OtherWordsForPictures(_SaysLittle):
    """Words what stands for a picture that cannot be kept in its own way.

    Free: `registerTool.a-picture-without-an-attachment-service` asks for one result that says so.
    """


class _NumberedAttachments(MemoryAttachments):
    async def save_image(self, data: bytes, media_type: str, name: str | None = None) -> Any:
        reference = await super().save_image(data, media_type, name)
        number = f"att_{len(self._stored)}"
        self._stored[number] = self._stored[reference["attachmentId"]]
        return {**reference, "attachmentId": number}

    async def load(self, reference: Any) -> bytes:
        return self._stored[reference["attachmentId"]]


@right("tool_result.*picture*", "registerTool.*picture*")
class AttachmentsByNumber(Host):
    """Keeps each picture under a number, and the same one twice.

    Free: what an attachment is called is the host's; rules ask for the bytes and that they be in no log.
    """

    def __init__(self, options: HostOptions | None = None) -> None:
        from dataclasses import replace

        options = options or HostOptions()
        if options.attachments is not None:
            options = replace(options, attachments=_NumberedAttachments())
        super().__init__(options)


class _Bare(ExecutionEvents):
    def end_event(self, call: Call, outcome: Outcome) -> Event:
        event = super().end_event(call, outcome)
        if outcome.is_error and isinstance(event["result"], dict):
            event["result"].pop("details", None)
            for block in event["result"].get("content") or ():
                if isinstance(block, dict) and isinstance(block.get("text"), str):
                    block["text"] = block["text"].removeprefix("Error: ")
        return event


@right("tool_execution_end.*")
class EndsOfErrorsAsOnPi(_Bare):
    """Tells the end of an error without the host's prefix and without details.

    Free: texts of errors are compared without one leading ``Error: ``, and details of an error on Pi only.
    """


class _Framed(ToolRuns):
    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        try:
            return await super().execute(call, tool, execution)
        except Exception as error:
            raise RuntimeError(f"{tool.name} failed: {thrown_text(error)} (see the log)") from None


@right("registerTool.*thrown*", "registerTool.whatever*", *RESULTS, "tool_execution_end.*")
class ThrownErrorsWithAFrame(_Framed):
    """Puts the message that a tool throws between words of its own.

    Free: texts of errors are compared by what they contain; those of thrown values are free.
    """


@right("tool_result.payload", "tool_execution_end.payload*", *RESULTS)
class NativesWithEmptyDetails(Bridge):
    """Shows native tools' results with details that are an empty object, as Pi's tools mostly have.

    Free: no rule speaks of the details of a native tool.
    """

    def own_members(self, call: Call, result: ToolResult, is_error: bool) -> dict[str, Any]:
        members = super().own_members(call, result, is_error)
        return members if call.tool is not None else {"details": {}, **members}


class _OwnEvents(ToolCallGate):
    async def ask(self, call: Call, event: Event, signal: Any = None) -> Any:
        for subscription in self._dispatch.subscriptions(call.agent, "tool_call"):
            verdict = await self.ask_one(subscription, call, dict(event), signal)
            if verdict is not None:
                return verdict
        return None


@right("tool_call.*")
class EachJudgeGetsAnEventOfItsOwn(_OwnEvents):
    """Hands each tool_call handler an event of its own, with the one input in it.

    Free: what is assigned to the event in place of its input has no effect on the call; whether later handlers see it
    no rule says.
    """


class _NullsRemoved(ToolRuns):
    def validated(self, tool: PiTool, arguments: Any) -> Any:
        schema = tool.definition.get("parameters")
        if isinstance(schema, dict) and isinstance(arguments, dict) and not tool.definition.get("prepareArguments"):
            properties, required = as_object(schema.get("properties")), schema.get("required") or ()
            arguments = {
                key: value
                for key, value in arguments.items()
                if value is not None or key in required or not _refuses_null(properties.get(key))
            }
        return super().validated(tool, arguments)


def _refuses_null(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("type"), str) and schema["type"] != "null"


@right(
    "registerTool.null*", "registerTool.arguments-are*", "registerTool.the-whole*", "registerTool.a-validation-error*"
)
class NullsOfOptionalPropertiesRemoved(_NullsRemoved):
    """Removes a null for an optional property whose schema does not take it, as a floating install of Pi does.

    Free: `registerTool.null-for-an-optional-property` has two right answers.
    """


class _ToldWhatRan(ExecutionEvents):
    def update_event(self, call: Call, partial: Any) -> Event:
        shown = private_copy(call.input)
        return {**super().update_event(call, partial), "args": shown if isinstance(shown, dict) else {}}


@right("tool_execution_update.*")
class UpdatesTellWhatTheToolGot(_ToldWhatRan):
    """Gives updates the arguments as the tool got them.

    Free: `tool_execution_update.arguments` is a may.
    """
