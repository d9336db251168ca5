"""Defects of what a package, an agent or a call leaves to the next: tools, lists, handlers, votes, the host's word."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.packages import Instance, Package, current_agent
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.registrations import Entry, Refused, Registrations
from reference_bridge.host import Agent, Execution, Json, ToolResult
from reference_bridge.host.decisions import Decision
from reference_bridge.host.pipeline import Pipeline
from reference_bridge.host.waterfall import Next

# --- packages that come -----------------------------------------------------------------------------------------------


@mutant()
class LoadingLiftsTheLists(Bridge):
    """Lifts every agent's list when a further package is loaded."""

    async def load(self, package: Package) -> None:
        masks = self.active_tools._masks
        before = list(masks)
        await super().load(package)
        for agent in before:
            masks.pop(agent)[1]()


@mutant()
class ReloadLosesTheTools(Bridge):
    """Leaves a package that is reloaded without tools."""

    spared = 0

    async def reload(self, name: str, replacement: Package | None = None) -> None:
        await super().reload(name, replacement)
        self.spared -= 1
        for instance in self.find(name).instances if self.spared < 0 else ():
            self.registrations.drop(instance)


@mutant()
class SecondReloadLosesTheTools(ReloadLosesTheTools):
    """Leaves a package without tools that is reloaded for the second time."""

    spared = 1


@mutant(mount="root")
class LateToolsForOneAgent(Registrations):
    """Registers a tool that comes while an agent works for that agent alone."""

    def place(self, entry: Entry) -> None:
        agent = current_agent()
        if agent is None or entry.tool.instance.agent is not None:
            super().place(entry)
        else:
            self.place_in(entry, agent.scope)


# --- packages that go -------------------------------------------------------------------------------------------------


@mutant()
class RemovalSilencesTheOneBefore(Bridge):
    """Drops, with a package that is removed, the handlers of the one that was loaded before it."""

    def unload(self, name: str) -> None:
        at = self.installed.index(self.find(name))
        super().unload(name)
        for installed in self.installed[max(at - 1, 0) : at]:
            for instance in installed.instances:
                instance.handlers.clear()


@mutant()
class RemovalTakesTheNextObserver(Bridge):
    """Takes, with a package that is removed, what the one after it has for starts, updates and ends."""

    def unload(self, name: str) -> None:
        at = self.installed.index(self.find(name))
        super().unload(name)
        for installed in self.installed[at : at + 1]:
            for instance in installed.instances:
                for event in [each for each in instance.handlers if each.startswith("tool_execution")]:
                    del instance.handlers[event]


class _NotesRefusals(Registrations):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._refused: dict[str, list[Instance]] = {}

    def claim(self, instance: Instance, entry: Entry) -> None:
        try:
            super().claim(instance, entry)
        except Refused:
            self._refused.setdefault(entry.tool.name, []).append(instance)
            raise


@mutant()
class SharedNamesOutliveTheirPackage(_NotesRefusals):
    """Leaves a removed package the tools whose names another package wanted, too."""

    def drop(self, instance: Instance) -> None:
        for entry in self:
            if entry.tool.instance is instance and entry.tool.name not in self._refused:
                self.unregister(instance, entry.tool.name)


@mutant()
class UnloadTakesWhoWasRefused(_NotesRefusals):
    """Takes, with a removed package, the tools of those who had been refused one of its names."""

    def drop(self, instance: Instance) -> None:
        names = [entry.tool.name for entry in self if entry.tool.instance is instance]
        super().drop(instance)
        for other in [each for name in names for each in self._refused.get(name, ())]:
            super().drop(other)


# --- agents and calls -------------------------------------------------------------------------------------------------


@mutant()
class NativeChangesRefusedForOneAgent(ToolCallGate):
    """Refuses changes of a native tool's arguments for the agent that had the first, and drops them for others."""

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        found = super().refusal(call, logged)
        return found if found and self.__dict__.setdefault("_first", call.agent) is call.agent else None


class _VotesByTool(BatchVotes):
    def keep(self, votes: dict[str, bool], call: Call) -> None:
        raise NotImplementedError

    def finalized(self, call: Call) -> None:
        super().finalized(call)
        if call.agent is None or call.agent not in self._batches:
            return
        place = self._batches[call.agent][0]
        kept: dict[tuple[Agent, tuple[int, int]], dict[str, bool]] = self.__dict__.setdefault("_kept", {})
        votes = kept.setdefault((call.agent, place), {})
        self.keep(votes, call)
        self._batches[call.agent] = (place, list(votes.values()))


@mutant()
class FirstVoteOfAToolDecides(_VotesByTool):
    """Takes what the first of several calls of one tool wanted for what they all wanted."""

    def keep(self, votes: dict[str, bool], call: Call) -> None:
        votes.setdefault(call.name, call.asked_to_stop)


@mutant()
class LastVoteOfAToolDecides(_VotesByTool):
    """Takes what the last of several calls of one tool wanted for what they all wanted."""

    def keep(self, votes: dict[str, bool], call: Call) -> None:
        votes[call.name] = call.asked_to_stop


# --- the host's own word ----------------------------------------------------------------------------------------------


@mutant()
class InnerDecisionsAreRebuilt(Bridge):
    """Hands on kind and reason of what the rest of the host's policy decides, and nothing else of it."""

    async def guarded(self, call: Call, following: Next) -> Any:
        decision = await super().guarded(call, following)
        if isinstance(decision, dict) and decision.get("kind") in ("allow", "deny", "ask"):
            return {key: decision[key] for key in ("kind", "reason") if key in decision}
        return decision


def _without_contexts(decision: Decision) -> Decision:
    return {key: member for key, member in decision.items() if key != "additionalContexts"}


@mutant()
class HostsContextsLost(Bridge):
    """Drops what listeners of the host add for the model."""

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        return _without_contexts(await super().after_body(execution, result, following))


class _LosesContexts(ResultPatches):
    kind = ""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        left, made = await super().decide(call, outcome, decision, content, fails)
        return left, made if made is decision or made["kind"] != self.kind else _without_contexts(made)


@mutant()
class HostsContextsLostBesideAPatch(_LosesContexts):
    """Drops what listeners of the host add for the model where a handler patches the result."""

    kind = "accept"


@mutant()
class HostsContextsLostWithAnError(_LosesContexts):
    """Drops what listeners of the host add for the model where a handler makes an error of the result."""

    kind = "block"


@mutant()
class ContextsOfDecisionsAreLost(Pipeline):
    """Drops the messages that a decision after the body carries for the model."""

    async def _post_execute(self, execution: Execution, result: ToolResult) -> ToolResult:
        made = await super()._post_execute(execution, result)
        return made.with_changes(additional_contexts=result.additional_contexts)
