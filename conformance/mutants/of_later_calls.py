"""Defects of bridges that were tried with one call of a tool, or with one call at a time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.host import Execution
from reference_bridge.host.decisions import Decision
from reference_bridge.host.json_values import clone
from reference_bridge.host.waterfall import Next


@mutant()
class FirstCallIsPrepared(ToolRuns):
    """Prepares the arguments of a tool's first call, and of no later one."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        known: set[PiTool] = self.__dict__.setdefault("_known", set())
        again = tool in known
        known.add(tool)
        unprepared = {key: value for key, value in tool.definition.items() if key != "prepareArguments"}
        return super().validated(replace(tool, definition=unprepared) if again else tool, arguments)


@mutant()
class FirstCallIsValidated(ToolRuns):
    """Validates the arguments of a tool until a call of it has passed."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        known: set[PiTool] = self.__dict__.setdefault("_known", set())
        if tool in known:
            return clone(arguments)
        passed = super().validated(tool, arguments)
        known.add(tool)
        return passed


@mutant()
class ArgumentsOfTheLatestCall(ToolRuns):
    """Keeps the call at hand where calls that run at the same time overwrite it."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        at_hand: list[Call] = self.__dict__.setdefault("_at_hand", [])
        at_hand[:] = [call]
        for _ in range(5):
            await asyncio.sleep(0)
        call.input = at_hand[0].input
        return await super().execute(call, tool, execution)


@mutant()
class FailedToolsAreRetired(ToolRuns):
    """Runs no tool again that has thrown once."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        failed: set[PiTool] = self.__dict__.setdefault("_failed", set())
        if tool in failed:
            raise RuntimeError("the tool has failed before")
        try:
            return await super().execute(call, tool, execution)
        except Exception:
            failed.add(tool)
            raise


@mutant()
class UnregisterEndsTheSubscriptions(Registrations):
    """Drops the handlers of a package that takes one of its tools back."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        gone = super().unregister(instance, name)
        if gone:
            instance.handlers.clear()
        return gone


@mutant()
class PolicySeesPreparedArguments(Bridge):
    """Puts the prepared arguments in the place of those that the host's policy is shown."""

    def attach(self) -> None:
        super().attach()
        self._disposers.append(self.host.on("tools/pre-execute", self.prepares, prepend=True))

    async def prepares(self, execution: Execution, following: Next) -> Decision:
        tool = self.registrations.tool_of(self.visible(execution))
        prepare = None if tool is None else tool.definition.get("prepareArguments")
        if callable(prepare):
            execution.arguments = prepare(clone(execution.arguments))
        decision: Decision = await following()
        return decision


@mutant()
class UpdatesOfTheLatestCall(ExecutionEvents):
    """Takes an update for one of the call that began last."""

    def start(self, call: Call) -> None:
        self._latest = call.call_id
        super().start(call)

    def update_event(self, call: Call, partial: Any) -> Event:
        return {**super().update_event(call, partial), "toolCallId": self._latest}
