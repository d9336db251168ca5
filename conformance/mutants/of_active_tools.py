"""Defects of setActiveTools: what a list switches off, for whom, and from when on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.api import Pi
from reference_bridge.bridge.bridge import Bridge, Installed
from reference_bridge.bridge.packages import Instance
from reference_bridge.host import Agent, Assembly, PromptContext
from reference_bridge.host.waterfall import Next


@mutant()
class RestrictionNeverApplied(ActiveTools):
    """Takes the list and does nothing."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        return


@mutant()
class MaskedToolStillRuns(Bridge):
    """Takes tools out of the catalogue only: a call of one that is switched off runs."""

    class active_tools_type(ActiveTools):
        def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
            self.hidden = set(self._host.tools.view(agent.scope).restrictable_names) - set(wanted)

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        made = await super().assemble(assembly, context, following)
        hidden = getattr(self.active_tools, "hidden", ())
        made.tools = [row for row in made.tools if row["name"] not in hidden]
        return made


@mutant()
class UnknownNameFailsTheCall(ActiveTools):
    """Throws on a name that no tool has."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        names = list(wanted)
        unknown = set(names) - set(self._host.tools.view(agent.scope).known_names)
        if unknown:
            raise ValueError(f"unknown tools: {', '.join(sorted(unknown))}")
        super().apply(instance, agent, names)


@mutant()
class NamesAreTrimmed(ActiveTools):
    """Takes a name with blanks around it for the name without them."""

    def wanted(self, names: Any) -> list[str]:
        return [name.strip() for name in super().wanted(names)]


@mutant()
class RestrictionsIntersect(ActiveTools):
    """Leaves an earlier restriction standing beside the new one."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        self._masks.pop(agent, None)
        super().apply(instance, agent, wanted)


@mutant()
class RestrictionsIntersectAcrossPackages(ActiveTools):
    """Leaves another package's restriction standing beside the new one."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        if agent in self._masks and self._masks[agent][0] is not instance:
            del self._masks[agent]
        super().apply(instance, agent, wanted)


@mutant()
class EmptyListIgnored(ActiveTools):
    """Does nothing with an empty list."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        names = list(wanted)
        if names:
            super().apply(instance, agent, names)


@mutant()
class EmptyListIsForGood(ActiveTools):
    """Never lifts the restriction that an empty list made."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        names = list(wanted)
        if getattr(self, "_emptied", False):
            return
        self._emptied = not names
        super().apply(instance, agent, names)


@mutant()
class DuplicatesToggle(ActiveTools):
    """Takes a name given twice for a name not given."""

    def wanted(self, names: Any) -> list[str]:
        found = super().wanted(names)
        return [name for name in found if found.count(name) == 1]


@mutant()
class RoundTripHidesTools(ActiveTools):
    """Loses the last name of every list."""

    def wanted(self, names: Any) -> list[str]:
        found = super().wanted(names)
        return found[:-1] if len(found) > 1 else found


@mutant()
class RestrictionHitsEveryAgent(ActiveTools):
    """Narrows every agent there is."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        names = list(wanted)
        for each in self._host.agents:
            super().apply(instance, each, names)


@mutant()
class RestrictionHandedToTheNextAgent(ActiveTools):
    """Applies the last list to every agent that comes later, too."""

    def set(self, instance: Instance, names: Any) -> None:
        super().set(instance, names)
        self._kept = (instance, self.wanted(names))

    def fulfil_intents(self, agent: Agent) -> bool:
        if hasattr(self, "_kept") and agent not in self._masks:
            self.apply(self._kept[0], agent, self._kept[1])
        return super().fulfil_intents(agent)


@mutant()
class LaterToolsAreHidden(ActiveTools):
    """Restricts by a list of what is allowed, which hides what is registered later."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        names = frozenset(wanted)
        before = self._masks.pop(agent, None)
        allowed = self._host.tools.view(agent.scope).restrictable_names & names
        self._masks[agent] = (instance, self._host.tools.restrict(agent.scope, allow=sorted(allowed)))
        if before is not None:
            before[1]()


@mutant()
class OwnToolStaysSilently(ActiveTools):
    """Never switches off a package's own tools, and says nothing."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        own = [name for name, known in self._host.tools.view(agent.scope).visible.items() if self._tool_of(known)]
        super().apply(instance, agent, [*wanted, *own])


@mutant()
class MaskWaitsForATurn(ActiveTools):
    """Applies a list with the next request and not at once."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        self._intents[instance] = list(wanted)

    def fulfil_intents(self, agent: Agent) -> bool:
        due = [instance for instance in self._intents if instance.serves(agent)]
        for instance in due:
            super().apply(instance, agent, self._intents.pop(instance))
        return bool(due)

    def agent_of(self, instance: Instance) -> Agent | None:
        kept, self._intents = self._intents, {}
        agent = super().agent_of(instance)
        self._intents = kept
        return agent


@mutant()
class SameListReportedAgain(ActiveTools):
    """Reports the same tools with every call."""

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        self._reported.clear()
        super().report(instance, agent, wanted, remaining)


@mutant()
class UnrestrictableSilent(ActiveTools):
    """Says nothing about tools that could not be switched off."""

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        return


@mutant()
class UnrestrictableReportedTwice(ActiveTools):
    """Says everything twice about tools that could not be switched off."""

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        super().report(instance, agent, wanted, remaining)
        self._reported.clear()
        super().report(instance, agent, wanted, remaining)


@mutant()
class ReservedNameFailsTheCall(ActiveTools):
    """Asks the host to restrict what it reserves, so that nothing of the list applies."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        names = frozenset(wanted)
        if "run_code" in self._host.tools.view(agent.scope).visible and "run_code" not in names:
            self._host.tools.restrict(agent.scope, deny=["run_code"])
        super().apply(instance, agent, names)


@mutant()
class SetInEndIsLost(Bridge):
    """Forgets a list that is set while the end of a call is told."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        tell = self.dispatch.tell

        async def forgetful(agent: Any, event: dict[str, Any], signal: Any = None) -> None:
            kept = self.active_tools.apply
            if event["type"] == "tool_execution_end":
                self.active_tools.apply = lambda *_: None  # type: ignore[method-assign]
            await tell(agent, event, signal)
            self.active_tools.apply = kept  # type: ignore[method-assign]

        self.dispatch.tell = forgetful  # type: ignore[method-assign]


@mutant()
class RestoreLosesATool(ActiveTools):
    """Cannot switch a tool on again that was once switched off."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        names = set(wanted)
        lost: set[str] = getattr(self, "_lost", set())
        self._lost = lost | (set(self._host.tools.view(agent.scope).restrictable_names) - names)
        super().apply(instance, agent, names - lost)


@mutant()
class IntentFromLoadingLost(ActiveTools):
    """Forgets a list that was set before there was an agent."""

    def fulfil_intents(self, agent: Agent) -> bool:
        self._intents.clear()
        return False


@mutant()
class BadValueEndsTheTurn(ActiveTools):
    """Ends the turn when it is handed what is no list."""

    def wanted(self, names: Any) -> list[str]:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            for agent in self._host.agents:
                agent.cancel({"kind": "user"})
        return super().wanted(names)


@mutant()
class BeforeAgentStartNotTold(Bridge):
    """Asks nobody before the first request of a prompt."""

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        self._opening.discard(context.agent)
        return await super().assemble(assembly, context, following)


@mutant()
class BeforeAgentStartToldLate(Bridge):
    """Asks before the first request of a prompt when that request's catalogue is made already."""

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        opens, listed = context.agent in self._opening, assembly.tools
        made = await super().assemble(assembly, context, following)
        if opens:
            made.tools = listed
        return made


@mutant()
class SetActiveToolsAnswersItsList(Bridge):
    """Answers setActiveTools with the names that are active now."""

    async def install(self, installed: Installed, at: int) -> None:
        factory = installed.package.factory

        def answering(pi: Pi) -> Any:
            def set_active_tools(names: Any) -> Any:
                Pi.set_active_tools(pi, names)
                return pi.get_active_tools()

            pi.set_active_tools = set_active_tools  # type: ignore[method-assign]
            return factory(pi)

        await super().install(Installed(replace(installed.package, factory=answering)), at)
