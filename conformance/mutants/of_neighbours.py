"""Defects of bridges that let one call, handler or package speak for its neighbour."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.values import UNDEFINED, as_object, private_copy
from reference_bridge.host import Agent, Execution
from reference_bridge.host.decisions import Decision
from reference_bridge.host.errors import Thrown
from reference_bridge.host.json_values import Json
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next

# --- the gate ---------------------------------------------------------------------------------------------------------


@mutant()
class FirstReasonIsKept(ToolCallGate):
    """Denies every blocked call with the reason of the first one."""

    def read(self, answer: Any) -> Verdict | None:
        verdict = super().read(answer)
        if verdict is None:
            return None
        self._reason: str = self.__dict__.get("_reason") or verdict.reason
        return Verdict(self._reason, verdict.terminate)


@mutant()
class OverridesAreNotJudged(Bridge):
    """Asks nobody about a package's tool that stands in the place of a native one."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        call = self.calls.of(execution)
        await self.events.started(call)
        self.look_up(call, execution)
        beneath = self.host.tools.get(execution.name)
        if call.tool is not None and beneath is not None and beneath is not self.visible(execution):
            decision: Decision = await following()
            return decision
        return await super().before_call(execution, following)


@mutant()
class EqualIdsAreJudgedOnce(ToolCallGate):
    """Judges the calls of one message that have the same id by what was said of the first."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        said: dict[Any, Verdict | None] = self.__dict__.setdefault("_said", {})
        data = call.logged.data if call.logged is not None else {}
        place = (call.agent, call.call_id, data.get("turn"), data.get("step"))
        if call.logged is None or place not in said:
            said[place] = await super().ask(call, event, signal)
        return said[place]


class _ComparesAfterEach(ToolCallGate):
    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        if not self.is_asked(call):
            return None
        event, refusal = self.event(call), None
        for at, subscription in enumerate(self._dispatch.subscriptions(call.agent, "tool_call")):
            verdict = await self.ask_one(subscription, call, event, execution.signal)
            if verdict is not None:
                return verdict
            if self.compares(at):
                refusal = refusal or self.refusal(call, execution.arguments)
        return refusal

    def compares(self, at: int) -> bool:
        raise NotImplementedError


@mutant()
class ChangesPutBackAreRefused(_ComparesAfterEach):
    """Refuses a native call as soon as one handler has changed its arguments, though a later one puts them back."""

    def compares(self, at: int) -> bool:
        return True


@mutant()
class LaterChangesUnseen(_ComparesAfterEach):
    """Looks for changed arguments of a native call after the first handler only."""

    def compares(self, at: int) -> bool:
        return at == 0


@mutant()
class AnswersUndoChanges(ToolCallGate):
    """Takes back what a handler changed in the arguments when it answers as well."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        self._call, self._before = call, private_copy(call.input)
        return await super().ask_one(subscription, call, event, signal)

    def read(self, answer: Any) -> Verdict | None:
        if answer is not None and answer is not UNDEFINED and isinstance(self._call.input, dict):
            self._call.input.clear()
            self._call.input.update(self._before)
        return super().read(answer)


@mutant()
class EmptyBlocksPass(ToolCallGate):
    """Takes an empty list and an empty object beside block for no block."""

    def read(self, answer: Any) -> Verdict | None:
        return None if as_object(answer).get("block") in ([], {}) else super().read(answer)


@mutant()
class NativeGateFailsOpen(ToolCallGate):
    """Lets a native tool's call run when a handler throws."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        self._threw = False
        verdict = await super().ask_one(subscription, call, event, signal)
        return None if self._threw and call.tool is None else verdict

    def thrown(self, error: Exception) -> Verdict:
        self._threw = True
        return super().thrown(error)


# --- the wish to stop -------------------------------------------------------------------------------------------------


@mutant()
class NativeBlocksDoNotVote(ToolCallGate):
    """Overlooks terminate beside a block of a native tool's call."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        verdict = await super().judge(call, execution)
        return Verdict(verdict.reason) if verdict is not None and call.tool is None else verdict


@mutant()
class TerminateOfAThrowVotes(ToolCallGate):
    """Takes terminate in what a handler throws for a wish to stop."""

    def thrown(self, error: Exception) -> Verdict:
        value = error.value if isinstance(error, Thrown) else None
        return Verdict(super().thrown(error).reason, as_object(value).get("terminate") is True)


class _RemembersWishes(ToolCallGate):
    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        self._call = call
        return await super().ask_one(subscription, call, event, signal)

    def read(self, answer: Any) -> Verdict | None:
        if as_object(answer).get("terminate") is True:
            self._wished = self._call
        return super().read(answer)

    def wished(self, call: Call) -> bool:
        return self.__dict__.get("_wished") is call


@mutant()
class AnyHandlersWishVotes(_RemembersWishes):
    """Counts terminate in any handler's answer beside another handler's block."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        verdict = await super().ask(call, event, signal)
        return verdict and Verdict(verdict.reason, verdict.terminate or self.wished(call))


@mutant()
class WishBesideARefusalVotes(_RemembersWishes):
    """Counts terminate in a handler's answer when the call is refused for its changed arguments."""

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        verdict = super().refusal(call, logged)
        return verdict and Verdict(verdict.reason, self.wished(call))


@mutant()
class OnlyFirstStepsStop(BatchVotes):
    """Stops after the first batch of a prompt and after no later one."""

    def stops(self, agent: Agent, turn: int, step: int) -> bool:
        return step == 1 and super().stops(agent, turn, step)
