"""One entry of a session log."""

from __future__ import annotations

from typing import Final

from reference_bridge.host.json_values import Json, freeze
from reference_bridge.host.messages import Message

KNOWN_TYPES: Final = frozenset(
    {
        *("turn/start", "turn/end", "step/start", "step/end"),
        *("user/message", "assistant/message", "assistant/chunk", "tool/call", "tool/result"),
        *("tool/code-dispatch-start", "tool/code-dispatch"),
        *("agent/inbox/spliced", "request/header", "request/context", "approval/asked", "approval/decided"),
    }
)
"""The events a log may hold when it is loaded; of others only those that are marked ignorable."""

MESSAGE_TYPES: Final = frozenset({"user/message", "assistant/message", "tool/result"})
"""The events that put a message into the conversation the model sees."""


class SessionEvent:
    """One entry. `seq` is its index in the log, `time` milliseconds since 1970; nothing in it can be changed."""

    __slots__ = ("data", "ignorable", "seq", "source_event_seqs", "surface_op", "time", "type")

    type: str
    seq: int
    time: int
    data: Json
    surface_op: str | None
    """`append` on the events that put a message into the conversation."""
    source_event_seqs: tuple[int, ...] | None
    """The entries this one was made from: a `tool/result` names its `tool/call`."""
    ignorable: bool
    """Whether a harness that does not know the type may load the log all the same."""

    def __init__(
        self,
        type: str,
        seq: int,
        time: int,
        data: Json,
        surface_op: str | None = None,
        source_event_seqs: tuple[int, ...] | None = None,
        ignorable: bool = False,
    ) -> None:
        assign = object.__setattr__
        assign(self, "type", type)
        assign(self, "seq", seq)
        assign(self, "time", time)
        assign(self, "data", data)
        assign(self, "surface_op", surface_op)
        assign(self, "source_event_seqs", source_event_seqs)
        assign(self, "ignorable", ignorable)

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
        if self.ignorable:
            envelope["ignorable"] = True
        return envelope

    @staticmethod
    def from_json(envelope: Json) -> SessionEvent:
        """The event of a stored envelope; raises `KeyError` or `TypeError` for anything else."""
        sources = envelope.get("sourceEventSeqs")
        return SessionEvent(
            envelope["type"],
            envelope["seq"],
            envelope["time"],
            freeze(envelope["data"]),
            envelope.get("surfaceOp"),
            None if sources is None else tuple(sources),
            envelope.get("ignorable") is True,
        )

    @property
    def message(self) -> Message | None:
        """The message this event puts into the conversation, if it is of such a type."""
        if self.type not in MESSAGE_TYPES:
            return None
        message: Message = self.data if self.type == "user/message" else self.data["message"]
        return message
