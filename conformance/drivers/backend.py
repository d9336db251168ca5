"""What an implementation in this process provides, and the driver that connects to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from conformance.drivers import codec
from conformance.drivers.driver import HarnessError, Peer, Unsupported
from conformance.drivers.process import own_cookie
from conformance.drivers.protocol import PROTOCOL_VERSION, Initialize, InitializeResult, Message, Record, TraceNote


class Suite(Protocol):
    """How a backend reaches the suite."""

    def ask(self, message: Message) -> Awaitable[Any]:
        """Ask the suite; returns the message's ``Result``."""
        ...

    def note(self, message: TraceNote) -> None:
        """Notify the suite. Never blocks."""
        ...


class Backend(Protocol):
    """An implementation driven in process, or served over stdio by ``bridge-conformance serve``."""

    async def handle(self, message: Message) -> Record:
        """Answer one request of the suite. Raises :class:`Unsupported` for what it lacks."""
        ...

    async def close(self) -> None:
        """Release everything, the open stage included."""
        ...


BackendFactory = Callable[[Suite], Backend]


class InProcessDriver:
    """A driver without a process in between. Every value is copied, so aliasing cannot change a verdict."""

    def __init__(self, label: str, factory: BackendFactory, mount: str | None = None, suite_version: str = "") -> None:
        self.label = label
        self.factory = factory
        self._mount = mount
        self._suite_version = suite_version
        self._peer: Peer | None = None
        self._backend: Backend | None = None
        self._seq = 0

    async def start(self) -> InitializeResult:
        """Make the backend and shake hands. What it starts from now on carries this process's mark."""
        own_cookie()
        self._backend = self.factory(self)
        answer = await self.request(Initialize(protocol=PROTOCOL_VERSION, suite=self._suite_version, mount=self._mount))
        assert isinstance(answer, InitializeResult)
        return answer

    def bind(self, peer: Peer | None) -> None:
        """Name who answers from now on."""
        self._peer = peer

    async def request(self, message: Message) -> Any:
        """Hand a copy of ``message`` to the backend and return a copy of its answer."""
        if self._backend is None:
            raise HarnessError(f"{self.label} is not started", "call start() first")
        try:
            answer = await self._backend.handle(codec.copy(message))
        except (Unsupported, HarnessError, asyncio.CancelledError):
            raise
        except Exception as error:
            raise HarnessError(
                f"{self.label} failed inside {message.method}: {type(error).__name__}: {error}",
                "this is a fault of the implementation's driver, not of a rule; its traceback is above",
            ) from error
        return codec.copy(answer)

    def ask(self, message: Message) -> Coroutine[Any, Any, Any]:
        """Carry a backend's request to the suite; it is numbered by this call, not by the await of what it returns."""
        self._seq += 1
        return self._ask(message, self._seq)

    async def _ask(self, message: Message, seq: int) -> Any:
        peer = self._peer
        if peer is None:
            raise HarnessError(f"{self.label} asked {message.method} while no stage was open")
        return codec.copy(await peer.answer(codec.copy(message), seq))

    def note(self, message: TraceNote) -> None:
        """Carry a backend's notification to the suite."""
        self._seq += 1
        if self._peer is not None:
            self._peer.note(codec.copy(message), self._seq)

    async def failed(self) -> HarnessError:
        """Never returns: in one process there is no connection to lose."""
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self) -> None:
        """Close the backend."""
        backend, self._backend = self._backend, None
        if backend is not None:
            await backend.close()
