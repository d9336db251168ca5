"""Serves a backend to a suite over this process's standard input and output: a Python adapter, ready made."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any

from conformance.drivers.backend import Backend, BackendFactory
from conformance.drivers.driver import HarnessError
from conformance.drivers.jsonrpc import Connection
from conformance.drivers.protocol import SUITE_ASKS, Message, Record, TraceNote
from conformance.garbage import spared


class _Suite:
    """The suite as the backend sees it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ask(self, message: Message) -> Coroutine[Any, Any, Any]:
        return self._connection.request(message)

    def note(self, message: TraceNote) -> None:
        self._connection.notify(message)


class _Served:
    """The backend as the connection sees it: a peer."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def answer(self, message: Message, seq: int) -> Record:
        return await self._backend.handle(message)

    def note(self, message: Message, seq: int) -> None:
        raise HarnessError(f"the suite sends no notifications, but {message.method} came")


def serve(factory: BackendFactory) -> int:
    """Serve until the end of input, TERM or INT, then close the backend. Returns the exit status: 1 after a fault.

    Standard output belongs to the protocol alone: whatever the backend, its libraries or its children print there goes
    to the error output instead, and their standard input is empty.
    """
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdout.flush()
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        with spared():
            return asyncio.run(_serve(factory, read_fd, write_fd))
    except HarnessError as error:
        print(error, file=sys.stderr)
        return 1


async def _serve(factory: BackendFactory, read_fd: int, write_fd: int) -> int:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    connection = Connection("the suite", "adapter", SUITE_ASKS, {}, gone=lambda how, rest: ended.set())
    backend = factory(_Suite(connection))
    try:
        connection.bind(_Served(backend))
        try:
            connection.connect(read_fd, write_fd)
        except OSError as error:
            raise HarnessError(
                f"the standard input or output cannot be served: {error}",
                "start the adapter with pipes, as `--bridge 'stdio:COMMAND'` does",
            ) from error
        waiting = asyncio.ensure_future(ended.wait())
        either: set[asyncio.Future[Any]] = {waiting, connection.lost}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if connection.lost.done():
            raise connection.lost.result()
        return 0
    finally:
        await connection.close()
        with contextlib.suppress(asyncio.CancelledError):
            await backend.close()
        for number in (signal.SIGTERM, signal.SIGINT):
            # It ends anyway; a signal that met the loop while it closes would be told as a traceback.
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)
