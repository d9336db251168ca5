"""Defects of the host's provider of children: how they are started, ended and told."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal as signals
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.host import Host
from reference_bridge.host.subprocess import Child, Exit, Read, SpawnSpec, StartError, SubprocessRuntime


class _Child:
    """A child as another provider tells it."""

    def __init__(self, child: Child) -> None:
        self._child = child

    def __getattr__(self, name: str) -> Any:
        return getattr(self._child, name)


class _Provider:
    """The host's provider with a word of its own."""

    def __init__(self, inner: SubprocessRuntime) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def spawn(self, spec: SpawnSpec) -> Any:
        return self.told(self._inner.spawn(self.meant(spec)))

    def meant(self, spec: SpawnSpec) -> SpawnSpec:
        return spec

    def told(self, child: Child) -> Any:
        return child


class _Provides(Host):
    provider_type: type[_Provider] = _Provider

    @property
    def subprocess(self) -> Any:
        inner = super().subprocess
        return None if inner is None else self.provider_type(inner)


@mutant()
class ChildrenExitWithZero(_Provides):
    """Tells every child that ended by itself as a success."""

    class provider_type(_Provider):
        def told(self, child: Child) -> Any:
            class Told(_Child):
                async def done(self) -> Exit:
                    ended = await self._child.done()
                    return ended if ended.code is None else Exit(0)

            return Told(child)


@mutant()
class ProviderUsesAShell(_Provides):
    """Has a shell read program and arguments."""

    class provider_type(_Provider):
        def meant(self, spec: SpawnSpec) -> SpawnSpec:
            return replace(spec, argv=["/bin/sh", "-c", " ".join(spec.argv)]) if spec.argv else spec


@mutant()
class BoundOneByteShort(_Provides):
    """Keeps one byte less of a stream than it was asked to."""

    class provider_type(_Provider):
        def meant(self, spec: SpawnSpec) -> SpawnSpec:
            return replace(spec, stdout=spec.stdout - 1, stderr=spec.stderr - 1)


@mutant()
class OddBytesDropped(_Provides):
    """Leaves out bytes of the output that are no text."""

    class provider_type(_Provider):
        def told(self, child: Child) -> Any:
            for stream in (child.stdout, child.stderr):
                stream.read_from = _without_marks(stream.read_from)  # type: ignore[assignment, method-assign]
            return child


def _without_marks(read: Callable[[int], Read]) -> Callable[[int], Read]:
    def read_from(offset: int) -> Read:
        found = read(offset)
        return replace(found, text=found.text.replace("\ufffd", ""))

    return read_from


@mutant()
class SignalsAreExitCodes(_Provides):
    """Tells a child that a signal ended by an exit code, as a shell does."""

    class provider_type(_Provider):
        def told(self, child: Child) -> Any:
            class Told(_Child):
                async def done(self) -> Exit:
                    ended = await self._child.done()
                    return Exit(128 + signals.Signals[ended.signal]) if ended.signal else ended

            return Told(child)


@mutant()
class FailedStartIsAnExit(_Provides):
    """Tells a child that could not be started as one that ended with 127."""

    class provider_type(_Provider):
        def told(self, child: Child) -> Any:
            class Told(_Child):
                async def done(self) -> Exit:
                    try:
                        return await self._child.done()
                    except StartError:
                        return Exit(127)

            return Told(child)


@mutant()
class OddSpecsAccepted(_Provides):
    """Starts something for a spec that cannot be meant."""

    class provider_type(_Provider):
        def meant(self, spec: SpawnSpec) -> SpawnSpec:
            sound = isinstance(spec.grace, int | float) and spec.grace > 0
            return replace(
                spec, argv=spec.argv if spec.argv and spec.argv[0] else ["true"], grace=spec.grace if sound else 1
            )


@mutant()
class InputWithheld(_Provides):
    """Gives a child no input whatever its spec says."""

    class provider_type(_Provider):
        def meant(self, spec: SpawnSpec) -> SpawnSpec:
            return replace(spec, stdin=b"")


@mutant()
class AbortEndsTheChildOnly(_Provides):
    """Asks the child that was started to end when its signal is aborted, and none of the children it has."""

    class provider_type(_Provider):
        def spawn(self, spec: SpawnSpec) -> Any:
            child = self._inner.spawn(replace(spec, signal=None))
            if spec.signal is not None and child.pid > 0:
                spec.signal.add_listener(lambda: _end(child.pid, time.monotonic() + 1))
            return child


def _end(pid: int, late: float) -> None:
    """End a process by itself as soon as it has a child; one that has none by then has none."""
    with contextlib.suppress(OSError):
        if Path(f"/proc/{pid}/task/{pid}/children").read_text() or time.monotonic() > late:
            os.kill(pid, signals.SIGTERM)
        else:
            asyncio.get_running_loop().call_later(0.005, _end, pid, late)


@mutant()
class VariablesWithheld(_Provides):
    """Gives a child no variable of its spec."""

    class provider_type(_Provider):
        def meant(self, spec: SpawnSpec) -> SpawnSpec:
            return replace(spec, env={})


@mutant()
class RelativeProgramsAreFound(_Provides):
    """Takes a relative path for a program."""

    class provider_type(_Provider):
        async def resolve_executable(self, command: str, *rest: Any, **named: Any) -> str:
            return command if "/" in command else await self._inner.resolve_executable(command, *rest, **named)
