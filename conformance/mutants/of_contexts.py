"""Defects of the context and the signal that handlers and tools are handed."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.context import Context, Dialogs
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.packages import working_for
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import UNDEFINED
from reference_bridge.host import AbortSignal, Agent, Execution, Thrown
from reference_bridge.host.waterfall import settle


class _Deaf(Context):
    def abort(self) -> None:
        """Cancel nothing."""


class _HandsHandlers(Dispatch):
    context_type: type[Context]

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        made = self.context_type

        class Handed(Subscription):
            async def call(self, event: Event, agent: Agent | None, signal: AbortSignal | None) -> Any:
                with working_for(agent):
                    return await settle(self.handler(event, made(agent, signal)))

        return [Handed(each.instance, each.handler) for each in super().subscriptions(agent, event)]


@mutant()
class HandlersCannotCancel(_HandsHandlers):
    """Hands handlers a context whose abort does nothing."""

    context_type = _Deaf


class _NoDialogs(Context):
    @property
    def ui(self) -> Dialogs:
        raise Thrown("there is no user interface")


@mutant()
class ConfirmationsThrow(_HandsHandlers):
    """Throws when a handler asks for a confirmation in a session without a person."""

    context_type = _NoDialogs


class _Yes(Dialogs):
    def confirm(self, title: Any = UNDEFINED, message: Any = UNDEFINED, options: Any = UNDEFINED) -> bool:
        return True


class _AlwaysYes(Context):
    @property
    def ui(self) -> Dialogs:
        return _Yes()


@mutant()
class ConfirmationsGivenByNobody(_HandsHandlers):
    """Confirms what a handler asks for in a session without a person."""

    context_type = _AlwaysYes


class _HandsOver(ToolRuns):
    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        body = tool.definition.get("execute")
        if not callable(body):
            return await super().execute(call, tool, execution)
        handed = self.handed(call, tool, execution)

        async def execute(call_id: Any, params: Any, signal: Any, on_update: Any, ctx: Any) -> Any:
            return await settle(body(call_id, params, handed.get("signal", signal), on_update, handed.get("ctx", ctx)))

        changed = PiTool(tool.instance, tool.name, {**tool.definition, "execute": execute})
        return await super().execute(call, changed, execution)

    def handed(self, call: Call, tool: PiTool, execution: Execution) -> dict[str, Any]:
        raise NotImplementedError


@mutant()
class ToolsCannotCancel(_HandsOver):
    """Hands tools a context whose abort does nothing."""

    def handed(self, call: Call, tool: PiTool, execution: Execution) -> dict[str, Any]:
        return {"ctx": _Deaf(call.agent, execution.signal)}


@mutant()
class FirstSignalIsKept(_HandsOver):
    """Hands every call of a tool the signal of its first one."""

    def handed(self, call: Call, tool: PiTool, execution: Execution) -> dict[str, Any]:
        signals: dict[str, Any] = self.__dict__.setdefault("_signals", {})
        return {"signal": signals.setdefault(tool.name, execution.signal)}


@mutant(mount="root")
class FirstContextIsKept(_HandsOver):
    """Hands every call of a tool the context of its first one."""

    def handed(self, call: Call, tool: PiTool, execution: Execution) -> dict[str, Any]:
        contexts: dict[str, Any] = self.__dict__.setdefault("_contexts", {})
        return {"ctx": contexts.setdefault(tool.name, Context(call.agent, execution.signal))}
