"""Defects of what exec makes of its arguments, and of whose they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.exec import Exec, Options
from reference_bridge.host import AbortController, Agent
from reference_bridge.host.subprocess import Child


@mutant()
class ExecHandsOnAHundredArguments(Exec):
    """Hands on the first hundred arguments."""

    def arguments(self, args: Any) -> list[str]:
        return super().arguments(args)[:100]


@mutant()
class ExecWritesArgumentsItsOwnWay(Exec):
    """Writes arguments that are no texts as its own language does."""

    def arguments(self, args: Any) -> list[str]:
        return [str(each) for each in args] if isinstance(args, list) else super().arguments(args)


@mutant()
class ExecTextTimeoutIgnored(Exec):
    """Takes a timeout that is a text for none."""

    def seconds(self, timeout: Any) -> float | None:
        return None if isinstance(timeout, str) else super().seconds(timeout)


@mutant()
class ExecIgnoresARelativeCwd(Exec):
    """Runs a program in the agent's folder where its own begins with no slash."""

    def folder(self, agent: Agent | None, cwd: Any) -> str:
        return super().folder(agent, cwd if isinstance(cwd, str) and cwd.startswith("/") else None)


@mutant()
class ExecRunsInTheFolderOfTheProcess(Exec):
    """Runs programs without a folder of their own in that of the process."""

    def folder(self, agent: Agent | None, cwd: Any) -> str:
        return super().folder(None, cwd)


@mutant()
class ExecKeepsTheFirstAgentsFolder(Exec):
    """Runs programs without a folder of their own in that of the agent for which the first one ran."""

    def folder(self, agent: Agent | None, cwd: Any) -> str:
        first: str = self.__dict__.setdefault("_first", (agent and agent.cwd) or str(Path.cwd()))
        return cwd if isinstance(cwd, str) and cwd else first


@mutant()
class ExecOneChildHearsTheSignal(Exec):
    """Ends, when a signal is aborted, the first child that was given it, and no other."""

    async def watched(self, child: Child, asked: Options, stop: AbortController) -> dict[str, Any]:
        given: list[Any] = self.__dict__.setdefault("_given", [])
        if asked.signal is not None and any(asked.signal is each for each in given):
            asked = Options(asked.cwd, asked.timeout, None)
        given.append(asked.signal)
        return await super().watched(child, asked, stop)
