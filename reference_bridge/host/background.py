"""The tasks of a host: none outlives it, and its end can wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Background:
    """Runs coroutines nobody awaits, and keeps hold of them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], failed: Callable[[Exception], None]) -> asyncio.Task[Any]:
        """Run `work` beside everything else; an exception it raises is given to `failed`."""

        async def contained() -> None:
            try:
                await work
            except Exception as error:
                failed(error)

        task = asyncio.create_task(contained())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @property
    def pending(self) -> int:
        """How many tasks have not ended yet."""
        return len(self._tasks)

    async def drain(self) -> None:
        """Wait until no task is left, those started meanwhile included."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def cancel(self) -> None:
        """Cancel what still runs and wait for it to end."""
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)
