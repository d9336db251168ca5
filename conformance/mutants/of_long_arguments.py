"""Defects of arguments that hold a long text: each keeps its first sixty-four thousand characters."""

from __future__ import annotations

from typing import Any

from conformance.mutants.of_arguments import RewritesTheLog
from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import json_text
from reference_bridge.host import Execution, Json

MOST = 65536


def cut(value: Any) -> Any:
    """`value` with each text in it cut; `value` itself where no member of it is too long."""
    if isinstance(value, str):
        return value[:MOST]
    if isinstance(value, dict) and any(cut(each) is not each for each in value.values()):
        return {key: cut(each) for key, each in value.items()}
    return value


@mutant()
class LongArgumentsCutForTheTool(ToolRuns):
    """Hands the tool arguments whose texts are cut."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        whole, call.input = call.input, cut(call.input)
        try:
            return await super().execute(call, tool, execution)
        finally:
            if cut(whole) is not whole:
                call.input = whole


@mutant()
class LongArgumentsCutForTheGate(ToolCallGate):
    """Shows tool_call handlers arguments whose texts are cut."""

    def event(self, call: Call) -> Event:
        event = super().event(call)
        return {**event, "input": cut(event["input"])}


@mutant()
class LongArgumentsCutInStarts(ExecutionEvents):
    """Tells of starts with arguments whose texts are cut."""

    def start_event(self, call: Call) -> Event:
        event = super().start_event(call)
        return {**event, "args": cut(event["args"])}


@mutant()
class LongInputCutInResults(ResultPatches):
    """Shows tool_result handlers arguments whose texts are cut."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        event = super().event(call, outcome)
        return {**event, "input": cut(event["input"])}


@mutant()
class LongArgumentsCutInTheLog(RewritesTheLog):
    """Logs arguments whose texts are cut."""

    def rewritten(self, tool: PiTool, arguments: Json) -> Json:
        return json_text(cut(arguments))
