"""Defects of exec: how it asks the host's provider, and what it makes of the answer."""

from __future__ import annotations

import contextlib
import os
import subprocess
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.exec import Exec, Options
from reference_bridge.host import AbortController, AbortSignal, Agent
from reference_bridge.host.subprocess import Child, Exit, SpawnSpec


class _AnswersOtherwise(Exec):
    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return answer

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        return self.changed(await super().run(agent, command, args, options))


@mutant()
class ExecRejectsOnNonzero(_AnswersOtherwise):
    """Throws on a nonzero exit code."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        if answer["code"] and not answer["killed"]:
            raise RuntimeError(f"exit code {answer['code']}")
        return answer


@mutant()
class ExecMergesStreams(_AnswersOtherwise):
    """Puts both streams into stdout."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "stdout": answer["stdout"] + answer["stderr"], "stderr": ""}


@mutant()
class ExecThroughAShell(Exec):
    """Hands command and arguments to a shell as one line."""

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        line = " ".join([str(command), *map(str, args or [])])
        return await super().run(agent, "sh", ["-c", line], options)


@mutant()
class ExecIgnoresCwd(Exec):
    """Runs every program in the agent's folder."""

    def folder(self, agent: Agent | None, cwd: Any) -> str:
        return super().folder(agent, None)


class _FailsOtherwise(Exec):
    def failed(self, reason: str, killed: bool = False) -> dict[str, Any]:
        raise RuntimeError(reason)


@mutant()
class ExecRejectsOnMissingProgram(_FailsOtherwise):
    """Throws when a program cannot be started."""


@mutant()
class ExecRejectsOnMissingFolder(_FailsOtherwise):
    """Throws when the working folder is not there."""

    def failed(self, reason: str, killed: bool = False) -> dict[str, Any]:
        if "PATH" in reason:
            return Exec.failed(self, reason, killed)
        raise RuntimeError(reason)


@mutant()
class ExecHidesTheReason(Exec):
    """Says nothing about why a program could not be started."""

    def failed(self, reason: str, killed: bool = False) -> dict[str, Any]:
        return {**super().failed(reason, killed), "stderr": ""}


@mutant()
class AFailedStartHasNoStdout(Exec):
    """Answers about a program that could not be started without an stdout."""

    def failed(self, reason: str, killed: bool = False) -> dict[str, Any]:
        answer = super().failed(reason, killed)
        del answer["stdout"]
        return answer


@mutant(hangs=True)
class ExecTimeoutIgnored(Exec):
    """Ignores the timeout."""

    def seconds(self, timeout: Any) -> float | None:
        return None


class _NotMarked(_AnswersOtherwise):
    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "killed": False}


@mutant()
class ExecTimeoutNotMarked(_NotMarked):
    """Says of a child ended by its timeout that it was not killed."""


@mutant()
class ExecAbortNotMarked(_NotMarked):
    """Says of a child ended by its signal that it was not killed."""


@mutant()
class ExecKilledToldByTheExit(Exec):
    """Says killed of a child that died of a signal, not of one that was asked to end and did."""

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        return super().answer(child, ended, ended.code is None)


@mutant()
class ExecDropsPartialOutput(_AnswersOtherwise):
    """Drops the output of a child that was killed."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "stdout": ""} if answer["killed"] else answer


@mutant(hangs=True)
class ExecSignalIgnored(Exec):
    """Ignores the signal."""

    def options(self, agent: Agent | None, given: dict[str, Any]) -> Options:
        return replace(super().options(agent, given), signal=None)


@mutant(hangs=True)
class ExecRunsOnAnAbortedSignal(Exec):
    """Ignores a signal that is aborted already."""

    def options(self, agent: Agent | None, given: dict[str, Any]) -> Options:
        made = super().options(agent, given)
        return replace(made, signal=None) if made.signal is not None and made.signal.aborted else made


@mutant(hangs=True)
class ExecNeverEscalates(Exec):
    """Waits for hours before it makes a child end that was asked to."""

    def spec(self, argv: list[str], asked: Options, stop: AbortSignal) -> SpawnSpec:
        # Past the nine seconds that decide; closing the stage waits for the rest as well.
        return replace(super().spec(argv, asked, stop), grace=12.0)


@mutant()
class ExecLeavesGrandchildren(Exec):
    """Starts each program in a session of its own below the child, where ending the group does not reach."""

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        if args and "sleep 41.732" in str(args):
            # It lets go of the output: an answer that waits for that proves nothing more.
            args = ["-c", str(args[1]).replace("sleep 41.732", "setsid sleep 41.732 >/dev/null 2>&1")]
        return await super().run(agent, command, args, options)


@mutant()
class ExecMarksOwnSignal(Exec):
    """Says of a child that ended itself by a signal that it was killed."""

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        return super().answer(child, ended, killed or ended.signal is not None)


@mutant(hangs=True)
class ExecLeavesStdinOpen(Exec):
    """Gives a program an input that does not end."""

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        if command == "cat":
            return await super().run(agent, "sh", ["-c", "sleep 20 | cat"], options)
        return await super().run(agent, command, args, options)


@mutant()
class ExecBoundOneByteShort(Exec):
    """Keeps one byte less than 64 MiB."""

    def spec(self, argv: list[str], asked: Options, stop: AbortSignal) -> SpawnSpec:
        made = super().spec(argv, asked, stop)
        return replace(made, stdout=self._limit - 1, stderr=self._limit - 1)


@mutant()
class ExecAsksForLess(Exec):
    """Asks the provider to keep 16 MiB of each stream."""

    def spec(self, argv: list[str], asked: Options, stop: AbortSignal) -> SpawnSpec:
        return replace(super().spec(argv, asked, stop), stdout=2**24, stderr=2**24)


@mutant()
class ExecKeepsTheHead(Exec):
    """Keeps the first 64 MiB of a stream and not the last."""

    def spec(self, argv: list[str], asked: Options, stop: AbortSignal) -> SpawnSpec:
        made = super().spec(argv, asked, stop)
        return replace(made, stdout=2 * self._limit, stderr=2 * self._limit)

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        made = super().answer(child, ended, killed)
        return {**made, "stdout": made["stdout"][: self._limit]}


@mutant()
class ExecBoundsTheSum(_AnswersOtherwise):
    """Keeps 64 MiB of both streams together."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        room = max(0, self._limit - len(answer["stderr"]))
        return {**answer, "stdout": answer["stdout"][-room:] if room else ""}


@mutant()
class ExecOverflowSilent(Exec):
    """Says nothing of output that was cut."""

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        return {**super().answer(child, ended, killed), "stderr": child.stderr.read_from(0).text}


@mutant()
class ExecDecodesEachRead(_AnswersOtherwise):
    """Loses characters whose bytes come apart."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "stdout": answer["stdout"].replace("é", "\ufffd\ufffd")}


@mutant()
class ExecThrowsOnBytes(_AnswersOtherwise):
    """Throws on output that is not UTF-8."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        if "\ufffd" in answer["stdout"]:
            raise UnicodeError("the output is not UTF-8")
        return answer


@mutant()
class ExecDropsNul(_AnswersOtherwise):
    """Drops NUL from the output."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "stdout": answer["stdout"].replace("\0", "")}


@mutant()
class ExecEmptyEnvironment(Exec):
    """Gives a program no variable at all."""

    def spec(self, argv: list[str], asked: Options, stop: AbortSignal) -> SpawnSpec:
        return replace(super().spec(argv, asked, stop), env=dict.fromkeys(os.environ))


class _SpawnsByItself(Exec):
    def spawned(self, command: Any, args: Any) -> dict[str, Any]:
        with contextlib.suppress(OSError):
            done = subprocess.run([str(command), *map(str, args or [])], capture_output=True, text=True, check=False)
            return {"stdout": done.stdout, "stderr": done.stderr, "code": done.returncode, "killed": False}
        return self.failed("it could not be started")


@mutant()
class ExecSpawnsWithoutAProvider(_SpawnsByItself):
    """Starts programs by itself on a host without a subprocess service."""

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        if self._provider() is None:
            return self.spawned(command, args)
        return await super().run(agent, command, args, options)


@mutant()
class ExecIgnoresTheProvider(_SpawnsByItself):
    """Starts every program by itself, whatever provider the host has."""

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        return self.spawned(command, args)


@mutant()
class ExecSpawnsByItself(Exec):
    """Starts a helper of its own beside the provider's child."""

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        helper = subprocess.Popen(["sleep", "1"])  # noqa: ASYNC220
        self._helpers = [*getattr(self, "_helpers", []), helper]
        return await super().run(agent, command, args, options)


@mutant()
class ExecSucceedsWithoutAProvider(_AnswersOtherwise):
    """Says of a program that could not be started that it succeeded."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "code": 0, "stderr": ""} if self._provider() is None else answer


@mutant(hangs=True)
class ExecWaitsForBackground(Exec):
    """Waits for background processes that hold the output."""

    def spec(self, argv: list[str], asked: Options, stop: AbortSignal) -> SpawnSpec:
        return replace(super().spec(argv, asked, stop), grace=60.0)


@mutant()
class ExecCutsLateOutput(Exec):
    """Takes only what has come when the child exits."""

    async def watched(self, child: Child, asked: Options, stop: AbortController) -> dict[str, Any]:
        answer = await super().watched(child, asked, stop)
        return {**answer, "stdout": answer["stdout"].removesuffix("late\n")}


@mutant()
class ExecZeroTimeoutFires(Exec):
    """Takes a timeout that is not above zero for one that has passed."""

    def seconds(self, timeout: Any) -> float | None:
        return super().seconds(timeout) or (0.001 if isinstance(timeout, int | float) else None)


@mutant()
class ExecOddArgumentsSucceed(Exec):
    """Says of a command or an argument that cannot be started that it succeeded."""

    def failed(self, reason: str, killed: bool = False) -> dict[str, Any]:
        return {**super().failed(reason, killed), "code": 0}


@mutant()
class ExecRunsRelativePaths(Exec):
    """Runs a program named by a relative path."""

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        if isinstance(command, str) and command.startswith("./"):
            command = os.path.join(self.options(agent, dict(options or {})).cwd, command[2:])  # noqa: PTH118
        return await super().run(agent, command, args, options)


@mutant()
class ExecMixesConcurrentOutputs(_AnswersOtherwise):
    """Answers calls that run at the same time with one output."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        self._shared = getattr(self, "_shared", answer)
        return dict(self._shared)


@mutant()
class ExecRefusedWhileLoading(Exec):
    """Throws when a program is to be run before there is an agent."""

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        if agent is None:
            raise RuntimeError("there is no agent yet")
        return await super().run(agent, command, args, options)
