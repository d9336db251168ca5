"""A driver around a driver that keeps everything that crosses it, as it crosses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from conformance.drivers import codec
from conformance.drivers.driver import Driver, HarnessError, Peer, Unsupported
from conformance.drivers.protocol import InitializeResult, Message, Record
from conformance.transcripts.files import Entry, Failure


class RecordingDriver:
    """Hands everything on to ``inner``, unchanged; ``lines`` are the entries of a transcript, encoded.

    It is made for one stage, on a connection that is started and closed elsewhere.
    """

    def __init__(self, inner: Driver) -> None:
        self.inner = inner
        self.label = inner.label
        self.lines: list[bytes] = []
        self._asked = 0
        self._lost = False

    @property
    def pid(self) -> int | None:
        """The process id of the inner driver's process; none in process."""
        return getattr(self.inner, "pid", None)

    async def start(self) -> InitializeResult:
        """Start the inner driver; no part of a stage."""
        return await self.inner.start()

    async def close(self) -> None:
        """Close the inner driver; no part of a stage."""
        await self.inner.close()

    def bind(self, peer: Peer | None) -> None:
        """Name who answers from now on, through an ear of ours."""
        self.inner.bind(None if peer is None else _RecordingPeer(peer, self.keep))

    async def request(self, message: Message) -> Any:
        """Ask, and keep request and answer."""
        self._asked += 1
        number = self._asked
        self.keep(Entry(wire="suite asks", id=number, method=message.method, params=_raw(message)))
        try:
            answer = await self.inner.request(message)
        except (Unsupported, HarnessError) as error:
            self.keep(Entry(wire="adapter answers", id=number, error=failure_of(error)))
            raise
        self.keep(Entry(wire="adapter answers", id=number, result=_raw(answer)))
        return answer

    async def failed(self) -> HarnessError:
        """Return why the connection broke, and keep that."""
        error = await self.inner.failed()
        if not self._lost:
            self._lost = True
            self.keep(Entry(wire="lost", error=failure_of(error)))
        return error

    def seen(self, what: str, look: Callable[[], Any]) -> Any:
        """Look at the machine, and keep what was seen."""
        found = look()
        self.keep(Entry(wire="seen", method=what, result=found))
        return found

    def rested(self) -> None:
        """Keep that the loop stands still now: what is kept before has been taken, what comes after has not."""
        self.keep(Entry(wire="rest"))

    def keep(self, entry: Entry) -> None:
        """Keep one entry."""
        self.lines.append(msgspec.json.encode(entry))


class _RecordingPeer:
    """Keeps what the implementation asks and notes, and what it is answered."""

    def __init__(self, inner: Peer, keep: Callable[[Entry], None]) -> None:
        self._inner = inner
        self._keep = keep
        self._asked = 0

    async def answer(self, message: Message, seq: int) -> Record:
        self._asked += 1
        number = self._asked
        params = _raw(message)
        self._keep(Entry(wire="adapter asks", id=number, seq=seq, method=message.method, params=params))
        try:
            answer = await self._inner.answer(message, seq)
        except asyncio.CancelledError:
            self._keep(Entry(wire="suite gives up", id=number))
            raise
        except Exception as error:
            self._keep(Entry(wire="suite answers", id=number, error=Failure(kind="fault", cause=str(error))))
            raise
        self._keep(Entry(wire="suite answers", id=number, result=_raw(answer)))
        return answer

    def note(self, message: Message, seq: int) -> None:
        self._keep(Entry(wire="adapter notes", seq=seq, params=_raw(message)))
        self._inner.note(message, seq)


def _raw(record: Record) -> msgspec.Raw:
    return msgspec.Raw(codec.encode(record))


def failure_of(error: Unsupported | HarnessError) -> Failure:
    """The error as a line of a transcript."""
    if isinstance(error, Unsupported):
        return Failure(kind="Unsupported", cause=error.capability, mend=str(error))
    return Failure(kind=type(error).__name__, cause=error.cause, mend=error.mend)
