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
from reference_bridge.bridge.tools import ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object, private_copy
from reference_bridge.host import Execution, Host, HostOptions, Json
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


@right(*RESULTS, departs=("tool_result.changed-in-place",))
class EachHandlerGetsACopy(_CopiesOut):
    """Shows each tool_result handler a copy, so that nothing but what it returns counts.

    Free: `tool_result.changed-in-place` is a should.
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
        self._stored[number] = self._stored.pop(reference["attachmentId"])
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
