"""The operations a program is made of, as data: what the operator, the packages and the model do on one stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from conformance.drivers.protocol import ApiCall, ModelAnswer, NativeSpec, PolicySpec, Reply, Services, ToolSpec
from conformance.plan import MAIN
from conformance.scripts import Behaviour, NativeBehaviour, Timed


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """A value inside an operation."""


class Tool(Part, frozen=True):
    """A tool of a package: its registration, and how its body behaves (the last behaviour that fits wins)."""

    spec: ToolSpec
    does: list[Behaviour] = []


class Handler(Part, frozen=True):
    """A subscription of a package and how it behaves; ``sync`` makes it a synchronous one that always replies so."""

    event: str
    does: list[Behaviour] = []
    sync: Reply | UnsetType = UNSET


class Turn(Part, frozen=True):
    """A prompt for one agent, and what its model says from there on; messages that are left over are said later."""

    agent: str = MAIN
    text: str = "go"
    messages: list[ModelAnswer] = []


class Operation(Part, frozen=True, tag_field="op"):
    """One operation. Those before the first that needs an open stage are gathered, and the stage opens with them.

    One on something that is not there, or that the implementation has no counterpart for, is left out of the run.
    """


class AddServices(Operation, frozen=True, tag="services"):
    """Says which optional services the host has; after the stage has opened it does nothing."""

    services: Services


class AddPackage(Operation, frozen=True, tag="package"):
    """Loads a package. Its handlers are called by their event, further ones of an event with ``#2`` and so on."""

    name: str
    tools: list[Tool] = []
    handlers: list[Handler] = []
    calls: list[ApiCall] = []
    throws: Any = UNSET


class AddNative(Operation, frozen=True, tag="native"):
    """Registers a native tool, and says how its body behaves."""

    native: NativeSpec
    does: list[NativeBehaviour] = []


class DropNative(Operation, frozen=True, tag="drop-native"):
    """Unregisters a native tool."""

    name: str


class AddPolicy(Operation, frozen=True, tag="policy"):
    """Adds a listener of the host's policy, or changes what the one of that id answers."""

    policy: PolicySpec


class AddAgent(Operation, frozen=True, tag="agent"):
    """Creates a further agent: ``main`` is always there.

    ``parent`` is the agent it works for; ``resumes`` an agent that has ended, with whose session it goes on.
    """

    agent: str
    parent: str | None = None
    resumes: str | None = None


class DropAgent(Operation, frozen=True, tag="drop-agent"):
    """Ends an agent."""

    agent: str


class CallApi(Operation, frozen=True, tag="pi"):
    """Calls ``pi.<call>`` outside any handler, on the package's instance that serves the agent."""

    package: str
    call: str
    args: list[Any] = []
    agent: str = MAIN


class Prompt(Operation, frozen=True, tag="prompt"):
    """Prompts agents, several at once, and waits until nothing of them is pending.

    ``meanwhile`` is what happens at moments of these turns; later ones have forgotten it.
    """

    turns: list[Turn] = msgspec.field(default_factory=lambda: [Turn()])
    meanwhile: list[Timed] = []


class Tell(Operation, frozen=True, tag="say"):
    """The user steers, or queues a follow-up, while the agent is idle; ``messages`` as in :class:`Turn`."""

    how: Literal["steer", "follow_up"]
    agent: str = MAIN
    text: str = "more"
    messages: list[ModelAnswer] = []


class CancelTurn(Operation, frozen=True, tag="cancel"):
    """The user cancels while the agent is idle."""

    agent: str = MAIN


class UnloadPackage(Operation, frozen=True, tag="unload"):
    """Removes a package."""

    package: str


class LoadAgain(Operation, frozen=True, tag="load"):
    """Loads a package that was removed."""

    package: str


class ReloadPackage(Operation, frozen=True, tag="reload"):
    """Runs a package's factory again."""

    package: str


AnyOperation: TypeAlias = (
    AddServices
    | AddPackage
    | AddNative
    | DropNative
    | AddPolicy
    | AddAgent
    | DropAgent
    | CallApi
    | Prompt
    | Tell
    | CancelTurn
    | UnloadPackage
    | LoadAgain
    | ReloadPackage
)
Program: TypeAlias = Sequence[AnyOperation]
"""A program: 1 to 12 operations, done in order."""

_DECODER = msgspec.json.Decoder(list[AnyOperation])


def to_json(program: Program) -> list[dict[str, Any]]:
    """Return a program as JSON values: what a case file keeps under ``operations``."""
    rows: list[dict[str, Any]] = msgspec.to_builtins(list(program))
    return rows


def from_json(rows: Any) -> list[AnyOperation]:
    """Return the program of JSON values. Raises ``msgspec.ValidationError`` for what is none."""
    return msgspec.convert(rows, list[AnyOperation])


def encode(program: Program) -> bytes:
    """Return a program as JSON text."""
    return msgspec.json.encode(list(program))


def decode(text: bytes | str) -> list[AnyOperation]:
    """Return the program of a JSON text. Raises ``msgspec.DecodeError``."""
    return _DECODER.decode(text)
