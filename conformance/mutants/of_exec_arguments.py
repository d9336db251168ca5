"""Defects of what exec makes of its arguments, and of whose they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.exec import Exec, Options
from reference_bridge.host import AbortController, AbortSignal, Agent
from reference_bridge.host.subprocess import Child, SpawnSpec


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
class ExecExpandsTheTilde(Exec):
    """Takes an argument that begins with a tilde for a place in the user's folder."""

    def arguments(self, args: Any) -> list[str]:
        home = os.environ.get("HOME", "")
        return [home + each[1:] if each == "~" or each.startswith("~/") else each for each in super().arguments(args)]


@mutant()
class ExecTimeoutsAreASecond(Exec):
    """Ends every child that has a timeout after a second at the latest."""

    def seconds(self, timeout: Any) -> float | None:
        seconds = super().seconds(timeout)
        return None if seconds is None else min(seconds, 1.0)


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
class ExecHandsOnWellKnownVariables(Exec):
    """Gives a program the variables that every program needs, and no other."""

    def spec(self, argv: list[str], asked: Options, stop: AbortSignal) -> SpawnSpec:
        known = [f"{name}={os.environ[name]}" for name in ("PATH", "HOME", "LANG", "USER") if name in os.environ]
        return super().spec(["env", "-i", *known, *argv], asked, stop)


@mutant()
class ExecOneChildHearsTheSignal(Exec):
    """Ends, when a signal is aborted, the first child that was given it, and no other."""

    async def watched(self, child: Child, asked: Options, stop: AbortController) -> dict[str, Any]:
        given: list[Any] = self.__dict__.setdefault("_given", [])
        if asked.signal is not None and any(asked.signal is each for each in given):
            asked = Options(asked.cwd, asked.timeout, None)
        given.append(asked.signal)
        return await super().watched(child, asked, stop)
