"""Who hears of an event, in which order, and what becomes of a handler that throws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from reference_bridge.bridge.context import Context
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import Handler, Instance, working_for
from reference_bridge.bridge.values import thrown_text
from reference_bridge.host.loop import Agent
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import settle

Event = dict[str, Any]
"""An event as a package gets it. All handlers of one dispatch share the object."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """One handler and whose it is."""

    instance: Instance
    handler: Handler

    async def call(self, event: Event, agent: Agent | None, signal: AbortSignal | None) -> Any:
        """Run the handler for `agent` and wait for it. Raises what it throws."""
        if not callable(self.handler):
            raise TypeError("handler is not a function")
        with working_for(agent):
            return await settle(self.handler(event, Context(agent, signal)))


class Dispatch:
    """Delivers events to the packages that serve an agent."""

    def __init__(self, instances: Callable[[Agent | None], Iterable[Instance]], notices: Notices) -> None:
        """`instances` gives those that serve an agent, in the order in which their packages were loaded."""
        self._instances = instances
        self._notices = notices

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        """The handlers of `event`: packages in load order, within one in the order of registration."""
        return [
            Subscription(instance, handler)
            for instance in self._instances(agent)
            for handler in instance.handlers.get(event, ())
        ]

    async def tell(self, agent: Agent | None, event: Event, signal: AbortSignal | None = None) -> None:
        """Tell every handler, one after the other. One that throws is reported and silences nobody."""
        for subscription in self.subscriptions(agent, event["type"]):
            try:
                await subscription.call(event, agent, signal)
            except Exception as error:
                self.failed(subscription, event, error)

    def failed(self, subscription: Subscription, event: Event, error: Exception) -> None:
        """Report what an observing handler threw."""
        package = subscription.instance.package.name
        self._notices.handler_failed(package, event["type"], thrown_text(error))
