"""Defects of what becomes of arguments that handlers change."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object
from reference_bridge.host import Execution, NotLosslessError
from reference_bridge.host.decisions import Decision
from reference_bridge.host.json_values import Json, clone
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next


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
class RefusedChangesAreShown(ToolRuns):
    """Shows what handlers changed for a native tool, though the host lets it run with the arguments of the log."""

    def show_what_runs(self, call: Call, arguments: Json) -> None:
        """Leaves the input as handlers left it."""


@mutant()
class ChangedInputCopiedAsJson(ToolCallGate):
    """Hands a tool whose arguments were changed a copy of them, and ends the call where there is no copy in JSON."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        verdict = await super().ask(call, event, signal)
        if verdict is None and call.tool is not None:
            try:
                clone(call.input)
            except NotLosslessError as error:
                return Verdict(f"the arguments cannot be copied: {error}")
        return verdict
