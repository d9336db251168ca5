"""Defects of the host's waterfalls: who is asked in which order, whose answer counts, and who is waited for."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.host import Disposer, Scope, ToolResult
from reference_bridge.host.approval import AskResolution
from reference_bridge.host.json_values import UNDEFINED
from reference_bridge.host.pipeline import Pipeline
from reference_bridge.host.results import Execution
from reference_bridge.host.tools import Tools
from reference_bridge.host.waterfall import Events, Listener, Next, settle


@mutant()
class ListenersInReverse(Events):
    """Asks the listener that was added last first."""

    def heard_by(self, event: str, target: Scope | None) -> list[Listener]:
        return super().heard_by(event, target)[::-1]


@mutant()
class EveryListenerIsAsked(Events):
    """Asks the later listeners too where one answered for itself."""

    async def waterfall(self, event: str, target: Scope | None, *args: Any, innermost: Next) -> Any:
        asked: list[Listener] = []

        async def marked() -> Any:
            asked.append(_nobody)
            return await settle(innermost())

        answer = await super().waterfall(event, target, *args, innermost=marked)
        if not asked and event == "tools/pre-execute":
            for listener in self.heard_by(event, target)[1:]:
                await settle(listener(*args, marked))
        return answer


async def _nobody() -> None:
    return None


@mutant()
class NextStartsOver(Events):
    """Asks the inner listeners again each time that next() is called."""

    async def waterfall(self, event: str, target: Scope | None, *args: Any, innermost: Next) -> Any:
        listeners = self.heard_by(event, target)

        async def ask(at: int) -> Any:
            if at == len(listeners):
                return await settle(innermost())
            return await settle(listeners[at](*args, lambda: ask(at + 1)))

        return await ask(0)


@mutant()
class ScopesIgnored(Events):
    """Tells the listeners of every scope of every call."""

    def heard_by(self, event: str, target: Scope | None) -> list[Listener]:
        return [listener for _, listener in self._listeners.get(event, [])]


@mutant()
class AncestorsAreDeaf(Events):
    """Tells the listeners of a scope nothing of the scopes below it."""

    def heard_by(self, event: str, target: Scope | None) -> list[Listener]:
        return [each for scope, each in self._listeners.get(event, []) if scope is None or scope is target]


@mutant()
class InnermostDecisionCounts(Events):
    """Carries out what the innermost listener after the body decided."""

    async def waterfall(self, event: str, target: Scope | None, *args: Any, innermost: Next) -> Any:
        decided: list[Any] = []
        listeners = iter(self.heard_by(event, target)) if event == "tools/post-execute" else None
        if listeners is None:
            return await super().waterfall(event, target, *args, innermost=innermost)

        async def advance() -> Any:
            listener = next(listeners, None)
            if listener is None:
                return await settle(innermost())
            decided.append(await settle(listener(*args, advance)))
            return decided[0]

        return await advance()


@mutant()
class DisposedListenersAreAsked(Events):
    """Goes on asking a listener that was taken back."""

    def on(self, event: str, listener: Listener, *, scope: Scope | None = None, prepend: bool = False) -> Disposer:
        super().on(event, listener, scope=scope, prepend=prepend)
        return Disposer(lambda: None)


@mutant()
class ResultListenersAwaited(Pipeline):
    """Waits for the listeners of a result before it is logged."""

    async def commit(self, step: Any) -> ToolResult:
        result = await super().commit(step)
        execution = step.execution
        for listener in self._events.heard_by("tools/result", execution.scope):
            await settle(listener(execution, result))
        return result

    def _tell(self, execution: Execution, result: ToolResult) -> None:
        execution._frozen = True


@mutant()
class PostExecuteBesideTheLog(Events):
    """Logs a result without waiting for the listeners after the body."""

    async def waterfall(self, event: str, target: Scope | None, *args: Any, innermost: Next) -> Any:
        asked = super().waterfall(event, target, *args, innermost=innermost)
        if event != "tools/post-execute":
            return await asked
        task = self._background.start(asked, lambda error: None)
        await asyncio.wait({task}, timeout=0.01)
        return {"kind": "accept"}


# --- decisions


class _Decides(Events):
    event = "tools/pre-execute"

    async def waterfall(self, event: str, target: Scope | None, *args: Any, innermost: Next) -> Any:
        decision = await super().waterfall(event, target, *args, innermost=innermost)
        return self.made_of(decision, *args) if event == self.event else decision

    def made_of(self, decision: Any, *args: Any) -> Any:
        raise NotImplementedError


def _kind(decision: Any) -> Any:
    return decision.get("kind") if isinstance(decision, dict) else None


@mutant()
class DenialsIgnored(_Decides):
    """Allows what a listener denies."""

    def made_of(self, decision: Any, *args: Any) -> Any:
        return {"kind": "allow"} if _kind(decision) == "deny" else decision


@mutant()
class MalformedDecisionsDeny(_Decides):
    """Denies where a decision is none."""

    def made_of(self, decision: Any, *args: Any) -> Any:
        sound = _kind(decision) in ("allow", "ask") or decision is None or decision is UNDEFINED
        return decision if sound or "reason" in decision else {"kind": "deny", "reason": "malformed decision"}


@mutant()
class OnlyTextsAreReasons(_Decides):
    """Takes a reason that is no text for none."""

    def made_of(self, decision: Any, *args: Any) -> Any:
        odd = isinstance(decision, dict) and not isinstance(decision.get("reason", ""), str)
        return {"kind": decision.get("kind")} if odd else decision


@mutant()
class NothingAllows(_Decides):
    """Takes no decision at all for an allow."""

    def made_of(self, decision: Any, *args: Any) -> Any:
        return {"kind": "allow"} if decision is None or decision is UNDEFINED else decision


@mutant()
class AllowRewritesArguments(_Decides):
    """Runs a body with the arguments that an allow carries."""

    def made_of(self, decision: Any, *args: Any) -> Any:
        if _kind(decision) == "allow" and "arguments" in decision:
            args[0].arguments = decision["arguments"]
        return decision


@mutant()
class GuardsOverruled(Tools):
    """Lets an allow stand against a guard."""

    def guard_reason(self, execution: Execution) -> Any:
        super().guard_reason(execution)
        return UNDEFINED


@mutant()
class InnerAsksCount(Events):
    """Lets the user decide wherever any listener of a call would ask, though an outer one denied."""

    async def waterfall(self, event: str, target: Scope | None, *args: Any, innermost: Next) -> Any:
        decision = await super().waterfall(event, target, *args, innermost=innermost)
        if event == "tools/pre-execute" and isinstance(decision, dict) and decision.get("kind") == "deny":
            for listener in self.heard_by(event, target)[1:]:
                further = await settle(listener(*args, innermost))
                if isinstance(further, dict) and further.get("kind") == "ask":
                    return further
        return decision


@mutant()
class AskWithoutAServiceAllows(AskResolution):
    """Allows what should be asked where nobody can be."""

    async def __call__(self, execution: Execution, ask: Any) -> tuple[Any, bool]:
        if self._service is None:
            return {"kind": "allow"}, False
        return await super().__call__(execution, ask)


@mutant()
class AnyAnswerAllows(AskResolution):
    """Allows whatever the approval service answers."""

    async def __call__(self, execution: Execution, ask: Any) -> tuple[Any, bool]:
        decision, cancelled = await super().__call__(execution, ask)
        return (decision, cancelled) if self._service is None or cancelled else ({"kind": "allow"}, False)


@mutant()
class NeverIsAsked(AskResolution):
    """Asks the user although the policy says never."""

    async def __call__(self, execution: Execution, ask: Any) -> tuple[Any, bool]:
        if self._service is not None:
            self._service.policy = "ask"
        return await super().__call__(execution, ask)


@mutant()
class AskOfNoAgentAllows(AskResolution):
    """Allows what should be asked about a call of no agent."""

    async def __call__(self, execution: Execution, ask: Any) -> tuple[Any, bool]:
        if execution.agent is None:
            return {"kind": "allow"}, False
        return await super().__call__(execution, ask)


@mutant()
class CancelledQuestionIsADenial(AskResolution):
    """Tells a question that was cut off by a cancel as a denial."""

    async def __call__(self, execution: Execution, ask: Any) -> tuple[Any, bool]:
        return (await super().__call__(execution, ask))[0], False


# --- after the body


class _DecidesAfterTheBody(_Decides):
    event = "tools/post-execute"


@mutant()
class RefusalsAfterTheBodyIgnored(_DecidesAfterTheBody):
    """Lets a success stand that a listener after the body blocked."""

    def made_of(self, decision: Any, *args: Any) -> Any:
        return {"kind": "accept"} if _kind(decision) == "block" else decision


@mutant()
class ReplacedContentIgnored(_DecidesAfterTheBody):
    """Keeps the content that a listener after the body replaced."""

    def made_of(self, decision: Any, *args: Any) -> Any:
        return {key: each for key, each in decision.items() if key != "content"} if _kind(decision) else decision


@mutant()
class FeedbackGetsAPrefix(_DecidesAfterTheBody):
    """Puts a word of its own before the feedback of a block."""

    def made_of(self, decision: Any, *args: Any) -> Any:
        if _kind(decision) != "block":
            return decision
        return {**decision, "feedback": [{"type": "text", "text": "Blocked:"}, *decision["feedback"]]}


@mutant()
class UnknownKindsBlock(_DecidesAfterTheBody):
    """Takes a decision of an unknown kind after the body for a block."""

    def made_of(self, decision: Any, *args: Any) -> Any:
        if _kind(decision) in ("accept", "block") or not isinstance(decision, dict):
            return decision
        return {"kind": "block", "feedback": []}


@mutant()
class ContentWinsOverValue(_DecidesAfterTheBody):
    """Takes the content where a decision replaces both content and value."""

    def made_of(self, decision: Any, *args: Any) -> Any:
        both = isinstance(decision, dict) and "content" in decision and "value" in decision
        return {key: each for key, each in decision.items() if key != "value"} if both else decision
