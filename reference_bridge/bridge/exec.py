"""`exec`: a program run by the host's subprocess provider, bounded in output and in time."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable
from typing import Any, Final

from reference_bridge.bridge.values import UNDEFINED, as_object
from reference_bridge.host.errors import error_message
from reference_bridge.host.json_values import js_string
from reference_bridge.host.loop import Agent
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.subprocess import Child, Exit, SpawnSpec, SubprocessRuntime

STREAM_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of each stream the bridge asks the provider to keep; of a longer stream it has the end."""

Answer = dict[str, Any]
"""`{stdout, stderr, code, killed}`"""


class Exec:
    """Runs programs for packages. `provider` gives the host's service, `None` where there is none."""

    def __init__(
        self, provider: Callable[[], SubprocessRuntime | None], grace: float = 5.0, limit: int = STREAM_LIMIT
    ) -> None:
        """`grace` is how many seconds a child has between being asked to end and being made to."""
        self._provider = provider
        self._grace = grace
        self._limit = limit

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> Answer:
        """Run a program and wait for it. Like Pi's it never rejects for what a program does, or for a missing one."""
        given = as_object(options)
        provider, signal = self._provider(), given.get("signal")
        if provider is None:
            return self.failed("this host has no subprocess service: nothing was started")
        if not isinstance(signal, AbortSignal):
            signal = None
        if signal is not None and signal.aborted:
            return {**self.failed("the signal was aborted before the start: nothing was started"), "killed": True}
        try:
            argv = [await provider.resolve_executable(js_string(command)), *self.arguments(args)]
            child = provider.spawn(self.spec(argv, self.folder(agent, given.get("cwd")), signal))
            return await self.wait(child, self.seconds(given.get("timeout")), signal)
        except Exception as error:
            return self.failed(error_message(error))

    def spec(self, argv: list[str], cwd: str, signal: AbortSignal | None) -> SpawnSpec:
        """What the provider is asked for."""
        return SpawnSpec(argv, cwd, stdout=self._limit, stderr=self._limit, grace=self._grace, signal=signal)

    def arguments(self, args: Any) -> list[str]:
        """The arguments as texts. Raises `TypeError` for what is no list."""
        if args is None or args is UNDEFINED:
            return []
        if not isinstance(args, list):
            raise TypeError("the arguments are no list")
        return [js_string(argument) for argument in args]

    def folder(self, agent: Agent | None, cwd: Any) -> str:
        """Where the child runs: where it was told to, else where its agent works."""
        if isinstance(cwd, str) and cwd:
            return cwd
        return (agent and agent.cwd) or os.getcwd()  # noqa: PTH109

    def seconds(self, timeout: Any) -> float | None:
        """A timeout of milliseconds; what is not above zero is none."""
        try:
            milliseconds = float(timeout)
        except (TypeError, ValueError):
            return None
        return milliseconds / 1000 if milliseconds > 0 and math.isfinite(milliseconds) else None

    async def wait(self, child: Child, timeout: float | None, signal: AbortSignal | None) -> Answer:
        """The answer about a child, once it has ended by itself, by its timeout or by its signal."""
        ended = asyncio.ensure_future(child.done())
        await asyncio.wait({ended}, timeout=timeout)
        timed_out = not ended.done()
        if timed_out:
            child.terminate()
        exit = await ended
        killed = timed_out or (signal is not None and signal.aborted)
        return self.answer(child, exit, killed)

    def answer(self, child: Child, exit: Exit, killed: bool) -> Answer:
        """What a package gets. An overflow is told at the end of stderr."""
        stdout, stderr = child.stdout.read_from(0), child.stderr.read_from(0)
        cut = [name for name, read in (("stdout", stdout), ("stderr", stderr)) if read.lossy]
        return {
            "stdout": stdout.text,
            "stderr": stderr.text + self.overflow(cut),
            "code": self.code(exit),
            "killed": killed,
        }

    def code(self, exit: Exit) -> int:
        """A child that a signal ended has a code that says so, never 0: who reads only the code is not misled."""
        return 128 + _SIGNALS.get(exit.signal or "", 9) if exit.code is None else exit.code

    def overflow(self, cut: list[str]) -> str:
        """What is said about streams of which only the end was kept."""
        if not cut:
            return ""
        return f"\n[{' and '.join(cut)} had more than {self._limit} bytes: only the last {self._limit} were kept]\n"

    def failed(self, why: str) -> Answer:
        """The answer about a program that was not started."""
        return {"stdout": "", "stderr": why, "code": 1, "killed": False}


_SIGNALS: Final = {"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGABRT": 6, "SIGKILL": 9, "SIGSEGV": 11, "SIGTERM": 15}
