"""What can go wrong in the harness, and what of it reaches the model and the log."""

from __future__ import annotations

from collections.abc import Sequence

from reference_bridge.host.json_values import js_string, member

UNKNOWN_TOOL = "UNKNOWN_TOOL"
INVALID_ARGS = "INVALID_ARGS"
INVALID_TOOL_OUTPUT = "INVALID_TOOL_OUTPUT"
ABORTED = "ABORTED"
ABORTED_BEFORE_DISPATCH = "ABORTED_BEFORE_DISPATCH"
TOOL_TIMEOUT = "TOOL_TIMEOUT"
CODE_RUN_FAILED = "CODE_RUN_FAILED"


class HarnessError(Exception):
    """An error with an identity: only these leave `error: {name, code}` on a durable `tool/result`.

    Any other exception, also one with a `code` attribute such as ENOENT, leaves its text alone.
    """

    name = "HarnessError"

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class ToolNotFoundError(HarnessError):
    """The model named a tool that its scope does not show: unregistered, masked, or collapsed by mode `code`."""

    name = "ToolNotFoundError"

    def __init__(self, tool: str, hint: str = "") -> None:
        super().__init__(f'unknown tool "{tool}"' + (f": {hint}" if hint else ""), UNKNOWN_TOOL)


class ToolArgsError(HarnessError):
    """A tool made with `define_tool` refused its arguments; one sentence a violation."""

    name = "ToolArgsError"

    def __init__(self, violations: Sequence[str]) -> None:
        super().__init__(f"invalid arguments: {'; '.join(violations)}", INVALID_ARGS)


class ToolOutputError(HarnessError):
    """A body, its renderer or its projection broke the tool's own output contract."""

    name = "ToolOutputError"

    def __init__(self, tool: str, violations: Sequence[str]) -> None:
        super().__init__(f'tool "{tool}" returned invalid output: {"; ".join(violations)}', INVALID_TOOL_OUTPUT)


class JsonSchemaError(HarnessError):
    """An output schema uses a keyword outside the subset the harness checks."""

    name = "JsonSchemaError"

    def __init__(self, problem: str) -> None:
        super().__init__(f"unsupported JSON schema: {problem}", "UNSUPPORTED_SCHEMA")


class ModelError(HarnessError):
    """A model request failed in a way the harness can name; ends the turn with `error`."""

    name = "LlmError"


class InactiveScopeError(Exception):
    """Something was registered through a scope that is disposed: keep no scope longer than its agent."""

    code = "INACTIVE_EFFECT"

    def __init__(self) -> None:
        super().__init__("cannot create effect on inactive context")


class Thrown(Exception):
    """A thrown value that is no error, as JavaScript allows: `throw "text"`, `throw undefined`."""

    def __init__(self, value: object) -> None:
        super().__init__(value)
        self.value = value


def error_message(error: BaseException) -> str:
    """The text of `error` as a tool result shows it, without the leading `Error: `.

    A `Thrown` value gives its string `message` member, else its JavaScript string form.
    """
    if isinstance(error, Thrown):
        message = member(error.value, "message") if isinstance(error.value, dict) else None
        return message if isinstance(message, str) else js_string(error.value)
    # str(KeyError("x")) quotes its argument; the argument is what the author wrote.
    if len(error.args) == 1 and isinstance(error.args[0], str):
        return error.args[0]
    return str(error)


def error_chain(error: BaseException) -> str:
    """The text of `error` and of what caused it, outermost first: how the end of a failed turn tells it."""
    texts = []
    cause: BaseException | None = error
    while cause is not None:
        texts.append(error_message(cause))
        cause = cause.__cause__
    return ": ".join(texts)
