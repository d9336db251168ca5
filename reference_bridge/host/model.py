"""The seam to a model: one request in, one whole reply out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from reference_bridge.host.json_values import Json
from reference_bridge.host.signals import AbortSignal

if TYPE_CHECKING:
    from reference_bridge.host.loop import Agent

Finish: TypeAlias = Literal["stop", "tool-calls", "max-tokens", "error"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the model wrote it: `arguments_text` is verbatim and need not be JSON; ids may repeat."""

    id: str
    name: str
    arguments_text: str = "{}"


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """Why a request failed; becomes the `error` of the turn's end."""

    message: str
    code: str = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply.

    Calls run whatever `finish` says, except after `max-tokens`, where they are neither run nor logged.
    """

    text: str | None = None
    calls: Sequence[ToolCall] = ()
    finish: Finish | None = None
    """`None` means `tool-calls` if there are calls, else `stop`."""
    failure: ModelFailure | None = None
    """Goes with `finish="error"`."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What the model is asked with."""

    agent: Agent
    tools: Sequence[Json]
    """Frozen `{name, description, parameters}`, sorted by UTF-16 code unit of the name."""
    messages: Sequence[Json]
    """The conversation so far, frozen."""
    system: str = ""


class ModelAdapter(Protocol):
    """A model. An exception it raises ends the turn with `error`; the harness waits for it even after a cancel."""

    async def respond(self, request: ModelRequest, signal: AbortSignal) -> ModelReply:
        """Answer `request`; stop early, by any exception, when `signal` is aborted."""
        ...
