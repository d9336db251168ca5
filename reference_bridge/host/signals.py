"""Cancellation that is asked for, never forced: one signal is shared by everything a turn does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from reference_bridge.host.json_values import Json, js_string


class AbortedError(Exception):
    """Raised where work stops because its signal was aborted; `reason` is the cause that was given."""

    def __init__(self, reason: Json) -> None:
        super().__init__(js_string(reason))
        self.reason = reason


class AbortSignal:
    """Says that work should stop. Work that ignores it is awaited, never abandoned."""

    __slots__ = ("_aborted", "_listeners", "_reason", "_waiters")

    def __init__(self) -> None:
        self._aborted = False
        self._reason: Json = None
        self._listeners: list[Callable[[], None]] = []
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def aborted(self) -> bool:
        """Whether the abort has happened; it never un-happens."""
        return self._aborted

    @property
    def reason(self) -> Json:
        """What was given to `abort`: for a turn the cancel cause, such as `{"kind": "user"}`."""
        return self._reason

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Call `listener` once, when the abort happens. An abort that already happened calls nobody."""
        self._listeners.append(listener)

    def remove_listener(self, listener: Callable[[], None]) -> None:
        """Forget `listener`; unknown listeners are ignored."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def throw_if_aborted(self) -> None:
        """Raise `AbortedError` once the abort has happened."""
        if self._aborted:
            raise AbortedError(self._reason)

    async def wait(self) -> None:
        """Return when the abort has happened."""
        if self._aborted:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)


class AbortController:
    """The side that aborts."""

    __slots__ = ("signal",)

    def __init__(self) -> None:
        self.signal = AbortSignal()

    def abort(self, reason: Json = None) -> None:
        """Abort the signal with `reason`. The first abort counts, later ones are ignored."""
        signal = self.signal
        if signal._aborted:
            return
        signal._aborted, signal._reason = True, reason
        listeners, signal._listeners = signal._listeners, []
        waiters, signal._waiters = signal._waiters, []
        for listener in listeners:
            listener()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


class FusedSignal:
    """A signal that aborts when the first of two others does; `dispose` detaches it from both."""

    def __init__(self, first: AbortSignal, second: AbortSignal) -> None:
        self._controller = AbortController()
        self._relays: list[tuple[AbortSignal, Callable[[], None]]] = []
        self.signal = self._controller.signal if first is not second else first
        if first is second:
            return
        for source in (second, first):
            if source.aborted:
                self._controller.abort(source.reason)
                return
        for source in (first, second):
            relay = self._relay(source)
            source.add_listener(relay)
            self._relays.append((source, relay))

    def _relay(self, source: AbortSignal) -> Callable[[], None]:
        return lambda: self._controller.abort(source.reason)

    def dispose(self) -> None:
        """Listen to neither signal any more."""
        for source, relay in self._relays:
            source.remove_listener(relay)
