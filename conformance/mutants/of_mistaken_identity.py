"""Defects that take two tools, problems, texts or pictures for one since they are alike in some regard."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.arguments import ArgumentsInvalid
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Block, Contents, Pictures
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.prompts import PromptLines
from reference_bridge.bridge.registrations import Entry, Refused, Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.host import Json

# --- tools ------------------------------------------------------------------------------------------------------------


@mutant()
class NamesCollideWhenMadePlain(Registrations):
    """Takes two names for one that differ only in signs which a model's interface does not take."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        for other in self:
            tool = other.tool
            if tool.instance is instance and tool.name != entry.tool.name and _plain(tool) == _plain(entry.tool):
                raise Refused(f"there is a tool {tool.name!r}")
        super().claim(instance, entry)


def _plain(tool: PiTool) -> str:
    return "".join(sign if sign.isalnum() else "_" for sign in tool.name)


class _KnownByTheirLook(Registrations):
    def is_taken_for_the_first(self, instance: Instance, name: Any) -> bool:
        raise NotImplementedError

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        made = super().entry(instance, name, definition)
        look = (instance, name, made.definition.description, json.dumps(made.definition.parameters, sort_keys=True))
        first = self.__dict__.setdefault("first", {}).setdefault(look, definition)
        if first is definition or not self.is_taken_for_the_first(instance, name):
            return made
        return super().entry(instance, name, {**definition, "execute": first.get("execute")})


@mutant()
class ToolsThatLookAlikeRunTheFirst(_KnownByTheirLook):
    """Runs, of two registrations of a tool that look the same to the model, what the first one ran."""

    def is_taken_for_the_first(self, instance: Instance, name: Any) -> bool:
        return (instance.agent, name) in self._entries


@mutant()
class ToolsThatComeBackRunTheFirst(_KnownByTheirLook):
    """Runs, for a tool that was taken away and comes back looking as before, what the first one ran."""

    def is_taken_for_the_first(self, instance: Instance, name: Any) -> bool:
        return (instance.agent, name) not in self._entries


@mutant()
class SchemasKnownByTheirKeys(ToolRuns):
    """Checks a tool's calls by the schema it had first, as long as its properties have the same names."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        parameters = tool.definition.get("parameters")
        if isinstance(parameters, dict) and isinstance(parameters.get("properties"), dict):
            known = self.__dict__.setdefault("known", {})
            first = known.setdefault((tool.instance, tool.name, tuple(parameters["properties"])), parameters)
            tool = PiTool(tool.instance, tool.name, {**tool.definition, "parameters": first})
        return super().validated(tool, arguments)


@mutant()
class OnceClosedSchemasStayClosed(ToolRuns):
    """Lets no further property through for a tool that was called once while its schema allowed none."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        parameters = tool.definition.get("parameters")
        closed = self.__dict__.setdefault("closed", set())
        if isinstance(parameters, dict):
            if parameters.get("additionalProperties") is False:
                closed.add((tool.instance, tool.name))
            elif (tool.instance, tool.name) in closed:
                parameters = {**parameters, "additionalProperties": False}
                tool = PiTool(tool.instance, tool.name, {**tool.definition, "parameters": parameters})
        return super().validated(tool, arguments)


@mutant()
class RowsOfTheGlobalTools(ActiveTools):
    """Lists, for a tool that stands in a global one's place, what the global one says of itself."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        everywhere = {row["name"]: row for row in self._host.tools.schemas()}
        return [{**row, **everywhere.get(row["name"], {})} for row in super().all(instance)]


@mutant()
class RowsOfNativesAsFirstAsked(ActiveTools):
    """Lists a native tool for good as it was when it was listed first."""

    def all(self, instance: Instance) -> list[dict[str, Any]]:
        first, visible = self.__dict__.setdefault("first", {}), self.visible(instance)
        return [
            row if self._tool_of(visible[row["name"]]) else {**first.setdefault(row["name"], row)}
            for row in super().all(instance)
        ]


# --- what calls come to -----------------------------------------------------------------------------------------------


@mutant()
class EqualProblemsAreToldAsFirst(ToolRuns):
    """Shows in a validation error the arguments of the tool's first call that had the same problems."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        try:
            return super().validated(tool, arguments)
        except ArgumentsInvalid as error:
            problems = error.text.partition("Received arguments:")[0]
            first = self.__dict__.setdefault("first", {}).setdefault((tool, problems), error.text)
            raise ArgumentsInvalid(first) from None


@mutant()
class TextsSaidTwiceAreSaidOnce(ToolRuns):
    """Leaves out of a result a text that says what the one before it says."""

    async def value(self, call: Call, answer: Any) -> Json:
        if isinstance(answer, dict) and isinstance(answer.get("content"), list):
            content = answer["content"]
            kept = [block for at, block in enumerate(content) if not at or block != content[at - 1]]
            answer = {**answer, "content": kept}
        return await super().value(call, answer)


@mutant()
class PicturesKnownByTheirHeads(Contents):
    """Takes two pictures of a call for one whose data begin alike."""

    async def _store(self, picture: Block, pictures: Pictures) -> Block:
        head = str(picture.get("data"))[:64]
        for pi, host in pictures.known:
            if str(pi.get("data"))[:64] == head and pi.get("mimeType") == picture.get("mimeType"):
                return host
        return await super()._store(picture, pictures)


# --- prompts ----------------------------------------------------------------------------------------------------------


@mutant()
class GuidelinesKnownWithoutTheirCase(PromptLines):
    """Leaves out of the prompt a guideline that differs from another one in its case alone."""

    def sections(self, tools: Iterable[PiTool]) -> list[str]:
        sections = []
        for section in super().sections(tools):
            lines: dict[str, str] = {}
            for line in section.split("\n"):
                lines.setdefault(line.lower(), line)
            sections.append("\n".join(lines.values()))
        return sections
