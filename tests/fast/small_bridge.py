"""A bridge on a small host, and packages written as plain functions, for tests of the reference bridge."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from reference_bridge.bridge.api import Pi
from reference_bridge.bridge.bridge import Bridge, Mount
from reference_bridge.bridge.packages import Package
from reference_bridge.host import Host, HostOptions
from tests.fast.small_host import DEADLINE_S, Script, Stage

EVENTS = ("tool_execution_start", "tool_call", "tool_execution_update", "tool_result", "tool_execution_end")


def text(said: str) -> dict[str, Any]:
    """A content block of Pi's."""
    return {"type": "text", "text": said}


def result(said: str, **more: Any) -> dict[str, Any]:
    """A tool result of Pi's."""
    return {"content": [text(said)], "details": {}, **more}


def pi_tool(name: str, execute: Any = None, **more: Any) -> dict[str, Any]:
    """A tool definition of Pi's; a body that is no function is its answer."""
    answer = result(f"{name} ran") if execute is None else execute
    body = answer if callable(answer) else lambda *_: answer
    parameters = {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "number"}}}
    return {"name": name, "description": f"{name} of Pi", "parameters": parameters, "execute": body, **more}


@dataclass
class Bridged(Stage):
    """A stage with a bridge; `seen` is what every package observed, as `package event call`."""

    bridge: Bridge = field(kw_only=True)
    notices: list[str] = field(default_factory=list)
    seen: list[tuple[str, str, Any]] = field(default_factory=list)

    async def load(
        self, name: str = "p", *tools: dict[str, Any], watch: bool = False, factory: Any = None, **handlers: Any
    ) -> list[Pi]:
        """Load a package with tools and handlers; `watch` adds a handler for each event that only keeps it.

        Gives its instances, also those that come later.
        """
        instances: list[Pi] = []

        async def run(pi: Pi) -> None:
            instances.append(pi)
            for definition in tools:
                pi.register_tool(definition)
            for event, handler in handlers.items():
                for each in handler if isinstance(handler, list) else [handler]:
                    pi.on(event, each)
            if watch:
                for event in EVENTS:
                    pi.on(event, self.keep(name))
            if factory is not None:
                outcome = factory(pi)
                if inspect.isawaitable(outcome):
                    await outcome

        await self.bridge.load(Package(name, run))
        return instances

    def keep(self, name: str) -> Callable[..., None]:
        """A handler that only keeps what it is told."""
        return lambda event, ctx: self.seen.append((name, event["type"], event))

    def told(self, event: str) -> list[dict[str, Any]]:
        """The payloads of one event, in order."""
        return [payload for _, kind, payload in self.seen if kind == event]

    def order(self, call_id: str = "c1") -> list[str]:
        """What watching packages were told about one call: `start call update result end`."""
        names = {kind: kind.removeprefix("tool_execution_").removeprefix("tool_") for kind in EVENTS}
        return [names[kind] for _, kind, payload in self.seen if payload.get("toolCallId") == call_id]

    @property
    def requests(self) -> int:
        """How often the model was asked."""
        return len(self.model.requests)

    def listed(self, request: int = -1) -> list[str]:
        """The names in the catalogue of one request."""
        return [tool["name"] for tool in self.model.requests[request].tools]


def bridged(
    *mounts: Mount, agent: bool = True, bridge_type: type[Bridge] = Bridge, **options: Any
) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    """Run the test on a fresh bridge of each mount, within a deadline, and check that nothing outlives it."""

    def decorate(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        async def run(mount: Mount, **arguments: Any) -> None:
            async with asyncio.timeout(DEADLINE_S):
                model = Script()
                host = Host(HostOptions(**options))
                bridge = bridge_type(host, mount)
                bridge.attach()
                made = await host.agents.create("a1", model) if agent else None
                stage = Bridged(host, made, model, bridge=bridge)  # type: ignore[arg-type]
                host.logger.on(lambda notice: stage.notices.append(notice.text))
                await test(stage, **arguments)
                await host.close()
                await bridge.close()
            assert len(asyncio.all_tasks()) == 1, "a task outlived the bridge"

        @functools.wraps(test)
        def wrapper(mount: Mount, **arguments: Any) -> None:
            asyncio.run(run(mount, **arguments))

        parameters = list(inspect.signature(test).parameters.values())[1:]
        mount_parameter = inspect.Parameter("mount", inspect.Parameter.KEYWORD_ONLY)
        wrapper.__signature__ = inspect.Signature([*parameters, mount_parameter])  # type: ignore[attr-defined]
        return pytest.mark.parametrize("mount", mounts or ("root", "engine"))(wrapper)

    return decorate
