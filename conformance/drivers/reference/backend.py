"""The reference bridge on the reference host, as an implementation the suite can drive."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
from collections.abc import Coroutine
from typing import Any, TypeVar, get_args

from conformance import __version__
from conformance.drivers.backend import Backend, Suite
from conformance.drivers.driver import HarnessError, Unsupported
from conformance.drivers.protocol import (
    PROTOCOL_VERSION,
    Initialize,
    InitializeResult,
    Message,
    Nothing,
    OperatorBash,
    Ping,
    Record,
    StageClose,
    StageClosed,
    StageOpen,
)
from conformance.drivers.reference._stage import OpenStage
from reference_bridge.bridge.bridge import Bridge, Mount
from reference_bridge.bridge.packages import current_agent
from reference_bridge.host import Host

T = TypeVar("T")

MOUNTS: tuple[Mount, ...] = get_args(Mount)

CAPABILITIES = (
    "native-tools",
    "parallel-natives",
    "late-natives",
    "scoped-natives",
    "reserved-natives",
    "multiple-agents",
    "child-agents",
    "agent-dispose",
    "resume",
    "unregister-tool",
    "late-load",
    "unload",
    "reload",
    "steer",
    "follow-up",
    "cancel",
    "host-policy",
    "host-ask",
    "attachments",
    "attachments-optional",
    "exec",
    "subprocess",
    "subprocess-scripted",
    "subprocess-optional",
    "spawn-observer",
    "durable-log",
    "notices",
    "ctx",
    "host-seams",
)
"""What the reference can do under every mount."""

ROOT_ONLY = ("package-tools-restrictable",)
"""What it can do only where packages' tools are registered globally: the host restricts nothing a scope registered."""


class ReferenceBackend:
    """Answers the suite. One stage is open at a time; each has a host and a bridge of its own."""

    def __init__(self, suite: Suite, mount: str | None, bridge_type: type[Bridge], host_type: type[Host]) -> None:
        self._suite = suite
        self._mount = _mount(mount)
        self._bridge_type = bridge_type
        self._host_type = host_type
        self._numbers = itertools.count(1)
        self._outside = contextvars.copy_context()
        self._stage: OpenStage | None = None

    async def handle(self, message: Message) -> Record:
        """Answer one request of the suite."""
        if isinstance(message, Initialize):
            return self._initialize(message)
        if isinstance(message, Ping):
            return Nothing()
        if isinstance(message, StageOpen):
            return await self._in(self._outside, self._open(message))
        if isinstance(message, StageClose):
            return StageClosed(children=await self._in(self._outside, self._close()))
        if isinstance(message, OperatorBash):
            raise Unsupported("operator-bash", "the host has no command surface of the operator's own")
        if self._stage is None:
            raise HarnessError(f"{message.method} came while no stage was open", "send stage.open first")
        invocation = self._stage.invocation_of(message)
        context = self._outside if invocation is None else invocation.context
        return await self._in(context, self._stage.answer(message))

    async def close(self) -> None:
        """Close the open stage, if any."""
        await self._close()

    async def _in(self, context: contextvars.Context, work: Coroutine[Any, Any, T]) -> T:
        """Do ``work`` where the suite wants it done: inside a handler or tool, or outside of all of them."""
        if context is self._outside and current_agent() is None:
            # In one process the suite's own steps come from outside of everything anyway.
            return await work
        return await asyncio.get_running_loop().create_task(work, context=context.copy())

    async def _open(self, message: StageOpen) -> Nothing:
        if self._stage is not None:
            raise HarnessError("stage.open came while a stage was open", "close it with stage.close first")
        mount = self._mount if message.mount is None else _mount(message.mount)
        self._stage = OpenStage(self._suite, message, mount, self._numbers, self._bridge_type, self._host_type)
        return Nothing()

    async def _close(self) -> list[int]:
        stage, self._stage = self._stage, None
        return [] if stage is None else await stage.close()

    def _initialize(self, message: Initialize) -> InitializeResult:
        self._mount = self._mount if message.mount is None else _mount(message.mount)
        return InitializeResult(
            protocol=PROTOCOL_VERSION,
            name="reference",
            version=__version__,
            role="bridge",
            mounts=[self._mount, *(mount for mount in MOUNTS if mount != self._mount)],
            capabilities=[*CAPABILITIES, *(ROOT_ONLY if self._mount == "root" else ())],
            versions={"host": __version__},
        )


def _mount(name: str | None) -> Mount:
    if name is None:
        return MOUNTS[0]
    if name not in MOUNTS:
        raise HarnessError(f"the reference has no mount {name!r}", f"choose one of {', '.join(MOUNTS)}")
    return name


def make_backend(
    suite: Suite, mount: str | None = None, bridge_type: type[Bridge] = Bridge, host_type: type[Host] = Host
) -> Backend:
    """Make the reference implementation; other bridge and host types make mutants of it."""
    return ReferenceBackend(suite, mount, bridge_type, host_type)
