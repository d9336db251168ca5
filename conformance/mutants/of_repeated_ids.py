"""Defects of bridges that take a call for an earlier one, mostly for one with its id."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.host.decisions import Decision


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


class _KeepsById:
    """Keeps what was said of the first call with an id, and says it of every later one."""

    def kept(self, call: Call, event: Event, *names: str) -> Event:
        first: dict[str, Event] = self.__dict__.setdefault("_first", {})
        return {**event, **{name: first.setdefault(call.call_id, event)[name] for name in names}}


@mutant()
class StartsKeptById(_KeepsById, ExecutionEvents):
    """Gives a start the arguments of the first call that had its id."""

    def start_event(self, call: Call) -> Event:
        return self.kept(call, super().start_event(call), "args")


@mutant()
class EndsKeptById(_KeepsById, ExecutionEvents):
    """Gives an end the result of the first call that had its id."""

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        return self.kept(call, super().end_event(call, outcome), "result", "isError")


@mutant()
class JudgedByTheFirstArguments(_KeepsById, ToolCallGate):
    """Shows handlers the arguments of the first call that had the id."""

    def event(self, call: Call) -> Event:
        return self.kept(call, super().event(call), "input")


@mutant()
class ResultsKeptById(_KeepsById, ResultPatches):
    """Shows result handlers the arguments and the content of the first call that had the id."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        return self.kept(call, super().event(call, outcome), "input", "content")


@mutant()
class ErrorOnceIsErrorAlways(ResultPatches):
    """Makes every later result an error once a handler has made one."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        self._failed: bool = self.__dict__.get("_failed", False) or fails
        return await super().decide(call, outcome, decision, content, self._failed)


@mutant()
class FailuresShowInLaterResults(ResultPatches):
    """Shows handlers every result after a failure as an error."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        self._failed = self.__dict__.get("_failed", False) or outcome.is_error
        return {**super().event(call, outcome), "isError": bool(self._failed)}
