"""The driver of @NAME@: answers what the conformance suite asks, by what @NAME@ does."""

from __future__ import annotations

import sys

from conformance.drivers.backend import Suite
from conformance.drivers.driver import Unsupported
from conformance.drivers.protocol import (
    PROTOCOL_VERSION,
    Initialize,
    InitializeResult,
    Message,
    Nothing,
    Ping,
    Record,
    StageClose,
    StageClosed,
    StageOpen,
)
from conformance.drivers.serve import serve

CAPABILITIES: list[str] = []
"""What it can do, by the names of conformance/drivers/capabilities.py. Rules that need more are unsupported."""


class Driver:
    """One connection of the suite. At most one stage is open at a time."""

    def __init__(self, suite: Suite) -> None:
        # await self.suite.ask(ModelRespond(…)) asks for the next assistant message; self.suite.note(TraceNote(…)) tells
        # the suite what it was not asked about. docs/protocol.md describes every message.
        self.suite = suite

    async def handle(self, message: Message) -> Record:
        """Answer one request of the suite."""
        match message:
            case Initialize():
                return InitializeResult(
                    protocol=PROTOCOL_VERSION,
                    name="@NAME@",
                    version="0.1.0",
                    role="bridge",
                    capabilities=CAPABILITIES,
                )
            case Ping():
                return Nothing()
            case StageOpen():
                # 1. Make one fresh host with the bridge on it, and return Nothing().
                raise Unsupported("stage.open")
            case StageClose():
                # 2. End the host and all that is on it; name the children it still had.
                return StageClosed()
        # 3. PackageLoad: run the package's factory, which is data: its tools, then its handlers, then its calls.
        # 4. AgentCreate, AgentPrompt, AgentSettle: settle is answered when nothing of the agent is pending.
        # 5. Whatever else the rules ask, as docs/protocol.md describes it.
        raise Unsupported(message.method)

    async def close(self) -> None:
        """Release everything, an open stage included."""


def make_backend(suite: Suite) -> Driver:
    """Make the driver of one connection."""
    return Driver(suite)


if __name__ == "__main__":
    sys.exit(serve(make_backend))
