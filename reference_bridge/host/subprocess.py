"""`ctx.subprocess`: children of the host, each a process group of its own, with bounded output and a polite end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal as signals
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from reference_bridge.host.signals import AbortSignal

CHUNK = 64 * 1024
POLL = 0.02
_CREDENTIAL = re.compile(r"KEY|PASSWORD|SECRET|TOKEN|^DSH_", re.IGNORECASE)


class StartError(Exception):
    """A program that could not be started; the text says which and why."""


@dataclass(frozen=True, slots=True)
class SpawnSpec:
    """What to run. Nothing is implied: no shell, no bound, no timeout.

    `stdout` and `stderr` are how many bytes to keep of the end of each stream. `grace` is seconds between being asked
    to end and being made to. `stdin` is written and closed; without it the input is at its end from the start. `env` is
    laid over the inherited one, `None` takes a variable out.
    """

    argv: Sequence[str]
    cwd: str
    stdout: int
    stderr: int
    grace: float
    signal: AbortSignal | None = None
    stdin: bytes = b""
    env: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exit:
    """How a child ended: by its own code, or by a signal, and then `code` is `None`."""

    code: int | None
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """What is kept of a stream from an offset on. `next_offset` counts bytes of the whole stream."""

    text: str
    next_offset: int
    lossy: bool


class Collected:
    """The last bytes of a stream, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._chunks: deque[bytes] = deque()
        self._kept = 0
        self._total = 0

    def add(self, data: bytes) -> None:
        """Take what was read; the oldest bytes go where the bound is passed."""
        self._total += len(data)
        self._chunks.append(data)
        self._kept += len(data)
        while self._kept > self._limit:
            first = self._chunks.popleft()
            over = self._kept - self._limit
            self._kept -= len(first)
            if over < len(first):
                self._chunks.appendleft(first[over:])
                self._kept += len(first) - over

    def read_from(self, offset: int) -> Read:
        """The text from `offset` on, as far as it is kept; a character that was cut becomes U+FFFD."""
        start = self._total - self._kept
        data = b"".join(self._chunks)[max(0, offset - start) :]
        return Read(data.decode("utf-8", "replace"), self._total, offset < start)


class Child(Protocol):
    """A child under way."""

    pid: int
    stdout: Collected
    stderr: Collected

    async def done(self) -> Exit:
        """Wait for its end and its output. Raises `StartError` for one that never began."""
        ...

    def terminate(self) -> None:
        """Ask the whole group to end, and make it end after the grace."""
        ...


class SubprocessRuntime(Protocol):
    """A provider. A host has one or none."""

    async def resolve_executable(self, command: str) -> str:
        """The path of an absolute or bare name. Raises `StartError`."""
        ...

    def spawn(self, spec: SpawnSpec) -> Child:
        """Start a child. Raises `ValueError` for a spec without a program, or whose signal is aborted already."""
        ...

    async def close(self) -> None:
        """End every child and wait for it."""
        ...


class LocalSubprocess:
    """Children of this very process's machine."""

    def __init__(self) -> None:
        self._live: set[LocalChild] = set()

    @property
    def pids(self) -> list[int]:
        """The children that still run."""
        return [child.pid for child in self._live if child.pid > 0]

    async def resolve_executable(self, command: str) -> str:
        """Look a bare name up on the search path; take an absolute one as it is."""
        if not command:
            raise StartError("the program has no name")
        if "/" in command and not command.startswith("/"):
            raise StartError(f"{command} is a relative path; use an absolute path or a bare PATH name")
        if command.startswith("/"):
            return _absolute(command)
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
            path = Path(folder or ".", command)
            if _is_executable(path):
                return str(path)
        raise StartError(f"{command} was not found on PATH")

    def spawn(self, spec: SpawnSpec) -> LocalChild:
        """Start a child in a group of its own."""
        if not spec.argv or not spec.argv[0]:
            raise ValueError("argv names no program")
        if not 0 < spec.grace <= 2147483.647:
            raise ValueError("grace must be a number of seconds above 0")
        if spec.signal is not None and spec.signal.aborted:
            raise ValueError(f"aborted before spawn: {spec.signal.reason}")
        child = LocalChild(spec, self._live.discard)
        self._live.add(child)
        return child

    async def close(self) -> None:
        """End every child and wait for it."""
        children = list(self._live)
        for child in children:
            child.terminate()
        await asyncio.gather(*(child.done() for child in children), return_exceptions=True)
        await asyncio.gather(*(child.gone() for child in children), return_exceptions=True)


class LocalChild:
    """One child and its process group."""

    def __init__(self, spec: SpawnSpec, forget: object) -> None:
        self.pid = -1
        self.stdout = Collected(spec.stdout)
        self.stderr = Collected(spec.stderr)
        self._spec = spec
        self._forget = forget
        self._asked = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self._task = asyncio.ensure_future(self._run())
        self._task.add_done_callback(self._over)

    async def done(self) -> Exit:
        """Wait for its end and its output."""
        return await asyncio.shield(self._task)

    def terminate(self) -> None:
        """Ask the whole group to end, and make it end after the grace."""
        self._asked.set()
        if self._ending is None and self.pid > 0:
            self._ending = asyncio.ensure_future(self._end_group())

    async def gone(self) -> None:
        """Wait until a group that was asked to end has ended."""
        if self._ending is not None:
            await asyncio.shield(self._ending)

    def _over(self, task: asyncio.Task[Exit]) -> None:
        task.cancelled() or task.exception()
        assert callable(self._forget)
        self._forget(self)

    async def _run(self) -> Exit:
        spec = self._spec
        try:
            process = await asyncio.create_subprocess_exec(
                *spec.argv,
                cwd=spec.cwd,
                env=_environment(spec.env),
                stdin=asyncio.subprocess.PIPE if spec.stdin else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise StartError(f"spawn {spec.argv[0]}: {error}") from None
        self.pid = process.pid
        if spec.signal is not None:
            spec.signal.add_listener(self.terminate)
        if self._asked.is_set() or (spec.signal is not None and spec.signal.aborted):
            self.terminate()
        assert process.stdout is not None
        assert process.stderr is not None
        reading = [
            asyncio.ensure_future(_collect(process.stdout, self.stdout)),
            asyncio.ensure_future(_collect(process.stderr, self.stderr)),
        ]
        try:
            await _feed(process.stdin, spec.stdin)
            await process.wait()
            # A descendant may hold the pipes: its output is waited for, but not for longer than the grace.
            await asyncio.wait(reading, timeout=spec.grace)
        finally:
            for each in reading:
                each.cancel()
            await asyncio.gather(*reading, return_exceptions=True)
            process._transport.close()  # type: ignore[attr-defined]
            if spec.signal is not None:
                spec.signal.remove_listener(self.terminate)
        code = process.returncode
        assert code is not None
        return Exit(code) if code >= 0 else Exit(None, signals.Signals(-code).name)

    async def _end_group(self) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._spec.grace
        alive = _signal_group(self.pid, signals.SIGTERM)
        # Nothing tells when a group has no member any more.
        while alive and loop.time() < until:
            await asyncio.sleep(POLL)
            alive = _signal_group(self.pid, 0)
        if alive:
            _signal_group(self.pid, signals.SIGKILL)


async def _collect(stream: asyncio.StreamReader, into: Collected) -> None:
    while data := await stream.read(CHUNK):
        into.add(data)


async def _feed(stdin: asyncio.StreamWriter | None, data: bytes) -> None:
    if stdin is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(data)
        await stdin.drain()
    stdin.close()


def _signal_group(group: int, number: int) -> bool:
    """Signal a group; answers whether it still has a member."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _absolute(command: str) -> str:
    path = Path(command)
    if not path.exists():
        raise StartError(f"{command} was not found")
    if not _is_executable(path):
        raise StartError(f"{command} is not an executable file")
    return command


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """The inherited variables without those that look like credentials or are the host's own, and the changes."""
    inherited = {name: value for name, value in os.environ.items() if not _CREDENTIAL.search(name)}
    merged: dict[str, str | None] = {**inherited, **changes}
    return {name: value for name, value in merged.items() if value is not None}
