"""What a tool is to the harness, and `define_tool` for tools that want their arguments checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from reference_bridge.host.errors import JsonSchemaError, ToolArgsError
from reference_bridge.host.json_schema import require_supported, violations
from reference_bridge.host.json_values import Json
from reference_bridge.host.waterfall import settle

if TYPE_CHECKING:
    from reference_bridge.host.results import Execution, ToolResult

Execute: TypeAlias = Callable[[Json, "Execution"], Any]
"""`(arguments, exec)` → a JSON value, plain or awaited. `None` is null; `UNDEFINED` is invalid output."""

Render: TypeAlias = Callable[[Json, Json], Json]
"""`(arguments, value)` → content blocks."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as it is registered.

    `execute` answers with a JSON value; what the model reads is made from it by `render`. Nothing here checks or
    changes arguments: a tool that wants that does it in its body, as `define_tool` does.
    """

    name: str
    """Exact: case counts, nothing is trimmed. Only `run_code` is reserved."""
    description: str
    parameters: Json
    """Shown to the model and never checked. It must be JSON, or every later listing of the catalogue raises."""
    execute: Execute
    render: Render
    output_schema: Json = field(default_factory=dict)
    """Checked against every value; `{}` accepts any JSON."""
    presentation_meta: Callable[[Json, Json], Json] | None = None
    """`(arguments, value)` → `meta` of the durable result. Answering `UNDEFINED` fails the call."""
    finalize_content: Callable[[Execution, ToolResult], Json] | None = None
    """Last word on the content of every result, failures and denials included; `None` leaves it as it is."""
    is_concurrency_safe: Callable[[Json], Any] | None = None
    """Whether a call with these arguments may overlap its neighbours: `True` itself, anything else is no.

    Asked before the call is logged and possibly several times, so it must be pure.
    """
    timeout_ms: float | None = None
    """Declared only: the harness enforces it where the host has a timeout policy."""


def define_tool(
    *,
    name: str,
    description: str,
    parameters: dict[str, dict[str, Json]],
    execute: Execute,
    render: Render,
    output_schema: Json = None,
    presentation_meta: Callable[[Json, Json], Json] | None = None,
    finalize_content: Callable[[Execution, ToolResult], Json] | None = None,
    is_concurrency_safe: Callable[[Json], Any] | None = None,
    timeout_ms: float | None = None,
) -> ToolDefinition:
    """A tool whose body sees only arguments that fit `parameters`; others raise `ToolArgsError` inside the body.

    `parameters` maps names to value schemas; `required: True` inside one makes it required. Nothing is coerced,
    unknown root arguments pass. Raises `JsonSchemaError` for a schema outside the subset.
    """
    schema = _compile_object(parameters, "parameters")
    require_supported(schema)
    output = {} if output_schema is None else _compile(output_schema, "schema")
    require_supported(output)

    async def checked_execute(args: Json, execution: Execution) -> Json:
        found = violations(schema, args, "")
        if found:
            raise ToolArgsError(found)
        return await settle(execute(args, execution))

    def checked_is_concurrency_safe(args: Json) -> Any:
        return is_concurrency_safe is not None and not violations(schema, args, "") and is_concurrency_safe(args)

    return ToolDefinition(
        name=name,
        description=description,
        parameters=schema,
        execute=checked_execute,
        render=render,
        output_schema=output,
        presentation_meta=presentation_meta,
        finalize_content=finalize_content,
        is_concurrency_safe=None if is_concurrency_safe is None else checked_is_concurrency_safe,
        timeout_ms=timeout_ms,
    )


def _compile_object(members: dict[str, dict[str, Json]], path: str) -> dict[str, Json]:
    required = [name for name, spec in members.items() if spec.get("required") is True]
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {name: _compile(spec, f"{path}.{name}", nested=True) for name, spec in members.items()},
    }
    return schema | {"required": required} if required else schema


def _compile(spec: Json, path: str, *, nested: bool = False) -> dict[str, Json]:
    """The JSON Schema of one value spec: `json` is any value, `required` moves to the object around it."""
    if not isinstance(spec, dict):
        raise JsonSchemaError(f"{path} must be a schema object")
    schema = {key: value for key, value in spec.items() if not (nested and key == "required")}
    if schema.get("type") == "json":
        del schema["type"]
    elif schema.get("type") == "object":
        compiled = _compile_object(schema.pop("properties", {}), f"{path}.properties")
        schema = schema | {key: value for key, value in compiled.items() if key != "type"}
    elif "items" in schema:
        schema["items"] = _compile(schema["items"], f"{path}.items")
    elif "oneOf" in schema:
        schema["oneOf"] = [_compile(each, f"{path}.oneOf[{at}]") for at, each in enumerate(schema["oneOf"])]
    return schema
