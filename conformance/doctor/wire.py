"""Checks on the bytes themselves: a process of its own, and nothing of the protocol between it and us."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

from conformance.doctor.findings import Finding, ok, trouble, warning
from conformance.doctor.patience import Unknown
from conformance.drivers.envelope import quote
from conformance.drivers.protocol import PROTOCOL_VERSION
from conformance.drivers.stdio import GRACE_SECONDS, StdioDriver

PAUSE = 0.03
"""Seconds between two pieces: long enough for a reader to see each of them alone."""
FILLING = "é漢"
"""Stands in the message that comes in pieces; one piece ends inside of its last character."""


class Wire:
    """The process, what it has written, and whether that has ended."""

    def __init__(self, driver: StdioDriver) -> None:
        self.output = b""
        self._news = asyncio.Event()
        self._around, self.child = driver.spawn(self._news.set)
        self._loop = asyncio.get_running_loop()
        os.set_blocking(self.child.stdout, False)
        self._loop.add_reader(self.child.stdout, self._read)

    def write(self, data: bytes) -> None:
        """Write at once; a process that has gone reads nothing."""
        with contextlib.suppress(OSError):
            os.write(self.child.stdin, data)

    def close_input(self) -> None:
        """Let the process read end of input."""
        self.child.family()  # known while it lives: afterwards nobody can tell whose child one was that hides
        fd, self.child.stdin = self.child.stdin, -1
        if fd >= 0:
            os.close(fd)

    async def lines(self, count: int, seconds: float) -> list[bytes]:
        """Return the lines so far, as soon as there are so many, or the process or the time has ended."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while len(self._whole()) < count and self.child.status is None:
                    self._news.clear()
                    await self._news.wait()
        self._read()
        return self._whole()

    def _whole(self) -> list[bytes]:
        return [line for line in self.output.split(b"\n")[:-1] if line.strip()]

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(self.child.stdout, 1 << 20)
            self.output += data
            if not data:
                self._loop.remove_reader(self.child.stdout)
        self._news.set()

    async def end(self) -> None:
        """Leave nothing."""
        self._loop.remove_reader(self.child.stdout)
        self.close_input()
        await self.child.end(0.0)
        os.close(self.child.stdout)
        self._around.remove()


@contextlib.asynccontextmanager
async def wired(driver: StdioDriver) -> AsyncIterator[Wire]:
    """A process of the driver's command, ended afterwards."""
    wire = Wire(driver)
    try:
        yield wire
    finally:
        await wire.end()


def _message(id_: int, method: str, **params: Any) -> bytes:
    text = json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}, ensure_ascii=False)
    return text.encode() + b"\n"


def _greeting(mount: str | None) -> bytes:
    params = {"protocol": PROTOCOL_VERSION, "suite": "doctor"}
    return _message(1, "initialize", **params, **({} if mount is None else {"mount": mount}))


async def takes_pieces(driver: StdioDriver, mount: str | None, seconds: float) -> list[Finding]:
    """A message may come in pieces, and two may come in one; TERM ends the process."""
    check = "a message in pieces"
    async with wired(driver) as wire:
        wire.write(_greeting(mount))
        seen = len(await wire.lines(1, 6 * seconds))
        message = _message(2, Unknown.method, filling=FILLING)
        cut = message.index("漢".encode()) + 1
        for piece in (message[:1], message[1:cut], message[cut:-1], message[-1:]):
            wire.write(piece)
            await asyncio.sleep(PAUSE)
        answers = (await wire.lines(seen + 1, seconds))[seen:]
        if not answers or b'"id":null' in answers[0].replace(b" ", b""):
            heard = quote(answers[0]) if answers else "nothing"
            return [
                trouble(
                    check,
                    f"one that came in four pieces was answered by {heard}",
                    "keep what you have read until a line feed comes, and decode only whole lines",
                )
            ]
        wire.write(_message(3, "ping") + _message(4, "ping"))
        count = len(await wire.lines(seen + 3, seconds)) - seen - 1
        if count < 2:
            return [
                trouble(
                    check,
                    f"of two that came in one piece {count} was answered",
                    "handle every whole line you have read before you read on",
                )
            ]
        pieces = ok(check, "one that came in four, and two that came in one, were answered")
        return [pieces, await _takes_term(wire)]


async def _takes_term(wire: Wire) -> Finding:
    wire.child.family()  # known while it lives: afterwards nobody can tell whose child one was that hides
    wire.child.signal(signal.SIGTERM)
    if not await wire.child.exited(GRACE_SECONDS):
        return warning(
            "TERM",
            f"it still ran {GRACE_SECONDS:g} s after a TERM, and was killed",
            "leave SIGTERM as it is, or end within a second when it comes",
        )
    return ok("TERM", f"it {wire.child.describe()}")


async def why_silent(driver: StdioDriver, mount: str | None, seconds: float) -> Finding | None:
    """Look once more at a process that did not answer the handshake; None where that tells nothing."""
    async with wired(driver) as wire:
        wire.write(_greeting(mount))
        wire.close_input()
        lines = await wire.lines(1, seconds)
        if lines and _is_result(lines[0]):
            return trouble(
                "flush",
                "it answers only when its input has ended",
                "flush standard output after each message, and read line by line, not to the end of input",
            )
        if wire.output and not lines:
            return trouble(
                "framing",
                f"it began an answer, {quote(wire.output)}, and never ended the line",
                "write a line feed after each message, and none inside of it",
            )
        if '"jsonrpc"' in wire.child.errors.text():
            return trouble(
                "standard error",
                "it writes its messages to standard error",
                "write messages to standard output, and everything else to standard error",
            )
    return None


def _is_result(line: bytes) -> bool:
    try:
        message = json.loads(line)
    except ValueError:
        return False
    return isinstance(message, dict) and "result" in message
