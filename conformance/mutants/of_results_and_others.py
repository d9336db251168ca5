"""Defects of what becomes of a result between the tool, the packages and the host's own listeners."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Agent, Execution, ToolResult
from reference_bridge.host.decisions import Decision
from reference_bridge.host.waterfall import Next

# --- texts ------------------------------------------------------------------------------------------------------------


class _ChangesPatches(ResultPatches):
    def change(self, call: Call, event: Event, content: list[Any]) -> list[Any] | None:
        """The content in place of what a handler returned; ``None`` for none."""
        raise NotImplementedError

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        if isinstance(answer.get("content"), list):
            content = self.change(call, event, answer["content"])
            answer = {**answer, "content": content}
        return super().patch(subscription, call, event, answer)


@mutant()
class ShorterPatchesKeepTheRest(_ChangesPatches):
    """Lays a patch's content over the result's block by block, so that blocks beyond it stay."""

    def change(self, call: Call, event: Event, content: list[Any]) -> list[Any] | None:
        return [*content, *event["content"][len(content) :]] if content else content


@mutant()
class EmptyTextPatchesNothing(_ChangesPatches):
    """Takes a patch of an empty text for no patch."""

    def change(self, call: Call, event: Event, content: list[Any]) -> list[Any] | None:
        return None if content and not any(as_object(block).get("text", "?") for block in content) else content


@mutant()
class NativePatchesKeepOneBlock(_ChangesPatches):
    """Takes of a patch to a native tool's result the first block."""

    def change(self, call: Call, event: Event, content: list[Any]) -> list[Any] | None:
        return content[:1] if call.tool is None else content


class Decides(ResultPatches):
    """Ends results with another content or another error than the handlers left."""

    def change(self, call: Call, outcome: Outcome, content: Any, fails: bool) -> tuple[Any, bool]:
        """Content and error in place of what the handlers left."""
        raise NotImplementedError

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        content, fails = self.change(call, outcome, content, fails)
        return await super().decide(call, outcome, decision, content, fails)


@mutant()
class NativeFailuresAreFinal(Decides):
    """Keeps the text of a native tool's failure, whatever a patch says."""

    def change(self, call: Call, outcome: Outcome, content: Any, fails: bool) -> tuple[Any, bool]:
        return (outcome.result["content"] if call.tool is None and outcome.is_error else content), fails


@mutant()
class NativeSuccessesAreFinal(Decides):
    """Ignores isError in a patch to a native tool's success."""

    def change(self, call: Call, outcome: Outcome, content: Any, fails: bool) -> tuple[Any, bool]:
        return content, fails and call.tool is not None


@mutant()
class NativeFailuresShownAsSuccesses(ResultPatches):
    """Shows handlers a native tool's failure as a success."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        event = super().event(call, outcome)
        return {**event, "isError": False} if call.tool is None else event


@mutant()
class SlowPatchesAreLost(ResultPatches):
    """Waits for a handler, but takes no answer that took longer than a moment."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        quick = [_Quick(each.instance, each.handler) for each in subscriptions]
        return await super().ask(quick, call, event, execution)


class _Quick(Subscription):
    async def call(self, event: Event, agent: Agent | None, signal: Any) -> Any:
        asked = asyncio.ensure_future(super().call(event, agent, signal))
        await asyncio.wait({asked}, timeout=0.02)
        slow = not asked.done()
        answer = await asked
        return None if slow else answer


# --- errors -----------------------------------------------------------------------------------------------------------


class _TakesErrorsBack(ResultPatches):
    def takes_back(self, answer: dict[str, Any]) -> bool:
        raise NotImplementedError

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        if not call.failed and self.takes_back(answer):
            event["isError"] = False
        return super().patch(subscription, call, event, answer)


@mutant()
class ContentTakesTheErrorBack(_TakesErrorsBack):
    """Takes a patch of content alone for one that makes the result a success again."""

    def takes_back(self, answer: dict[str, Any]) -> bool:
        return "content" in answer and "isError" not in answer


@mutant()
class ThrowClearsTheWishToStop(ResultPatches):
    """Forgets that a result asked to stop when a handler of tool_result throws."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        watched = [_Watched(each.instance, each.handler) for each in subscriptions]
        for each in watched:
            object.__setattr__(each, "told", call)
        return await super().ask(watched, call, event, execution)


class _Watched(Subscription):
    told: Call

    async def call(self, event: Event, agent: Agent | None, signal: Any) -> Any:
        try:
            return await super().call(event, agent, signal)
        except Exception:
            self.told.asked_to_stop = False
            raise


@mutant()
class CancelledResultsNotAsked(ResultPatches):
    """Asks nobody about the result of a call whose turn was cancelled."""

    async def apply(
        self, call: Call, execution: Execution, outcome: Outcome, decision: Decision
    ) -> tuple[Outcome, Decision]:
        if execution.signal.aborted:
            return outcome, decision
        return await super().apply(call, execution, outcome, decision)


# --- pictures ---------------------------------------------------------------------------------------------------------


def is_picture(block: Any) -> bool:
    """Whether a content block is a picture, in Pi's form or the host's."""
    return as_object(block).get("type") == "image"


@mutant()
class ErrorsLoseTheirPictures(Decides):
    """Drops the pictures of a success that a handler makes an error."""

    def change(self, call: Call, outcome: Outcome, content: Any, fails: bool) -> tuple[Any, bool]:
        if fails and not outcome.is_error and isinstance(content, list):
            content = [block for block in content if not is_picture(block)]
        return content, fails


@mutant()
class PicturesLeftOutComeBack(Decides):
    """Adds the pictures of the tool's own result to content that does not have them."""

    def change(self, call: Call, outcome: Outcome, content: Any, fails: bool) -> tuple[Any, bool]:
        own = [block for block in outcome.result["content"] if is_picture(block)]
        if isinstance(content, list):
            content = [*content, *(block for block in own if block not in content)]
        return content, fails


@mutant()
class EqualPicturesAreOne(Contents):
    """Keeps one of several equal pictures of a result."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        kept: list[Block] = []
        for block in await super().to_host(content, pictures):
            if not (is_picture(block) and block in kept):
                kept.append(block)
        return kept


@mutant()
class PicturesOfTheFirstCall(Contents):
    """Shows handlers in every result the picture that stood at its place in the first one."""

    async def to_pi(self, content: Any, pictures: Pictures) -> list[Any]:
        first: dict[int, Any] = self.__dict__.setdefault("_first", {})
        shown = await super().to_pi(content, pictures)
        return [first.setdefault(at, block) if is_picture(block) else block for at, block in enumerate(shown)]


# --- the host's own listeners -----------------------------------------------------------------------------------------


@mutant()
class HostAfterTheBodyUnheard(Bridge):
    """Answers after the body without asking the host's further listeners."""

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        async def nobody() -> Decision:
            return {"kind": "accept"}

        return await super().after_body(execution, result, nobody)


@mutant()
class RefusalsAfterTheBodyLost(Bridge):
    """Accepts what a listener of the host refused after the body."""

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        async def accepting() -> Decision:
            decision: Decision = await following()
            return {"kind": "accept"} if as_object(decision).get("kind") == "block" else decision

        return await super().after_body(execution, result, accepting)


# --- ends -------------------------------------------------------------------------------------------------------------


@mutant()
class CancelledCallsEndWell(ExecutionEvents):
    """Tells the end of a cancelled call as a success."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        aborted = "aborted" in str(outcome.result.get("content"))
        await super().end(call, Outcome(outcome.result, outcome.is_error and not aborted))


@mutant()
class NoEndWithoutThePackage(ExecutionEvents):
    """Tells no end of a call whose package is gone."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        if call.tool is not None and not call.tool.instance.active:
            call.ended = True
        await super().end(call, outcome)


@mutant()
class UpdateHandlersInReverse(Dispatch):
    """Tells updates to the packages loaded last first."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        found = super().subscriptions(agent, event)
        return found[::-1] if event == "tool_execution_update" else found


# --- after a question, a cancel, another call -------------------------------------------------------------------------


@mutant()
class AllowedCallsNotPatched(ResultPatches):
    """Asks nobody about the result of a call that the user was asked about."""

    def is_asked(self, call: Call) -> bool:
        events = call.agent.session.events if call.agent is not None else ()
        questions = (event.data["callId"] for event in events if event.type == "approval/asked")
        return super().is_asked(call) and call.call_id not in questions


@mutant()
class CancelBlocksForGood(ToolCallGate):
    """Blocks every call that comes after a cancelled one."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        if self.__dict__.get("_cancelled"):
            return Verdict("cancelled")
        execution.signal.add_listener(lambda: setattr(self, "_cancelled", True))
        return await super().judge(call, execution)


@mutant()
class CancelSilencesForGood(ExecutionEvents):
    """Tells nothing of calls that come after a cancelled one."""

    def start(self, call: Call) -> None:
        call.ended = bool(self.__dict__.get("_cancelled"))
        if not call.ended:
            super().start(call)

    async def end(self, call: Call, outcome: Outcome) -> None:
        await super().end(call, outcome)
        self._cancelled = self.__dict__.get("_cancelled") or "aborted" in str(outcome.result.get("content"))


@mutant()
class DetailsOfTheFirstCall(ResultPatches):
    """Shows handlers the details of a tool's first result in every later one."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        event = super().event(call, outcome)
        first: dict[str, Any] = self.__dict__.setdefault("_first", {})
        return {**event, "details": first.setdefault(call.name, event["details"])}


@mutant()
class PicturesMissingInEnds(ExecutionEvents):
    """Leaves the pictures out of the result that an end carries."""

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        content = outcome.result.get("content")
        if isinstance(content, list):
            texts = [block for block in content if not is_picture(block)]
            outcome = Outcome({**outcome.result, "content": texts}, outcome.is_error)
        return super().end_event(call, outcome)


@mutant()
class EmptiedResultsEndFull(ExecutionEvents):
    """Tells the end of a result without content with what the tool answered."""

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        if not outcome.result.get("content"):
            outcome = Outcome({**outcome.result, **as_object(call.returned)}, outcome.is_error)
        return super().end_event(call, outcome)


@mutant()
class NativeEndsUnpatched(Bridge):
    """Tells the end of a native tool's call with the result as it was before the handlers patched it."""

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        call = self.calls.of(execution)
        if call.tool is not None:
            return await super().after_body(execution, result, following)
        decision: Decision = await self.guarded(call, following)
        own = await self.outcome(call, execution, result, decision)
        _, decision = await self.patches.apply(call, execution, own, decision)
        await self.events.end(call, own)
        return decision


@mutant()
class NoEndWhereTheTurnConcludes(Bridge):
    """Tells no end of a native call that ends the turn."""

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        if result.concludes_turn:
            self.calls.of(execution).ended = True
        return await super().after_body(execution, result, following)


@mutant()
class PicturesMissingInUpdates(ExecutionEvents):
    """Leaves the pictures out of partial results."""

    def update_event(self, call: Call, partial: Any) -> Event:
        content = as_object(partial).get("content")
        if isinstance(content, list):
            partial = {**partial, "content": [block for block in content if not is_picture(block)]}
        return super().update_event(call, partial)
