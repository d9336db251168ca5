"""Subprocess providers the suite can see through, and an observer of children that nobody was asked for."""

from __future__ import annotations

import asyncio
import itertools
import sys
from contextlib import suppress
from typing import Any

from conformance.drivers.backend import Suite
from conformance.drivers.protocol import ProcessAnswer, ProcessSpawn
from conformance.drivers.reference._trace import Notes
from reference_bridge.host.subprocess import Collected, Exit, LocalChild, LocalSubprocess, SpawnSpec, StartError

SPAWNS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.spawn", "os.exec", "os.system", "os.fork", "pty.spawn"})
"""Audit events of the interpreter that start a program or a process."""


class SpawnObserver:
    """Notes every child that this interpreter starts while a stage is open, except those of the provider."""

    _installed = False
    _watching: SpawnObserver | None = None
    in_provider = False
    """Whether the host's provider is the one who starts something right now."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def start(self) -> None:
        """Watch from now on."""
        if not SpawnObserver._installed:
            # A hook cannot be taken out again; without a stage it does nothing.
            sys.addaudithook(_audit)
            SpawnObserver._installed = True
        SpawnObserver._watching = self

    def stop(self) -> None:
        """Watch no more."""
        if SpawnObserver._watching is self:
            SpawnObserver._watching = None

    def spawned(self, event: str, args: tuple[Any, ...]) -> None:
        """Note one start."""
        argv, cwd = [event], None
        if event == "subprocess.Popen":
            argv, cwd = _texts(args[1]), args[2]
        self._notes.send("spawn", argv=argv, cwd=None if cwd is None else str(cwd), via="observed")


def _audit(event: str, args: tuple[Any, ...]) -> None:
    observer = SpawnObserver._watching
    if observer is not None and event in SPAWNS and not SpawnObserver.in_provider:
        observer.spawned(event, args)


class LocalProvider(LocalSubprocess):
    """The host's own provider, noting what it is asked for."""

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self._notes = notes

    def spawn(self, spec: SpawnSpec) -> LocalChild:
        """Start a child and note it."""
        SpawnObserver.in_provider = True
        try:
            child = super().spawn(spec)
        finally:
            SpawnObserver.in_provider = False
        bounds = {"stdout": spec.stdout, "stderr": spec.stderr}
        data: dict[str, Any] = {"argv": list(spec.argv), "cwd": spec.cwd, "via": "provider", "maxBytes": bounds}
        if child.pid > 0:
            data["pid"] = child.pid
        self._notes.send("spawn", **data)
        return child


class ScriptedProvider:
    """A provider whose children live in the suite's script."""

    def __init__(self, suite: Suite, numbers: itertools.count[int]) -> None:
        self._suite = suite
        self._numbers = numbers
        self._children: list[ScriptedChild] = []

    @property
    def pids(self) -> list[int]:
        """None: no process of this machine is involved."""
        return []

    async def resolve_executable(self, command: str) -> str:
        """Every name is known."""
        return command

    def spawn(self, spec: SpawnSpec) -> ScriptedChild:
        """Ask the suite what becomes of a child."""
        if not spec.argv or not spec.argv[0]:
            raise ValueError("invalid argv: expected a non-empty program name at argv[0]")
        child = ScriptedChild(self._suite, spec, f"s{next(self._numbers)}")
        self._children.append(child)
        return child

    async def close(self) -> None:
        """End every child."""
        for child in self._children:
            child.terminate()
            with suppress(Exception):
                await child.done()


class ScriptedChild:
    """A child that ends as the suite says, or when it is told to."""

    def __init__(self, suite: Suite, spec: SpawnSpec, invocation: str) -> None:
        self.pid = -1
        self.stdout = Collected(spec.stdout)
        self.stderr = Collected(spec.stderr)
        self._told = asyncio.Event()
        if spec.signal is not None:
            spec.signal.add_listener(self.terminate)
        self._running = asyncio.ensure_future(self._run(suite, spec, invocation))

    async def done(self) -> Exit:
        """Wait for its end."""
        return await asyncio.shield(self._running)

    def terminate(self) -> None:
        """Tell it to end."""
        self._told.set()

    async def _run(self, suite: Suite, spec: SpawnSpec, invocation: str) -> Exit:
        message = ProcessSpawn(
            argv=list(spec.argv),
            invocation=invocation,
            cwd=spec.cwd,
            stdin=spec.stdin.decode("utf-8", "replace") or None,
            max_bytes={"stdout": spec.stdout, "stderr": spec.stderr},
        )
        answer: ProcessAnswer = await suite.ask(message)
        if answer.fails is not None:
            raise StartError(answer.fails)
        for text, stream in ((answer.stdout, self.stdout), (answer.stderr, self.stderr)):
            if text:
                stream.add(text.encode("utf-8", "surrogatepass"))
        if answer.runs:
            await self._told.wait()
            return Exit(None, answer.signal or "SIGTERM")
        return Exit(None, answer.signal) if answer.signal is not None else Exit(answer.exit_code)


def _texts(argv: Any) -> list[str]:
    return [str(argv)] if isinstance(argv, str | bytes) else [str(each) for each in argv]
