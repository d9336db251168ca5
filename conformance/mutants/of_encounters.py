"""Defects that show where two things meet: two names, two owners, two streams, a list and a tool that has gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from conformance.mutants.of_argument_edges import ReadsTheSchema
from conformance.mutants.of_results_and_others import is_picture
from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge, Mount
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Contents, Pictures
from reference_bridge.bridge.exec import Exec, Options
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.registrations import Entry, Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.host import AbortController, Agent, Host
from reference_bridge.host.decisions import Decision
from reference_bridge.host.subprocess import Child, Exit


@mutant()
class ExecDropsUnfinishedLines(Exec):
    """Drops what a killed program had written of its last line."""

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        answer = super().answer(child, ended, killed)
        if killed:
            answer.update(
                {name: text[: text.rfind("\n") + 1] for name in ("stdout", "stderr") if (text := answer[name])}
            )
        return answer


@mutant(hangs=True)
class ExecEndDeafensTheSignal(Exec):
    """Takes every listener off a signal when one of the programs that were given it ends."""

    async def watched(self, child: Child, asked: Options, stop: AbortController) -> dict[str, Any]:
        try:
            return await super().watched(child, asked, stop)
        finally:
            if asked.signal is not None:
                asked.signal._listeners.clear()


@mutant()
class ExecAnnouncesInPlaceOfStderr(Exec):
    """Puts the words about output that was cut in the place of what the program wrote to stderr."""

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        answer = super().answer(child, ended, killed)
        announced = answer["stderr"].removeprefix(child.stderr.read_from(0).text)
        return {**answer, "stderr": announced or answer["stderr"]}


@mutant()
class NamesThatAreGoneAreMasked(ActiveTools):
    """Wants to switch off what an earlier list switched off, though no tool has the name any more."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        wanted = frozenset(wanted)
        known: dict[Agent, frozenset[str]] = self.__dict__.setdefault("_known", {})
        known[agent] = known.get(agent, frozenset()) | self._host.tools.view(agent.scope).restrictable_names
        gone = known[agent] - self._host.tools.view(agent.scope).restrictable_names
        if gone - wanted:
            self._host.tools.restrict(agent.scope, deny=sorted(gone - wanted))
        super().apply(instance, agent, wanted)


@mutant()
class OverridesStaySilently(ActiveTools):
    """Takes a package's tool in the place of a native one for switched off with it, and says nothing."""

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        restrictable = self._host.tools.view(agent.scope).restrictable_names
        super().report(instance, agent, wanted, remaining - restrictable)


@mutant()
class WishesFromLoadingReportNothing(ActiveTools):
    """Says nothing of what a list from loading could not switch off."""

    _quiet = False

    def fulfil_intents(self, agent: Agent) -> bool:
        self._quiet = True
        try:
            return super().fulfil_intents(agent)
        finally:
            self._quiet = False

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        if not self._quiet:
            super().report(instance, agent, wanted, remaining)


@mutant()
class FailedFactoriesListsStay(Bridge):
    """Leaves the list of a package whose factory throws in force."""

    def retire(self, instance: Instance) -> None:
        if not any(each.package is instance.package for each in self.installed):
            super().retire(instance)
            return
        self.registrations.drop(instance)
        instance.active = False


@mutant()
class NamesThatDifferInCaseAreOne(Registrations):
    """Puts a tool in the place of the package's own one whose name differs in case only."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        for other in self:
            tool = other.tool
            if (
                tool.instance is instance
                and tool.name != entry.tool.name
                and tool.name.lower() == entry.tool.name.lower()
            ):
                self.unregister(instance, tool.name)
        super().claim(instance, entry)


@mutant(mount="root")
class OverrideStaysAwayFromKnownIds(Registrations):
    """Does not put a package's tool in a native one's place for an agent of an id that was there before."""

    def agent_started(self, agent: Agent) -> None:
        seen: set[str] = self.__dict__.setdefault("_seen", set())
        if agent.id not in seen:
            super().agent_started(agent)
        seen.add(agent.id)


@mutant()
class EmptyTextsAmongOthersDropped(Contents):
    """Drops texts without a character that stand beside others."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[dict[str, Any]]:
        made = await super().to_host(content, pictures)
        return [block for block in made if block.get("text") != ""] or made


@mutant()
class PicturesWithoutAServiceCostTheTexts(Contents):
    """Puts the sentence about a picture that cannot be kept in the place of the whole result."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[dict[str, Any]]:
        made = await super().to_host(content, pictures)
        given = [is_picture(block) for block in self.blocks(content)]
        left_out = [block for block, was in zip(made, given, strict=True) if was]
        return left_out[:1] if left_out and self._attachments() is None else made


@mutant()
class BytesOfNewPicturesWithoutAService(ResultPatches):
    """Hands on the pictures of a patch as they are where the host keeps none."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        outcome, decision = await super().decide(call, outcome, decision, content, fails)
        if self._contents._attachments() is None and "content" in decision:
            return outcome, {**decision, "content": content}
        return outcome, decision


@mutant(mount="engine")
class PromptTextsByNameOverAllAgents(Bridge):
    """Finds what a tool wants said by the tool's name, whichever agent it was registered for first."""

    def active_of(self, agent: Agent) -> list[PiTool]:
        found: dict[str, PiTool] = {}
        for entry in self.registrations:
            found.setdefault(entry.tool.name, entry.tool)
        names = self.host.tools.view(agent.scope).visible
        return [found[name] for name in names if name in found]


@mutant(mount="engine")
class SchemasAreReadyByName(Bridge):
    """Makes a schema ready once for all agents' tools of a name, until somebody registers the name again."""

    class runs_type(ToolRuns):
        ready: dict[str, Any]

        def validated(self, tool: PiTool, arguments: Any) -> Any:
            schema = self.ready.setdefault(tool.name, tool.definition.get("parameters"))
            return super().validated(replace(tool, definition={**tool.definition, "parameters": schema}), arguments)

    class registrations_type(Registrations):
        ready: dict[str, Any]

        def claim(self, instance: Instance, entry: Entry) -> None:
            super().claim(instance, entry)
            self.ready.pop(entry.tool.name, None)

    def __init__(self, host: Host, mount: Mount = "root") -> None:
        super().__init__(host, mount)
        vars(self.runs)["ready"] = vars(self.registrations)["ready"] = {}


@mutant()
class MembersCompareLooselyInside(ReadsTheSchema):
    """Takes true and false inside a constant, or inside a member of an enumeration, for 1 and 0."""

    def read(self, schema: dict[str, Any]) -> None:
        members = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(members, list) and any(isinstance(member, dict | list) for member in members):
            schema.pop("const", None)
            schema["enum"] = [*members, *(_loose(member) for member in members if isinstance(member, dict | list))]


def _loose(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _loose(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_loose(item) for item in value]
    return bool(value) if value in (0, 1) and not isinstance(value, bool) else value


@mutant(mount="engine")
class GuidelinesByName(ActiveTools):
    """Adds to each row the guidelines of any package's tool of its name."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        rows = super().all(instance)
        registrations: Any = getattr(self._tool_of, "__self__")  # noqa: B009
        said = {entry.tool.name: entry.tool.definition.get("promptGuidelines") for entry in registrations}
        return [{**row, "promptGuidelines": said[row["name"]]} if said.get(row["name"]) else row for row in rows]
