"""Handlers and tools that are open, or were: the suite names them when it acts from inside them."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reference_bridge.bridge.api import Pi
from reference_bridge.bridge.context import Context

LATE = 0.01
"""Seconds after which a change that comes too late is made."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """One entry into a package's code, or into a native tool."""

    id: str
    agent: str | None
    pi: Pi | None = None
    ctx: Context | None = None
    on_update: Callable[..., Any] | None = None
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    """The execution context, which is how the bridge knows whose work a call is made in."""


class Invocations:
    """Every invocation of a stage, and what is still pending for each agent."""

    def __init__(self, numbers: itertools.count[int]) -> None:
        self._numbers = numbers
        self._known: dict[str, Invocation] = {}
        self._pending: dict[str | None, int] = {}
        self._timers: set[asyncio.TimerHandle] = set()
        self._changed = asyncio.Event()

    def open(
        self,
        agent: str | None,
        pi: Pi | None = None,
        ctx: Context | None = None,
        on_update: Callable[..., Any] | None = None,
    ) -> Invocation:
        """Make an invocation that is pending until it is closed; it stays known after that."""
        invocation = Invocation(f"i{next(self._numbers)}", agent, pi, ctx, on_update)
        self._known[invocation.id] = invocation
        self._pend(agent, 1)
        return invocation

    def close(self, invocation: Invocation) -> None:
        """The code has returned."""
        self._pend(invocation.agent, -1)

    def get(self, id: str) -> Invocation | None:
        """The invocation of that id, open or over."""
        return self._known.get(id)

    def later(self, invocation: Invocation, work: Callable[[], object]) -> None:
        """Do ``work`` after the invocation has returned; the agent is not settled before."""
        self._pend(invocation.agent, 1)

        def run() -> None:
            self._timers.discard(timer)
            self._pend(invocation.agent, -1)
            work()

        timer = asyncio.get_running_loop().call_later(LATE, run, context=invocation.context.copy())
        self._timers.add(timer)

    def is_pending(self, agent: str) -> bool:
        """Whether anything of this agent is open."""
        return self._pending.get(agent, 0) > 0

    async def settled(self, agent: str) -> None:
        """Wait until nothing of this agent is open."""
        while self.is_pending(agent):
            self._changed.clear()
            await self._changed.wait()

    def cancel(self) -> None:
        """Give up what was to be done later."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def _pend(self, agent: str | None, by: int) -> None:
        self._pending[agent] = self._pending.get(agent, 0) + by
        self._changed.set()
