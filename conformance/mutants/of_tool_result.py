"""Defects of tool_result and of user_bash."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Contents, Pictures
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.values import UNDEFINED, as_object
from reference_bridge.host import Agent, Execution
from reference_bridge.host.decisions import Decision
from reference_bridge.host.messages import text_block
from reference_bridge.host.waterfall import Next


@mutant()
class ResultShowsRawInput(ResultPatches):
    """Gives a handler the arguments as the model wrote them."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        return {**super().event(call, outcome), "input": call.logged_arguments}


@mutant()
class PatchIgnored(ResultPatches):
    """Asks handlers and keeps the result as it was."""

    async def apply(
        self, call: Call, execution: Execution, outcome: Outcome, decision: Decision
    ) -> tuple[Outcome, Decision]:
        await super().apply(call, execution, outcome, decision)
        return outcome, decision


class _AskedAboutOthers(ResultPatches):
    def also(self, call: Call) -> bool:
        raise NotImplementedError

    def is_asked(self, call: Call) -> bool:
        return super().is_asked(call) or self.also(call)


@mutant()
class NativeResultsNotAsked(ResultPatches):
    """Asks tool_result handlers about packages' tools only."""

    def is_asked(self, call: Call) -> bool:
        return super().is_asked(call) and call.tool is not None


@mutant()
class FailuresNotAsked(Bridge):
    """Asks handlers about successes only."""

    class patches_type(ResultPatches):
        async def apply(
            self, call: Call, execution: Execution, outcome: Outcome, decision: Decision
        ) -> tuple[Outcome, Decision]:
            return (outcome, decision) if outcome.is_error else await super().apply(call, execution, outcome, decision)


@mutant()
class AskedAboutBlockedCalls(_AskedAboutOthers):
    """Asks handlers about blocked calls, too."""

    def also(self, call: Call) -> bool:
        return call.known and call.tool is not None and call.invalid is None


@mutant()
class AskedAboutInvalidCalls(_AskedAboutOthers):
    """Asks handlers about calls whose arguments did not pass, too."""

    def also(self, call: Call) -> bool:
        return call.invalid is not None


@mutant()
class AskedAboutRefusedCalls(_AskedAboutOthers):
    """Asks handlers about every call that has a result."""

    def also(self, call: Call) -> bool:
        return True


class _PatchesOtherwise(ResultPatches):
    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return answer

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        return super().patch(subscription, call, event, self.changed(answer))


@mutant()
class EmptyContentIgnored(_PatchesOtherwise):
    """Takes an empty list of content for none."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in answer.items() if key != "content" or value}


@mutant()
class IsErrorIgnored(_PatchesOtherwise):
    """Ignores isError in a patch."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in answer.items() if key != "isError"}


@mutant()
class NullContentEmpties(_PatchesOtherwise):
    """Takes null content for an empty one."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "content": []} if "content" in answer and answer["content"] is None else answer


@mutant()
class UndefinedContentEmpties(_PatchesOtherwise):
    """Takes a content that is there and undefined for an empty one."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "content": []} if answer.get("content") is UNDEFINED else answer


@mutant()
class PatchResetsOtherFields(_PatchesOtherwise):
    """Takes a patch without content for one that empties it."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {"content": [], **answer} if answer.get("isError") is True else answer


@mutant()
class TextAnswerReplaces(ResultPatches):
    """Takes a text that a handler returns for the new content."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        answered = False
        for subscription in subscriptions:
            answer = await subscription.call(event, call.agent, execution.signal)
            if isinstance(answer, str):
                answer = {"content": [text_block(answer)]}
            answered = self.patch(subscription, call, event, as_object(answer)) or answered
        return answered


@mutant()
class InPlaceChangesDropped(ResultPatches):
    """Hands each handler a copy, so that changes in place reach nothing."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        answered = False
        for subscription in subscriptions:
            shown = deepcopy(event)
            answer = await subscription.call(shown, call.agent, execution.signal)
            answered = self.patch(subscription, call, event, as_object(answer)) or answered
        return answered


@mutant()
class FailureRecovered(Bridge):
    """Lets a handler's isError false make the body of a failed call one that succeeds."""

    async def around_body(self, execution: Execution, following: Next) -> Any:
        result = await super().around_body(execution, following)
        call = self.calls.of(execution)
        if result.is_error and call.executed:
            outcome = Outcome({"content": list(result.content), "details": {}}, True)
            event = self.patches.event(call, outcome)
            for each in self.dispatch.subscriptions(call.agent, "tool_result"):
                if as_object(await each.call(event, call.agent, None)).get("isError") is False:
                    return replace(result, is_error=False, error=None, value={"content": list(result.content)})
        return result


@mutant()
class RecoveryIgnoredSilently(ResultPatches):
    """Says nothing to a handler that tries to recover a failure."""

    def recovery_ignored(self, call: Call, package: str) -> None:
        return


@mutant()
class PatchedDetailsKept(ResultPatches):
    """Puts the details of a patch into the content."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        if hasattr(self, "_details"):
            content = [*content, text_block(str(self._details))]
        return await super().decide(call, outcome, decision, content, fails)

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        if answer.get("details"):
            self._details = answer["details"]
        return super().patch(subscription, call, event, answer)


@mutant()
class PatchesBuiltOnTheFirstResult(ResultPatches):
    """Shows each handler the tool's own result; the last patch wins."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        first, answered = deepcopy(event), False
        for subscription in subscriptions:
            shown = deepcopy(first)
            answer = as_object(await subscription.call(shown, call.agent, execution.signal))
            if shown["content"] != first["content"]:
                answer = {"content": shown["content"], **answer}
            answered = self.patch(subscription, call, event, answer) or answered
        return answered


@mutant()
class OnlyTheFirstPatchCounts(ResultPatches):
    """Asks nobody after the first patch."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        return any([await super().ask(subscriptions[:1], call, event, execution)])


@mutant()
class ThrowLosesTheResult(ResultPatches):
    """Puts what a handler threw in the result's place."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        answered = False
        for subscription in subscriptions:
            try:
                answer = as_object(await subscription.call(event, call.agent, execution.signal))
            except Exception as error:
                answer = {"content": [text_block(str(error))], "isError": True}
            answered = self.patch(subscription, call, event, answer) or answered
        return answered


@mutant()
class ThrowEndsTheChain(ResultPatches):
    """Asks nobody after a handler threw."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        answered = False
        for subscription in subscriptions:
            try:
                answer = as_object(await subscription.call(event, call.agent, execution.signal))
            except Exception as error:
                self._dispatch.failed(subscription, event, error)
                break
            answered = self.patch(subscription, call, event, answer) or answered
        return answered


@mutant()
class ThrowUnreported(Dispatch):
    """Says nothing of what a tool_result handler throws."""

    def failed(self, subscription: Subscription, event: Event, error: Exception) -> None:
        if event["type"] != "tool_result":
            super().failed(subscription, event, error)


@mutant()
class PictureBecomesASentence(Contents):
    """Turns every picture of a patched result into a sentence."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[dict[str, Any]]:
        blocks = await super().to_host(content, pictures)
        if len(blocks) < 2:
            return blocks
        return [text_block("[a picture]") if block.get("type") == "image" else block for block in blocks]


class _PatchVotes(ResultPatches):
    wish = True

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        if answer.get("terminate") is self.wish:
            call.asked_to_stop = self.wish
        return super().patch(subscription, call, event, answer)


@mutant()
class PatchSetsTerminate(_PatchVotes):
    """Takes terminate true in a patch for a wish to stop."""


@mutant()
class PatchClearsTerminate(_PatchVotes):
    """Takes terminate false in a patch for a wish to go on."""

    wish = False


@mutant()
class PatchRenamesTheCall(_PatchesOtherwise):
    """Takes another name in a patch for a reason to replace the content."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "content": [text_block(answer["toolName"])]} if "toolName" in answer else answer


@mutant()
class ResultHandlersNotAwaited(Bridge):
    """Asks tool_result handlers beside the loop."""

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        call = self.calls.of(execution)
        decision: Decision = await self.guarded(call, following)
        outcome = await self.outcome(call, execution, result, decision)
        self._asking = asyncio.ensure_future(self.patches.apply(call, execution, outcome, decision))
        await asyncio.sleep(0)
        await self.events.end(call, outcome)
        return decision


class _KeepsAnotherLog(Bridge):
    """What is appended to the log of each agent goes through ``append``."""

    def agent_started(self, agent: Agent) -> None:
        real, session = agent.session.append, agent.session
        session.append = lambda *args, **more: self.append(real, *args, **more)  # type: ignore[method-assign]
        super().agent_started(agent)

    def append(self, real: Callable[..., Any], type: str, *args: Any, **more: Any) -> Any:
        raise NotImplementedError


@mutant()
class ResultLoggedTwice(_KeepsAnotherLog):
    """Logs every result twice."""

    def append(self, real: Callable[..., Any], type: str, *args: Any, **more: Any) -> Any:
        if type == "tool/result":
            real(type, *args, **more)
        return real(type, *args, **more)


@mutant()
class ResultsInReverse(_KeepsAnotherLog):
    """Logs the results of a message's calls last first."""

    def append(self, real: Callable[..., Any], type: str, *args: Any, **more: Any) -> Any:
        held: list[Callable[[], Any]] = getattr(self, "_held", [])
        if type == "tool/result":
            self._held = [lambda: real(type, *args, **more), *held]
            return None
        if type == "step/end":
            self._held = []
            for append in held:
                append()
        return real(type, *args, **more)


@mutant()
class ModelReadsTheUnpatched(Bridge):
    """Shows the model each result as the tool gave it, whatever the log keeps."""

    def agent_started(self, agent: Agent) -> None:
        self._first: dict[str, Any] = {}
        session, real = agent.session, agent.session.messages
        session.messages = lambda: [self.unpatched(message) for message in real()]  # type: ignore[method-assign]
        super().agent_started(agent)

    def unpatched(self, message: Any) -> Any:
        blocks = [
            {**block, "content": self._first[block["toolCallId"]]} if block.get("toolCallId") in self._first else block
            for block in message["content"]
        ]
        return {**message, "content": blocks}

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        self._first[execution.call_id] = list(result.content)
        return await super().after_body(execution, result, following)
