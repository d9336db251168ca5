"""Defects of bridges that keep something of a tool by its name: for one that was refused, or that is another's."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Entry, Refused, Registrations
from reference_bridge.bridge.tools import PiTool
from reference_bridge.host import GLOBAL, Agent, Json
from reference_bridge.host.signals import AbortSignal


class _RemembersRefused(Registrations):
    """Keeps the tools that did not come to stand."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        try:
            super().claim(instance, entry)
        except Refused:
            self.refused.append(entry.tool)
            raise

    @property
    def refused(self) -> list[PiTool]:
        """The tools."""
        tools: list[PiTool] = self.__dict__.setdefault("_refused", [])
        return tools


class _SeesWhoChanges(ToolCallGate):
    """Passes over changed arguments of a native tool where only packages that take it for their own changed them."""

    bridge: Bridge

    def takes_for_own(self, instance: Instance, name: str) -> bool:
        raise NotImplementedError

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        call_takers = self.__dict__.setdefault("_takers", {}).setdefault(call, [])
        call_takers.append(self.takes_for_own(subscription.instance, call.name))
        return await super().ask_one(subscription, call, event, signal)

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        takers = self.__dict__.get("_takers", {}).get(call, ())
        return None if call.tool is None and takers and all(takers) else super().refusal(call, logged)


class _OwnByName(Bridge):
    """Tells its gate of itself."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.gate.bridge = self  # type: ignore[attr-defined]


@mutant()
class PackagesKnowTheirToolsByName(_OwnByName):
    """Passes over what a package changes of a native tool's arguments that has the name of a tool of its own."""

    class gate_type(_SeesWhoChanges):
        def takes_for_own(self, instance: Instance, name: str) -> bool:
            return any(
                entry.tool.instance is instance and entry.tool.name == name for entry in self.bridge.registrations
            )


@mutant()
class RefusedNamesAreOwnTools(_OwnByName):
    """Passes over what a package changes of a native tool's arguments whose name it was refused."""

    registrations_type = _RemembersRefused

    class gate_type(_SeesWhoChanges):
        def takes_for_own(self, instance: Instance, name: str) -> bool:
            refused: list[PiTool] = self.bridge.registrations.refused  # type: ignore[attr-defined]
            return any(tool.instance is instance and tool.name == name for tool in refused)


@mutant()
class ChangesUnderARefusedNameAreLost(_OwnByName):
    """Keeps what a package changes of another one's tool's arguments, whose name it was refused, from that tool."""

    registrations_type = _RemembersRefused

    class gate_type(ToolCallGate):
        bridge: Bridge

        async def ask_one(
            self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
        ) -> Verdict | None:
            refused: list[PiTool] = self.bridge.registrations.refused  # type: ignore[attr-defined]
            shadow = any(tool.instance is subscription.instance and tool.name == call.name for tool in refused)
            if not shadow or not isinstance(call.input, dict):
                return await super().ask_one(subscription, call, event, signal)
            before = deepcopy(call.input)
            verdict = await super().ask_one(subscription, call, event, signal)
            call.input.clear()
            call.input.update(before)
            return verdict


@mutant()
class RefusedToolsSpeakInThePrompt(Bridge):
    """Says in the prompt what a tool wants said that was refused, as long as some tool has its name."""

    registrations_type = _RemembersRefused

    def active_of(self, agent: Agent) -> list[PiTool]:
        refused: list[PiTool] = self.registrations.refused  # type: ignore[attr-defined]
        visible = self.host.tools.view(agent.scope).visible
        return [*super().active_of(agent), *(tool for tool in refused if tool.name in visible)]


@mutant()
class NamesOfNativesStayRefused(Registrations):
    """Registers no tool under a native tool's name, and never one that was refused it."""

    def claim(self, instance: Instance, entry: Entry) -> None:
        refused: set[tuple[Instance, str]] = self.__dict__.setdefault("_names", set())
        name = entry.tool.name
        natives = {name for name, each in self._host.tools.view(GLOBAL).visible.items() if self.tool_of(each) is None}
        if name in natives:
            refused.add((instance, name))
        if (instance, name) in refused:
            raise Refused("a tool of the host has that name")
        super().claim(instance, entry)
