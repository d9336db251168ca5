"""Defects of bridges that were tried with one agent only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge, Installed
from reference_bridge.bridge.calls import Call, Calls
from reference_bridge.bridge.dispatch import Dispatch, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.packages import Instance, working_for
from reference_bridge.bridge.registrations import Entry, Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.host import Agent, Execution
from reference_bridge.host.definitions import ToolDefinition
from reference_bridge.host.waterfall import settle


@mutant()
class OneAgentIsHeard(Dispatch):
    """Tells packages of the calls of the agent that made the first one, and of no other agent's."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        first = self.__dict__.setdefault("_first", agent)
        return super().subscriptions(agent, event) if agent is first else []


@mutant()
class OneAgentHasUpdates(ExecutionEvents):
    """Tells of the updates of the agent that had the first one, and of no other agent's."""

    def update(self, call: Call, partial: Any, signal: Any = None) -> None:
        if self.__dict__.setdefault("_first", call.agent) is call.agent:
            super().update(call, partial, signal)


@mutant(mount="root")
class OneAgentHasTheOverride(Registrations):
    """Puts a tool in place of a native one for the first agent only, without a word."""

    def place(self, entry: Entry) -> None:
        super().place(entry)
        for scope in list(entry.placed)[1:]:
            entry.placed.pop(scope)()

    def agent_started(self, agent: Agent) -> None:
        if not any(entry.placed for entry in self.shadowing()):
            super().agent_started(agent)


@mutant()
class ToolByItsName(Registrations):
    """Takes a native tool for a package's that has the same name for another agent."""

    def tool_of(self, definition: ToolDefinition | None) -> PiTool | None:
        named = (entry.tool for entry in self if definition is not None and entry.tool.name == definition.name)
        return super().tool_of(definition) or next(named, None)


@mutant(mount="root")
class NoAgentInATool(ToolRuns):
    """Does not know, while a tool runs, for which agent it does."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        definition = tool.definition
        execute = definition.get("execute")

        async def for_nobody(*given: Any) -> Any:
            with working_for(None):
                return await settle(execute(*given)) if callable(execute) else None

        if not callable(execute):
            return await super().execute(call, tool, execution)
        return await super().execute(
            call, PiTool(tool.instance, tool.name, {**definition, "execute": for_nobody}), execution
        )


class _AgentOfTheMoment(ActiveTools):
    now: Agent | None = None

    def agent_of(self, instance: Instance) -> Agent | None:
        return instance.agent or self.now or super().agent_of(instance)


@mutant(mount="root")
class OneAgentAtATime(_AgentOfTheMoment):
    """Takes a call of a package for one of the agent whose handler was entered last."""

    def __init__(self, host: Any, tool_of: Callable[[ToolDefinition | None], PiTool | None], notices: Any) -> None:
        super().__init__(host, tool_of, notices)
        host.on("tools/pre-execute", self._entered)

    async def _entered(self, execution: Execution, following: Callable[[], Any]) -> Any:
        self.now = execution.agent
        return await following()


@mutant(mount="root")
class IntentSpentOnAChild(ActiveTools):
    """Spends a list that was set before there was an agent on one that works for another agent."""

    def fulfil_intents(self, agent: Agent) -> bool:
        if agent.owner is None:
            return super().fulfil_intents(agent)
        for instance in list(self._intents):
            self.apply(instance, agent, self._intents.pop(instance))
        return True


@mutant(mount="engine")
class OneAgentGetsThePackage(Bridge):
    """Serves one of the agents that are there when a package is loaded."""

    async def run_factory(self, installed: Installed, agent: Agent | None) -> None:
        if not installed.instances or agent in self._starting:
            await super().run_factory(installed, agent)


@mutant(mount="engine")
class OneAgentLosesThePackage(Bridge):
    """Takes the tools of a removed package from one agent."""

    def unload(self, name: str) -> None:
        del self.find(name).instances[1:]
        super().unload(name)


@mutant(mount="engine")
class FirstRequestDoesNotWait(Bridge):
    """Asks the model for a new agent before its packages are there."""

    async def ready(self, agent: Agent) -> None:
        return


@mutant()
class CallsKnownByTheirId(Calls):
    """Takes the call of one agent for the running call of another that has the same id."""

    def of(self, execution: Execution) -> Call:
        if execution.parent is not None:
            return super().of(execution)
        running: dict[str, Call] = self.__dict__.setdefault("_by_id", {})
        if execution.call_id not in running:
            running[execution.call_id] = self._bind(execution)
        return running[execution.call_id]

    def forget(self, execution: Execution) -> None:
        super().forget(execution)
        self.__dict__.setdefault("_by_id", {}).pop(execution.call_id, None)
