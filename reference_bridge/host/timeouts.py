"""The optional policy that makes `timeout_ms` of a tool mean something."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from reference_bridge.host.errors import TOOL_TIMEOUT
from reference_bridge.host.results import Execution, ToolResult
from reference_bridge.host.scopes import Disposer
from reference_bridge.host.signals import AbortController
from reference_bridge.host.waterfall import Next

if TYPE_CHECKING:
    from reference_bridge.host.host import Host


def enforce_timeouts(host: Host) -> Disposer:
    """Abort the signal of a body that takes longer than its tool declares; its result is then `TOOL_TIMEOUT`.

    A body that ignores the signal is still waited for.
    """

    async def within_time(execution: Execution, following: Next) -> ToolResult:
        tool = host.tools.get(execution.name, execution.scope)
        if tool is None or tool.timeout_ms is None:
            answer: ToolResult = await following()
            return answer
        message = f"tool call timed out after {tool.timeout_ms:g}ms"
        controller, turn_signal = AbortController(), execution.signal
        execution.signal = controller.signal
        timer = asyncio.get_running_loop().call_later(tool.timeout_ms / 1000, controller.abort, message)
        try:
            answer = await following()
        finally:
            timer.cancel()
            execution.signal = turn_signal
        if not controller.signal.aborted:
            return answer
        return ToolResult.failure(message, info={"name": "ToolTimeoutError", "code": TOOL_TIMEOUT})

    return host.on("tools/execute", within_time)
