"""Defects of what the model sees of schemas that say little, say much, or say it beside something else."""

from __future__ import annotations

from typing import Any

from conformance.mutants.of_schemas import Degrades
from conformance.mutants.registry import mutant

REMARKS = ("$comment", "$schema", "readOnly", "writeOnly")
"""Keywords about a schema rather than about values."""


@mutant()
class NothingsDroppedFromSchemasInSilence(Degrades):
    """Takes a bound or a default of zero, false or null for one that is not there."""

    def degrade(self, schema: dict[str, Any]) -> None:
        """Keep those that are true to JavaScript."""
        for key in ("default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"):
            if key in schema and not isinstance(schema[key], dict | list | str) and not schema[key]:
                del schema[key]


@mutant()
class KeysBesideAReferenceDroppedInSilence(Degrades):
    """Keeps nothing of a schema that is a reference but the reference, as old drafts have it."""

    def degrade(self, schema: dict[str, Any]) -> None:
        """Drop what stands beside it."""
        if isinstance(schema.get("$ref"), str):
            for key in [key for key in schema if key not in ("$ref", "$defs", "definitions")]:
                del schema[key]


@mutant()
class RemarksDroppedInSilence(Degrades):
    """Drops what a schema says about itself."""

    def degrade(self, schema: dict[str, Any]) -> None:
        """Drop the remarks."""
        for key in REMARKS:
            if not isinstance(schema.get(key), dict):
                schema.pop(key, None)


@mutant()
class LongEnumsCutInSilence(Degrades):
    """Shows no more than fifty of the values a property may have."""

    def degrade(self, schema: dict[str, Any]) -> None:
        """Cut the list."""
        if isinstance(schema.get("enum"), list):
            del schema["enum"][50:]


@mutant()
class ListsOfOneTypeUnwrapped(Degrades):
    """Shows a list of one type as that type."""

    def degrade(self, schema: dict[str, Any]) -> None:
        """Take the only one."""
        if isinstance(schema.get("type"), list) and len(schema["type"]) == 1:
            schema["type"] = schema["type"][0]


@mutant()
class InnerObjectsClosedInTheCatalogue(Degrades):
    """Closes the objects inside a schema, as strict modes of providers ask for."""

    def degrade(self, schema: dict[str, Any]) -> None:
        """Close each object that does not say whether it is open."""
        for inner in [*_inner(schema.get("properties")), schema.get("items")]:
            if isinstance(inner, dict) and inner.get("type") == "object":
                inner.setdefault("additionalProperties", False)


@mutant()
class InnerPropertiesRequired(Degrades):
    """Requires every property of the objects inside a schema, as strict modes of providers ask for."""

    def degrade(self, schema: dict[str, Any]) -> None:
        """Require them all."""
        for inner in [*_inner(schema.get("properties")), schema.get("items")]:
            if isinstance(inner, dict) and isinstance(inner.get("properties"), dict):
                inner["required"] = list(inner["properties"])


def _inner(properties: Any) -> list[Any]:
    return list(properties.values()) if isinstance(properties, dict) else []
