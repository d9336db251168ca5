"""Children of the host: explicit in everything, bounded in output, ended politely and then for sure.

No shell, no default bound, no timeout and no sandbox: the provider runs what it is told. No listener hears of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import signal as signals
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Final, Protocol

from reference_bridge.host.executables import StartError as StartError
from reference_bridge.host.executables import environment, resolve
from reference_bridge.host.json_values import js_string
from reference_bridge.host.process_output import Collected as Collected
from reference_bridge.host.process_output import Read as Read
from reference_bridge.host.process_tree import POLL, ProcessTree
from reference_bridge.host.signals import AbortSignal

_CHUNK: Final = 1024 * 1024
"""Bytes of a stream that are moved at once."""
_LONGEST_GRACE: Final = 2147483.647


@dataclass(frozen=True, slots=True)
class SpawnSpec:
    """What to run, where, and how much of it to keep."""

    argv: Sequence[str]
    """The program and its arguments, as they are: no shell reads them."""
    cwd: str
    stdout: int
    """How many bytes of the end of the stream to keep."""
    stderr: int
    grace: float
    """Seconds between being asked to end and being made to."""
    signal: AbortSignal | None = None
    """Ends the child when it aborts."""
    stdin: bytes = b""
    """Written, then closed. Empty: the input is at its end from the start."""
    env: Mapping[str, str | None] = field(default_factory=dict)
    """Laid over what is inherited; `None` removes a variable."""
    spill: int | None = None
    """How long a stream may be that is also kept whole, in a file."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a child ended: by its own code, or by a signal, and then `code` is `None`."""

    code: int | None
    signal: str | None = None


class Child(Protocol):
    """A child under way."""

    pid: int
    """-1 for one that could not be started."""
    stdout: Collected
    stderr: Collected

    async def done(self) -> Exit:
        """Wait for its end and its output. Raises `StartError` for one that could not be started."""
        ...

    def terminate(self) -> None:
        """Ask the whole tree to end, and make it end after the grace. Does nothing for one that has ended."""
        ...


class SubprocessRuntime(Protocol):
    """A provider. A host has one or none."""

    async def resolve_executable(self, command: str) -> str:
        """The path of an absolute or bare name. Raises `StartError`."""
        ...

    def spawn(self, spec: SpawnSpec) -> Child:
        """Start a child and answer at once. Raises `ValueError` for a spec that cannot be meant."""
        ...

    async def close(self) -> None:
        """End every tree and wait for it."""
        ...


class LocalSubprocess:
    """Children on this very machine."""

    child_type: type[LocalChild]

    def __init__(self) -> None:
        self._children: set[LocalChild] = set()

    @property
    def pids(self) -> list[int]:
        """The children that have not ended."""
        return [child.pid for child in self._children if not child.has_ended]

    async def resolve_executable(
        self, command: str, env: Mapping[str, str] | None = None, signal: AbortSignal | None = None
    ) -> str:
        """The path of an absolute name, or of a bare one on the `PATH` of `env` or else of the host.

        Raises `StartError`, and `AbortedError` for a signal that is aborted already.
        """
        if signal is not None:
            signal.throw_if_aborted()
        return resolve(command, (os.environ if env is None else env).get("PATH", os.defpath))

    def spawn(self, spec: SpawnSpec) -> LocalChild:
        """Start a child in a session of its own.

        Raises `ValueError` for an empty program name, a grace that is no time span, and a signal aborted already. A
        program that cannot be started is told by the child's `done`.
        """
        if not spec.argv or not spec.argv[0]:
            raise ValueError("invalid argv: expected a non-empty program name at argv[0]")
        if not isinstance(spec.grace, int | float) or not 0 < spec.grace <= _LONGEST_GRACE:
            raise ValueError("subprocess graceMs must be a positive finite number no greater than 2147483647")
        if spec.signal is not None and spec.signal.aborted:
            raise ValueError(f"aborted before spawn: {js_string(spec.signal.reason)}")
        # A child whose descendants outlive it stays here: the end of the provider is theirs too.
        self._children = {child for child in self._children if not child.has_ended or child.tree_is_alive()}
        child = self.child_type(spec)
        self._children.add(child)
        return child

    async def close(self) -> None:
        """End every tree and wait for it."""
        children, self._children = self._children, set()
        for child in children:
            child.terminate()
        for child in children:
            with contextlib.suppress(StartError):
                await child.done()
            await child.wait_for_exit()


class LocalChild:
    """One child and its tree."""

    def __init__(self, spec: SpawnSpec) -> None:
        self.pid = -1
        self.stdout = Collected(spec.stdout, spec.spill)
        self.stderr = Collected(spec.stderr, spec.spill)
        self._spec = spec
        self._tree: ProcessTree | None = None
        self._running: asyncio.Task[None] | None = None
        self._done: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        # A caller who never asks is no reason for a complaint about an unseen exception.
        self._done.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            process = subprocess.Popen(
                list(spec.argv),
                cwd=spec.cwd,
                env=environment(spec.env),
                stdin=subprocess.PIPE if spec.stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            # As the system says it: a missing folder is told as if the program were missing.
            code = errno.errorcode.get(error.errno or 0, "UNKNOWN")
            self._done.set_exception(StartError(f"spawn {spec.argv[0]} {code}", code))
            return
        self.pid = process.pid
        self._tree = ProcessTree(process.pid)
        if spec.signal is not None:
            spec.signal.add_listener(self.terminate)
        self._running = asyncio.ensure_future(self._run(process))

    @property
    def has_ended(self) -> bool:
        """Whether `done` has its answer. Descendants may still run."""
        return self._done.done()

    def tree_is_alive(self) -> bool:
        """Whether the child or a descendant in its group still runs."""
        return self._tree is not None and self._tree.is_alive()

    async def done(self) -> Exit:
        """Wait for its end and its output: a descendant that holds a pipe is waited for no longer than the grace."""
        return await asyncio.shield(self._done)

    async def wait_for_exit(self, signal: AbortSignal | None = None) -> bool:
        """Wait until the whole tree has ended; `False` if `signal` aborts before that, which stops nobody."""
        return self._tree is None or await self._tree.ended(signal)

    def terminate(self) -> None:
        """Ask the whole tree to end, and make it end after the grace."""
        if self._tree is not None:
            self._tree.terminate(self._spec.grace)

    async def _run(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        pumps = [_Pump(process.stdout, self.stdout), _Pump(process.stderr, self.stderr)]
        feeder = None if process.stdin is None else _Feeder(process.stdin, self._spec.stdin)
        try:
            code = await _exit_code(process)
            await asyncio.wait([pump.ended for pump in pumps], timeout=self._spec.grace)
        finally:
            for pump in pumps:
                pump.close()
            if feeder is not None:
                feeder.close()
            if self._spec.signal is not None:
                self._spec.signal.remove_listener(self.terminate)
        self._done.set_result(Exit(code) if code >= 0 else Exit(None, signals.Signals(-code).name))


LocalSubprocess.child_type = LocalChild


async def _exit_code(process: subprocess.Popen[bytes]) -> int:
    """Wait for the child without a thread; negative for a signal."""
    if not hasattr(os, "pidfd_open"):
        while process.poll() is None:  # noqa: ASYNC110 - this system tells it to nobody but a thread
            await asyncio.sleep(POLL)
        return process.wait()
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    descriptor = os.pidfd_open(process.pid)

    def tell() -> None:
        # Readable from now on: without this the loop would tell it again and again.
        loop.remove_reader(descriptor)
        ended.set_result(None)

    loop.add_reader(descriptor, tell)
    try:
        await ended
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return process.wait()


class _End(ABC):
    """Our end of one of the child's pipes, moved by the event loop as the pipe allows."""

    def __init__(self, pipe: IO[bytes], watch: Callable[[int, Callable[[], None]], None]) -> None:
        self._pipe = pipe
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(pipe.fileno(), False)
        watch(pipe.fileno(), self._move)

    @abstractmethod
    def _move(self) -> None:
        """Move what the pipe allows now; the loop calls it."""

    def close(self) -> None:
        """Let go of the pipe, now or again."""
        if not self.ended.done():
            self._loop.remove_reader(self._pipe.fileno())
            self._loop.remove_writer(self._pipe.fileno())
            self._pipe.close()
            self.ended.set_result(None)


class _Pump(_End):
    """Moves what the child writes to where it is kept."""

    def __init__(self, pipe: IO[bytes], into: Collected) -> None:
        self._into = into
        # A child that writes much wakes us less often; where the system has its own mind, the pipe stays as it is.
        with contextlib.suppress(AttributeError, OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _CHUNK)
        super().__init__(pipe, asyncio.get_running_loop().add_reader)

    def _move(self) -> None:
        try:
            data = os.read(self._pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return
        if data:
            self._into.add(data)
        else:
            self.close()


class _Feeder(_End):
    """Writes the input. A child that does not read it is no error."""

    def __init__(self, pipe: IO[bytes], data: bytes) -> None:
        self._rest = memoryview(data)
        super().__init__(pipe, asyncio.get_running_loop().add_writer)

    def _move(self) -> None:
        try:
            self._rest = self._rest[os.write(self._pipe.fileno(), self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._rest = self._rest[:0]
        if not self._rest:
            self.close()
