"""Defects of the gate: what counts as a block, who is asked about which call, and in which order."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.values import as_object, is_error, is_truthy
from reference_bridge.host import Execution, deny
from reference_bridge.host.decisions import Decision
from reference_bridge.host.json_values import clone
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
