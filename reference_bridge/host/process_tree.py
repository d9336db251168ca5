"""A child and its descendants, as far as they stay in its process group.

A descendant that starts a session of its own has left the group: nothing here reaches it.
"""

from __future__ import annotations

import asyncio
import os
import signal as signals
from pathlib import Path
from typing import Final

from reference_bridge.host.signals import AbortSignal

POLL: Final = 0.02
"""Seconds between two looks at a group: nothing tells when its last member has ended."""

_PROC: Final = Path("/proc")


class ProcessTree:
    """The group led by `leader`, which was started as the leader of a session of its own."""

    def __init__(self, leader: int) -> None:
        self._group = leader
        self._gone = False
        self._ending: asyncio.Task[None] | None = None

    def is_alive(self) -> bool:
        """Whether a member still runs. Once none does, the group is never looked at or signalled again."""
        if not self._gone:
            self._gone = not (_signal(self._group, 0) and _has_running_member(self._group))
        return not self._gone

    def terminate(self, grace: float) -> None:
        """Ask every member to end, and make those end that still run after `grace` seconds."""
        if self.is_alive() and (self._ending is None or self._ending.done()):
            _signal(self._group, signals.SIGTERM)
            self._ending = asyncio.ensure_future(self._kill_after(grace))

    async def ended(self, signal: AbortSignal | None = None) -> bool:
        """Wait until no member runs any more; `False` if `signal` aborts before that."""
        while self.is_alive():
            if signal is not None and signal.aborted:
                return False
            await asyncio.sleep(POLL)
        if self._ending is not None:
            await self._ending
        return True

    async def _kill_after(self, grace: float) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + grace
        while self.is_alive():
            left = until - loop.time()
            if left <= 0:
                _signal(self._group, signals.SIGKILL)
                return
            await asyncio.sleep(min(left, POLL))


def _signal(group: int, number: int) -> bool:
    """Signal a group; answers whether it has a member left, dead ones included."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        # macOS answers so for a group of nothing but dead members.
        return False
    return True


def _has_running_member(group: int) -> bool:
    """Whether a member is more than a zombie: an orphan may stay one for as long as process 1 does not reap it."""
    if not _PROC.joinpath("self", "stat").exists():
        return True
    for entry in _PROC.iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            stat = entry.joinpath("stat").read_bytes()
        except OSError:
            continue
        # pid (name) state parent group …; the name may hold spaces and parentheses.
        state, _, member_of = stat[stat.rindex(b")") + 2 :].split(b" ", 3)[:3]
        if int(member_of) == group and state not in (b"Z", b"X"):
            return True
    return False
