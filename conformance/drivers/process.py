"""One child process with a session of its own: started clean, watched, ended, and its descendants found and ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

COOKIE = "BRIDGE_CONFORMANCE_RUN"
"""Environment variable by which descendants are known that made a session of their own."""
HEAD = 16 * 1024
TAIL = 48 * 1024
"""Bytes kept of the beginning and of the end of the error output."""
POLL = 0.02
"""Seconds between two looks where there is nothing to wait on."""


@dataclass(frozen=True, slots=True)
class Relative:
    """A process of the family: its id, its start in ticks since boot (so that an id is not mistaken), its name."""

    pid: int
    started: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.pid})"


def own_cookie() -> str:
    """The entry of the environment by which what this process itself starts is known among all other processes.

    Made at the first call; children of a later one carry it. Another process that inherits it makes one of its own.
    """
    if not os.environ.get(COOKIE, "").startswith(f"{os.getpid()}-"):
        os.environ[COOKIE] = f"{os.getpid()}-{uuid.uuid4().hex}"
    return f"{COOKIE}={os.environ[COOKIE]}"


class HeadAndTail:
    """The beginning and the end of a stream of bytes, and how many were left out between."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._limits = head, tail

    def add(self, data: bytes) -> None:
        """Keep what fits."""
        self.total += len(data)
        head, tail = self._limits
        free = head - len(self._head)
        if free > 0:
            self._head += data[:free]
            data = data[free:]
        if data:
            self._tail.append(data[-tail:])
            self._tail_size += len(self._tail[-1])
            while self._tail_size - len(self._tail[0]) >= tail:
                self._tail_size -= len(self._tail.popleft())

    def text(self) -> str:
        """Return what was kept, as text, with a line that says how much was left out."""
        tail = b"".join(self._tail)[-self._limits[1] :]
        left_out = self.total - len(self._head) - len(tail)
        middle = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return (bytes(self._head) + middle + tail).decode("utf-8", "backslashreplace")


class Child:
    """The process and its three pipes.

    ``stdin`` and ``stdout`` are our ends, to be taken over by a connection; the error output is kept in ``errors``.
    ``on_exit`` is called once, on the running loop, as soon as the process has ended. It is not reaped before
    :meth:`end`, so that its id, which names its group and session, cannot become another's; ``ended_by_itself`` says
    after it that no signal was needed.
    Raises ``OSError`` when the program cannot be started.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, on_exit: Callable[[], None]) -> None:
        self.errors = HeadAndTail()
        self.ended_by_itself = False
        self._cookie = uuid.uuid4().hex
        self._on_exit = on_exit
        self._process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**env, COOKIE: self._cookie},
            cwd=cwd,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.pid = self._process.pid
        self.stdin = os.dup(self._process.stdin.fileno())
        self.stdout = os.dup(self._process.stdout.fileno())
        self._stderr: int | None = os.dup(self._process.stderr.fileno())
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            stream.close()
        self._loop = asyncio.get_running_loop()
        self._exited = asyncio.Event()
        self._known: dict[int, Relative] = {}
        self._watch: int | asyncio.TimerHandle | None = None
        # When nobody closes us (the interpreter ends, a test is torn down hard) the family still must not outlive us.
        self._last_resort = weakref.finalize(self, _end_family, self.pid, self._cookie)
        os.set_blocking(self._stderr, False)
        self._loop.add_reader(self._stderr, self.read_errors)
        self._watch_exit()

    @property
    def status(self) -> int | None:
        """The exit code, or minus the signal's number; ``None`` while the process runs."""
        if self._process.returncode is not None or not hasattr(os, "waitid"):
            return self._process.poll()
        with contextlib.suppress(ChildProcessError):
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None:
                return None
            return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
        return self._process.poll()

    def describe(self) -> str:
        """Return how it ended, in words."""
        status = self.status
        if status is None:
            return "is still running"
        if status >= 0:
            return f"exited with code {status}"
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
        return f"was ended by signal {-status}"

    async def exited(self, seconds: float) -> bool:
        """Wait for its end, at most so long; say whether it has ended."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)
        return self._exited.is_set()

    def signal(self, number: int) -> None:
        """Send a signal to the whole group."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def family(self) -> list[Relative]:
        """Return the living descendants, without the process itself.

        Found are those of its group and session, those that carry its cookie, children of any of them, and those that
        were found before. Without ``/proc`` nothing is found.
        """
        self._known = {pid: relative for pid, relative in self._known.items() if _alive(relative)}
        for relative in _family(self.pid, self._cookie, set(self._known)):
            self._known[relative.pid] = relative
        return list(self._known.values())

    async def end(self, grace: float, patience: float = 1.0) -> list[Relative]:
        """End the process and its whole family, reap it, and return what it left behind although it ended by itself.

        ``grace`` seconds it may take to end by itself, ``patience`` seconds after a TERM; then comes KILL.
        Its standard input should be closed by then.
        """
        if grace > 0:
            await self.exited(grace)
        by_itself = self.ended_by_itself = self.status is not None
        if not by_itself:
            self.signal(signal.SIGTERM)
            await self.exited(patience)
        left_behind: list[Relative] = []
        if by_itself:
            until = time.monotonic() + 0.5
            # No event tells when another's child ends.
            while (left_behind := self.family()) and time.monotonic() < until:  # noqa: ASYNC110
                await asyncio.sleep(POLL)
        self.signal(signal.SIGKILL)
        until = time.monotonic() + 5.0
        while rest := self.family():
            for relative in rest:
                _kill(relative)
            if time.monotonic() > until:
                break
            await asyncio.sleep(POLL)
        await self.exited(5.0)
        self.read_errors()
        self._release()
        return left_behind

    def kill(self) -> None:
        """End the whole family at once; :meth:`end` reaps it."""
        for relative in self.family():
            _kill(relative)
        self.signal(signal.SIGKILL)

    def _release(self) -> None:
        watch, self._watch = self._watch, None
        if isinstance(watch, int):
            self._loop.remove_reader(watch)
            os.close(watch)
        elif watch is not None:
            watch.cancel()
        self._close_errors()
        self._process.poll()
        self._last_resort.detach()

    def _watch_exit(self) -> None:
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                self._watch = os.pidfd_open(self.pid)
                self._loop.add_reader(self._watch, self._seen_exit)
                return
        self._watch = self._loop.call_later(POLL, self._poll_exit)

    def _poll_exit(self) -> None:
        if self.status is None:
            self._watch = self._loop.call_later(POLL, self._poll_exit)
        else:
            self._seen_exit()

    def _seen_exit(self) -> None:
        if isinstance(self._watch, int):
            self._loop.remove_reader(self._watch)
        if not self._exited.is_set():
            self._exited.set()
            self._on_exit()

    def read_errors(self) -> None:
        """Take what already waits on the error output."""
        # A writer without end must not keep us here: so many chunks a turn.
        for _ in range(4):
            if self._stderr is None:
                return
            try:
                data = os.read(self._stderr, 64 * 1024)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if not data:
                self._close_errors()
                return
            self.errors.add(data)

    def _close_errors(self) -> None:
        fd, self._stderr = self._stderr, None
        if fd is not None:
            self._loop.remove_reader(fd)
            os.close(fd)


def _stat(pid: int) -> tuple[str, str, int, int, int, int] | None:
    """Name, state, parent, group, session and start of a process; ``None`` when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
    name, rest = text[text.index("(") + 1 :].rsplit(")", 1)
    fields = rest.split()
    return name, fields[0], int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19])


def _alive(relative: Relative) -> bool:
    stat = _stat(relative.pid)
    return stat is not None and stat[5] == relative.started and stat[1] not in "ZX"


def _family(pid: int, cookie: str, known: set[int]) -> list[Relative]:
    proc = Path("/proc")
    if not proc.is_dir():
        return []
    wanted = f"{COOKIE}={cookie}".encode()
    found: dict[int, Relative] = {}
    parents: dict[int, tuple[int, Relative]] = {}
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        one = int(entry.name)
        stat = _stat(one)
        if stat is None or stat[1] in "ZX" or one == pid:
            continue
        relative = Relative(one, stat[5], stat[0])
        parents[one] = stat[2], relative
        if pid in (stat[3], stat[4]) or _carries(one, wanted):
            found[one] = relative
    grown = True
    while grown:
        grown = False
        for one, (parent, relative) in parents.items():
            if one not in found and (parent in found or parent == pid or parent in known):
                found[one] = relative
                grown = True
    return list(found.values())


def _carries(pid: int, wanted: bytes) -> bool:
    try:
        return wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _kill(relative: Relative) -> None:
    """Kill exactly this process: the id is pinned first, then checked, then used."""
    with contextlib.suppress(OSError):
        if not hasattr(os, "pidfd_open"):
            if _alive(relative):
                os.kill(relative.pid, signal.SIGKILL)
            return
        fd = os.pidfd_open(relative.pid)
        try:
            if _alive(relative):
                signal.pidfd_send_signal(fd, signal.SIGKILL)
        finally:
            os.close(fd)


def _end_family(pid: int, cookie: str) -> None:
    for relative in _family(pid, cookie, set()):
        _kill(relative)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.waitpid(pid, 0)
