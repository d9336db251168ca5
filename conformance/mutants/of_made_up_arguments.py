"""Defects of arguments that are filled in, taken for others, or left as they are where a schema is no plain one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge import _keywords
from reference_bridge.bridge._formats import FORMATS
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object


def everywhere(value: Any, change: Callable[[Any], Any]) -> Any:
    """A copy in which each part is what `change` makes of it, inner ones first."""
    if isinstance(value, dict):
        return change({key: everywhere(each, change) for key, each in value.items()})
    return change([everywhere(each, change) for each in value] if isinstance(value, list) else value)


def properties(tool: PiTool) -> dict[str, Any]:
    """The properties of the tool's schema."""
    return as_object(as_object(tool.definition.get("parameters")).get("properties"))


class _Takes(ToolRuns):
    """Takes the arguments for others before it looks at them."""

    def taken(self, tool: PiTool, arguments: dict[str, Any]) -> dict[str, Any]:
        """What they are taken for."""
        raise NotImplementedError

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        return super().validated(tool, self.taken(tool, arguments) if isinstance(arguments, dict) else arguments)


@mutant()
class ConstantsFilledIn(_Takes):
    """Fills in a property that is absent and can have but one value."""

    def taken(self, tool: PiTool, arguments: dict[str, Any]) -> dict[str, Any]:
        fixed = {key: each["const"] for key, each in properties(tool).items() if "const" in as_object(each)}
        return {**fixed, **arguments}


@mutant()
class KeysInAnyCase(_Takes):
    """Takes a key in another case, or with other joints between its words, for the property."""

    def taken(self, tool: PiTool, arguments: dict[str, Any]) -> dict[str, Any]:
        known = {key.lower().replace("_", ""): key for key in properties(tool)}
        return {known.get(key.lower().replace("_", ""), key): each for key, each in arguments.items()}


@mutant()
class EnumMembersInAnyCase(_Takes):
    """Takes a text in another case, or with blanks around, for the member of an enum."""

    def taken(self, tool: PiTool, arguments: dict[str, Any]) -> dict[str, Any]:
        def member(key: str, value: Any) -> Any:
            members = as_object(properties(tool).get(key)).get("enum")
            texts = [each for each in members if isinstance(each, str)] if isinstance(members, list) else []
            meant = value.strip().lower() if isinstance(value, str) else None
            return next((each for each in texts if each.lower() == meant), value)

        return {key: member(key, value) for key, value in arguments.items()}


@mutant()
class DottedKeysUnfolded(_Takes):
    """Reads a dot in a key as a way into an object."""

    def taken(self, tool: PiTool, arguments: dict[str, Any]) -> dict[str, Any]:
        unfolded: dict[str, Any] = {}
        for key, value in arguments.items():
            first, dot, rest = key.partition(".")
            unfolded[first] = {rest: value} if dot and rest else value
        return unfolded


@mutant()
class LineEndsOfArgumentsChanged(_Takes):
    """Writes each line end of an argument as a line feed."""

    def taken(self, tool: PiTool, arguments: dict[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = everywhere(
            arguments, lambda part: part.replace("\r\n", "\n") if isinstance(part, str) else part
        )
        return changed


@mutant()
class InnerDefaultsFilledIn(ToolRuns):
    """Fills in the defaults of objects inside the arguments."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        passed = super().validated(tool, arguments)
        for key, schema in properties(tool).items():
            inner = as_object(passed).get(key)
            for name, part in as_object(as_object(schema).get("properties")).items():
                if isinstance(inner, dict) and "default" in as_object(part):
                    inner.setdefault(name, part["default"])
        return passed


class _Reads(ToolRuns):
    """Reads each part of the schema in its own way."""

    def read(self, schema: dict[str, Any]) -> dict[str, Any]:
        """What it makes of one."""
        raise NotImplementedError

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        schema = everywhere(
            tool.definition.get("parameters"), lambda part: self.read(part) if isinstance(part, dict) else part
        )
        return super().validated(replace(tool, definition={**tool.definition, "parameters": schema}), arguments)


@mutant()
class NullableObjectsNotCoercedInside(_Reads):
    """Coerces nothing inside an object or a list that may be null instead."""

    def read(self, schema: dict[str, Any]) -> dict[str, Any]:
        if isinstance(schema.get("type"), list):
            hidden = {key: schema[key] for key in ("properties", "items") if key in schema}
            return {**{key: each for key, each in schema.items() if key not in hidden}, "not": {"not": hidden}}
        return schema


@mutant()
class UnionsInListsNotCoerced(_Reads):
    """Coerces no items of a list that may be of several kinds."""

    def read(self, schema: dict[str, Any]) -> dict[str, Any]:
        if "anyOf" in as_object(schema.get("items")):
            return {**schema, "items": {"not": {"not": schema["items"]}}}
        return schema


@mutant()
class PartsOfAWholeNotCoerced(_Reads):
    """Coerces nothing by the objects of an allOf, which only judge."""

    def read(self, schema: dict[str, Any]) -> dict[str, Any]:
        parts = schema.get("allOf")
        if isinstance(parts, list) and any("properties" in as_object(part) for part in parts):
            return {**schema, "allOf": [{"not": {"not": part}} for part in parts]}
        return schema


@mutant()
class RareFormatsUnchecked(_Reads):
    """Checks dates, addresses of mail and of the web, and no other format."""

    def read(self, schema: dict[str, Any]) -> dict[str, Any]:
        known = {"date", "date-time", "email", "uri", "uuid"}
        if schema.get("format") in FORMATS and schema["format"] not in known:
            return {key: each for key, each in schema.items() if key != "format"}
        return schema


@mutant()
class TextLengthsOffByOne(_Reads):
    """Takes a text that is exactly as long as it may be for too long."""

    def read(self, schema: dict[str, Any]) -> dict[str, Any]:
        longest = schema.get("maxLength")
        if isinstance(longest, int) and longest > 1:
            return {**schema, "maxLength": longest - 1}
        return schema


@mutant()
class BoundsOfZeroIgnored(_Reads):
    """Takes a bound of zero for none."""

    def read(self, schema: dict[str, Any]) -> dict[str, Any]:
        bounds = {each.name for each in _keywords.BY_KIND[float]} | {"maxLength", "maxItems"}
        return {key: each for key, each in schema.items() if not (key in bounds and each == 0 and each is not False)}
