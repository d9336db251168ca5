"""The one interface of every connection, and what can go wrong with it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol, TypeVar

from conformance.drivers.protocol import InitializeResult, Message, Record

R = TypeVar("R", bound=Record)


class HarnessError(Exception):
    """The driver or the suite broke: says nothing about the bridge.

    ``cause`` is one sentence on what happened, ``mend`` one on what to do about it.
    """

    def __init__(self, cause: str, mend: str = "") -> None:
        super().__init__(f"{cause}\n  mend: {mend}" if mend else cause)
        self.cause = cause
        self.mend = mend


class AdapterGone(HarnessError):
    """The adapter's process ended, or its output was closed, while the suite still needed it."""


class ProtocolBroken(HarnessError):
    """The adapter sent something the protocol does not allow; ``cause`` quotes it."""


class PossibleHang(HarnessError):
    """The adapter did not even answer a ``ping``: a possible hang of the bridge. ``awaited`` names what was asked."""

    def __init__(self, awaited: str, mend: str = "") -> None:
        super().__init__(f"possible hang of the bridge: no sign of life while the suite awaited {awaited}", mend)
        self.awaited = awaited


class RequestFailed(HarnessError):
    """The implementation answered a request with the JSON-RPC error ``code``, which is not *unsupported*."""

    def __init__(self, cause: str, mend: str = "", code: int = 0) -> None:
        super().__init__(cause, mend)
        self.code = code


class Unsupported(Exception):
    """The implementation says it lacks ``capability`` (error −32050); not a fault by itself."""

    def __init__(self, capability: str, message: str = "") -> None:
        super().__init__(message or f"the implementation lacks {capability}")
        self.capability = capability


class Peer(Protocol):
    """The suite's side: it answers what the implementation asks and keeps what it notes.

    ``seq`` is the implementation's own running number of the message; it orders the trace.
    """

    def answer(self, message: Message, seq: int) -> Awaitable[Record]:
        """Answer one request of the implementation."""
        ...

    def note(self, message: Message, seq: int) -> None:
        """Keep one notification; must not raise for what the implementation says."""
        ...


class Driver(Protocol):
    """A connection to one implementation. Not safe for use by two tasks that open stages at once."""

    label: str

    async def start(self) -> InitializeResult:
        """Connect and shake hands. Raises :class:`HarnessError` when there is nobody to talk to."""
        ...

    def bind(self, peer: Peer | None) -> None:
        """Name who answers from now on; ``None`` between stages."""
        ...

    async def request(self, message: Message) -> Any:
        """Ask, and return the message's ``Result``.

        Raises :class:`Unsupported`, or a :class:`HarnessError` when the connection broke. Sets no deadline.
        """
        ...

    async def failed(self) -> HarnessError:
        """Return, as soon as it is known, why the connection can no longer be used; never returns while it can."""
        ...

    async def close(self) -> None:
        """Leave nothing behind: no task, no process, no file. May be called twice."""
        ...
