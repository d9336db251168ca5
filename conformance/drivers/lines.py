"""Lines of bytes over two file descriptors, on asyncio, in bounded memory whatever the other side sends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import deque
from typing import Protocol

CHUNK = 64 * 1024
"""Bytes read at once: what a pipe holds. A larger buffer makes every small read many times as dear."""
WRITE_LIMIT = 256 * 1024 * 1024
"""Bytes that may wait for a reader that does not read."""
COUNT_FACTOR = 16
COUNT_SECONDS = 5.0
"""How far, and for how long, an oversize line is counted to name its size: so many limits, so many seconds."""


class LineHandler(Protocol):
    """Who is told what came over the wire. None of these may raise."""

    def line(self, line: bytes) -> None:
        """One whole line, without its end."""
        ...

    def ended(self, rest: bytes) -> None:
        """The other side closed its output; ``rest`` is a line it began and never ended."""
        ...

    def too_long(self, size: int, exact: bool, head: bytes) -> None:
        """A line above the limit was thrown away; ``size`` is a lower bound unless ``exact``. Reading has stopped."""
        ...

    def unwritable(self, error: OSError | None, backlog: int) -> None:
        """The other side closed its input, or (``error`` is ``None``) let ``backlog`` bytes wait."""
        ...


class LineChannel:
    """Owns both descriptors and closes them. Not started, it neither reads nor writes.

    Plain readiness callbacks instead of asyncio's pipe transports: a round trip costs a third less, and closing is done
    when ``close`` returns, also while the loop stands still.
    """

    def __init__(self, read_fd: int, write_fd: int, handler: LineHandler, limit: int) -> None:
        self.backlog = 0
        self._read_fd: int | None = read_fd
        self._write_fd: int | None = write_fd
        self._handler = handler
        self._limit = limit
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: deque[memoryview] = deque()
        self._pieces: list[bytes] = []
        self._held = 0
        self._counted: int | None = None
        self._count_until = 0.0
        self._head = b""
        self._drain = False

    @property
    def unfinished(self) -> bytes:
        """The beginning of a line whose end has not come yet."""
        return b"".join(self._pieces)

    def start(self) -> None:
        """Read from now on, on the running loop. Raises ``OSError`` when a descriptor cannot be waited for."""
        assert self._read_fd is not None
        assert self._write_fd is not None
        os.set_blocking(self._read_fd, False)
        os.set_blocking(self._write_fd, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._read_fd, self._readable)

    def send(self, data: bytes) -> None:
        """Write ``data`` now, or as soon as the other side reads. Does nothing once the way out is closed."""
        if self._write_fd is None or self._loop is None:
            return
        if self._waiting:
            self._wait_with(memoryview(data))
            return
        try:
            written = os.write(self._write_fd, data)
        except BlockingIOError:
            written = 0
        except OSError as error:
            self._unwritable(error)
            return
        if written < len(data):
            self._loop.add_writer(self._write_fd, self._writable)
            self._wait_with(memoryview(data)[written:])

    def finish(self) -> None:
        """Close the way out, which the other side sees as end of input, and throw away what still comes in."""
        self._drain = True
        self._pieces.clear()
        self.close_write()

    def close_write(self) -> None:
        """Close the way out; what waits to be written is lost."""
        fd, self._write_fd = self._write_fd, None
        self._waiting.clear()
        self.backlog = 0
        _release(self._loop, fd)

    def close_read(self) -> None:
        """Close the way in."""
        fd, self._read_fd = self._read_fd, None
        self._pieces.clear()
        _release(self._loop, fd)

    def close(self) -> None:
        """Close both ways, at once."""
        self.close_write()
        self.close_read()

    def _wait_with(self, data: memoryview) -> None:
        self._waiting.append(data)
        self.backlog += len(data)
        if self.backlog > WRITE_LIMIT:
            backlog = self.backlog
            self.close_write()
            self._handler.unwritable(None, backlog)

    def _writable(self) -> None:
        while self._waiting and self._write_fd is not None:
            data = self._waiting[0]
            try:
                written = os.write(self._write_fd, data)
            except BlockingIOError:
                return
            except OSError as error:
                self._unwritable(error)
                return
            self.backlog -= written
            if written < len(data):
                self._waiting[0] = data[written:]
                return
            self._waiting.popleft()
        if self._write_fd is not None and self._loop is not None:
            self._loop.remove_writer(self._write_fd)

    def _unwritable(self, error: OSError) -> None:
        self.close_write()
        self._handler.unwritable(error, 0)

    def _readable(self) -> None:
        if self._read_fd is None:
            return
        try:
            chunk = os.read(self._read_fd, CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""  # a terminal or socket that went away reads as its end
        if not chunk:
            rest = b"".join(self._pieces)
            counted, head = self._counted, self._head
            self.close_read()
            if counted is not None:
                self._handler.too_long(counted, True, head)
            elif not self._drain:
                self._handler.ended(rest)
        elif not self._drain:
            self._take(chunk)

    def _take(self, chunk: bytes) -> None:
        if self._counted is not None:
            self._count(chunk)
            return
        lines = chunk.split(b"\n")
        rest = lines.pop()
        for line in lines:
            if self._held:
                line = self._join(line)
            if len(line) > self._limit:
                self._refuse(len(line), True, line)
                return
            self._handler.line(line)
            if self._read_fd is None or self._drain:
                return
        if rest:
            self._pieces.append(rest)
            self._held += len(rest)
            if self._held > self._limit:
                self._counted = self._held
                self._count_until = time.monotonic() + COUNT_SECONDS
                self._head = b"".join(self._pieces[:1])
                self._pieces.clear()

    def _join(self, last: bytes) -> bytes:
        self._pieces.append(last)
        line = b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        return line

    def _count(self, chunk: bytes) -> None:
        assert self._counted is not None
        end = chunk.find(b"\n")
        self._counted += len(chunk) if end < 0 else end
        if end >= 0 or self._counted > COUNT_FACTOR * self._limit or time.monotonic() > self._count_until:
            self._refuse(self._counted, end >= 0, self._head)

    def _refuse(self, size: int, exact: bool, head: bytes) -> None:
        self.close_read()
        self._handler.too_long(size, exact, head[:CHUNK])


def _release(loop: asyncio.AbstractEventLoop | None, fd: int | None) -> None:
    if fd is None:
        return
    if loop is not None and not loop.is_closed():
        loop.remove_reader(fd)
        loop.remove_writer(fd)
    with contextlib.suppress(OSError):
        os.close(fd)
