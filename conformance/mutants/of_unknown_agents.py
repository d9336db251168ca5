"""Defects of bridges that lose sight of whose work it is, or of what was there before it came a second time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.context import Context
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.packages import Instance, current_agent, working_for
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object
from reference_bridge.host import GLOBAL, Agent, Execution, Json
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import settle


@dataclass(frozen=True, slots=True)
class _ForNobody(Subscription):
    """A handler whose calls of the API are nobody's in particular."""

    async def call(self, event: Event, agent: Agent | None, signal: AbortSignal | None) -> Any:
        with working_for(None):
            return await settle(self.handler(event, Context(agent, signal)))


class _Forgets(Dispatch):
    """Runs the handlers of one event outside the work of any agent."""

    event = ""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        known = super().subscriptions(agent, event)
        return [_ForNobody(each.instance, each.handler) for each in known] if event == self.event else known


@mutant()
class AgentUnknownInStartHandlers(_Forgets):
    """Does not know whose handler of tool_execution_start calls the API."""

    event = "tool_execution_start"


@mutant()
class AgentUnknownInUpdateHandlers(_Forgets):
    """Does not know whose handler of tool_execution_update calls the API."""

    event = "tool_execution_update"


@mutant()
class AgentUnknownInResultHandlers(_Forgets):
    """Does not know whose handler of tool_result calls the API."""

    event = "tool_result"


@mutant()
class AgentUnknownInEndHandlers(_Forgets):
    """Does not know whose handler of tool_execution_end calls the API."""

    event = "tool_execution_end"


@mutant()
class AgentUnknownBeforeAPrompt(_Forgets):
    """Does not know whose handler of before_agent_start calls the API."""

    event = "before_agent_start"


@mutant()
class NamesToComeAreStruck(ActiveTools):
    """Strikes the names from a list that is set while loading which nobody has registered by then."""

    def wanted(self, names: Any) -> list[str]:
        known = self._host.tools.view(GLOBAL).known_names
        return [name for name in super().wanted(names) if current_agent() is not None or name in known]


@mutant()
class SwitchedOffToolsStayAsTheyWere(Registrations):
    """Takes no second registration of a tool that the agent does not see."""

    def register(self, instance: Instance, definition: Any) -> None:
        name, agent = as_object(definition).get("name"), instance.agent or current_agent()
        known = isinstance(name, str) and self.owned(instance, name) is not None
        if not (known and agent is not None and name not in self._host.tools.view(agent.scope).visible):
            super().register(instance, definition)


@mutant()
class SharedGuidelinesGoWithOneTool(Bridge):
    """Takes a guideline out of the prompt when one of the tools that share it is gone."""

    def active_of(self, agent: Agent) -> list[PiTool]:
        active = super().active_of(agent)
        ever: dict[str, PiTool] = self.__dict__.setdefault("_ever", {})
        ever.update({tool.name: tool for tool in active})
        off = [tool for name, tool in ever.items() if name not in {each.name for each in active}]
        gone = {line for tool in off for line in self.prompts.guidelines(tool)}
        left = [[line for line in self.prompts.guidelines(tool) if line not in gone] for tool in active]
        return [
            replace(tool, definition={**tool.definition, "promptGuidelines": lines})
            for tool, lines in zip(active, left, strict=True)
        ]


@mutant()
class PromptTextsOnceHiddenStayHidden(Bridge):
    """Says no more of a tool that was switched off once."""

    def active_of(self, agent: Agent) -> list[PiTool]:
        active = super().active_of(agent)
        memory: dict[Agent, tuple[set[str], set[str]]] = self.__dict__.setdefault("_memory", {})
        ever, hidden = memory.setdefault(agent, (set(), set()))
        names = {tool.name for tool in active}
        hidden.update(ever - names)
        ever.update(names)
        return [tool for tool in active if tool.name not in hidden]


@mutant()
class DefinitionsOfOneNameAreOne(ToolRuns):
    """Keeps the $defs of all schemas in one place, where the first of a name stays."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        schema = tool.definition.get("parameters")
        if isinstance(as_object(schema).get("$defs"), dict):
            known: dict[str, Any] = self.__dict__.setdefault("_definitions", {})
            kept = {name: known.setdefault(name, part) for name, part in as_object(schema)["$defs"].items()}
            tool = replace(tool, definition={**tool.definition, "parameters": {**as_object(schema), "$defs": kept}})
        return super().validated(tool, arguments)


@mutant()
class LaterResultsHaveOneText(ToolRuns):
    """Keeps the first block of a result from a tool's third call on."""

    async def run(self, call: Any, tool: PiTool, execution: Execution) -> Json:
        value = await super().run(call, tool, execution)
        calls: dict[PiTool, int] = self.__dict__.setdefault("_calls", {})
        calls[tool] = calls.get(tool, 0) + 1
        return {**value, "content": value["content"][:1]} if calls[tool] > 2 else value


@mutant()
class DetailsOfOneAgentsCalls(ToolRuns):
    """Keeps the details of the calls of the agent that was the first to call."""

    async def run(self, call: Any, tool: PiTool, execution: Execution) -> Json:
        value = await super().run(call, tool, execution)
        if execution.agent is not self.__dict__.setdefault("_first", execution.agent):
            call.returned = {key: each for key, each in as_object(call.returned).items() if key != "details"}
        return value
