"""Defects of what becomes of a call's arguments before a package's tool runs with them, and of what the log keeps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from conformance.mutants.of_schemas import each_schema
from conformance.mutants.registry import mutant
from reference_bridge.bridge.arguments import ArgumentsInvalid
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object, json_text
from reference_bridge.host import Agent, Json, SessionEvent
from reference_bridge.host.json_values import clone


def _with(tool: PiTool, **members: Any) -> PiTool:
    return replace(tool, definition={**tool.definition, **members})


def _schema(tool: PiTool) -> dict[str, Any]:
    return as_object(tool.definition.get("parameters"))


@mutant()
class ArgumentsNotCoerced(ToolRuns):
    """Hands the model's arguments on as they were, once they have passed."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        super().validated(tool, clone(arguments))
        return clone(arguments)


@mutant()
class NullCoercionLost(ToolRuns):
    """Refuses null for a property."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        if None in as_object(arguments).values():
            raise ValueError("null is not a value")
        return super().validated(tool, arguments)


@mutant()
class UnionMembersCoercedFirst(ToolRuns):
    """Converts to the first member of a union although another takes the value as it is."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        schema = deepcopy(tool.definition.get("parameters"))
        each_schema(schema, self.first)
        try:
            return super().validated(_with(tool, parameters=schema), arguments)
        except ArgumentsInvalid:
            return super().validated(tool, arguments)

    def first(self, schema: dict[str, Any]) -> None:
        if isinstance(schema.get("anyOf"), list) and schema["anyOf"]:
            schema.update(schema.pop("anyOf")[0])


@mutant()
class NestedArgumentsNotCoerced(ToolRuns):
    """Converts the outermost properties only."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        passed = super().validated(tool, arguments)
        nested = {key: clone(value) for key, value in as_object(arguments).items() if isinstance(value, dict | list)}
        return {**passed, **nested} if isinstance(passed, dict) else passed


@mutant()
class OptionalNullReachesTheTool(ToolRuns):
    """Hands null for an optional property on as null."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        required = _schema(tool).get("required") or []
        nulls = [key for key, value in as_object(arguments).items() if value is None and key not in required]
        if not nulls:
            return super().validated(tool, arguments)
        passed = super().validated(tool, {key: value for key, value in arguments.items() if key not in nulls})
        return {**passed, **dict.fromkeys(nulls)}


@mutant()
class CatalogueSchemaUsedForValidation(ToolRuns):
    """Checks the arguments against a schema without most of its constraints."""

    keywords: tuple[str, ...] = (
        *("minLength", "pattern", "format", "minimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "uniqueItems", "not", "propertyNames"),
    )

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        schema = deepcopy(tool.definition.get("parameters"))
        each_schema(schema, self.loosen)
        return super().validated(_with(tool, parameters=schema), arguments)

    def loosen(self, schema: dict[str, Any]) -> None:
        for keyword in self.keywords:
            schema.pop(keyword, None)


@mutant()
class RestOfATupleFree(CatalogueSchemaUsedForValidation):
    """Checks nothing of a list beyond the items that have a schema of their own."""

    keywords = ("additionalItems",)


@mutant()
class ReferenceHidesWhatIsBesideIt(CatalogueSchemaUsedForValidation):
    """Checks a value by what a reference leads to, and by nothing that stands beside the reference."""

    def loosen(self, schema: dict[str, Any]) -> None:
        if "$ref" in schema:
            for keyword in schema.keys() - {"$ref", "$defs", "definitions"}:
                del schema[keyword]


@mutant()
class PatternsMeanTheWholeText(CatalogueSchemaUsedForValidation):
    """Takes a pattern for one that the whole text must match."""

    def loosen(self, schema: dict[str, Any]) -> None:
        if isinstance(schema.get("pattern"), str):
            schema["pattern"] = f"^(?:{schema['pattern']})$"


class _FailsOtherwise(ToolRuns):
    def failed(self, error: ArgumentsInvalid, arguments: Any) -> Any:
        raise NotImplementedError

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        try:
            return super().validated(tool, arguments)
        except ArgumentsInvalid as error:
            return self.failed(error, arguments)


@mutant()
class InvalidCallRuns(_FailsOtherwise):
    """Runs a tool with arguments that did not pass."""

    def failed(self, error: ArgumentsInvalid, arguments: Any) -> Any:
        return clone(arguments)


@mutant()
class ValidationErrorWithoutAFrame(_FailsOtherwise):
    """Tells the problems without the line above them."""

    def failed(self, error: ArgumentsInvalid, arguments: Any) -> Any:
        raise ValueError("invalid arguments: " + error.text.partition("\n")[2])


@mutant()
class OnlyTheFirstProblemIsTold(_FailsOtherwise):
    """Tells one problem of several."""

    def failed(self, error: ArgumentsInvalid, arguments: Any) -> Any:
        told, blank, echo = error.text.partition("\n\n")
        raise ArgumentsInvalid("\n".join(told.split("\n")[:2]) + blank + echo)


@mutant()
class CoercedArgumentsEchoed(_FailsOtherwise):
    """Shows, in the text about a failure, texts of digits as numbers."""

    def failed(self, error: ArgumentsInvalid, arguments: Any) -> Any:
        head, received, _ = error.text.partition("Received arguments:")
        if not received or not isinstance(arguments, dict):
            raise error
        echo = {key: self.number(value) for key, value in arguments.items()}
        raise ArgumentsInvalid(f"{head}{received}\n{json.dumps(echo)}")

    def number(self, value: Any) -> Any:
        return int(value) if isinstance(value, str) and value.isdigit() else value


@mutant()
class NonObjectArgumentsRun(ToolRuns):
    """Takes arguments that are no object for an empty one."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        return super().validated(tool, arguments) if isinstance(arguments, dict) else {}


@mutant()
class BrokenJsonRuns(ToolRuns):
    """Takes arguments that are no JSON for an empty object."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        return {} if isinstance(arguments, str) else super().validated(tool, arguments)


@mutant()
class PrepareArgumentsIgnored(ToolRuns):
    """Never calls prepareArguments."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        return super().validated(_with(tool, prepareArguments=None), arguments)


class _PreparesOtherwise(ToolRuns):
    def prepared(self, tool: PiTool, prepare: Any, arguments: Any) -> Any:
        raise NotImplementedError

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        prepare = tool.definition.get("prepareArguments")
        if not callable(prepare):
            return super().validated(tool, arguments)
        return self.prepared(_with(tool, prepareArguments=None), prepare, arguments)


@mutant()
class PrepareArgumentsAfterValidation(_PreparesOtherwise):
    """Calls prepareArguments with arguments that have passed."""

    def prepared(self, tool: PiTool, prepare: Any, arguments: Any) -> Any:
        return prepare(self.validated(tool, arguments))


@mutant()
class PrepareArgumentsThrowSwallowed(_PreparesOtherwise):
    """Goes on with the model's arguments where prepareArguments throws."""

    def prepared(self, tool: PiTool, prepare: Any, arguments: Any) -> Any:
        try:
            arguments = prepare(arguments)
        except Exception:
            return self.validated(tool, arguments)
        return self.validated(tool, arguments)


@mutant()
class PreparedArgumentsNotValidated(_PreparesOtherwise):
    """Hands on what prepareArguments answered as it is."""

    def prepared(self, tool: PiTool, prepare: Any, arguments: Any) -> Any:
        return prepare(clone(arguments))


@mutant()
class UnknownPropertiesDropped(ToolRuns):
    """Keeps only the properties that the schema names."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        passed, named = super().validated(tool, arguments), as_object(_schema(tool).get("properties"))
        if not isinstance(passed, dict) or not named:
            return passed
        return {key: value for key, value in passed.items() if key in named}


@mutant()
class DefaultsFilledIn(ToolRuns):
    """Fills in the schema's defaults."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        if not isinstance(arguments, dict):
            return super().validated(tool, arguments)
        named = as_object(_schema(tool).get("properties")).items()
        defaults = {key: schema["default"] for key, schema in named if "default" in as_object(schema)}
        return super().validated(tool, {**defaults, **arguments})


@mutant()
class ArgumentsSharedBetweenCalls(ToolRuns):
    """Hands the same object to every call with the same arguments."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        made: dict[str, Any] = getattr(self, "_made", {})
        self._made = made
        return made.setdefault(json_text(arguments), super().validated(tool, arguments))


class RewritesTheLog(Bridge):
    """Logs other arguments than the model gave."""

    def rewritten(self, tool: PiTool, arguments: Json) -> Json:
        raise NotImplementedError

    def agent_started(self, agent: Agent) -> None:
        append = agent.session.append

        def rewriting(
            type: str,
            data: Json,
            *,
            surface_op: str | None = None,
            source_event_seqs: Sequence[int] | None = None,
            ignorable: bool = False,
        ) -> SessionEvent:
            if type == "tool/call":
                data = {**data, "arguments": self.arguments(agent, data)}
            return append(type, data, surface_op=surface_op, source_event_seqs=source_event_seqs, ignorable=ignorable)

        agent.session.append = rewriting  # type: ignore[method-assign]
        super().agent_started(agent)

    def arguments(self, agent: Agent, data: Json) -> Json:
        tool = self.registrations.tool_of(self.host.tools.get(data["name"], agent.scope))
        try:
            return data["arguments"] if tool is None else self.rewritten(tool, json.loads(data["arguments"]))
        except Exception:
            return data["arguments"]


@mutant()
class CoercedArgumentsLogged(RewritesTheLog):
    """Logs the arguments as the tool gets them."""

    def rewritten(self, tool: PiTool, arguments: Json) -> Json:
        return json_text(self.runs.validated(tool, arguments))


@mutant()
class PrepareArgumentsEditsTheLog(RewritesTheLog):
    """Logs the arguments as prepareArguments leaves the object it was given."""

    def rewritten(self, tool: PiTool, arguments: Json) -> Json:
        tool.definition["prepareArguments"](arguments)
        return json_text(arguments)
