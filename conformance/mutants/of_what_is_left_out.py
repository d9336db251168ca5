"""Defects of bridges that keep, or make up, what a package left out, or count what stands beside a result for one."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Entry, Refused, Registrations
from reference_bridge.bridge.tools import ToolRuns
from reference_bridge.bridge.values import as_object, json_text
from reference_bridge.host import Agent, Json
from reference_bridge.host.json_values import parse_json
from reference_bridge.host.messages import text_block


class _Keeps(Registrations):
    """Puts the second registration of a name on top of the first."""

    kept: tuple[str, ...] = ()

    def register(self, instance: Instance, definition: Any) -> None:
        """Add what the earlier registration had and this one lacks."""
        earlier = self.owned(instance, as_object(definition).get("name"))
        known = {} if earlier is None else earlier.tool.definition
        missing = {key: known[key] for key in self.kept if key in known}
        super().register(instance, {**missing, **definition} if isinstance(definition, dict) else definition)


@mutant()
class LeftOutPreparationStays(_Keeps):
    """Keeps the prepareArguments of a tool's first registration where the second has none."""

    kept = ("prepareArguments",)


@mutant()
class LeftOutPromptTextsStay(_Keeps):
    """Keeps the prompt texts of a tool's first registration where the second has none."""

    kept = ("promptSnippet", "promptGuidelines")


@mutant()
class RefusedOnceRefusedForEver(Registrations):
    """Refuses a package a name for good once another package had it first."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        """Refuse what was refused before."""
        refused: set[tuple[str, str]] = self.__dict__.setdefault("_refused", set())
        wanted = instance.package.name, entry.tool.name
        if wanted in refused:
            raise Refused("another package has a tool of that name")
        try:
            super().claim(instance, entry)
        except Refused:
            refused.add(wanted)
            raise


@mutant()
class UnknownNamesAloneDoNothing(ActiveTools):
    """Leaves everything as it is when a list names no tool that there is."""

    def apply(self, instance: Instance, agent: Agent, wanted: Any) -> None:
        """Take the list only if one of its names is known; an empty one is meant."""
        names = list(wanted)
        if not names or self._host.tools.view(agent.scope).known_names & set(names):
            super().apply(instance, agent, names)


@mutant()
class FiveToolsNamed(ActiveTools):
    """Names no more than five of the tools that could not be switched off."""

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        """Report the first five."""
        super().report(instance, agent, wanted, frozenset(sorted(remaining)[:5]))


@mutant()
class DetailsWithAnErrorFailTheCall(ToolRuns):
    """Takes a result whose details tell of an error for one."""

    async def value(self, call: Call, answer: Any) -> Json:
        """Look for an error in the details first."""
        details = as_object(as_object(answer).get("details"))
        if details.get("error") or details.get("isError") is True:
            raise RuntimeError(json_text(details.get("error")))
        return await super().value(call, answer)


@mutant()
class ResultsWithAnErrorFailTheCall(ToolRuns):
    """Takes a result that has a field named error for a failure."""

    async def value(self, call: Call, answer: Any) -> Json:
        """Look for the field first."""
        if as_object(answer).get("error"):
            raise RuntimeError(json_text(as_object(answer)["error"]))
        return await super().value(call, answer)


@mutant()
class DetailsShownForWantOfText(ToolRuns):
    """Shows the model the details of a result that has no blocks."""

    async def value(self, call: Call, answer: Any) -> Json:
        """Make a text of the details."""
        members = as_object(answer)
        if members.get("content") == [] and members.get("details"):
            answer = {**members, "content": [text_block(json_text(members["details"]))]}
        return await super().value(call, answer)


@mutant()
class ManyTextsCut(Contents):
    """Hands on no more than twenty blocks of a result."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[Block]:
        """Leave out the rest."""
        return (await super().to_host(content, pictures))[:20]


@mutant()
class TextsOfJsonWrittenAnew(Contents):
    """Reads a text that is JSON, and writes it in its own way."""

    async def _to_host(self, block: Any, pictures: Pictures) -> Block:
        made = await super()._to_host(block, pictures)
        if made.get("type") == "text" and str(made["text"]).startswith(("{", "[")):
            try:
                return text_block(json_text(parse_json(made["text"])))
            except ValueError:
                return made
        return made
