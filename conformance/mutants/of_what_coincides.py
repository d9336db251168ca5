"""Defects that show where two things meet: a block and no reason, a patch and an error, a change and no arguments."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object, is_error, is_truthy, private_copy, same_json, thrown_text
from reference_bridge.host import Execution
from reference_bridge.host.decisions import Decision
from reference_bridge.host.json_values import Json
from reference_bridge.host.signals import AbortSignal

# --- the gate ---------------------------------------------------------------------------------------------------------


@mutant()
class EmptyArgumentsAreAnotherObject(ToolCallGate):
    """Shows handlers an object of its own where the arguments are empty, so that what they add to it is lost."""

    def event(self, call: Call) -> Event:
        event = super().event(call)
        return {**event, "input": event["input"] or {}}


@mutant()
class BlanksAndOrderAreNoChange(ToolCallGate):
    """Takes arguments of a native tool that differ in outer blanks, case or the order of a list for the same."""

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        return None if same_json(self._plain(call.input), self._plain(logged)) else super().refusal(call, logged)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return sorted((self._plain(item) for item in value), key=repr)
        return value.strip().lower() if isinstance(value, str) else value


@mutant()
class FirstAnswerDecides(ToolCallGate):
    """Asks nobody after a handler that answered with an object, whatever it says."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        for subscription in self._dispatch.subscriptions(call.agent, "tool_call"):
            self._answered = False
            verdict = await self.ask_one(subscription, call, event, signal)
            if verdict is not None or self._answered:
                return verdict
        return None

    def read(self, answer: Any) -> Verdict | None:
        self._answered = isinstance(answer, dict)
        return super().read(answer)


class _Passing(ToolCallGate):
    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        self._passes = False
        verdict = await super().ask_one(subscription, call, event, signal)
        return None if self._passes else verdict

    def passes(self, error: Exception) -> bool:
        raise NotImplementedError

    def thrown(self, error: Exception) -> Verdict:
        self._passes = self.passes(error)
        return super().thrown(error)


@mutant()
class EmptyThrowLetsTheCallRun(_Passing):
    """Lets the call run when what a handler throws is empty, false or nothing."""

    def passes(self, error: Exception) -> bool:
        return thrown_text(error) in ("", "0", "false", "null", "undefined")


@mutant()
class NestedCallsNotJudged(ToolCallGate):
    """Asks nobody about a call that another tool makes."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        return None if call.logged is None else await super().judge(call, execution)


@mutant()
class PlainAnswersUnheard(Dispatch):
    """Takes only what a handler answers after a wait."""

    def subscriptions(self, agent: Any, event: str) -> list[Subscription]:
        return [_Unheard(each.instance, each.handler) for each in super().subscriptions(agent, event)]


class _Unheard(Subscription):
    async def call(self, event: Event, agent: Any, signal: AbortSignal | None) -> Any:
        waited = False

        def handler(told: Event, context: Any) -> Any:
            nonlocal waited
            answer = self.handler(told, context)
            waited = hasattr(answer, "__await__")
            return answer

        answer = await Subscription(self.instance, handler).call(event, agent, signal)
        return answer if waited else None


@mutant()
class ThrownValuesUnreported(Dispatch):
    """Says nothing of what a handler throws that is no error."""

    def failed(self, subscription: Subscription, event: Event, error: Exception) -> None:
        if is_error(error):
            super().failed(subscription, event, error)


# --- the wish to stop -------------------------------------------------------------------------------------------------


@mutant()
class TerminateNeedsAReason(ToolCallGate):
    """Overlooks terminate beside a block that has no reason."""

    def read(self, answer: Any) -> Verdict | None:
        verdict = super().read(answer)
        return verdict and Verdict(verdict.reason, verdict.terminate and is_truthy(as_object(answer).get("reason")))


@mutant()
class TerminateLostBesideAChange(ToolCallGate):
    """Overlooks terminate beside a block where a handler has changed the arguments."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        verdict = await super().judge(call, execution)
        changed = not same_json(call.input, execution.arguments)
        return Verdict(verdict.reason) if verdict is not None and changed else verdict


@mutant()
class AskedOnceAsksAlways(ToolRuns):
    """Takes every later call of a tool for one that asks to stop once a call of it did."""

    def asks_to_stop(self, answer: Any) -> bool:
        self._asked = self.__dict__.get("_asked", False) or super().asks_to_stop(answer)
        return self._asked


# --- results ----------------------------------------------------------------------------------------------------------


class _ChangesErrors(ResultPatches):
    def change(self, content: Any, outcome: Outcome, fails: bool) -> Any:
        raise NotImplementedError

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        return await super().decide(call, outcome, decision, self.change(content, outcome, fails), fails)


@mutant()
class ErrorLosesItsNewText(_ChangesErrors):
    """Keeps the tool's own content where a patch makes a result an error and brings another."""

    def change(self, content: Any, outcome: Outcome, fails: bool) -> Any:
        return outcome.result["content"] if fails and not outcome.is_error else content


@mutant()
class ErrorKeepsItsFirstBlock(_ChangesErrors):
    """Keeps the first block where a result is, or becomes, an error."""

    def change(self, content: Any, outcome: Outcome, fails: bool) -> Any:
        return content[:1] if (fails or outcome.is_error) and isinstance(content, list) else content


@mutant()
class InPlaceLostBesideAnAnswer(ResultPatches):
    """Forgets what was changed in place as soon as a handler answers without content."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        self._own = private_copy(outcome.result["content"])
        return super().event(call, outcome)

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        if answer and "content" not in answer:
            event["content"] = private_copy(self._own)
        return super().patch(subscription, call, event, answer)


@mutant()
class ErrorFlagHiddenBesideContent(ResultPatches):
    """Shows later handlers a success where a patch both made an error and brought content."""

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        patched = super().patch(subscription, call, event, answer)
        if "content" in answer and is_truthy(answer.get("isError")):
            event["isError"] = False
        return patched


@mutant()
class InputOfTheCallJudgedLast(ToolRuns):
    """Shows result handlers the arguments of the call of the tool that was judged last."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        latest: dict[str, Any] = self.__dict__.setdefault("_latest", {})
        latest[tool.name] = call.input
        answer = await super().execute(call, tool, execution)
        call.input = latest[tool.name]
        return answer


# --- pictures ---------------------------------------------------------------------------------------------------------


@mutant()
class PicturesOfATypeAreOne(Contents):
    """Takes every picture of a call for the first one of its type."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        first: dict[Any, Any] = {}
        blocks = [
            first.setdefault(block.get("mimeType"), block)
            if isinstance(block, dict) and block.get("type") == "image" and "data" in block
            else block
            for block in self.blocks(content)
        ]
        return await super().to_host(blocks, pictures)


@mutant()
class EveryPictureIsAPng(Contents):
    """Stores every picture as a PNG."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        blocks = [
            {**block, "mimeType": "image/png"}
            if isinstance(block, dict) and block.get("type") == "image" and "data" in block
            else block
            for block in self.blocks(content)
        ]
        return await super().to_host(blocks, pictures)
