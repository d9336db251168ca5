"""One record a tool call, from its entry in the log to its end: what the handlers of all packages share about it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reference_bridge.bridge.contents import Pictures
from reference_bridge.bridge.values import UNDEFINED
from reference_bridge.host.json_values import Json, parse_json
from reference_bridge.host.loop import Agent
from reference_bridge.host.results import Execution
from reference_bridge.host.session import SessionEvent

if TYPE_CHECKING:
    from reference_bridge.bridge.tools import PiTool


@dataclass(eq=False, slots=True)
class Call:
    """A call on its way.

    The log knows a call by its place, the pipeline by a token; only the id, which may repeat, is known to both. The
    record is made from the log's entry and then bound to the token.
    """

    agent: Agent | None
    call_id: str
    name: str
    logged: SessionEvent | None = None
    """The durable `tool/call`. `None` for a call that another tool made: those have no start and no end."""
    bound: bool = False
    started: asyncio.Task[None] | None = None
    ended: bool = False
    tool: PiTool | None = None
    """The package's tool it calls; `None` for natives and for names nobody knows."""
    known: bool = False
    """Whether the agent saw a tool of this name when the call was judged."""
    passed_over: bool = False
    """Whether its judges were not asked, since it could not run: a name nobody knew, arguments that did not pass."""
    prepared: bool = False
    invalid: Exception | None = None
    """Why its arguments did not pass."""
    input: Any = UNDEFINED
    """The arguments as handlers see them. A package's tool runs with this very object."""
    executed: bool = False
    """Whether a body was entered."""
    returned: Any = UNDEFINED
    """What a package's tool answered."""
    failed: bool = False
    """Whether it was an error before any handler of `tool_result` was asked."""
    asked_to_stop: bool = False
    pictures: Pictures = field(default_factory=Pictures)
    updates: list[asyncio.Task[None]] = field(default_factory=list)
    settled: bool = False
    """Whether the tool has answered: updates that come later are ignored."""

    @property
    def logged_arguments(self) -> Json:
        """The arguments as written to the log, parsed; `{}` where they are no JSON text."""
        if self.logged is None:
            return {}
        try:
            return parse_json(self.logged.data["arguments"])
        except ValueError:
            return {}


class Calls:
    """The calls that are under way."""

    def __init__(self) -> None:
        self._logged: dict[tuple[str, int], Call] = {}
        self._running: dict[object, Call] = {}

    def open(self, agent: Agent, event: SessionEvent) -> Call:
        """Make the record of a call that was just logged."""
        call = Call(agent, event.data["callId"], event.data["name"], event)
        self._logged[agent.id, event.seq] = call
        return call

    def of(self, execution: Execution) -> Call:
        """The record of a call in the pipeline."""
        call = self._running.get(execution.token)
        if call is None:
            call = self._running[execution.token] = self._bind(execution)
        return call

    def close(self, agent: Agent, event: SessionEvent) -> Call | None:
        """Take the record of the call whose durable result this is."""
        for seq in event.source_event_seqs or ():
            call = self._logged.pop((agent.id, seq), None)
            if call is not None:
                return call
        return None

    def forget(self, execution: Execution) -> None:
        """Let go of a call that has left the pipeline."""
        self._running.pop(execution.token, None)

    def drop(self, agent: Agent) -> None:
        """Let go of the calls of an agent that is gone."""
        self._logged = {place: call for place, call in self._logged.items() if call.agent is not agent}

    def open_calls(self, agent: Agent) -> Iterator[Call]:
        """The calls of `agent` that have no durable result yet."""
        return (call for call in self._logged.values() if call.agent is agent)

    def _bind(self, execution: Execution) -> Call:
        """The oldest unbound record of that id: calls enter the pipeline in the order in which they were logged."""
        if execution.parent is None and execution.agent is not None:
            for call in self.open_calls(execution.agent):
                if not call.bound and call.call_id == execution.call_id:
                    call.bound = True
                    return call
        return Call(execution.agent, execution.call_id, execution.name)
