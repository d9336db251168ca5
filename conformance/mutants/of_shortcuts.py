"""Defects of bridges that remember, skip or hurry: an answer that was right once is given again or too early."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.values import UNDEFINED
from reference_bridge.host import Agent, Execution, allow
from reference_bridge.host.decisions import Decision
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next


@mutant()
class GateAsksOncePerTool(ToolCallGate):
    """Remembers what the handlers said about a tool, and asks nobody about its later calls."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        said: dict[str, Verdict | None] = self.__dict__.setdefault("_said", {})
        if call.name not in said:
            said[call.name] = await super().ask(call, event, signal)
        return said[call.name]


@mutant()
class GateRemembersBlocks(ToolCallGate):
    """Blocks every later call of a tool of which one call was blocked."""

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        blocked: dict[str, Verdict] = self.__dict__.setdefault("_blocked", {})
        if call.name in blocked:
            return blocked[call.name]
        verdict = await super().ask(call, event, signal)
        if verdict is not None:
            blocked[call.name] = verdict
        return verdict


@mutant()
class BlockEndsTheBatch(ToolCallGate):
    """Blocks every later call of a batch of which one call was blocked."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        step = call.logged and (call.logged.data["turn"], call.logged.data["step"])
        if step is not None and self.__dict__.get("_step") == step:
            return Verdict("an earlier call was blocked")
        verdict = await super().judge(call, execution)
        if verdict is not None:
            self._step = step
        return verdict


@mutant()
class SlowGateFailsOpen(ToolCallGate):
    """Lets a call run whose handlers take longer than a moment."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        asked = asyncio.ensure_future(super().ask_one(subscription, call, event, signal))
        await asyncio.wait({asked}, timeout=0.02)
        return asked.result() if asked.done() else None


@mutant()
class ThrowingGateIsRetired(ToolCallGate):
    """Never asks a handler again that has thrown once."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        retired: list[Any] = self.__dict__.setdefault("_retired", [])
        if subscription.handler in retired:
            return None
        try:
            return self.read(await subscription.call(event, call.agent, signal))
        except Exception as error:
            retired.append(subscription.handler)
            return self.thrown(error)


class _Retires(Dispatch):
    event = ""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        retired = self.__dict__.setdefault("_retired", [])
        return [each for each in super().subscriptions(agent, event) if each.handler not in retired]

    def failed(self, subscription: Subscription, event: Event, error: Exception) -> None:
        super().failed(subscription, event, error)
        self.__dict__.setdefault("_retired", []).append(subscription.handler)


@mutant()
class ThrowingObserverIsRetired(_Retires):
    """Never tells a handler again that has thrown once."""


@mutant()
class HandlersHearOnce(Dispatch):
    """Tells each handler of the first call only."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        heard: dict[tuple[int, str], int] = self.__dict__.setdefault("_heard", {})
        found = super().subscriptions(agent, event)
        found = [each for each in found if heard.get((id(each.handler), event), 0) < 1]
        for each in found:
            heard[id(each.handler), event] = 1
        return found


@mutant()
class UpdatesThrottled(ExecutionEvents):
    """Tells at most one update of a call in a tenth of a second, and drops the others."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        now = asyncio.get_running_loop().time()
        told: dict[int, float] = self.__dict__.setdefault("_told", {})
        if now - told.get(id(call), float("-inf")) >= 0.1:
            told[id(call)] = now
            super().update(call, partial, signal)


@mutant()
class EqualUpdatesMerged(ExecutionEvents):
    """Drops an update that says the same as the one before it."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        last: dict[int, Any] = self.__dict__.setdefault("_last", {})
        if last.get(id(call), UNDEFINED) != partial:
            last[id(call)] = partial
            super().update(call, partial, signal)


@mutant()
class ApprovalRemembered(Bridge):
    """Allows by itself what the user has allowed once."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        allowed: set[str] = self.__dict__.setdefault("_allowed", set())

        async def inner() -> Decision:
            if execution.name in allowed:
                return allow()
            decision: Decision = await following()
            if isinstance(decision, dict) and decision.get("kind") == "ask":
                allowed.add(execution.name)
            return decision

        return await super().before_call(execution, inner)


@mutant()
class ChainAskedTwice(Bridge):
    """Asks the rest of the host's policy a second time and takes what it says then."""

    async def guarded(self, call: Call, following: Next) -> Any:
        first = await super().guarded(call, following)
        return await following() if isinstance(first, dict) and first.get("kind") in ("deny", "ask") else first


@mutant()
class GateAskedOnlyWhereTheHostAllows(Bridge):
    """Lets the host's policy decide first, and asks packages only about what it allows without a question."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision: Decision = await following()
        if not isinstance(decision, dict) or decision.get("kind") != "allow":
            return decision

        async def decided() -> Decision:
            return decision

        return await super().before_call(execution, decided)
