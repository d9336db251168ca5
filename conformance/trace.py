"""The numbered record of everything that happened on a stage, and questions one can ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from conformance.drivers.protocol import TraceKind

TRACE_VERSION = 1


class Event(msgspec.Struct, frozen=True, eq=False, omit_defaults=True, rename="camel"):
    """One thing that happened.

    ``seq`` is the implementation's own running number; events the suite adds from an exchange share the number of the
    message they belong to and come after it. ``at`` is seconds since the stage opened, by the suite's clock, and
    decides nothing. ``data`` is described, kind by kind, in docs/writing-a-driver.md.
    """

    seq: int
    at: float
    kind: TraceKind
    agent: str | None = None
    call_id: str | None = None
    data: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        """Return ``data[key]``, or ``None`` where there is none."""
        return self.data.get(key)


class Trace:
    """Events in the order in which the implementation numbered them."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._events: list[Event] = list(events)
        self._sorted = False
        self.watchers: list[Callable[[Event], None]] = []

    def add(self, event: Event) -> None:
        """Add an event and tell the watchers."""
        if self._sorted and self._events and event.seq < self._events[-1].seq:
            self._sorted = False
        self._events.append(event)
        for watcher in tuple(self.watchers):
            watcher(event)

    @property
    def events(self) -> list[Event]:
        """All events, in order."""
        if not self._sorted:
            self._events.sort(key=lambda event: event.seq)
            self._sorted = True
        return self._events

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self._events)

    def of(self, *kinds: str, **wanted: Any) -> list[Event]:
        """Return the events of these kinds whose fields or data equal ``wanted``.

        ``agent`` and ``call_id`` are fields; every other name is looked up in ``data``.
        """
        return [event for event in self.events if event.kind in kinds and matches(event, wanted)]

    def first(self, *kinds: str, **wanted: Any) -> Event | None:
        """Return the first such event, if any."""
        return next((event for event in self.events if event.kind in kinds and matches(event, wanted)), None)

    def last(self, *kinds: str, **wanted: Any) -> Event | None:
        """Return the last such event, if any."""
        found = self.of(*kinds, **wanted)
        return found[-1] if found else None


def matches(event: Event, wanted: dict[str, Any]) -> bool:
    """Say whether fields and data of ``event`` equal ``wanted``."""
    for key, value in wanted.items():
        found = getattr(event, key) if key in ("agent", "call_id") else event.data.get(key)
        if found != value:
            return False
    return True


def text_of(content: Any) -> str:
    """Return the text of a result's content blocks, joined without a separator; '' where there is none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str))


def images_of(content: Any) -> list[dict[str, Any]]:
    """Return the image blocks of a result's content."""
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict) and block.get("type") == "image"]


def plain(text: str) -> str:
    """Return an error text without the one leading ``Error: `` that the host puts there."""
    return text.removeprefix("Error: ")


def same_text(one: str, other: str) -> bool:
    """Say whether two error texts are the same but for the leading ``Error: `` that the host may put before one."""
    return plain(one) == plain(other) or plain(one) == other or one == plain(other)


def events_of(text: str) -> list[Event]:
    """Return the events of a trace's file form, one JSON object a line.

    Raises ``ValueError`` that names the line which is none.
    """
    events = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                events.append(msgspec.json.decode(line, type=Event))
            except (msgspec.DecodeError, UnicodeError) as error:
                raise ValueError(f"line {number} is no event of a trace: {error}") from error
    return events
