"""The optional services of a stage's host: approval, attachments, subprocess."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from conformance.drivers.backend import Suite
from conformance.drivers.protocol import ProcessAnswer, ProcessSpawn, StageOpen
from conformance.drivers.reference._trace import Notes
from reference_bridge.host import ApprovalService, Host, HostOptions
from reference_bridge.host.attachments import MemoryAttachments
from reference_bridge.host.subprocess import Collected, Exit, LocalChild, LocalSubprocess, SpawnSpec, StartError


class Services:
    """Makes the services a stage asks for, and ends them."""

    def __init__(self, suite: Suite, notes: Notes, numbers: itertools.count[int], message: StageOpen) -> None:
        self._wanted = message.services
        self._has_reserved = any(native.reserved for native in message.natives)
        self._local = ObservedSubprocess(notes) if message.services.subprocess == "local" else None
        scripted = message.services.subprocess == "scripted"
        self._scripted = ScriptedSubprocess(suite, numbers) if scripted else None

    def options(self) -> HostOptions:
        """What the host is made of."""
        return HostOptions(
            approval=None if self._wanted.approval == "none" else ApprovalService(),
            attachments=MemoryAttachments() if self._wanted.attachments else None,
            subprocess=self._local or self._scripted,
            # The reserved transport tool is shown beside the others only in this mode.
            mode="both" if self._has_reserved else "native",
        )

    def attach(self, host: Host) -> None:
        """Answer the host's questions to the user as the stage wants them answered."""
        answer = self._wanted.approval
        if answer not in ("none", "unanswered"):

            async def answered(request: object, following: object) -> str:
                return answer

            host.on("approval/request", answered)

    def children(self) -> list[int]:
        """The process ids of children that still run."""
        return [] if self._local is None else self._local.pids

    async def close(self) -> None:
        """End what still runs."""
        if self._local is not None:
            await self._local.close()


class ObservedSubprocess(LocalSubprocess):
    """The host's local provider; each child it is asked for is noted."""

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self._notes = notes

    def spawn(self, spec: SpawnSpec) -> LocalChild:
        """Start a child and note it."""
        child = super().spawn(spec)
        self._notes.send("spawn", None, argv=list(spec.argv), cwd=spec.cwd, via="provider")
        return child


class ScriptedSubprocess:
    """A provider that replaces the local one: the suite plays its children."""

    def __init__(self, suite: Suite, numbers: itertools.count[int]) -> None:
        self._suite = suite
        self._numbers = numbers

    async def resolve_executable(self, command: str) -> str:
        """Every program is there, under its own name."""
        return command

    def spawn(self, spec: SpawnSpec) -> ScriptedChild:
        """Ask the suite how a child ends."""
        message = ProcessSpawn(
            argv=list(spec.argv),
            invocation=f"c{next(self._numbers)}",
            cwd=spec.cwd,
            stdin=spec.stdin.decode("utf-8", "replace") or None,
            max_bytes={"stdout": spec.stdout, "stderr": spec.stderr},
        )
        return ScriptedChild(spec, asyncio.ensure_future(self._suite.ask(message)))

    async def close(self) -> None:
        """Nothing runs."""


class ScriptedChild:
    """A child of which only its end is known."""

    pid = -1

    def __init__(self, spec: SpawnSpec, answer: asyncio.Future[Any]) -> None:
        self.stdout = Collected(spec.stdout)
        self.stderr = Collected(spec.stderr)
        self._answer = answer
        self._ended = asyncio.Event()

    async def done(self) -> Exit:
        """Wait for the suite's answer, and for the end of a child that runs until it is told to end."""
        answer: ProcessAnswer = await self._answer
        if answer.fails is not None:
            raise StartError(answer.fails)
        self.stdout.add(answer.stdout.encode())
        self.stderr.add(answer.stderr.encode())
        if answer.runs:
            await self._ended.wait()
            return Exit(None, "SIGTERM")
        return Exit(answer.exit_code, answer.signal)

    def terminate(self) -> None:
        """End a child that runs until it is told to end."""
        self._ended.set()
