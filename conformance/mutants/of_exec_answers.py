"""Defects of what exec's answer makes of the output, and of what its calls leave behind."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.exec import Exec, Options
from reference_bridge.host import AbortController, AbortSignal, Agent
from reference_bridge.host.subprocess import Child, Exit, SpawnSpec


class _Tells(Exec):
    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        return self.changed(super().answer(child, ended, killed))

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError


@mutant()
class ExecTrimsOutput(_Tells):
    """Takes blanks and line ends off both ends of the output."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "stdout": answer["stdout"].strip(), "stderr": answer["stderr"].strip()}


@mutant()
class ExecNormalisesLineEnds(_Tells):
    """Takes carriage returns before line feeds out of the output."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "stdout": answer["stdout"].replace("\r\n", "\n")}


@mutant()
class ExecStripsColours(_Tells):
    """Takes control sequences for colours out of the output."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "stdout": re.sub(r"\x1b\[[0-9;]*m", "", answer["stdout"])}


@mutant()
class ExecCleansStderr(_Tells):
    """Takes colours, carriage returns and what is not ASCII out of stderr."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        plain = re.sub(r"\x1b\[[0-9;]*m|\r|[^\x00-\x7f]", "", answer["stderr"])
        return {**answer, "stderr": plain}


@mutant()
class ExecDropsStderrOfSuccess(_Tells):
    """Drops what a program that succeeded wrote to its stderr."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "stderr": answer["stderr"] if answer["code"] else ""}


@mutant()
class ExecDropsStderrOfKilled(_Tells):
    """Drops what a killed program wrote to its stderr."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "stderr": "" if answer["killed"] else answer["stderr"]}


@mutant()
class ExecCodeIsZeroOrOne(_Tells):
    """Answers 1 for every exit code but 0."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "code": min(answer["code"], 1)}


@mutant()
class ExecLeaksDescriptors(_Tells):
    """Leaves a file open with every call."""

    def changed(self, answer: dict[str, Any]) -> dict[str, Any]:
        os.dup(1)
        return answer


@mutant()
class ExecDropsEmptyArguments(Exec):
    """Takes empty arguments out of the list."""

    def arguments(self, args: Any) -> list[str]:
        return [each for each in super().arguments(args) if each]


@mutant()
class ExecKeepsEverything(Exec):
    """Keeps the whole output and cuts it at the end."""

    def spec(self, argv: list[str], asked: Options, stop: AbortSignal) -> SpawnSpec:
        made = super().spec(argv, asked, stop)
        return replace(made, stdout=2**31, stderr=2**31)

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        # The whole of it once more, as text, would take longer than the gigabyte took to come.
        starts = [(stream, max(0, stream._total - self._limit)) for stream in (child.stdout, child.stderr)]
        out, err = (stream.read_from(start).text for stream, start in starts)
        return {"stdout": out, "stderr": err, "code": self.code(ended), "killed": killed}


@mutant()
class ExecTakesLargeCodesForSignals(Exec):
    """Takes a child that ends with a code above 128 for one that was killed."""

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        return super().answer(child, ended, killed or (ended.code or 0) > 128)


@mutant()
class ExecDropsTheByteOrderMark(Exec):
    """Drops the byte order mark at the head of the output."""

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        answer = super().answer(child, ended, killed)
        return {**answer, "stdout": answer["stdout"].removeprefix("\ufeff")}


@mutant()
class ExecFlattensArguments(Exec):
    """Hands on the first line of each argument, and no argument that is only hyphens."""

    def arguments(self, args: Any) -> list[str]:
        return [text.partition("\n")[0] for text in super().arguments(args) if text.strip("-") or not text]


@mutant()
class ExecTimeoutHidesTheSignal(Exec):
    """Does not listen to a signal that is handed over beside a timeout."""

    def options(self, agent: Agent | None, given: dict[str, Any]) -> Options:
        asked = super().options(agent, given)
        return asked if asked.timeout is None else replace(asked, signal=None)


@mutant()
class ExecEndsAllChildren(Exec):
    """Marks and ends every child that runs when one of them reaches its timeout."""

    async def watched(self, child: Child, asked: Options, stop: AbortController) -> dict[str, Any]:
        running: set[AbortController] = self.__dict__.setdefault("_running", set())

        def end_all() -> None:
            for each in list(running):
                each.abort("stopped")

        running.add(stop)
        stop.signal.add_listener(end_all)
        try:
            return await super().watched(child, asked, stop)
        finally:
            running.discard(stop)
