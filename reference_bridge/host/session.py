"""The durable log of one conversation: append-only, frozen, JSON and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from reference_bridge.host.json_values import FrozenDict, Json, NotLosslessError, freeze
from reference_bridge.host.messages import Message
from reference_bridge.host.repair import closing_events
from reference_bridge.host.session_events import KNOWN_TYPES, MESSAGE_TYPES
from reference_bridge.host.session_events import SessionEvent as SessionEvent


class Store(Protocol):
    """Where a log is kept."""

    def load(self) -> list[SessionEvent]:
        """Every event stored so far, in order."""
        ...

    def append(self, event: SessionEvent) -> None:
        """Keep `event`; it may be lost in a crash until the next `flush`."""
        ...

    def flush(self) -> None:
        """Make everything appended so far survive a crash."""
        ...

    def close(self) -> None:
        """Flush, and let go of what the store holds."""
        ...


class Session:
    """The log and its one writer at a time.

    Listeners are told inside the append, so they see the log exactly as it is; for the same reason they cannot append
    themselves.
    """

    def __init__(self, id: str, store: Store, publish: Callable[[Session, SessionEvent], None]) -> None:
        """Continue the log in `store`. `publish` is told every new event and must not raise.

        A log that breaks off inside a turn is completed, and the turn ends as `interrupted`. Raises `ValueError` for
        an event of an unknown type that is not ignorable: a newer harness wrote it, and meant something by it.
        """
        self.id = id
        self._store = store
        self._publish = publish
        self._publishing = False
        self._events = store.load()
        for event in self._events:
            if event.type not in KNOWN_TYPES and not event.ignorable:
                raise ValueError(
                    f'session "{id}" contains event type "{event.type}" (seq {event.seq}) unknown to this harness and '
                    "not marked ignorable: load it with the harness that wrote it"
                )
        closers = list(closing_events(self._events))
        for event in closers:
            store.append(event)
        if closers:
            self._events += closers
            store.flush()

    @property
    def events(self) -> Sequence[SessionEvent]:
        """The log so far."""
        return self._events

    def append(
        self,
        type: str,
        data: Json,
        *,
        surface_op: str | None = None,
        source_event_seqs: Sequence[int] | None = None,
        ignorable: bool = False,
    ) -> SessionEvent:
        """Log `data` under `type`, known or not, and tell the listeners.

        Raises `RuntimeError` inside a listener, `ValueError` for data that is not lossless JSON, a message type
        without `surface_op`, and empty `source_event_seqs` on anything but an `assistant/message`.
        """
        if self._publishing:
            raise RuntimeError("session append cannot reenter while another append is being published")
        if type in MESSAGE_TYPES and surface_op is None:
            raise ValueError(f'session event "{type}" is surface-eligible and requires a surfaceOp marker')
        if source_event_seqs is not None and not source_event_seqs and type != "assistant/message":
            raise ValueError("sourceEventSeqs must not be empty except on assistant/message")
        try:
            frozen = freeze(data)
        except NotLosslessError:
            raise ValueError(f'session event "{type}" carries non-JSON-serializable data') from None
        sources = None if source_event_seqs is None else tuple(source_event_seqs)
        event = SessionEvent(
            type, len(self._events), time.time_ns() // 1_000_000, frozen, surface_op, sources, ignorable
        )
        self._store.append(event)
        self._events.append(event)
        if type == "turn/end":
            self._store.flush()
        self._publishing = True
        try:
            self._publish(self, event)
        finally:
            self._publishing = False
        return event

    def messages(self) -> list[Message]:
        """The conversation the model sees, in log order."""
        return [message for event in self._events if (message := event.message) is not None]

    @property
    def has_open_turn(self) -> bool:
        """Whether a turn was started and has not ended."""
        boundaries = (event.type for event in reversed(self._events) if event.type in ("turn/start", "turn/end"))
        return next(boundaries, None) == "turn/start"

    def latest(self, type: str) -> Json:
        """The data of the last event of `type`; an empty object if there is none."""
        for event in reversed(self._events):
            if event.type == type:
                return event.data
        return FrozenDict()

    def close(self) -> None:
        """Let go of the store; the events stay readable."""
        self._store.close()
