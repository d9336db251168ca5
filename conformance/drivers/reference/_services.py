"""The optional services of a stage's host: approval, attachments, subprocess."""

from __future__ import annotations

import itertools

from conformance.drivers.backend import Suite
from conformance.drivers.protocol import StageOpen
from conformance.drivers.reference._trace import Notes
from reference_bridge.host import ApprovalService, Host, HostOptions


class Services:
    """Makes the services a stage asks for, and ends them."""

    def __init__(self, suite: Suite, notes: Notes, numbers: itertools.count[int], message: StageOpen) -> None:
        self._wanted = message.services
        self._has_reserved = any(native.reserved for native in message.natives)

    def options(self) -> HostOptions:
        """What the host is made of."""
        return HostOptions(
            approval=None if self._wanted.approval == "none" else ApprovalService(),
            # The reserved transport tool is shown beside the others only in this mode.
            mode="both" if self._has_reserved else "native",
        )

    def attach(self, host: Host) -> None:
        """Answer the host's questions to the user as the stage wants them answered."""
        answer = self._wanted.approval
        if answer not in ("none", "unanswered"):

            async def answered(request: object, following: object) -> str:
                return answer

            host.on("approval/request", answered)

    def children(self) -> list[int]:
        """The process ids of children that still run."""
        return []

    async def close(self) -> None:
        """End what still runs."""
