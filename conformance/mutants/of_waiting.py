"""Defects of what is waited for and told of calls that nobody judges, that the user cancels or that the host breaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import UNDEFINED
from reference_bridge.host import Execution, Session, SessionEvent, ToolResult
from reference_bridge.host.decisions import Decision
from reference_bridge.host.waterfall import Next

# --- calls that nobody judges -----------------------------------------------------------------------------------------


class _WaitsForSome(ExecutionEvents):
    def is_skipped(self, call: Call) -> bool:
        raise NotImplementedError

    async def started(self, call: Call) -> None:
        if not self.is_skipped(call):
            await super().started(call)


class _LooksUpFirst(Bridge):
    async def before_call(self, execution: Execution, following: Next) -> Decision:
        self.look_up(self.calls.of(execution), execution)
        return await super().before_call(execution, following)


@mutant()
class StartsOfInvalidCallsNotAwaited(_LooksUpFirst):
    """Does not wait for the start handlers of a call whose arguments did not pass."""

    class events_type(_WaitsForSome):
        def is_skipped(self, call: Call) -> bool:
            return call.invalid is not None


@mutant()
class StartsOfUnknownCallsNotAwaited(_LooksUpFirst):
    """Does not wait for the start handlers of a call of a name that no tool has."""

    class events_type(_WaitsForSome):
        def is_skipped(self, call: Call) -> bool:
            return not call.known and call.input is not UNDEFINED


@mutant()
class NativesBesideEachOtherStartOnce(Bridge):
    """Starts no native tool's call while another one of the same message is at work."""

    def logged(self, session: Session, event: SessionEvent) -> None:
        agent = self.host.agents.get(session.id)
        if event.type == "tool/call" and agent is not None:
            definition = self.host.tools.get(event.data["name"], agent.scope)
            native = definition is not None and self.registrations.tool_of(definition) is None
            if native and any(call.known and call.tool is None for call in self.calls.open_calls(agent)):
                self.calls.open(agent, event)
                return
        super().logged(session, event)


# --- calls that the user cancels --------------------------------------------------------------------------------------


@mutant()
class UpdatesOfACancelledCallNotAwaited(ToolRuns):
    """Does not wait for the update handlers of a tool that the user cancelled."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        try:
            return await super().execute(call, tool, execution)
        finally:
            if execution.signal.aborted:
                call.updates.clear()


@mutant()
class ACancelEndsTheBatchAgain(Bridge):
    """Ends, with a call that the user cancelled, once more the ones of its message that had ended."""

    class events_type(ExecutionEvents):
        async def end(self, call: Call, outcome: Outcome) -> None:
            self.__dict__.setdefault("ended", {}).setdefault(call, outcome)
            await super().end(call, outcome)

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        ended = [each for each in self.events.__dict__.get("ended", {}).items() if each[0].agent is execution.agent]
        decision = await super().after_body(execution, result, following)
        for call, outcome in ended if execution.signal.aborted else ():
            if _place(call) == _place(self.calls.of(execution)):
                call.ended = False
                await self.events.end(call, outcome)
        return decision


def _place(call: Call) -> tuple[Any, Any] | None:
    return (call.logged.data["turn"], call.logged.data["step"]) if call.logged else None


@mutant()
class CancelledCallsArePatchedAfterTheirEnd(Bridge):
    """Tells the end of a call that the user cancelled before its result is patched."""

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        if execution.signal.aborted:
            call = self.calls.of(execution)
            await self.events.end(call, await self.outcome(call, execution, result, {"kind": "accept"}))
        return await super().after_body(execution, result, following)


# --- calls that the host breaks ---------------------------------------------------------------------------------------


@mutant()
class BrokenCallsEndWell(Bridge):
    """Tells the end of a call that a listener of the host broke as that of a success."""

    def thrown_outcome(self, error: Exception) -> Outcome:
        return replace(super().thrown_outcome(error), is_error=False)


@mutant()
class EndsOfBrokenCallsAreEmpty(Bridge):
    """Tells nothing in the end of a call that a listener of the host broke."""

    def thrown_outcome(self, error: Exception) -> Outcome:
        return Outcome({"content": [], "details": {}}, True)
