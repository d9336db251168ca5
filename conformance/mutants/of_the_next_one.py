"""Defects that an argument, a picture, a program, an update or a result leaves to the next one."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.arguments import ArgumentsInvalid
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.dispatch import Event
from reference_bridge.bridge.exec import Exec
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object, same_json
from reference_bridge.host import Agent, Execution
from reference_bridge.host.decisions import Decision
from reference_bridge.host.json_values import clone
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.subprocess import Exit

# --- arguments --------------------------------------------------------------------------------------------------------


@mutant()
class PatternsMatchEveryOtherTime(ToolRuns):
    """Goes on searching for a pattern where it was found last, so that equal texts match every other time."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        made = super().validated(tool, arguments)
        found: dict[tuple[PiTool, str, object], bool] = self.__dict__.setdefault("_found", {})
        for name, schema in as_object(as_object(tool.definition.get("parameters")).get("properties")).items():
            if as_object(schema).get("pattern") and isinstance(as_object(made).get(name), str):
                key = (tool, name, made[name])
                found[key] = not found.get(key, False)
                if not found[key]:
                    raise ArgumentsInvalid(f'Validation failed for tool "{tool.name}":\n  - {name}: must match pattern')
        return made


@mutant()
class ProblemsAddUp(ToolRuns):
    """Tells the problems of a tool's earlier calls with those of the one at hand."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        try:
            return super().validated(tool, arguments)
        except ArgumentsInvalid as error:
            frame, _, rest = error.text.partition("\n")
            problems: list[str] = self.__dict__.setdefault("_problems", {}).setdefault(tool, [])
            earlier = "".join(f"{each}\n" for each in problems)
            problems.append(rest.partition("\n\n")[0])
            raise ArgumentsInvalid(f"{frame}\n{earlier}{rest}") from None


@mutant()
class LongListsHalfCoerced(ToolRuns):
    """Hands on what a list has after its first hundred items as the model wrote it."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        made = super().validated(tool, arguments)
        for name, value in as_object(made).items():
            given = as_object(arguments).get(name)
            if isinstance(value, list) and isinstance(given, list):
                value[100:] = clone(given[100:])
        return made


@mutant()
class OddKeysLostInStarts(ExecutionEvents):
    """Leaves keys out of the arguments of a start that every JavaScript object has."""

    def start_event(self, call: Call) -> Event:
        event = super().start_event(call)
        odd = ("__proto__", "constructor", "prototype", "toString")
        return (
            {**event, "args": {key: item for key, item in event["args"].items() if key not in odd}}
            if isinstance(event["args"], dict)
            else event
        )


# --- pictures ---------------------------------------------------------------------------------------------------------


@mutant()
class OneRefusalEndsAllPictures(Contents):
    """Stores no picture any more once the attachment store has refused one."""

    async def _store(self, picture: Block, pictures: Pictures) -> Block:
        if self.__dict__.get("_refused"):
            return self._omitted(picture, "the attachment store does not work")
        stored = await super()._store(picture, pictures)
        self.__dict__["_refused"] = stored["type"] != "image"
        return stored


# --- programs ---------------------------------------------------------------------------------------------------------


@mutant()
class ExecKeepsTheLastFolder(Exec):
    """Runs a program without a folder of its own in that of the last one that had one."""

    def folder(self, agent: Agent | None, cwd: Any) -> str:
        if isinstance(cwd, str) and cwd:
            self.__dict__["_last_folder"] = cwd
        return super().folder(agent, cwd or self.__dict__.get("_last_folder"))


@mutant()
class ExecFailsAfterAFailedStart(Exec):
    """Says of no program that it succeeded once one could not be started."""

    def failed(self, reason: str, killed: bool = False) -> dict[str, Any]:
        self.__dict__["_failed"] = True
        return super().failed(reason, killed)

    def code(self, ended: Exit) -> int:
        return super().code(ended) or int(self.__dict__.get("_failed", False))


# --- updates ----------------------------------------------------------------------------------------------------------


@mutant()
class OneCallOfAToolTells(ExecutionEvents):
    """Tells no update of a call while another call of the tool is at work that had one before."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        telling: dict[object, Call] = self.__dict__.setdefault("_telling", {})
        first = telling.get((call.agent, call.name))
        if first is None or first is call or first.settled:
            telling[call.agent, call.name] = call
            super().update(call, partial, signal)


# --- results ----------------------------------------------------------------------------------------------------------


@mutant()
class OneErrorFailsTheBatch(ResultPatches):
    """Makes an error of each patched result of a message in which a handler made an error of one."""

    async def apply(
        self, call: Call, execution: Execution, outcome: Outcome, decision: Decision
    ) -> tuple[Outcome, Decision]:
        self.__dict__["_step"] = call.logged and (call.agent, call.logged.data["turn"], call.logged.data["step"])
        return await super().apply(call, execution, outcome, decision)

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        failed: set[object] = self.__dict__.setdefault("_failed", set())
        patched = not same_json(content, outcome.result["content"])
        fails = fails or (patched and self.__dict__["_step"] in failed)
        if fails and not outcome.is_error:
            failed.add(self.__dict__["_step"])
        return await super().decide(call, outcome, decision, content, fails)


@mutant()
class SecondFailureToldAsTheFirst(ExecutionEvents):
    """Tells the end of a tool's second failure with the text of its first one."""

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        if outcome.is_error:
            outcome = self.__dict__.setdefault("_failures", {}).setdefault(call.name, outcome)
        return super().end_event(call, outcome)
