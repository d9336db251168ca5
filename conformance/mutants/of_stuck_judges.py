"""Defects of what becomes of a judge that is stuck when the user cancels."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from conformance.mutants.registry import mutant
from reference_bridge.bridge.gate import ToolCallGate
from reference_bridge.host.signals import AbortSignal


@mutant()
class StuckJudgesOutlastAnAbort(ToolCallGate):
    """Waits for a judge for as long as it takes, also when the user has cancelled."""

    @asynccontextmanager
    async def patience(self, signal: AbortSignal | None) -> AsyncIterator[None]:
        yield
