"""`exec`: a program run by the host's subprocess provider, bounded in output and in time."""

from __future__ import annotations

import asyncio
import math
import signal as signals
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from reference_bridge.bridge._js import number_from_string
from reference_bridge.bridge.values import as_object
from reference_bridge.host import AbortController, AbortSignal, Agent, error_message
from reference_bridge.host.json_values import js_string
from reference_bridge.host.subprocess import Child, Exit, SpawnSpec, SubprocessRuntime

STREAM_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of each stream that the provider is asked to keep. Of a longer stream it has the end."""

GRACE: Final = 5.0
"""Seconds that a child has between being asked to end and being made to."""


@dataclass(frozen=True, slots=True)
class Options:
    """What `exec` was asked beside the command: a folder, a time limit in seconds, a signal."""

    cwd: str
    timeout: float | None
    signal: AbortSignal | None


class Exec:
    """Runs programs for packages; it never starts one itself and never rejects.

    `provider` gives the host's service, `None` where there is none.
    """

    def __init__(
        self, provider: Callable[[], SubprocessRuntime | None], grace: float = GRACE, limit: int = STREAM_LIMIT
    ) -> None:
        self._provider = provider
        self._grace = grace
        self._limit = limit

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        """`{stdout, stderr, code, killed}`; the code of what could not be started is 1, and `stderr` says why."""
        provider = self._provider()
        if provider is None:
            return self.failed("this host has no subprocess service, so nothing can be started")
        asked = self.options(agent, as_object(options))
        stop = AbortController()
        try:
            program = await provider.resolve_executable(js_string(command))
            if asked.signal is not None and asked.signal.aborted:
                return self.failed("aborted before the start", killed=True)
            child = provider.spawn(self.spec([program, *self.arguments(args)], asked, stop.signal))
        except Exception as error:
            return self.failed(error_message(error))
        return await self.watched(child, asked, stop)

    def options(self, agent: Agent | None, given: dict[str, Any]) -> Options:
        """What the options mean; those of another kind mean nothing."""
        signal = given.get("signal")
        return Options(
            self.folder(agent, given.get("cwd")),
            self.seconds(given.get("timeout")),
            signal if isinstance(signal, AbortSignal) else None,
        )

    def folder(self, agent: Agent | None, cwd: Any) -> str:
        """Where the program runs: the folder asked for, else the agent's, else that of this process."""
        if isinstance(cwd, str) and cwd:
            return cwd
        return (agent and agent.cwd) or str(Path.cwd())

    def seconds(self, timeout: Any) -> float | None:
        """The time limit; milliseconds that are not above zero, or not finite, are none."""
        if isinstance(timeout, str):
            timeout = number_from_string(timeout)
        if isinstance(timeout, bool) or not isinstance(timeout, int | float):
            return None
        return timeout / 1000 if math.isfinite(timeout) and timeout > 0 else None

    def arguments(self, args: Any) -> list[str]:
        """The program's arguments as texts. Raises `TypeError` where they are no list."""
        if args is not None and isinstance(args, dict | str | int | float):
            raise TypeError("the arguments must be a list")
        return [js_string(each) for each in args] if isinstance(args, list | tuple) else []

    def spec(self, argv: list[str], asked: Options, stop: AbortSignal) -> SpawnSpec:
        """What the provider is asked for: no shell, no input, the ends of both streams."""
        return SpawnSpec(
            argv=argv, cwd=asked.cwd, stdout=self._limit, stderr=self._limit, grace=self._grace, signal=stop
        )

    async def watched(self, child: Child, asked: Options, stop: AbortController) -> dict[str, Any]:
        """Wait for the end of a child, which a timeout or an abort asks for."""

        def kill() -> None:
            stop.abort("stopped")

        loop = asyncio.get_running_loop()
        timer = None if asked.timeout is None else loop.call_later(asked.timeout, kill)
        if asked.signal is not None:
            asked.signal.add_listener(kill)
        try:
            ended = await child.done()
        except Exception as error:
            return self.failed(error_message(error), killed=stop.signal.aborted)
        finally:
            if timer is not None:
                timer.cancel()
            if asked.signal is not None:
                asked.signal.remove_listener(kill)
        return self.answer(child, ended, killed=stop.signal.aborted)

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        """What `exec` resolves with. What was cut is said at the end of `stderr`, outside of its bound."""
        out, err = child.stdout.read_from(0), child.stderr.read_from(0)
        cut = [name for name, read in (("stdout", out), ("stderr", err)) if read.lossy]
        announced = f"\n[{' and '.join(cut)} exceeded {self._limit} bytes: only the end is kept]" if cut else ""
        return {
            "stdout": out.text,
            "stderr": err.text + announced,
            "code": self.code(ended),
            "killed": killed,
        }

    def code(self, ended: Exit) -> int:
        """The exit code; for a death by signal, 128 and the signal's number, as a shell reports it."""
        if ended.code is not None:
            return ended.code
        number = getattr(signals, ended.signal or "", None)
        return 128 + (number.value if isinstance(number, signals.Signals) else 0)

    def failed(self, reason: str, killed: bool = False) -> dict[str, Any]:
        """The answer where nothing ran."""
        return {"stdout": "", "stderr": reason, "code": 1, "killed": killed}
