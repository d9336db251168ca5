"""`host.tools`: the registry of a host, and calls made past the agent loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reference_bridge.host.json_values import Json
from reference_bridge.host.pipeline import AskResolver, Pipeline
from reference_bridge.host.registry import Mode, Registry
from reference_bridge.host.results import CallRequest, ToolResult
from reference_bridge.host.scopes import Scope
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Events

if TYPE_CHECKING:
    from reference_bridge.host.loop import Agent


class Tools(Registry):
    """The registry together with the pipeline that runs what is in it."""

    pipeline_type: type[Pipeline] = Pipeline

    def __init__(self, changed: Callable[[], None], mode: Mode, events: Events, resolve_ask: AskResolver) -> None:
        super().__init__(changed, mode)
        self.pipeline = self.pipeline_type(self, events, resolve_ask)

    async def execute(
        self,
        call_id: str,
        name: str,
        arguments: Json,
        *,
        agent: Agent | None = None,
        scope: Scope | None = None,
        signal: AbortSignal | None = None,
    ) -> ToolResult:
        """One call through the whole pipeline, outside of any turn: nothing is logged, no batch is waited for.

        A signal that is already aborted skips all policy: there is one `tools/result` emit and nothing else.
        """
        request = CallRequest(call_id, name, arguments, signal or AbortSignal(), agent=agent, scope=scope)
        return await self.pipeline.execute(request)
