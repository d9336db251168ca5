"""`pi`, what a package's factory is handed: six methods, and `on` for six events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_bridge.bridge.packages import Handler, Instance
from reference_bridge.host import Agent

if TYPE_CHECKING:
    from reference_bridge.bridge.bridge import Bridge


class Unloaded(Exception):
    """A package that is gone still used its `pi`."""

    def __init__(self, package: str) -> None:
        super().__init__(f"this instance of package {package!r} is gone: keep no pi longer than its package or agent")


class Pi:
    """The API of one instance.

    Which agent a call is for comes from where it is made: the handler or tool that is running.
    """

    def __init__(self, bridge: Bridge, instance: Instance) -> None:
        self._bridge = bridge
        self._instance = instance

    @property
    def agent(self) -> Agent | None:
        """The one agent this instance serves; `None` if it serves them all."""
        return self._instance.agent

    @property
    def active(self) -> bool:
        """Whether the instance still serves anybody: it does until its package or its agent is gone."""
        return self._instance.active

    def on(self, event: str, handler: Handler) -> None:
        """Subscribe to an event. Unknown ones are accepted, too, and so is `user_bash`, which never happens here."""
        self._live().handlers.setdefault(event, []).append(handler)

    def register_tool(self, definition: dict[str, Any]) -> None:
        """`registerTool`."""
        self._bridge.registrations.register(self._live(), definition)

    def unregister_tool(self, name: str) -> bool:
        """`unregisterTool`: whether a tool of this package was taken away."""
        return self._instance.active and self._bridge.registrations.unregister(self._instance, name)

    def get_active_tools(self) -> list[str]:
        """`getActiveTools`."""
        return self._bridge.active_tools.names(self._live())

    def get_all_tools(self) -> list[dict[str, Any]]:
        """`getAllTools`."""
        return self._bridge.active_tools.all(self._live())

    def set_active_tools(self, names: Any) -> None:
        """`setActiveTools`."""
        self._bridge.active_tools.set(self._live(), names)

    async def exec(self, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        """`exec`: `{stdout, stderr, code, killed}`."""
        agent = self._bridge.active_tools.agent_of(self._live())
        return await self._bridge.exec.run(agent, command, args, options)

    def _live(self) -> Instance:
        if not self._instance.active:
            raise Unloaded(self._instance.package.name)
        return self._instance
