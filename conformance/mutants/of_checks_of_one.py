"""Defects of bridges that check the arguments of one agent's calls, or of a tool's first one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.host.json_values import Json, clone


class _Uncoerced(ToolRuns):
    def uncoerced(self, tool: PiTool, arguments: Any) -> Any:
        """The arguments as the tool prepares them, where they pass. Raises what is wrong with them."""
        prepared = super().validated(replace(tool, definition={**tool.definition, "parameters": {}}), arguments)
        unprepared = {key: value for key, value in tool.definition.items() if key != "prepareArguments"}
        super().validated(replace(tool, definition=unprepared), clone(prepared))
        return prepared


@mutant()
class FirstCallIsCoerced(_Uncoerced):
    """Coerces the arguments of a tool's first call, and only validates those of later ones."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        known: set[PiTool] = self.__dict__.setdefault("_known", set())
        again = tool in known
        known.add(tool)
        return self.uncoerced(tool, arguments) if again else super().validated(tool, arguments)


@mutant()
class CoercedOnlyForFirstAgent(_Uncoerced):
    """Coerces the arguments of the agent that made the first call, and only validates those of other agents."""

    def prepare(self, call: Call, tool: PiTool, arguments: Json) -> None:
        self._is_first = self.__dict__.setdefault("_first", call.agent) is call.agent
        super().prepare(call, tool, arguments)

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        return super().validated(tool, arguments) if self._is_first else self.uncoerced(tool, arguments)


@mutant()
class ValidatedForOneAgent(ToolRuns):
    """Validates the arguments of the agent that made the first call, and of no other."""

    def prepare(self, call: Call, tool: PiTool, arguments: Json) -> None:
        self._is_first = self.__dict__.setdefault("_first", call.agent) is call.agent
        super().prepare(call, tool, arguments)

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        open_tool = replace(tool, definition={**tool.definition, "parameters": {}})
        return super().validated(tool if self._is_first else open_tool, arguments)
