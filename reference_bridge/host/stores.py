"""Where session logs are kept: in memory, or as lines of JSON in a file."""

from __future__ import annotations

from reference_bridge.host.session import SessionEvent


class MemoryStore:
    """Keeps a log as long as the store lives."""

    def __init__(self) -> None:
        self._events: list[SessionEvent] = []

    def load(self) -> list[SessionEvent]:
        """Every event stored so far."""
        return list(self._events)

    def append(self, event: SessionEvent) -> None:
        """Keep `event`."""
        self._events.append(event)

    def flush(self) -> None:
        """Nothing to do: there is no crash that memory survives."""

    def close(self) -> None:
        """Nothing to let go of; the log can be loaded again."""
