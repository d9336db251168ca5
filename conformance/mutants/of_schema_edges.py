"""Defects of what the catalogue keeps of a schema that is long, deep, empty or in other scripts."""

from __future__ import annotations

from typing import Any

from conformance.mutants.of_schemas import Degrades
from conformance.mutants.registry import mutant
from reference_bridge.bridge.registrations import Registrations
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
