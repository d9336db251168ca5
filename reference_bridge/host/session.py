"""The durable log of one conversation: append-only, frozen, JSON and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from reference_bridge.host.json_values import FrozenDict, Json, NotLosslessError, freeze
from reference_bridge.host.messages import Message

MESSAGE_TYPES: Final = frozenset({"user/message", "assistant/message", "tool/result"})
"""The events that put a message into the conversation the model sees."""


class SessionEvent:
    """One entry. `seq` is its index in the log, `time` milliseconds since 1970; nothing in it can be changed."""

    __slots__ = ("data", "seq", "source_event_seqs", "surface_op", "time", "type")

    type: str
    seq: int
    time: int
    data: Json
    surface_op: str | None
    """`append` on the events that put a message into the conversation."""
    source_event_seqs: tuple[int, ...] | None
    """The entries this one was made from: a `tool/result` names its `tool/call`."""

    def __init__(
        self,
        type: str,
        seq: int,
        time: int,
        data: Json,
        surface_op: str | None = None,
        source_event_seqs: tuple[int, ...] | None = None,
    ) -> None:
        assign = object.__setattr__
        assign(self, "type", type)
        assign(self, "seq", seq)
        assign(self, "time", time)
        assign(self, "data", data)
        assign(self, "surface_op", surface_op)
        assign(self, "source_event_seqs", source_event_seqs)

    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError(f"Cannot assign to read only property '{name}' of a session event")

    def __repr__(self) -> str:
        return f"SessionEvent({self.seq}, {self.type!r}, {self.data!r})"

    def as_json(self) -> dict[str, Json]:
        """The envelope as it is stored."""
        envelope: dict[str, Json] = {"type": self.type, "seq": self.seq, "time": self.time, "data": self.data}
        if self.source_event_seqs is not None:
            envelope["sourceEventSeqs"] = list(self.source_event_seqs)
        if self.surface_op is not None:
            envelope["surfaceOp"] = self.surface_op
        return envelope

    @property
    def message(self) -> Message | None:
        """The message this event puts into the conversation, if it is of such a type."""
        if self.type not in MESSAGE_TYPES:
            return None
        message: Message = self.data if self.type == "user/message" else self.data["message"]
        return message


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
        """Continue the log in `store`. `publish` is told every new event and must not raise."""
        self.id = id
        self._store = store
        self._publish = publish
        self._publishing = False
        self._events = store.load()

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
        event = SessionEvent(type, len(self._events), time.time_ns() // 1_000_000, frozen, surface_op, sources)
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

    def latest(self, type: str) -> Json:
        """The data of the last event of `type`; an empty object if there is none."""
        for event in reversed(self._events):
            if event.type == type:
                return event.data
        return FrozenDict()

    def close(self) -> None:
        """Let go of the store; the events stay readable."""
        self._store.close()
