"""The implementations of one run: shaken hands with once, on the controller, and connected to once a worker."""

from __future__ import annotations

import asyncio
import shlex
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest

from conformance.drivers.driver import Driver, HarnessError
from conformance.drivers.envelope import printable
from conformance.drivers.protocol import InitializeResult
from conformance.verdicts import Exit

RESTARTS = 3
"""Starts in a row that may fail before a worker stops trying an implementation."""


class Bridge(msgspec.Struct, frozen=True):
    """One implementation under test: the label of its verdicts, how it is reached, and what it said of itself."""

    label: str
    spec: str
    hello: InitializeResult
    mount: str | None = None

    @property
    def given(self) -> str:
        """The value of ``--bridge`` that names it, quoted for a shell."""
        return shlex.quote(self.spec if self.label == self.spec else f"{self.label}={self.spec}")

    @property
    def title(self) -> str:
        """One line for people: who it is."""
        hello = self.hello
        mount = f", mount {printable(self.mount)}" if self.mount else ""
        return f"{self.label}: {hello.name} {hello.version}, role {hello.role}{mount}"


Connect = Callable[[str], Driver]
"""Makes a driver, not yet started, from the text of a specification."""


def handed_over(bridges: Iterable[Bridge]) -> list[Any]:
    """The bridges as plain values, for a worker."""
    return [msgspec.to_builtins(bridge) for bridge in bridges]


def taken_over(values: list[Any]) -> list[Bridge]:
    """The bridges that :func:`handed_over` made plain."""
    return msgspec.convert(values, list[Bridge])


def shake_hands(label: str, driver: Driver) -> InitializeResult:
    """Start, hear who is there, and close again. Ends the run with exit status 3 where nobody is.

    What is only ever shown of the answer is made safe to show.
    """

    async def talk() -> InitializeResult:
        try:
            return await driver.start()
        finally:
            await driver.close()

    try:
        return _shown(asyncio.run(talk()))
    except HarnessError as error:
        why = str(error)
    except Exception as error:
        why = f"{type(error).__name__}: {error} ({place(error)})\n  mend: mend what makes it"
    pytest.exit(f"the bridge {label} cannot be used: {why}{said(driver)}", returncode=Exit.HARNESS_ERROR)


def _shown(hello: InitializeResult) -> InitializeResult:
    return msgspec.structs.replace(
        hello,
        name=printable(hello.name),
        version=printable(hello.version),
        versions={printable(name): printable(version) for name, version in hello.versions.items()},
        capabilities=[printable(name) for name in hello.capabilities],
        issues_url=printable(hello.issues_url),
    )


def place(error: BaseException) -> str:
    """Where something was raised, as an editor understands it."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "place unknown"


def said(driver: Driver) -> str:
    """The end of what the implementation wrote to its standard error, as lines to show; '' when nothing."""
    text = stderr_of(driver)
    lines = printable(text).strip().splitlines()[-20:]
    return "".join(f"\n  stderr: {line}" for line in lines)


def stderr_of(driver: Driver) -> str:
    """What the implementation's process wrote to its standard error so far; '' for one without a process."""
    text = getattr(driver, "stderr", "")
    return text if isinstance(text, str) else ""


class Pool:
    """The live connections of one worker: at most one a bridge, replaced after it broke."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._live: dict[str, Driver] = {}
        self._failures: Counter[str] = Counter()
        self._last: dict[str, HarnessError] = {}
        self._runner: asyncio.Runner | None = None
        self.stderr: dict[str, list[str]] = {}

    @property
    def runner(self) -> asyncio.Runner:
        """The worker's one event loop, on its main thread."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner

    def driver(self, bridge: Bridge) -> Driver:
        """The started driver of a bridge. Raises :class:`HarnessError` when it does not start."""
        if bridge.label in self._live:
            return self._live[bridge.label]
        if self._failures[bridge.label] >= RESTARTS:
            last = self._last[bridge.label]
            raise HarnessError(
                f"{bridge.label} failed to start {RESTARTS} times in a row; last: {last.cause}", last.mend
            )
        driver = self._connect(bridge.spec)
        try:
            self.runner.run(driver.start())
        except HarnessError as error:
            self._failures[bridge.label] += 1
            self._last[bridge.label] = error
            self._close(bridge.label, driver)
            raise
        self._failures[bridge.label] = 0
        self._live[bridge.label] = driver
        return driver

    def fresh(self, bridge: Bridge) -> Driver:
        """A driver of a bridge that is neither started nor kept; who starts it closes it."""
        return self._connect(bridge.spec)

    def discard(self, bridge: Bridge) -> None:
        """Close the connection of a bridge, so that the next item gets a fresh one."""
        driver = self._live.pop(bridge.label, None)
        if driver is not None:
            self._close(bridge.label, driver)

    def close(self) -> None:
        """Close every connection and the loop."""
        for label in tuple(self._live):
            self._close(label, self._live.pop(label))
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def _close(self, label: str, driver: Driver) -> None:
        try:
            self.runner.run(driver.close())
        except Exception as error:
            # What cannot be closed properly must not hide why it was closed.
            self.stderr.setdefault(label, []).append(f"(closing failed: {type(error).__name__}: {error})\n")
        text = stderr_of(driver)
        if text:
            self.stderr.setdefault(label, []).append(text)
