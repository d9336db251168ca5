"""Defects that show when something is done once more: a registration, a list, a call of a like tool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Entry, Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object, is_truthy, same_json
from reference_bridge.host import Agent, Execution, Json, Session, SessionEvent

# --- registrations ----------------------------------------------------------------------------------------------------


@mutant(mount="root")
class OverrideRegisteredAgainStaysBehind(Registrations):
    """Gives agents that come later no tool in a native's place that its package registered twice."""

    def place(self, entry: Entry) -> None:
        super().place(entry)
        placed: set[str] = self.__dict__.setdefault("_placed_once", set())
        entry.shadows = entry.shadows and entry.tool.name not in placed
        placed.add(entry.tool.name)


@mutant()
class NamesGoOnce(Registrations):
    """Answers false, and leaves the tool, for a name that was taken back before."""

    def unregister(self, instance: Instance, name: Any) -> bool:
        gone: set[tuple[Instance, Any]] = self.__dict__.setdefault("_gone", set())
        if not isinstance(name, str) or (instance, name) in gone or not super().unregister(instance, name):
            return False
        gone.add((instance, name))
        return True


# --- calls of like tools ----------------------------------------------------------------------------------------------


class _KeptSchemas(ToolRuns):
    def key(self, schema: dict[str, Any]) -> object:
        """What schemas are told apart by; `None` for one that is its own."""
        raise NotImplementedError

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        schema = as_object(tool.definition.get("parameters"))
        key = self.key(schema)
        if key is not None:
            kept: dict[object, Any] = self.__dict__.setdefault("_kept", {})
            tool = replace(tool, definition={**tool.definition, "parameters": kept.setdefault(key, schema)})
        return super().validated(tool, arguments)


@mutant()
class SchemasKeptById(_KeptSchemas):
    """Checks calls by the first schema that had the $id of the tool's own."""

    def key(self, schema: dict[str, Any]) -> object:
        return schema.get("$id")


@mutant()
class SchemasKeptByTitle(_KeptSchemas):
    """Checks calls by the first schema that had the title of the tool's own."""

    def key(self, schema: dict[str, Any]) -> object:
        return schema.get("title")


@mutant()
class LastAnswerInPlaceOfAThrow(ToolRuns):
    """Answers with what a tool answered last where it throws."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        answers: dict[PiTool, Any] = self.__dict__.setdefault("_answers", {})
        try:
            answers[tool] = await super().execute(call, tool, execution)
        except Exception:
            if tool not in answers:
                raise
        return answers[tool]


# --- lists of tools ---------------------------------------------------------------------------------------------------


@mutant()
class SameListSkipped(ActiveTools):
    """Does nothing with a list that says what the one in force says."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        wanted = frozenset(wanted)
        last: dict[Agent, frozenset[str]] = self.__dict__.setdefault("_last", {})
        if last.get(agent) != wanted:
            last[agent] = wanted
            super().apply(instance, agent, wanted)


@mutant()
class OwnLastListSkipped(ActiveTools):
    """Does nothing with a list that the package set last, though another package has set one since."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        known = self._host.tools.view(agent.scope).known_names
        asked = (frozenset(wanted), frozenset(known))
        last: dict[tuple[Instance, Agent], object] = self.__dict__.setdefault("_last", {})
        if last.get((instance, agent)) != asked:
            last[instance, agent] = asked
            super().apply(instance, agent, asked[0])


@mutant(mount="root")
class ListComesBackWithAnId(ActiveTools):
    """Narrows a new agent as one was that had its id."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        wanted = frozenset(wanted)
        self.__dict__.setdefault("_by_id", {})[agent.id] = (instance, agent, wanted)
        super().apply(instance, agent, wanted)

    def fulfil_intents(self, agent: Agent) -> bool:
        by_id: dict[str, tuple[Instance, Agent, frozenset[str]]] = self.__dict__.setdefault("_by_id", {})
        instance, owner, wanted = by_id.get(agent.id, (None, agent, frozenset()))
        if instance is not None and owner is not agent:
            self.apply(instance, agent, wanted)
        return super().fulfil_intents(agent)


@mutant()
class ListsAreReportedOnceAnId(ActiveTools):
    """Says nothing of a list for an agent when it said the same for one that had its id."""

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        told: set[object] = self.__dict__.setdefault("_told_ids", set())
        asked = (instance.package.name, agent.id, wanted, remaining)
        if asked not in told:
            told.add(asked)
            super().report(instance, agent, wanted, remaining)


@mutant()
class CancelLiftsTheList(Bridge):
    """Lifts an agent's list when the user cancels its turn."""

    def logged(self, session: Session, event: SessionEvent) -> None:
        super().logged(session, event)
        agent = self.host.agents.get(session.id)
        if event.type == "turn/end" and as_object(event.data["reason"]).get("kind") == "aborted" and agent is not None:
            kept = self.active_tools._masks.pop(agent, None)
            if kept is not None:
                kept[1]()


# --- judges -----------------------------------------------------------------------------------------------------------


@mutant()
class LastReasonStandsIn(ToolCallGate):
    """Gives a block without a reason the reason of the last block that had one."""

    def reason_text(self, reason: Any) -> str:
        said: list[str] = self.__dict__.setdefault("_said", [super().reason_text(None)])
        if is_truthy(reason):
            said.append(super().reason_text(reason))
        return said[-1]


@mutant()
class AssignedInputIsRefused(ToolCallGate):
    """Takes an object that a handler assigned to event.input for a change of a native tool's arguments."""

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        judged = await super().judge(call, execution)
        event = self.__dict__.get("_event", {})
        if judged is None and call.tool is None and event and not same_json(event["input"], execution.arguments):
            return Verdict(f"the arguments of the native tool {call.name!r} may not be changed")
        return judged

    def event(self, call: Call) -> dict[str, Any]:
        self.__dict__["_event"] = made = super().event(call)
        return made


@mutant()
class OneRefusalRefusesTheBatch(ToolCallGate):
    """Refuses every later call of a native tool in a message in which a handler changed the arguments of one."""

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        refused: dict[object, Verdict] = self.__dict__.setdefault("_refused", {})
        step = (call.agent, call.name, *((call.logged.data["turn"], call.logged.data["step"]) if call.logged else ()))
        verdict = super().refusal(call, logged) or (refused.get(step) if call.tool is None else None)
        if verdict is not None:
            refused[step] = verdict
        return verdict


class _TakesForNative(ToolCallGate):
    def is_native(self, tool: PiTool) -> bool:
        """Whether the tool is taken for a native one when its arguments have changed."""
        raise NotImplementedError

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        if call.tool is None or not self.is_native(call.tool) or same_json(call.input, logged):
            return super().refusal(call, logged)
        return Verdict(f"the arguments of {call.name!r} may not be changed")


@mutant()
class RegisteredAgainIsNative(_TakesForNative):
    """Takes a tool for a native one that was registered again after a call."""

    def is_native(self, tool: PiTool) -> bool:
        first: dict[object, PiTool] = self.__dict__.setdefault("_first", {})
        return first.setdefault((tool.instance, tool.name), tool) is not tool


@mutant()
class ReloadedToolsAreNative(_TakesForNative):
    """Takes the tools of a package for native ones that was reloaded after a call."""

    def is_native(self, tool: PiTool) -> bool:
        first: dict[object, Instance] = self.__dict__.setdefault("_first", {})
        return first.setdefault((tool.instance.package.name, tool.instance.agent), tool.instance) is not tool.instance


class _AfterAnyRemoval(_TakesForNative):
    def is_native(self, tool: PiTool) -> bool:
        return tool.instance.package.name in self.__dict__.get("_moved", ())


@mutant()
class RemovalMakesNatives(Bridge):
    """Takes the tools of packages for native ones that were loaded after one that was removed."""

    gate_type = _AfterAnyRemoval

    def unload(self, name: str) -> None:
        after = self.installed[self.installed.index(self.find(name)) + 1 :]
        self.gate.__dict__.setdefault("_moved", set()).update(each.package.name for each in after)
        super().unload(name)


@mutant()
class OnceUnknownNeverJudged(ToolCallGate):
    """Asks nobody about calls of a name that no tool had when it was called before."""

    def is_asked(self, call: Call) -> bool:
        unknown: set[str] = self.__dict__.setdefault("_unknown", set())
        if not call.known:
            unknown.add(call.name)
        return super().is_asked(call) and call.name not in unknown
