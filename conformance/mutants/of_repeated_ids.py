"""Defects of bridges that take a call for an earlier one with its id."""

from __future__ import annotations

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.gate import ToolCallGate
from reference_bridge.bridge.patches import ResultPatches


class _Known:
    def is_known(self, call: Call) -> bool:
        """Whether the id was first seen in another step than this call's."""
        assert call.agent is not None
        logged = {} if call.logged is None else call.logged.data
        place = (logged.get("turn"), logged.get("step"))
        seen: dict[tuple[str, str], object] = self.__dict__.setdefault("_seen_ids", {})
        return seen.setdefault((call.agent.id, call.call_id), place) != place


@mutant()
class SeenIdsAreSkipped(_Known, ExecutionEvents):
    """Tells neither start nor end of a call whose id an earlier step's call had."""

    def start(self, call: Call) -> None:
        if self.is_known(call):
            call.ended = True
        else:
            super().start(call)


@mutant()
class SeenIdsAreNotJudged(_Known, ToolCallGate):
    """Asks no handler about a call whose id an earlier step's call had."""

    def is_asked(self, call: Call) -> bool:
        return super().is_asked(call) and not self.is_known(call)


@mutant()
class SeenIdsAreNotPatched(_Known, ResultPatches):
    """Asks no handler about the result of a call whose id an earlier step's call had."""

    def is_asked(self, call: Call) -> bool:
        return super().is_asked(call) and not self.is_known(call)
