"""The optional services of a stage's host: approval, attachments, subprocess."""

from __future__ import annotations

import itertools

from conformance.drivers.backend import Suite
from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import StageOpen
from conformance.drivers.reference._processes import LocalProvider, ScriptedProvider, SpawnObserver
from conformance.drivers.reference._trace import Notes
from reference_bridge.host import ApprovalService, Host, HostOptions, MemoryStore
from reference_bridge.host.attachments import MemoryAttachments


class Services:
    """Makes the services a stage asks for, and ends them."""

    def __init__(self, suite: Suite, notes: Notes, numbers: itertools.count[int], message: StageOpen) -> None:
        self._wanted = message.services
        self._has_reserved = any(native.reserved for native in message.natives)
        self._observer = SpawnObserver(notes)
        self._stores: dict[str, MemoryStore] = {}
        self._resumed: dict[str, MemoryStore] = {}
        self._provider: LocalProvider | ScriptedProvider | None = None
        if self._wanted.subprocess == "local":
            self._provider = LocalProvider(notes)
        elif self._wanted.subprocess == "scripted":
            self._provider = ScriptedProvider(suite, numbers)

    def options(self) -> HostOptions:
        """What the host is made of."""
        return HostOptions(
            approval=None if self._wanted.approval == "none" else ApprovalService(),
            subprocess=self._provider,
            store=self._store,
            attachments=MemoryAttachments() if self._wanted.attachments else None,
            # The reserved transport tool is shown beside the others only in this mode.
            mode="both" if self._has_reserved else "native",
        )

    def resume(self, agent: str, ended: str) -> None:
        """Give the next agent of that id the log of one that has ended. Raises ``HarnessError`` where there is none."""
        if ended not in self._stores:
            raise HarnessError(f"there was no agent {ended!r}", "resume the session of an agent of this stage")
        self._resumed[agent] = self._stores[ended]

    def _store(self, session: str) -> MemoryStore:
        store = self._resumed.pop(session) if session in self._resumed else MemoryStore()
        self._stores[session] = store
        return store

    def attach(self, host: Host) -> None:
        """Answer the host's questions to the user as the stage wants them answered."""
        self._observer.start()
        answer = self._wanted.approval
        if answer not in ("none", "unanswered"):

            async def answered(request: object, following: object) -> str:
                return answer

            host.on("approval/request", answered)

    def children(self) -> list[int]:
        """The process ids of children that still run."""
        return [] if self._provider is None else self._provider.pids

    async def close(self) -> None:
        """End what still runs."""
        if self._provider is not None:
            await self._provider.close()
        self._observer.stop()
