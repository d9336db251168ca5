"""The composition: one harness with its services, agents and listeners."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from reference_bridge.host.agents import Agents
from reference_bridge.host.approval import ApprovalService, AskResolution
from reference_bridge.host.attachments import AttachmentStore
from reference_bridge.host.background import Background
from reference_bridge.host.code_mode import CodeRuntime, run_code_tool
from reference_bridge.host.logger import Logger
from reference_bridge.host.loop import Services
from reference_bridge.host.registry import Mode
from reference_bridge.host.scopes import Disposer, Scope
from reference_bridge.host.session import Store
from reference_bridge.host.stores import MemoryStore
from reference_bridge.host.subprocess import SubprocessRuntime
from reference_bridge.host.tools import Tools
from reference_bridge.host.waterfall import Events, Listener


def _memory_store(session_id: str) -> Store:
    return MemoryStore()


@dataclass(frozen=True, slots=True)
class HostOptions:
    """What a host is made of. A service left out is simply not there, as on a real harness."""

    approval: ApprovalService | None = None
    subprocess: SubprocessRuntime | None = None
    attachments: AttachmentStore | None = None
    code_runtime: CodeRuntime | None = None
    """Runs the programs of `run_code`; the modes `code` and `both` need one."""
    store: Callable[[str], Store] = _memory_store
    """Gives the store of a session by its id."""
    max_parallel_tool_calls: int = 10
    mode: Mode = "native"
    """How tools are presented to the model, unless a scope says otherwise."""


class Host:
    """A running harness.

    | event | listener | awaited |
    |---|---|---|
    | `tools/pre-execute` | `(exec, next)` → decision | yes, a waterfall |
    | `tools/execute` | `(exec, next)` → `ToolResult` | yes, a waterfall |
    | `tools/post-execute` | `(exec, result, next)` → decision | yes, a waterfall |
    | `tools/result` | `(exec, result)` | no |
    | `tools/change` | `()` | no |
    | `session/event` | `(session, event)`, inside the append | no |
    | `approval/request` | `(request, next)` → outcome | yes, a waterfall |
    | `system-prompt/assemble` | `(assembly, context, next)` → assembly | yes, a waterfall |
    | `agent/pre-step` | `(pre_step, next)` → decision | yes, a waterfall |
    | `agent/turn-stopping` | `(stopping)` | yes, one after the other |
    | `agent/status` | `(change)` | no |
    | `agent/start`, `agent/end` | `(agent)` | no |

    Its parts are made by the classes that end in `_type`, here and in `Tools`, `Agents` and `Agent`.
    """

    events_type: type[Events] = Events
    asks_type: type[AskResolution] = AskResolution
    tools_type: type[Tools] = Tools
    agents_type: type[Agents] = Agents

    def __init__(self, options: HostOptions | None = None) -> None:
        """Raises `ValueError` for a pool without a place."""
        self.options = options = options or HostOptions()
        if options.max_parallel_tool_calls < 1:
            raise ValueError(
                "invalid config:\n  - $.maxParallelToolCalls expected number >= 1 "
                f"but got {options.max_parallel_tool_calls} (at maxParallelToolCalls)"
            )
        self.logger = Logger()
        self.background = Background()
        self.events = events = self.events_type(self.background, self.logger)
        asks = self.asks_type(options.approval, events)
        self.tools = self.tools_type(lambda: events.emit("tools/change", None), options.mode, events, asks)
        if options.code_runtime is not None:
            self.tools.transport = run_code_tool(options.code_runtime, self.tools, options.max_parallel_tool_calls)
        services = Services(
            self.tools, events, self.tools.pipeline, self.background, self.logger, options.max_parallel_tool_calls
        )
        self.agents = self.agents_type(services, options.store)

    @property
    def approval(self) -> ApprovalService | None:
        """The approval service, if there is one."""
        return self.options.approval

    @property
    def subprocess(self) -> SubprocessRuntime | None:
        """The provider of children, if there is one."""
        return self.options.subprocess

    @property
    def attachments(self) -> AttachmentStore | None:
        """The store of pictures, if there is one."""
        return self.options.attachments

    def on(self, event: str, listener: Listener, *, scope: Scope | None = None, prepend: bool = False) -> Disposer:
        """Listen to `event`, everywhere or in one scope; new listeners are innermost unless `prepend`."""
        return self.events.on(event, listener, scope=scope, prepend=prepend)

    async def close(self) -> None:
        """Dispose every agent, then wait for all that still runs: a body that never ends keeps this waiting.

        Cancelling this call cancels what still runs.
        """
        try:
            for agent in self.agents:
                await agent.dispose()
            await self.background.drain()
            if self.subprocess is not None:
                await self.subprocess.close()
        except asyncio.CancelledError:
            await self.background.cancel()
            raise
