"""Defects of the gate: blocking, what handlers are asked about, and the host's policy."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object, is_error, is_truthy
from reference_bridge.host import Execution, deny
from reference_bridge.host.decisions import Decision
from reference_bridge.host.json_values import Json, clone
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next


@mutant()
class BlockIgnored(ToolCallGate):
    """Lets a blocked call run."""

    def read(self, answer: Any) -> Verdict | None:
        return None


@mutant()
class BlockReasonLost(ToolCallGate):
    """Denies with a text of its own in place of the handler's reason."""

    def reason_text(self, reason: Any) -> str:
        return "blocked by a package"


@mutant()
class BlockWithoutReasonIsSilent(ToolCallGate):
    """Denies with an empty text where the handler gave no reason."""

    def reason_text(self, reason: Any) -> str:
        return super().reason_text(reason) if is_truthy(reason) else ""


@mutant()
class OnlyLiteralTrueBlocks(ToolCallGate):
    """Takes only the literal true for a block."""

    def read(self, answer: Any) -> Verdict | None:
        return super().read(answer) if as_object(answer).get("block") is True else None


@mutant()
class ReasonAloneBlocks(ToolCallGate):
    """Takes a reason without a block for a block."""

    def read(self, answer: Any) -> Verdict | None:
        members = as_object(answer)
        return super().read({"block": True, **members} if "reason" in members else answer)


@mutant()
class TerminateAloneVotes(ToolCallGate):
    """Takes terminate without a block for a block that asks to stop."""

    def read(self, answer: Any) -> Verdict | None:
        members = as_object(answer)
        return super().read({**members, "block": True} if members.get("terminate") is True else answer)


@mutant()
class BlockContentUsed(ToolCallGate):
    """Takes the content beside a block for the text of the denial."""

    def read(self, answer: Any) -> Verdict | None:
        verdict, content = super().read(answer), as_object(answer).get("content")
        return Verdict(content[0]["text"], verdict.terminate) if verdict and content else verdict


class _AsksEverybody(ToolCallGate):
    keeps_last = False

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        kept: Verdict | None = None
        for subscription in self._dispatch.subscriptions(call.agent, "tool_call"):
            verdict = await self.ask_one(subscription, call, event, signal)
            if verdict is not None and (kept is None or self.keeps_last):
                kept = verdict
        return kept


@mutant()
class LastBlockWins(_AsksEverybody):
    """Asks every handler and keeps the last block."""

    keeps_last = True


@mutant()
class LaterHandlersAskedAfterABlock(_AsksEverybody):
    """Asks every handler, also after one has blocked."""


@mutant()
class HandlersAskedInReverse(ToolCallGate):
    """Asks the packages loaded last first."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        for subscription in reversed(self._dispatch.subscriptions(call.agent, "tool_call")):
            verdict = await self.ask_one(subscription, call, event, signal)
            if verdict is not None:
                return verdict
        return None


@mutant()
class GateHandlersRunAtOnce(ToolCallGate):
    """Asks all handlers of a call at the same time."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        subscriptions = self._dispatch.subscriptions(call.agent, "tool_call")
        verdicts = await asyncio.gather(*(self.ask_one(each, call, event, signal) for each in subscriptions))
        return next((verdict for verdict in verdicts if verdict is not None), None)


@mutant()
class GateFailsOpen(ToolCallGate):
    """Lets the call run when a handler throws."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        try:
            return self.read(await subscription.call(event, call.agent, signal))
        except Exception:
            return None


@mutant()
class GateThrowLosesMessage(ToolCallGate):
    """Denies with a text of its own when a handler throws."""

    def thrown(self, error: Exception) -> Verdict:
        return Verdict("a handler failed")


@mutant()
class LaterHandlersAskedAfterAThrow(ToolCallGate):
    """Asks the handlers after one that threw, too."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        blocked: Verdict | None = None
        for subscription in self._dispatch.subscriptions(call.agent, "tool_call"):
            try:
                verdict = self.read(await subscription.call(event, call.agent, signal))
            except Exception as error:
                blocked = blocked or self.thrown(error)
            else:
                if verdict is not None:
                    return verdict
        return blocked


@mutant()
class GateThrowOfTextLost(ToolCallGate):
    """Loses the text of a thrown value that is no error."""

    def thrown(self, error: Exception) -> Verdict:
        return super().thrown(error) if is_error(error) else Verdict("Extension failed, blocking execution")


@mutant()
class OddReasonFailsOpen(ToolCallGate):
    """Lets the call run when the reason is no text."""

    def read(self, answer: Any) -> Verdict | None:
        reason = as_object(answer).get("reason", "")
        return super().read(answer) if isinstance(reason, str) else None


@mutant()
class GateSeesRawArguments(ToolCallGate):
    """Shows handlers the model's arguments and not the checked ones."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        checked = call.input
        if call.tool is not None and call.invalid is None:
            call.input = clone(execution.arguments)
        verdict = await super().judge(call, execution)
        call.input = checked
        return verdict


@mutant()
class GateAskedAboutInvalidCalls(ToolCallGate):
    """Asks handlers about calls whose arguments did not pass."""

    def is_asked(self, call: Call) -> bool:
        return call.known


@mutant()
class UnknownCallSwallowed(Bridge):
    """Denies a name that no tool has with a text that does not tell the name."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        return decision if self.calls.of(execution).known else deny("not possible")


@mutant()
class NativeCallsNotJudged(ToolCallGate):
    """Asks handlers about packages' tools only."""

    def is_asked(self, call: Call) -> bool:
        return super().is_asked(call) and call.tool is not None


@mutant()
class MutationDropped(ToolCallGate):
    """Hands each handler a copy of the arguments, so that changes reach nothing."""

    def event(self, call: Call) -> Event:
        return {**super().event(call), "input": deepcopy(call.input)}


class _FreshCopies(ToolCallGate):
    """What the handlers of one subscription, or of one package, change is put into the call after all were asked."""

    def same(self, one: Subscription, other: Subscription | None) -> bool:
        return False

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        original, before, shown = deepcopy(call.input), None, event
        for subscription in self._dispatch.subscriptions(call.agent, "tool_call"):
            if not self.same(subscription, before):
                shown = {**event, "input": deepcopy(original)}
            before = subscription
            verdict = await self.ask_one(subscription, call, shown, signal)
            if verdict is not None:
                return verdict
            if shown["input"] != original and isinstance(call.input, dict):
                call.input.clear()
                call.input.update(shown["input"])
        return None


@mutant()
class EachHandlerGetsAFreshCopy(_FreshCopies):
    """Shows each handler the arguments as they were, not as earlier ones left them."""


@mutant()
class EachPackageGetsAFreshCopy(_FreshCopies):
    """Shows each package the arguments as they were, not as earlier packages left them."""

    def same(self, one: Subscription, other: Subscription | None) -> bool:
        return other is not None and one.instance is other.instance


@mutant()
class FirstMutationOnly(ToolCallGate):
    """Keeps changes of texts, and drops those of any other value."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        before = deepcopy(call.input)
        verdict = await super().ask(call, event, signal)
        if isinstance(call.input, dict) and isinstance(before, dict):
            for key, value in before.items():
                if not isinstance(value, str):
                    call.input[key] = value
        return verdict


@mutant()
class OtherPackagesToolsCountAsNative(ToolCallGate):
    """Refuses changed arguments when the first listening package does not own the tool."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        before = deepcopy(call.input)
        verdict = await super().judge(call, execution)
        subscriptions = self._dispatch.subscriptions(call.agent, "tool_call")
        foreign = call.tool is not None and all(each.instance is not call.tool.instance for each in subscriptions)
        if verdict is None and foreign and before != call.input:
            return Verdict(f"the arguments of the native tool {call.name!r} may not be changed")
        return verdict


@mutant()
class MutatedArgumentsValidatedAgain(ToolRuns):
    """Validates the arguments again after the handlers changed them."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        call.input = self.validated(tool, call.input)
        return await super().execute(call, tool, execution)


@mutant()
class MutationLogged(ToolRuns):
    """Keeps the arguments that a tool ran with beside its durable result."""

    async def value(self, call: Call, answer: Any) -> Json:
        value = as_object(await super().value(call, answer))
        return {**value, "details": {"arguments": clone(call.input)}}


@mutant()
class AssignedInputIsUsed(ToolCallGate):
    """Runs the tool with an object that a handler assigned to event.input."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        verdict = await super().ask(call, event, signal)
        call.input = event["input"]
        return verdict


@mutant()
class ReturnedInputIsUsed(ToolCallGate):
    """Runs the tool with an input that a handler returned."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        try:
            answer = await subscription.call(event, call.agent, signal)
        except Exception as error:
            return self.thrown(error)
        call.input = as_object(answer).get("input", call.input)
        return self.read(answer)


@mutant()
class ArgumentsSharedByReference(ToolRuns):
    """Gives calls with equal arguments the same object."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._shared: dict[str, Any] = {}

    def prepare(self, call: Call, tool: PiTool, arguments: Json) -> None:
        fresh = not call.prepared
        super().prepare(call, tool, arguments)
        if fresh and call.invalid is None:
            call.input = self._shared.setdefault(repr((call.name, arguments)), call.input)


@mutant()
class LateMutationCrashes(ToolRuns):
    """Fails a call whose arguments were changed after the handlers had answered."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        judged = deepcopy(call.input)
        answer = await super().execute(call, tool, execution)
        await asyncio.sleep(0.01)
        if judged != call.input:
            raise RuntimeError("the arguments changed while the tool ran")
        return answer


class _ComparesOtherwise(ToolCallGate):
    def changed(self, before: Any, after: Any) -> bool:
        raise NotImplementedError

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        if call.tool is not None or not self.changed(logged, call.input):
            return None
        return Verdict(f"the arguments of the native tool {call.name!r} may not be changed")


@mutant()
class NativeMutationDropped(_ComparesOtherwise):
    """Runs a native tool with its own arguments although a handler changed them."""

    def changed(self, before: Any, after: Any) -> bool:
        return False


@mutant()
class NativeMutationApplied(Bridge):
    """Runs a native tool with the arguments a handler changed."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        call = self.calls.of(execution)
        if call.tool is None and "may not be changed" in str(as_object(decision).get("reason")):
            execution.arguments = call.input
            decision = await following()
        return decision


@mutant()
class AnyWriteCountsAsMutation(_ComparesOtherwise):
    """Takes another order of keys for a change."""

    def changed(self, before: Any, after: Any) -> bool:
        return repr(before) != repr(after)


@mutant()
class UndefinedCountsAsMutation(_ComparesOtherwise):
    """Takes an added key without a value for a change."""

    def changed(self, before: Any, after: Any) -> bool:
        return bool(before != after)


@mutant()
class OnlyTopLevelCompared(_ComparesOtherwise):
    """Looks for changes in the outermost keys only."""

    def changed(self, before: Any, after: Any) -> bool:
        return set(before) != {key for key, value in after.items() if value is not UNDEFINED}


@mutant()
class LooseComparison(_ComparesOtherwise):
    """Takes a text for the number it reads as."""

    def changed(self, before: Any, after: Any) -> bool:
        return str(before).replace("'", "") != str({k: v for k, v in after.items() if v is not UNDEFINED}).replace(
            "'", ""
        )


@mutant()
class BlockBesideMutationRuns(ToolCallGate):
    """Lets a native call run when a handler both changed and blocked it."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        verdict = await super().judge(call, execution)
        changed = call.tool is None and self.refusal(call, execution.arguments) is not None
        return None if verdict and changed and "may not" not in verdict.reason else verdict


@mutant()
class RefusalHidesTheBlock(ToolCallGate):
    """Answers with the refusal where a handler changed and blocked."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        verdict = await super().judge(call, execution)
        return (call.known and self.refusal(call, execution.arguments)) or verdict


@mutant()
class RefusedOnlyOnce(ToolCallGate):
    """Refuses the first rewritten call of a native tool and lets the later ones run."""

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        verdict = super().refusal(call, logged)
        first = not getattr(self, "_refused", False)
        self._refused = True
        return verdict if first else None


@mutant()
class LateHandlerLost(Dispatch):
    """Never asks a handler that was added during a dispatch."""

    def subscriptions(self, agent: Any, event: str) -> list[Subscription]:
        found = super().subscriptions(agent, event)
        return found[:1] if event == "tool_call" else found


@mutant()
class DenialWithoutAReason(Bridge):
    """Denies a block that came without a reason by a denial without one, which the host lets run."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        if as_object(decision).get("reason") == "Tool execution was blocked":
            return {"kind": "deny"}
        return decision


class _DecidesFurther(Bridge):
    kind = "deny"

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        async def otherwise() -> Any:
            decision = await following()
            return {"kind": "allow"} if as_object(decision).get("kind") == self.kind else decision

        return await super().before_call(execution, otherwise)


@mutant()
class InnerDenyBecomesAllow(_DecidesFurther):
    """Allows what the rest of the host's policy denies."""


@mutant()
class InnerAskBecomesAllow(_DecidesFurther):
    """Allows what the rest of the host's policy would ask the user about."""

    kind = "ask"


@mutant()
class OwnAllowOverOuterDeny(Bridge):
    """Stands before every listener of the host and allows by itself."""

    def attach(self) -> None:
        super().attach()
        self._disposers.append(self.host.on("tools/pre-execute", self.allows, prepend=True))

    async def allows(self, execution: Execution, following: Next) -> Decision:
        await following()
        return {"kind": "allow"}


@mutant()
class PolicySeesCoercedArguments(Bridge):
    """Replaces the arguments the host's policy sees by the coerced ones."""

    def attach(self) -> None:
        super().attach()
        self._disposers.append(self.host.on("tools/pre-execute", self.coerces, prepend=True))

    async def coerces(self, execution: Execution, following: Next) -> Decision:
        call = self.calls.of(execution)
        self.look_up(call, execution)
        if call.invalid is None:
            execution.arguments = call.input
        decision: Decision = await following()
        return decision


@mutant()
class CancelledGateRunsTheTool(Bridge):
    """Runs a tool although the turn was cancelled while its call was judged."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        call = self.calls.of(execution)
        if execution.signal is not None and execution.signal.aborted and call.tool is not None:
            await self.runs.run(call, call.tool, execution)
        return decision
