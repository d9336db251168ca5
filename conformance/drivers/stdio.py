"""The driver of an adapter in another process, spoken to over its standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.drivers import mends
from conformance.drivers.driver import AdapterGone, HarnessError, Peer, ProtocolBroken
from conformance.drivers.envelope import printable, quote
from conformance.drivers.jsonrpc import Connection
from conformance.drivers.process import Child, Relative
from conformance.drivers.protocol import (
    ADAPTER_ASKS,
    NOTES,
    PROTOCOL_VERSION,
    Initialize,
    InitializeResult,
    Limits,
    Message,
)
from conformance.drivers.surroundings import Surroundings

START_SECONDS = 30.0
GRACE_SECONDS = 2.0
BROKEN_GRACE_SECONDS = 0.25
EXIT_SECONDS = 0.5
"""How long an adapter may take to answer ``initialize``; to end once its input is closed, and that when its connection
broke before; and to exit after it closed its output, before it counts as alive without an output."""


class StdioDriver:
    """One process, one connection. A crashed adapter is replaced by starting a fresh driver, never the same one.

    ``argv`` is the program and its arguments; no shell is involved. The process gets a folder of its own (``HOME``,
    ``TMPDIR``, and its working folder unless ``cwd`` names one), which is removed at the end, an environment of
    :data:`~conformance.drivers.surroundings.PASSED_ON` and ``extra_names`` from the suite's plus ``env``, and a session
    of its own. ``left_behind`` are
    the processes it had not ended when it ended itself; they have been ended. Nothing it says is run or used as a path.
    """

    def __init__(
        self,
        label: str,
        argv: Sequence[str],
        mount: str | None = None,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        extra_names: Iterable[str] = (),
        line_limit: int = Limits().line_bytes,
        start_seconds: float = START_SECONDS,
        grace_seconds: float = GRACE_SECONDS,
        suite_version: str = "",
    ) -> None:
        self.label = label
        self.argv = tuple(argv)
        self.left_behind: list[Relative] = []
        self._mount = mount
        self._cwd = cwd
        self._env = dict(env or {})
        self._extra_names = tuple(extra_names)
        self._line_limit = line_limit
        self.start_seconds = start_seconds
        self._grace_seconds = grace_seconds
        self._suite_version = suite_version
        self._around: Surroundings | None = None
        self._child: Child | None = None
        self._connection: Connection | None = None
        self._used = False
        self._closing = False
        self._going: asyncio.Task[None] | None = None
        self._how = ""
        self._rest = b""

    @property
    def pid(self) -> int | None:
        """The process id while there is a process."""
        return self._child.pid if self._child is not None else None

    @property
    def ended(self) -> str | None:
        """How the process ended once its input was closed, in words; ``None`` when it had to be ended, or runs."""
        child = self._child
        return child.describe() if child is not None and child.ended_by_itself else None

    @property
    def unfinished(self) -> bytes:
        """The beginning of a message whose end has not come yet."""
        return b"" if self._connection is None else self._connection.unfinished

    @property
    def stderr(self) -> str:
        """What the process wrote to its error output: the beginning and the end of it."""
        return self._child.errors.text() if self._child is not None else ""

    async def start(self) -> InitializeResult:
        """Start the process and shake hands. Raises ``HarnessError``; the process is ended before it does."""
        if self._used:
            raise HarnessError(f"{self.label} was started before", "make a fresh driver for a fresh process")
        self._used = True
        try:
            connection = self._launch()
            try:
                async with asyncio.timeout(self.start_seconds):
                    answer = await connection.request(
                        Initialize(protocol=PROTOCOL_VERSION, suite=self._suite_version, mount=self._mount)
                    )
            except TimeoutError:
                raise HarnessError(
                    f"{self.label} did not answer initialize within {self.start_seconds:g} s{self._last_words()}",
                    "check that the command starts an adapter that reads its standard input line by line",
                ) from None
            assert isinstance(answer, InitializeResult)
            if answer.protocol != PROTOCOL_VERSION:
                raise ProtocolBroken(
                    f"{self.label} speaks protocol version {answer.protocol}, the suite speaks {PROTOCOL_VERSION}",
                    "use the suite's release that speaks the adapter's version, or update the adapter",
                )
        except BaseException:
            await self.close()
            raise
        connection.send_limit = answer.limits.line_bytes
        return answer

    def pass_on(self, names: Iterable[str]) -> None:
        """Let a process that starts later see these variables of the suite's environment too."""
        self._extra_names = (*self._extra_names, *names)

    def bind(self, peer: Peer | None) -> None:
        """Name who answers from now on."""
        if self._connection is not None:
            self._connection.bind(peer)

    async def request(self, message: Message) -> Any:
        """Ask, and return the message's ``Result``."""
        return await self._live().request(message)

    async def failed(self) -> HarnessError:
        """Return, as soon as it is known, why the connection can no longer be used."""
        return await asyncio.shield(self._live().lost)

    def spawn(self, on_exit: Callable[[], None]) -> tuple[Surroundings, Child]:
        """Start the program once more, without a connection; the caller ends the child and removes its surroundings."""
        around = Surroundings(self._extra_names, self._env)
        try:
            return around, Child(self.argv, around.env, self._cwd or around.work, on_exit)
        except (OSError, ValueError) as error:
            around.remove()
            raise HarnessError(
                f"{self.label} cannot be started: {quote(self.argv[0] if self.argv else '')}: {error}",
                "check the command of the bridge specification, and that the program is installed and executable",
            ) from error

    def kill(self) -> None:
        """End the process and its family at once, without grace; ``close`` cleans up as always."""
        self._grace_seconds = 0.0
        if self._child is not None:
            self._child.kill()

    async def close(self) -> None:
        """Close the input, wait a short grace, then TERM, then KILL; reap; remove the folder."""
        self._closing = True
        connection, child = self._connection, self._child
        grace = self._grace_seconds
        if child is not None:
            child.family()  # known while it lives: afterwards nobody can tell whose child one was that hides
        if connection is not None:
            if connection.lost.done():  # what it might still do nobody will read
                grace = min(grace, BROKEN_GRACE_SECONDS)
            connection.finish()
        if self._going is not None:
            self._going.cancel()
            await asyncio.gather(self._going, return_exceptions=True)
            self._going = None
        if child is not None:
            self.left_behind += await child.end(grace)
        if connection is not None:
            await connection.close()
        if self._around is not None:
            self._around.remove()

    def _live(self) -> Connection:
        if self._connection is None:
            raise HarnessError(f"{self.label} is not started", "call start() first")
        return self._connection

    def _launch(self) -> Connection:
        self._around, self._child = self.spawn(self._exited)
        child = self._child
        self._connection = Connection(self.label, "suite", ADAPTER_ASKS, NOTES, self._line_limit, self._gone)
        self._connection.connect(child.stdout, child.stdin)
        return self._connection

    def _exited(self) -> None:
        self._gone("", b"")

    def _gone(self, how: str, rest: bytes) -> None:
        """The process ended, or it closed one of its streams: wait for the rest of the story, then end the connection.

        What it still wrote before it ended is taken first: an answer that arrived is an answer.
        """
        self._how, self._rest = how or self._how, rest or self._rest
        if self._closing or (self._going is not None and not self._going.done()):
            return
        self._going = asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        child, connection = self._child, self._connection
        assert child is not None
        assert connection is not None
        mend = "run the command by hand, or look at what it wrote to its error output"
        if await child.exited(EXIT_SECONDS):
            await asyncio.sleep(0.05)  # until the pipes are empty; their end may never come when a child holds them
            child.read_errors()
            how = child.describe()
        else:
            how = f"{self._how}, but is still running,"
            mend = mends.OPEN
        if self._rest:
            how += f" after half a line, {quote(self._rest)},"
        awaited = ", ".join(connection.awaited)
        while_ = f" while the suite awaited {awaited}" if awaited else " before the suite was done with it"
        connection.fail(
            AdapterGone(
                f"{self.label} {how}{while_}{self._last_words()}",
                mend,
            )
        )

    def _last_words(self) -> str:
        text = self.stderr.strip()
        if not text:
            return "; it wrote nothing to its error output"
        tail = "\n".join(text.splitlines()[-12:])[-2000:]
        return "; its error output ends:\n    " + printable(tail).replace("\n", "\n    ")
