"""What is kept of a child's output: the end of each stream, exact to the byte, in bounded memory."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_BLOCK: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Read:
    """What is kept of a stream from some offset on."""

    text: str
    """Decoded as UTF-8; a sequence that is invalid, or cut by the bound, becomes U+FFFD."""
    next_offset: int
    """Bytes of the whole stream so far: where the next read would begin."""
    lossy: bool
    """Whether bytes after the offset are not kept any more."""
    spill_path: str | None = None
    """The file that holds the whole stream, where one was asked for and the stream is not too long for it."""


class Collected:
    """The last `limit` bytes of a stream. Nothing fails when the bound is hit; the oldest bytes go."""

    def __init__(self, limit: int, spill: int | None = None) -> None:
        """`spill` is how long a stream may be that is kept whole, in a file that only its owner can read."""
        self._limit = limit
        # Blocks, not the pieces as they come: a child that writes byte by byte must not cost an object a byte.
        self._blocks: deque[bytearray] = deque()
        self._kept = 0
        self._total = 0
        self._spill = None if spill is None else _Spill(spill)

    def add(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self._total += len(data)
        if self._spill is not None:
            self._spill.write(data, self._total)
        data = data[-self._limit :] if self._limit else b""
        if self._blocks and len(self._blocks[-1]) + len(data) <= _BLOCK:
            self._blocks[-1] += data
        elif data:
            self._blocks.append(bytearray(data))
        self._kept += len(data)
        while self._kept > self._limit:
            oldest = self._blocks[0]
            surplus = min(self._kept - self._limit, len(oldest))
            if surplus == len(oldest):
                self._blocks.popleft()
            else:
                del oldest[:surplus]
            self._kept -= surplus

    def read_from(self, offset: int) -> Read:
        """What is kept from byte `offset` of the stream on. Reading takes nothing away."""
        start = self._total - self._kept
        kept = b"".join(self._blocks)[max(0, offset - start) :]
        path = None if self._spill is None else self._spill.path
        return Read(kept.decode("utf-8", "replace"), self._total, offset < start, path)


class _Spill:
    """The whole stream in a file, as long as it is not longer than `limit`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.path: str | None = None
        self._given_up = False

    def write(self, data: bytes, total: int) -> None:
        if self._given_up:
            return
        if total > self._limit:
            self._given_up = True
            if self.path is not None:
                with contextlib.suppress(OSError):
                    Path(self.path).unlink()
                self.path = None
            return
        if self.path is None:
            descriptor, self.path = tempfile.mkstemp(prefix="stream-")
            os.close(descriptor)
        with Path(self.path).open("ab") as file:
            file.write(data)
