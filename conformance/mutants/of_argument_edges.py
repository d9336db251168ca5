"""Defects of arguments at the edge: exactly at a bound, last of several, empty, deep or long."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

from conformance.mutants.of_schemas import each_schema
from conformance.mutants.registry import mutant
from reference_bridge.bridge.arguments import ArgumentsInvalid
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object


class ReadsTheSchema(ToolRuns):
    """Checks calls against another schema than the registered one."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        if not isinstance(tool.definition.get("parameters"), dict):
            return super().validated(tool, arguments)
        try:
            schema = deepcopy(tool.definition["parameters"])
            each_schema(schema, self.read)
        except RecursionError:
            return super().validated(tool, arguments)
        return super().validated(replace(tool, definition={**tool.definition, "parameters": schema}), arguments)

    def read(self, schema: dict[str, Any]) -> None:
        """Change a schema, or a part of it, in place."""
        raise NotImplementedError


@mutant()
class ListSizesOffByOne(ReadsTheSchema):
    """Refuses a list or an object of exactly the size that is allowed."""

    def read(self, schema: dict[str, Any]) -> None:
        for keyword, more in (("minItems", 1), ("maxItems", -1), ("minProperties", 1), ("maxProperties", -1)):
            if isinstance(schema.get(keyword), int):
                schema[keyword] += more


@mutant()
class LastOfWhatIsRequiredIsFree(ReadsTheSchema):
    """Does not ask for the last of several required properties."""

    def read(self, schema: dict[str, Any]) -> None:
        if isinstance(schema.get("required"), list) and len(schema["required"]) > 1:
            schema["required"] = schema["required"][:-1]


@mutant()
class UnionsOfTwo(ReadsTheSchema):
    """Looks at the first two members of a union."""

    def read(self, schema: dict[str, Any]) -> None:
        if isinstance(schema.get("anyOf"), list):
            schema["anyOf"] = schema["anyOf"][:2]


@mutant()
class ContainedItemsUncounted(ReadsTheSchema):
    """Asks whether a list contains an item that fits, and not how many."""

    def read(self, schema: dict[str, Any]) -> None:
        schema.pop("minContains", None)
        schema.pop("maxContains", None)


@mutant()
class WhatIsRequiredMayNotBeEmpty(ToolRuns):
    """Takes a required property that is empty, zero or false for a missing one."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        passed = super().validated(tool, arguments)
        for key in as_object(tool.definition.get("parameters")).get("required") or ():
            if not as_object(passed).get(key, True):
                raise ArgumentsInvalid(f'Validation failed for tool "{tool.name}":\n  - {key}: missing')
        return passed


@mutant()
class EmptyListsAndObjectsLeftOut(ToolRuns):
    """Leaves members out that are an empty list or object."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        passed = super().validated(tool, arguments)
        if not isinstance(passed, dict):
            return passed
        return {key: value for key, value in passed.items() if value or not isinstance(value, list | dict)}


@mutant()
class TextsReadAsJson(ToolRuns):
    """Hands a tool the list or object that a text reads as."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        passed = super().validated(tool, arguments)
        return {key: self.read(each) for key, each in passed.items()} if isinstance(passed, dict) else passed

    def read(self, value: Any) -> Any:
        try:
            return json.loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value
        except ValueError:
            return value


@mutant()
class DeepArgumentsNotCoerced(ToolRuns):
    """Converts nothing that lies more than three steps down."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        return self.upper(super().validated(tool, arguments), arguments, 3)

    def upper(self, passed: Any, given: Any, steps: int) -> Any:
        if isinstance(passed, dict) and isinstance(given, dict) and steps:
            return {key: self.upper(each, given.get(key, each), steps - 1) for key, each in passed.items()}
        if isinstance(passed, list) and isinstance(given, list) and len(passed) == len(given) and steps:
            return [self.upper(one, other, steps - 1) for one, other in zip(passed, given, strict=True)]
        return passed if steps else deepcopy(given)


@mutant()
class LongEchoesCut(ToolRuns):
    """Shows the first two hundred characters of the arguments that did not pass."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        try:
            return super().validated(tool, arguments)
        except ArgumentsInvalid as error:
            head, mark, echo = str(error).partition("Received arguments:\n")
            raise ArgumentsInvalid(head + mark + echo[:200]) from None
