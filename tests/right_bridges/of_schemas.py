"""Right bridges that show the model another form of a tool's schema, and say so, or other lines in the prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.prompts import PromptLines
from reference_bridge.bridge.registrations import Entry, Registrations
from reference_bridge.bridge.tools import PiTool
from reference_bridge.host import Json, plugin_message
from tests.right_bridges.table import right

SCHEMAS = ("registerTool.each-keyword*", "registerTool.the-whole*", "registerTool.arguments*", "getAllTools.rows*")
PLAIN = frozenset({"type", "properties", "items", "description", "required", "enum"})
"""The keywords that such a bridge keeps."""
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def _degraded(schema: Any, place: tuple[str, ...] = ()) -> tuple[Any, list[tuple[tuple[str, ...], str]]]:
    """The schema with the plain keywords alone, and where which keyword was lost."""
    if not isinstance(schema, dict):
        return schema, []
    kept: dict[str, Any] = {}
    lost: list[tuple[tuple[str, ...], str]] = []
    for keyword, value in schema.items():
        if keyword not in PLAIN:
            lost.append((place, keyword))
        elif keyword == "properties" and isinstance(value, dict):
            kept[keyword] = {}
            for name, part in value.items():
                kept[keyword][name], more = _degraded(part, (*place, "properties", name))
                lost += more
        elif keyword == "items" and isinstance(value, dict):
            kept[keyword], more = _degraded(value, (*place, "items"))
            lost += more
        else:
            kept[keyword] = value
    return kept, lost


def _nearest(place: tuple[str, ...]) -> str:
    names = [place[at + 1] for at, step in enumerate(place[:-1]) if step == "properties"]
    return names[-1] if names else ""


class _Degrading(Registrations):
    def announced(self, name: str, lost: list[tuple[tuple[str, ...], str]]) -> Iterator[str]:
        raise NotImplementedError

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        entry = super().entry(instance, name, definition)
        _, lost = _degraded(super().parameters(definition))
        for text in self.announced(name, lost) if lost else ():
            self._notices.warn(text)
        return entry

    def parameters(self, definition: dict[str, Any]) -> Json:
        return _degraded(super().parameters(definition))[0]


@right(*SCHEMAS)
class KeywordsLostOneNoticeEach(_Degrading):
    """Shows the model the plain keywords of a schema alone, and announces each of the others in a notice of its own.

    Free: `registerTool.each-keyword-reaches-the-model-or-is-announced`; the call is validated by the whole schema.
    """

    def announced(self, name: str, lost: list[tuple[tuple[str, ...], str]]) -> Iterator[str]:
        for place, keyword in lost:
            where = f"at {'.'.join(place)}" if place else "at the root"
            yield f"{name}: the model is not told of {keyword!r} {where}"


@right(*SCHEMAS)
class KeywordsLostOneNoticeForAll(_Degrading):
    """Shows the model the plain keywords of a schema alone, and announces all others of a tool in one notice.

    Free: `registerTool.each-keyword-reaches-the-model-or-is-announced` takes any notation of a path, and any grouping.
    """

    def announced(self, name: str, lost: list[tuple[tuple[str, ...], str]]) -> Iterator[str]:
        paths = ["#/" + "/".join([*place, keyword]) for place, keyword in lost]
        yield f"Tool {name}: these parts of its parameters are checked and not shown: {', '.join(paths)}"


@right(*SCHEMAS)
class KeywordsLostByProperty(_Degrading):
    """Shows the model the plain keywords of a schema alone, and announces the others in a notice for each property.

    Free: `registerTool.each-keyword-reaches-the-model-or-is-announced` asks for tool, keyword and nearest property.
    """

    def announced(self, name: str, lost: list[tuple[tuple[str, ...], str]]) -> Iterator[str]:
        by_property: dict[str, list[str]] = {}
        for place, keyword in lost:
            by_property.setdefault(_nearest(place), []).append(keyword)
        for near, keywords in by_property.items():
            about = f"the property «{near}»" if near else "the arguments as a whole"
            yield f"For the tool {name}, {about} loses: {' + '.join(keywords)}"


class _WithADialect(Registrations):
    def parameters(self, definition: dict[str, Any]) -> Json:
        shown = super().parameters(definition)
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Arguments", **shown}


@right(
    *SCHEMAS,
    "registerTool.described*",
    "registerTool.indist*",
    departs=("registerTool.indistinguishable-in-the-catalogue",),
)
class SchemasThatSayTheirDialect(_WithADialect):
    """Adds its dialect and a title to the root of each schema that the model sees.

    Free: `registerTool.each-keyword-reaches-the-model-or-is-announced` is about keywords that were registered, and
    `registerTool.indistinguishable-in-the-catalogue`, which asks that nothing be added, is a should.
    """


PROMPTS = ("registerTool.*prompt*", "registerTool.registering*")


class _OtherLines(PromptLines):
    def sections(self, tools: Iterable[PiTool]) -> list[str]:
        told = [
            "\n".join(
                [
                    f"<tool name={tool.name!r}>",
                    self.snippet(tool) or "-",
                    *(f"+ {text}" for text in self.guidelines(tool)),
                ]
            )
            for tool in reversed(list(tools))
            if self.snippet(tool) or self.guidelines(tool)
        ]
        return [*told, "</tools>"] if told else []


@right(*PROMPTS)
class APromptOfItsOwnForm(_OtherLines):
    """Tells the model what a tool gave for the prompt tool by tool, the last first, with other marks.

    Free: `registerTool.prompt-snippet-while-active` asks that the texts be there, not for a form.
    """


class _MuchAround(Bridge):
    async def assemble(self, assembly: Any, context: Any, following: Any) -> Any:
        assembly.sections.insert(0, "You are an agent. Use tools with care. Errors of tools are shown as they are.")
        assembly = await super().assemble(assembly, context, following)
        assembly.sections.append("Nothing below this line was written by a package.")
        return assembly


@right(*PROMPTS, "tool_call.*", "registerTool.in-the*")
class AHostWithAPrompt(_MuchAround):
    """Has a system prompt of the host's own around what packages say.

    Free: no rule speaks of what else is in the system prompt.
    """


class _Counting(Bridge):
    asked = 0

    async def assemble(self, assembly: Any, context: Any, following: Any) -> Any:
        assembly = await super().assemble(assembly, context, following)
        _Counting.asked += 1
        assembly.sections.append(f"It is request {_Counting.asked} of today.")
        return assembly


@right(*PROMPTS)
class APromptThatTellsTheTime(_Counting):
    """Has something in its system prompt that is another with each request, as the time of day is.

    Free: no rule speaks of what else is in the system prompt.
    """


class _Environment(Bridge):
    async def before_step(self, pre_step: Any, following: Any) -> Any:
        decision = await super().before_step(pre_step, following)
        if pre_step.step == 1 and decision.get("kind") == "enter" and decision["messages"]:
            told = plugin_message("<environment>the folder is clean</environment>", "environment")
            decision = {**decision, "messages": [told, *decision["messages"]]}
        return decision


@right(*PROMPTS, "tool_call.*loop*", "user_bash.*")
class AnEnvironmentMessage(_Environment):
    """Tells the model about its environment in a message of its own before each prompt.

    Free: no rule speaks of what else the conversation holds; what the user says reaches the model as it is.
    """
