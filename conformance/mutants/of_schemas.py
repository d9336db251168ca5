"""Defects of what the model is told about packages' tools: the catalogue's rows and the lines of the prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.prompts import PromptLines
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Agent, Assembly, Json, PromptContext
from reference_bridge.host.waterfall import Next

_MAPS = ("properties", "patternProperties", "$defs")
"""Keywords whose value names schemas."""
_VALUES = ("enum", "const", "default", "examples", "required")
"""Keywords whose value holds none."""


def each_schema(schema: Any, visit: Callable[[dict[str, Any]], None]) -> None:
    """Hand every schema in `schema` to `visit`, outer ones first."""
    if isinstance(schema, list):
        for each in schema:
            each_schema(each, visit)
    elif isinstance(schema, dict):
        visit(schema)
        for key, value in list(schema.items()):
            if key in _MAPS and isinstance(value, dict):
                each_schema(list(value.values()), visit)
            elif key not in _VALUES:
                each_schema(value, visit)


@mutant()
class PackageToolsNotListed(Bridge):
    """Leaves packages' tools out of the model's catalogue."""

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        made = await super().assemble(assembly, context, following)
        own = {tool.name for tool in self.active_of(context.agent)}
        made.tools = [row for row in made.tools if row["name"] not in own]
        return made


@mutant()
class DescriptionGetsAPrefix(Registrations):
    """Marks a package's tool in its description."""

    def description(self, definition: dict[str, Any]) -> str:
        return "[pi] " + super().description(definition)


@mutant()
class SchemaClosedInTheCatalogue(Registrations):
    """Forbids further properties in the schema the model sees."""

    def parameters(self, definition: dict[str, Any]) -> Json:
        return {**super().parameters(definition), "additionalProperties": False}


@mutant(hangs=True)  # No request is ever made: the turn ends before it.
class OddRootSchemaBreaksTheCatalogue(Registrations):
    """Hands parameters that are no schema of an object to the host as they are."""

    def parameters(self, definition: dict[str, Any]) -> Json:
        return definition.get("parameters")


class Degrades(Registrations):
    """Shows the model each schema with something lost, without a word."""

    def degrade(self, schema: dict[str, Any]) -> None:
        raise NotImplementedError

    def parameters(self, definition: dict[str, Any]) -> Json:
        seen = deepcopy(super().parameters(definition))
        each_schema(seen, self.degrade)
        return seen


@mutant()
class SchemaKeywordDroppedInSilence(Degrades):
    """Drops minLength and pattern without a word."""

    def degrade(self, schema: dict[str, Any]) -> None:
        schema.pop("minLength", None)
        schema.pop("pattern", None)


@mutant()
class EnumMembersDroppedInSilence(Degrades):
    """Drops the objects and lists among the members of an enum without a word."""

    def degrade(self, schema: dict[str, Any]) -> None:
        if isinstance(schema.get("enum"), list):
            schema["enum"] = [member for member in schema["enum"] if not isinstance(member, dict | list)]


@mutant()
class KeysBesideAUnionDroppedInSilence(Degrades):
    """Drops what stands beside an anyOf, but for the description, without a word."""

    def degrade(self, schema: dict[str, Any]) -> None:
        for key in list(schema):
            if "anyOf" in schema and key not in ("anyOf", "description"):
                del schema[key]


@mutant()
class TupleItemsDroppedInSilence(Degrades):
    """Drops items that are a list without a word."""

    def degrade(self, schema: dict[str, Any]) -> None:
        if isinstance(schema.get("items"), list):
            del schema["items"]


@mutant()
class SchemaLossAnnouncedTwice(Registrations):
    """Drops minLength and says so twice."""

    def parameters(self, definition: dict[str, Any]) -> Json:
        seen = deepcopy(super().parameters(definition))
        for name, schema in as_object(seen.get("properties")).items():
            if as_object(schema).pop("minLength", None) is not None:
                for _ in range(2):
                    self._notices.warn(f"tool {definition['name']}: `minLength` of property {name} is lost")
        return seen


@mutant()
class PromptSnippetLost(PromptLines):
    """Says nothing of a tool's snippet in the prompt."""

    def snippet(self, tool: PiTool) -> str:
        return ""


@mutant()
class LastPackageOwnsThePrompt(PromptLines):
    """Says in the prompt only what the tools of the last package want said."""

    def sections(self, tools: Iterable[PiTool]) -> list[str]:
        shown = list(tools)
        return super().sections([tool for tool in shown if tool.instance.package is shown[-1].instance.package])


@mutant()
class PromptSnippetOutlivesTheTool(Bridge):
    """Says in the prompt what any tool wanted said that was ever active."""

    def active_of(self, agent: Agent) -> list[PiTool]:
        ever: dict[str, PiTool] = getattr(self, "_ever", {})
        self._ever = {**ever, **{tool.name: tool for tool in super().active_of(agent)}}
        return list(self._ever.values())
