"""Defects of how the gate stands to the rest of the host's policy, and to a cancel."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.dispatch import Dispatch, Subscription
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Execution
from reference_bridge.host.decisions import Decision
from reference_bridge.host.waterfall import Next


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
