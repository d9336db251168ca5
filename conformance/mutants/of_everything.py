"""Defects that are everywhere: whoever cannot see these sees nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.gate import ToolCallGate
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.host import Agent, Execution, deny
from reference_bridge.host.decisions import Decision
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next


@mutant(blanket=True)
class RefusesEverything(Bridge):
    """Denies every call."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        await super().before_call(execution, following)
        return deny("not today")


@mutant(blanket=True)
class SaysYesToEverything(Bridge):
    """Lets every call run and every result be as it is, and tells the packages nothing."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        self.look_up(self.calls.of(execution), execution)
        return {"kind": "allow"}

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        return {"kind": "accept"}


@mutant(blanket=True)
class EveryEventTwice(Dispatch):
    """Calls every handler twice."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        return [each for each in super().subscriptions(agent, event) for _ in range(2)]


@mutant(blanket=True, hangs=True)
class NeverAwaits(Bridge):
    """Calls every handler and waits for none."""

    class dispatch_type(Dispatch):
        async def tell(self, agent: Agent | None, event: Event, signal: AbortSignal | None = None) -> None:
            for each in self.subscriptions(agent, event["type"]):
                self._kept = [*getattr(self, "_kept", []), asyncio.ensure_future(each.call(event, agent, signal))]

    class patches_type(ResultPatches):
        async def ask(self, subscriptions: Sequence[Subscription], call: Any, event: Event, execution: Any) -> bool:
            self._kept = [
                *getattr(self, "_kept", []),
                *(asyncio.ensure_future(each.call(event, call.agent, execution.signal)) for each in subscriptions),
            ]
            return False

    class gate_type(ToolCallGate):
        async def ask_one(self, subscription: Subscription, call: Any, event: Event, signal: Any) -> None:
            self._kept = [
                *getattr(self, "_kept", []),
                asyncio.ensure_future(subscription.call(event, call.agent, signal)),
            ]


@mutant(blanket=True)
class OneSharedAgent(Bridge):
    """Serves one agent that is nobody's: only the first package is told of calls, and no list of tools is applied."""

    class active_tools_type(ActiveTools):
        def agent_of(self, instance: Instance) -> Agent | None:
            return None

    class dispatch_type(Dispatch):
        def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
            first = next(iter(self._instances(agent)), None)
            return [each for each in super().subscriptions(agent, event) if each.instance is first]
