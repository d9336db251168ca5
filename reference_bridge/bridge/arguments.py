"""The gate a call's arguments pass before a package sees them: prepare, copy, coerce, validate, as Pi 0.84.1 does."""

from __future__ import annotations

from collections.abc import Callable

from reference_bridge.bridge._coerce import MalformedSchemaError, coerce
from reference_bridge.bridge._js import (
    UNDEFINED,
    NotCloneableError,
    Undefined,
    clone,
    parse_json,
    strict_equal,
    stringify,
    to_string,
)
from reference_bridge.bridge._regex import PatternError
from reference_bridge.bridge._validate import Validator

__all__ = ["UNDEFINED", "ArgumentsInvalid", "Undefined", "parse_arguments", "validate_arguments"]


class ArgumentsInvalid(Exception):
    """Arguments that do not pass; the text is what the model reads as the call's error result."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def parse_arguments(text: str) -> object:
    """The JSON value of raw argument text, with JavaScript's numbers and order of keys.

    Raises `ValueError` where the text is not JSON.
    """
    return parse_json(text)


def validate_arguments(
    tool_name: str,
    schema: object,
    arguments: object,
    *,
    prepare: Callable[[object], object] | None = None,
) -> object:
    """The arguments as the tool gets them: a coerced deep copy that satisfies `schema`.

    `schema` is the tool's whole schema as registered, `arguments` a JSON value or `UNDEFINED`. `prepare` is the
    tool's own `prepareArguments`; it gets the very arguments it was called with, and what it raises is passed on.
    Unknown properties are kept, defaults are not filled in, and neither schema nor arguments are changed.

    Raises `ArgumentsInvalid`. Its text has one line for each problem and the arguments as they were after `prepare`
    and before any coercion; a schema that is itself unusable is told alone. Source: Pi 0.84.1, plain JSON Schema.
    """
    prepared = prepare(arguments) if prepare else arguments
    try:
        return _validate(tool_name, clone(schema), prepared)
    except (PatternError, MalformedSchemaError, NotCloneableError) as error:
        raise ArgumentsInvalid(str(error)) from error
    except RecursionError as error:
        raise ArgumentsInvalid("Maximum call stack size exceeded") from error


def _validate(tool_name: str, schema: object, prepared: object) -> object:
    arguments = clone(prepared)
    if isinstance(schema, list):
        return arguments
    if not isinstance(schema, dict):
        raise MalformedSchemaError(_unusable(schema))
    validators = _Validators()
    validator = Validator(schema)
    coerced = coerce(arguments, schema, validators.accepts)
    if _is_container(arguments) and _is_container(coerced):
        arguments = coerced
    elif not strict_equal(coerced, arguments):
        # Arguments that are no object: a conversion that fails to satisfy the schema is dropped without an error.
        return coerced if validator.check(coerced) else arguments
    if validator.check(arguments):
        return arguments
    lines = [f"  - {problem.path}: {problem.message}" for problem in validator.report(arguments)]
    raise ArgumentsInvalid(
        f'Validation failed for tool "{tool_name}":\n'
        + ("\n".join(lines) or "Unknown validation error")
        + f"\n\nReceived arguments:\n{stringify(clone(prepared))}"
    )


class _Validators:
    """The members of a call's unions, each compiled once."""

    def __init__(self) -> None:
        self._by_schema: dict[int, Validator | None] = {}

    def accepts(self, schema: object, value: object) -> bool:
        """Whether `schema`, taken as a root of its own, accepts `value`; an unusable one accepts nothing."""
        if not isinstance(schema, dict):
            return False
        if id(schema) not in self._by_schema:
            try:
                self._by_schema[id(schema)] = Validator(schema)
            except PatternError:
                self._by_schema[id(schema)] = None
        validator = self._by_schema[id(schema)]
        return validator is not None and validator.check(value)


def _is_container(value: object) -> bool:
    return isinstance(value, dict | list)


def _unusable(schema: object) -> str:
    if isinstance(schema, bool):
        return "Invalid value used as weak map key"
    return f"Cannot use 'in' operator to search for 'type' in {to_string(schema)}"
