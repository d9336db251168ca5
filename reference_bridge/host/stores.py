"""Where session logs are kept: in memory, or as lines of JSON in a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO

from reference_bridge.host.json_values import parse_json
from reference_bridge.host.session_events import SessionEvent


class MemoryStore:
    """Keeps a log as long as the store lives."""

    def __init__(self) -> None:
        self._events: list[SessionEvent] = []

    def load(self) -> list[SessionEvent]:
        """Every event stored so far, in order."""
        return list(self._events)

    def append(self, event: SessionEvent) -> None:
        """Keep `event`."""
        self._events.append(event)

    def flush(self) -> None:
        """Nothing to do: memory survives no crash."""

    def close(self) -> None:
        """Nothing to let go of: the log can be loaded again."""


class JsonLinesStore:
    """Keeps a log in a file, one event a line. The file is touched at the first event, not before."""

    def __init__(self, path: Path) -> None:
        """`path` need not exist; its folder must."""
        self._path = path
        self._file: IO[bytes] | None = None
        self._whole_bytes = 0

    def load(self) -> list[SessionEvent]:
        """Every event stored so far, in order.

        A last line that a crash tore is dropped, and overwritten by the next event. Raises `ValueError` for any other
        line that is no event of this log.
        """
        self.close()
        try:
            stored = self._path.read_bytes()
        except FileNotFoundError:
            stored = b""
        lines = stored.split(b"\n")
        # What follows the last line break was not written to its end.
        self._whole_bytes = len(stored) - len(lines.pop())
        return [self._event(index, line) for index, line in enumerate(lines)]

    def _event(self, index: int, line: bytes) -> SessionEvent:
        try:
            event = SessionEvent.from_json(parse_json(line.decode()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{self._path}:{index + 1}: not an event ({error}): restore the file or remove it"
            ) from None
        if event.seq != index:
            raise ValueError(f"{self._path}:{index + 1}: event {event.seq} is not event {index}: a line is missing")
        return event

    def append(self, event: SessionEvent) -> None:
        """Write `event`; a crash may lose it until the next `flush`."""
        if self._file is None:
            self._file = self._path.open("r+b" if self._path.exists() else "wb")
            self._file.truncate(self._whole_bytes)
            self._file.seek(self._whole_bytes)
        line = json.dumps(event.as_json(), separators=(",", ":")).encode() + b"\n"
        self._file.write(line)
        self._whole_bytes += len(line)

    def flush(self) -> None:
        """Bring everything written so far to the disk."""
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Flush and close the file; the log can be loaded and continued again."""
        if self._file is not None:
            self.flush()
            self._file.close()
            self._file = None
