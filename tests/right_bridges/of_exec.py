"""Right bridges and providers that run programs in another way, and answer with more or other words."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal as signals
from dataclasses import replace
from typing import Any

from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.exec import Exec
from reference_bridge.host import Agent, Host, HostOptions
from reference_bridge.host.subprocess import Exit, LocalChild, LocalSubprocess, SpawnSpec
from tests.right_bridges.table import right

EXEC = ("exec.*",)


class _NothingToRunOn(Exec):
    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        if self._provider() is None:
            raise RuntimeError("no subprocess service")
        return await super().run(agent, command, args, options)


@right("exec.without-a-provider*")
class RejectsWithoutAProvider(_NothingToRunOn):
    """Rejects where the host has nobody to run programs.

    Free: `exec.without-a-provider-nothing-runs` takes a rejection as well as an answer.
    """


class _OtherCodes(Exec):
    def code(self, ended: Exit) -> int:
        if ended.code is not None:
            return ended.code
        number = getattr(signals, ended.signal or "", None)
        return -(number.value if isinstance(number, signals.Signals) else 1)

    def failed(self, reason: str, killed: bool = False) -> dict[str, Any]:
        return {"stdout": "", "stderr": f"exec: {reason}\n", "code": -1, "killed": killed}


@right(*EXEC)
class NegativeCodes(_OtherCodes):
    """Answers a death by signal with the negative number of the signal, and a failed start with -1.

    Free: the code after a kill or an own signal is a may, that of a failed start only has to be another than zero.
    """


@right("exec.a-*", "exec.odd*", departs=("exec.a-failed-start-says-why",))
class SaysNothingOfAFailedStart(Exec):
    """Leaves stderr empty where a program could not be started.

    Free: `exec.a-failed-start-says-why` is a may; the reason without a provider stays.
    """

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        answer = await super().run(agent, command, args, options)
        failed = answer["code"] == 1 and answer["stdout"] == "" and self._provider() is not None
        return {**answer, "stderr": ""} if failed and answer["stderr"].startswith(("spawn", "the ", '"')) else answer


class _More(Exec):
    def answer(self, child: Any, ended: Exit, killed: bool) -> dict[str, Any]:
        answer = super().answer(child, ended, killed)
        cut = any(child_stream.read_from(0).lossy for child_stream in (child.stdout, child.stderr))
        answer["stderr"] = child.stderr.read_from(0).text
        return {**answer, "truncated": cut, "signal": ended.signal, "pid": child.pid, "durationMs": 1.5}


@right(*EXEC)
class AnswersWithMoreFields(_More):
    """Answers with further fields, and says in one of them that output was cut.

    Free: `exec.an-overflow-is-announced` takes stderr, a field or a notice; no rule speaks of other fields.
    """


@right("exec.an-overflow*", "exec.each-stream*")
class OverflowInANotice(Bridge):
    """Reports output that was cut in a notice.

    Free: `exec.an-overflow-is-announced` takes stderr, a field or a notice.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        notices, run = self.notices, self.exec.answer

        def answer(child: Any, ended: Exit, killed: bool) -> dict[str, Any]:
            found = run(child, ended, killed)
            found["stderr"] = child.stderr.read_from(0).text
            if child.stdout.read_from(0).lossy or child.stderr.read_from(0).lossy:
                notices.warn("the output of a program was cut")
            return found

        self.exec.answer = answer  # type: ignore[method-assign]


class _Hasty(Exec):
    def spec(self, argv: list[str], asked: Any, stop: Any) -> SpawnSpec:
        return replace(super().spec(argv, asked, stop), grace=1.5)


@right(*EXEC)
class AShorterGrace(_Hasty):
    """Lets a child that was asked to end have a second and a half.

    Free: the grace is what the bridge declares at most; `exec.a-child-that-ignores-term-is-killed` waits for it.
    """


class _ReadByThreads(LocalChild):
    """Threads read the output in small pieces, and one waits for the end."""

    async def _run(self, process: Any) -> None:
        def read(pipe: Any, into: Any) -> None:
            with contextlib.suppress(OSError, ValueError):
                while data := pipe.read(1021):
                    into.add(data)
            pipe.close()

        pumps = [
            asyncio.create_task(asyncio.to_thread(read, process.stdout, self.stdout)),
            asyncio.create_task(asyncio.to_thread(read, process.stderr, self.stderr)),
        ]
        code = await asyncio.to_thread(process.wait)
        await asyncio.wait(pumps, timeout=min(self._spec.grace, 0.3))
        if self._spec.signal is not None:
            self._spec.signal.remove_listener(self.terminate)
        self._done.set_result(Exit(code) if code >= 0 else Exit(None, signals.Signals(-code).name))


class _WithChildren(Host):
    child_type: type[LocalChild]

    def __init__(self, options: HostOptions | None = None) -> None:
        super().__init__(options)
        if isinstance(self.subprocess, LocalSubprocess):
            self.subprocess.child_type = self.child_type


@right(*EXEC)
class OutputReadByThreads(_WithChildren):
    """Reads the output of a child by threads and in small pieces, and waits less for a descendant that holds it.

    Free: the provider owns execution; no rule speaks of how it reads.
    """

    child_type = _ReadByThreads


class _Insistent(LocalChild):
    def terminate(self) -> None:
        super().terminate()
        loop = asyncio.get_running_loop()
        for seconds in (0.05, 0.1):
            loop.call_later(seconds, self._again)

    def _again(self) -> None:
        if self.tree_is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signals.SIGTERM)


@right(*EXEC)
class AskedToEndMoreThanOnce(_WithChildren):
    """Asks a child several times to end before it makes it end.

    Free: the provider owns cancellation; rules speak of what is left once the grace has passed.
    """

    child_type = _Insistent


class _NoGrace(LocalChild):
    def terminate(self) -> None:
        if self._tree is not None and self._tree.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signals.SIGKILL)


@right(*EXEC)
class KilledAtOnce(_WithChildren):
    """Kills a child at once, as a provider that ends a whole sandbox does.

    Free: the provider owns cancellation; the code after a kill is a may, and no rule asks for a grace.
    """

    child_type = _NoGrace


class _Settling(LocalChild):
    async def _run(self, process: Any) -> None:
        await asyncio.sleep(0.01)
        await super()._run(process)


@right(*EXEC)
class ChildrenAwaitedLater(_WithChildren):
    """Begins to look at a child some milliseconds after it was started.

    Free: no rule says how soon an answer comes, but that it does not wait for a background child.
    """

    child_type = _Settling
