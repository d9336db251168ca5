"""The agents of a host: how they come to be and how they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reference_bridge.host.loop import Agent, Services
from reference_bridge.host.model import ModelAdapter
from reference_bridge.host.session import Session, SessionEvent, Store
from reference_bridge.host.steps import ModelRoute
from reference_bridge.host.waterfall import settle

DISPOSED = {"kind": "disposed"}
"""The cause of a cancel because the agent ends."""


class Agents:
    """Every living agent, by id."""

    agent_type: type[Agent] = Agent
    session_type: type[Session] = Session

    def __init__(self, services: Services, store: Callable[[str], Store]) -> None:
        self._services = services
        self._store = store
        self._agents: dict[str, Agent] = {}
        self._owned: dict[Agent, list[Agent]] = {}

    def __iter__(self) -> Iterator[Agent]:
        return iter(list(self._agents.values()))

    def get(self, id: str) -> Agent | None:
        """The living agent of that id."""
        return self._agents.get(id)

    async def create(
        self,
        id: str,
        model: ModelAdapter | None,
        *,
        setup: Callable[[Agent], Any] | None = None,
        owner: Agent | None = None,
        cwd: str | None = None,
        provider: str = "model",
        model_name: str = "model",
    ) -> Agent:
        """A new agent, or the continuation of the log that its store holds.

        `setup`, plain or async, runs before anybody hears of the agent, then `agent/start` is emitted. `owner` only
        ties lifetimes: disposing it disposes this one; tools and masks are not inherited. `provider` and `model_name`
        label the log. Raises `ValueError` if the id is taken.
        """
        if id in self._agents:
            raise ValueError(f'session "{id}" already exists')
        session = self.session_type(id, self._store(id), self._publish)
        agent = self.agent_type(
            id, self._services, session, ModelRoute(model, provider, model_name), cwd, self._dispose
        )
        agent.owner = owner
        self._agents[id] = agent
        if owner is not None:
            self._owned.setdefault(owner, []).append(agent)
        if setup is not None:
            try:
                await settle(setup(agent))
            except BaseException:
                await self._dispose(agent)
                raise
        self._services.events.emit("agent/start", agent.scope, agent, about=f"agent {id}")
        return agent

    async def _dispose(self, agent: Agent) -> None:
        for owned in self._owned.pop(agent, []):
            await self._dispose(owned)
        if self._agents.get(agent.id) is not agent:
            return
        agent.cancel(DISPOSED)
        await agent.when_idle()
        if self._agents.pop(agent.id, None) is None:
            return
        self._services.events.emit("agent/end", agent.scope, agent, about=f"agent {agent.id}")
        agent.scope.dispose()
        agent.session.close()

    def _publish(self, session: Session, event: SessionEvent) -> None:
        agent = self._agents.get(session.id)
        scope = None if agent is None else agent.scope
        self._services.events.emit("session/event", scope, session, event, about=f"session {session.id}")
