"""Defects of what is kept of a schema that is long, deep, empty, in other scripts, true or false, or has anchors."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

from conformance.mutants.of_schemas import Degrades, each_schema
from conformance.mutants.registry import mutant
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Json


@mutant()
class IntegersShownAsNumbers(Degrades):
    """Shows an integer as a number without a word."""

    def degrade(self, schema: dict[str, Any]) -> None:
        if schema.get("type") == "integer":
            schema["type"] = "number"


@mutant()
class EmptyDefaultsDroppedInSilence(Degrades):
    """Drops a default that is an empty text or list without a word."""

    def degrade(self, schema: dict[str, Any]) -> None:
        if schema.get("default") in ("", []):
            schema.pop("default", None)


@mutant()
class ManyPropertiesCutInSilence(Degrades):
    """Shows the first thirty-two properties of an object without a word about the others."""

    def degrade(self, schema: dict[str, Any]) -> None:
        if isinstance(schema.get("properties"), dict):
            schema["properties"] = dict(list(schema["properties"].items())[:32])


@mutant()
class LongSchemaTextsCutInSilence(Degrades):
    """Shows the first two hundred characters of a description inside a schema, without the blanks around it."""

    def degrade(self, schema: dict[str, Any]) -> None:
        if isinstance(schema.get("description"), str):
            schema["description"] = schema["description"].strip()[:200]


@mutant()
class PropertiesOfOtherScriptsLost(Degrades):
    """Leaves properties out whose names are not ASCII, without a word."""

    def degrade(self, schema: dict[str, Any]) -> None:
        if isinstance(schema.get("properties"), dict):
            schema["properties"] = {name: each for name, each in schema["properties"].items() if name.isascii()}


@mutant()
class DeepSchemasCutInSilence(Registrations):
    """Shows of a schema what lies no deeper than ten steps, and nothing below."""

    def parameters(self, definition: dict[str, Any]) -> Json:
        return self.upper(super().parameters(definition), 10)

    def upper(self, value: Any, steps: int) -> Any:
        if isinstance(value, dict):
            return {key: self.upper(each, steps - 1) for key, each in value.items()} if steps else {}
        return [self.upper(each, steps - 1) for each in value] if isinstance(value, list) else value


@mutant()
class AnchorsDroppedInSilence(Degrades):
    """Drops $anchor without a word."""

    def degrade(self, schema: dict[str, Any]) -> None:
        schema.pop("$anchor", None)


@mutant()
class SchemasOfFalseDroppedInSilence(Degrades):
    """Drops schemas that are false without a word, of properties and of items."""

    def degrade(self, schema: dict[str, Any]) -> None:
        if schema.get("items") is False:
            del schema["items"]
        if isinstance(schema.get("properties"), dict):
            schema["properties"] = {key: each for key, each in schema["properties"].items() if each is not False}


@mutant()
class PropertiesOfAnyValueDroppedInSilence(Degrades):
    """Drops properties whose schema is true without a word."""

    def degrade(self, schema: dict[str, Any]) -> None:
        if isinstance(schema.get("properties"), dict):
            schema["properties"] = {key: each for key, each in schema["properties"].items() if each is not True}


class _ValidatesAnother(ToolRuns):
    """Validates calls against a schema that was changed."""

    def change(self, schema: dict[str, Any]) -> None:
        raise NotImplementedError

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        schema = deepcopy(tool.definition.get("parameters"))
        each_schema(schema, self.change)
        return super().validated(replace(tool, definition={**tool.definition, "parameters": schema}), arguments)


@mutant()
class SchemaOfFalseIgnored(_ValidatesAnother):
    """Lets any value pass for a property whose schema is false."""

    def change(self, schema: dict[str, Any]) -> None:
        for name, each in as_object(schema.get("properties")).items():
            if each is False:
                schema["properties"][name] = True


@mutant()
class AnchorsLeadNowhere(_ValidatesAnother):
    """Knows no reference to an anchor."""

    def change(self, schema: dict[str, Any]) -> None:
        schema.pop("$anchor", None)


@mutant()
class UnevaluatedMembersAreFree(_ValidatesAnother):
    """Lets any property and item pass that no other keyword speaks of."""

    def change(self, schema: dict[str, Any]) -> None:
        schema.pop("unevaluatedProperties", None)
        schema.pop("unevaluatedItems", None)
