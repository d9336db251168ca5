"""Defects of handlers that a package adds while calls are at work: when, after whom and about whom they are told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.packages import Handler, Instance
from reference_bridge.host import Agent, Execution, Session, SessionEvent
from reference_bridge.host.decisions import Decision
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next

_AFTER_START = ("tool_call", "tool_execution_update", "tool_result", "tool_execution_end")


class _Fixed(Dispatch):
    fixed: dict[Agent, dict[str, list[Subscription]]]

    def fix(self, agent: Agent) -> None:
        known = self.__dict__.setdefault("fixed", {})
        known.pop(agent, None)
        known[agent] = {event: super(_Fixed, self).subscriptions(agent, event) for event in _AFTER_START}

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        fixed = self.__dict__.get("fixed", {}).get(agent)
        if fixed is None or event not in fixed:
            return super().subscriptions(agent, event)
        return [each for each in fixed[event] if each.instance.active]


@mutant()
class HandlersFixedAtTheStartOfACall(Bridge):
    """Takes all handlers of a call when it is logged: those that are added while it is at work hear nothing of it."""

    class dispatch_type(_Fixed):
        pass

    def logged(self, session: Session, event: SessionEvent) -> None:
        agent = self.host.agents.get(session.id)
        if agent is not None and event.type == "tool/call" and isinstance(self.dispatch, _Fixed):
            self.dispatch.fix(agent)
        super().logged(session, event)


@mutant()
class UpdateHandlersFixedAtTheFirstUpdate(ExecutionEvents):
    """Takes the update handlers of a call at its first update: one that is added later hears none of the others."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        if call.settled:
            return
        heard_by = self._dispatch.subscriptions(call.agent, "tool_execution_update")
        fixed: Sequence[Subscription] = self.__dict__.setdefault("fixed", {}).setdefault(call, heard_by)
        event, before = self.update_event(call, partial), call.updates[-1] if call.updates else None

        async def in_turn() -> None:
            if before is not None:
                await asyncio.wait({before})
            for each in fixed:
                try:
                    await each.call(event, call.agent, signal)
                except Exception as error:
                    self._dispatch.failed(each, event, error)

        call.updates.append(self._beside(call.agent, in_turn()))


@mutant()
class LateHandlersGoLast(Dispatch):
    """Asks a handler that a package adds after the first event behind those of all packages."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        first: dict[Instance, list[Handler]] = self.__dict__.setdefault("first", {})
        for instance in self._instances(agent):
            first.setdefault(instance, [handler for row in instance.handlers.values() for handler in row])
        found = super().subscriptions(agent, event)
        return sorted(found, key=lambda each: all(handler is not each.handler for handler in first[each.instance]))


@mutant(mount="engine")
class LateHandlersHearEveryAgent(Bridge):
    """Gives a handler that a package adds for one agent's calls to its instances for all agents."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        first: dict[tuple[Instance, str], list[Handler]] = self.__dict__.setdefault("first", {})
        for installed in self.installed:
            for event in {each for instance in installed.instances for each in instance.handlers}:
                late: list[Handler] = []
                for instance in installed.instances:
                    mine = instance.handlers.get(event, [])
                    known = first.setdefault((instance, event), [] if (instance, "") in first else list(mine))
                    late += [handler for handler in mine if not any(handler is each for each in [*known, *late])]
                for instance in installed.instances:
                    mine = instance.handlers.setdefault(event, [])
                    mine += [handler for handler in late if not any(handler is each for each in mine)]
            for instance in installed.instances:
                first.setdefault((instance, ""), [])
        return await super().before_call(execution, following)
