"""Defects of what the catalogue keeps of a schema: keywords that are lost without a word."""

from __future__ import annotations

from typing import Any

from conformance.mutants.of_schemas import Degrades
from conformance.mutants.registry import mutant


def _drops(*keywords: str) -> Any:
    def degrade(self: Any, schema: dict[str, Any]) -> None:
        for keyword in keywords:
            schema.pop(keyword, None)

    return degrade


@mutant()
class PropertyDescriptionsDroppedInSilence(Degrades):
    """Drops the descriptions inside a schema without a word."""

    degrade = _drops("description")


@mutant()
class DefaultsDroppedInSilence(Degrades):
    """Drops defaults without a word."""

    degrade = _drops("default")


@mutant()
class ConstDroppedInSilence(Degrades):
    """Drops const without a word."""

    degrade = _drops("const")


@mutant()
class FormatsDroppedInSilence(Degrades):
    """Drops formats without a word."""

    degrade = _drops("format")


@mutant()
class ReferencesDroppedInSilence(Degrades):
    """Drops references and what they refer to without a word."""

    degrade = _drops("$ref", "$defs", "definitions")


@mutant()
class AdditionalPropertiesDroppedInSilence(Degrades):
    """Drops what a schema says of further properties without a word."""

    degrade = _drops("additionalProperties", "patternProperties", "propertyNames")


@mutant()
class NumberBoundsDroppedInSilence(Degrades):
    """Drops the bounds of numbers and lists without a word."""

    degrade = _drops(
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "uniqueItems",
    )


@mutant()
class ConditionsDroppedInSilence(Degrades):
    """Drops conditions, negations and conjunctions without a word."""

    degrade = _drops("if", "then", "else", "not", "allOf", "oneOf", "dependentRequired", "dependentSchemas")


@mutant()
class RequiredDroppedInSilence(Degrades):
    """Drops the list of required properties without a word."""

    degrade = _drops("required")
