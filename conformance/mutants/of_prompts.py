"""Defects of what packages' tools say in the system prompt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.prompts import PromptLines
from reference_bridge.bridge.registrations import Entry, Registrations
from reference_bridge.bridge.tools import PiTool
from reference_bridge.host import Agent, Assembly, PromptContext
from reference_bridge.host.waterfall import Next


@mutant()
class OneGuidelineATool(PromptLines):
    """Says the first guideline of each tool."""

    def guidelines(self, tool: PiTool) -> list[str]:
        return super().guidelines(tool)[:1]


@mutant()
class OneTextAPackage(PromptLines):
    """Says what the first tool of each package wants said."""

    def sections(self, tools: Iterable[PiTool]) -> list[str]:
        first: dict[Instance, PiTool] = {}
        for tool in tools:
            first.setdefault(tool.instance, tool)
        return super().sections(first.values())


@mutant()
class GuidelinesNeedASnippet(PromptLines):
    """Says the guidelines of tools that have a snippet, too."""

    def guidelines(self, tool: PiTool) -> list[str]:
        return super().guidelines(tool) if self.snippet(tool) else []


@mutant()
class LongPromptTextsCut(PromptLines):
    """Cuts what a tool says of itself after eighty characters."""

    def snippet(self, tool: PiTool) -> str:
        return super().snippet(tool)[:80]


@mutant()
class PromptTextsInAscii(PromptLines):
    """Leaves out what is not ASCII."""

    def _line(self, text: Any) -> str:
        return super()._line(text).encode("ascii", "ignore").decode()


@mutant()
class FirstLineOfASnippet(PromptLines):
    """Says the first line of what a tool says of itself."""

    def snippet(self, tool: PiTool) -> str:
        text = tool.definition.get("promptSnippet")
        return self._line(text.partition("\n")[0] if isinstance(text, str) else text)


@mutant()
class FirstSnippetIsKept(PromptLines):
    """Keeps saying of a tool what its first registration said."""

    def snippet(self, tool: PiTool) -> str:
        known: dict[str, str] = self.__dict__.setdefault("_known", {})
        return known.setdefault(tool.name, super().snippet(tool))


@mutant()
class PromptTextsInFirstRequestsOnly(Bridge):
    """Says what tools want said in the first request of a prompt, and in none of its later ones."""

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        is_first = context.agent in self._opening
        made = await super().assemble(assembly, context, following)
        if not is_first:
            ours = set(self.prompts.sections(self.active_of(context.agent)))
            made.sections = [section for section in made.sections if section not in ours]
        return made


@mutant()
class LateToolsHaveNoSnippet(Registrations):
    """Says nothing of tools that are registered once there is an agent at work."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        if any(agent.status != "idle" for agent in self._host.agents):
            definition = {key: value for key, value in definition.items() if not key.startswith("prompt")}
        return super().entry(instance, name, definition)


@mutant()
class PromptOfTheFirstAgent(Bridge):
    """Says in every agent's prompt what the tools of the first one want said."""

    def active_of(self, agent: Agent) -> list[PiTool]:
        first: Agent = self.__dict__.setdefault("_first", agent)
        return super().active_of(first)


@mutant()
class FirstAgentHasThePrompt(Bridge):
    """Says what tools want said in the first agent's prompt, and in no other."""

    def active_of(self, agent: Agent) -> list[PiTool]:
        first: Agent = self.__dict__.setdefault("_first", agent)
        return super().active_of(agent) if agent is first else []


@mutant(mount="root")
class PromptOfWhateverIsRegistered(Bridge):
    """Says what any tool wants said, also one that the agent switched off."""

    def active_of(self, agent: Agent) -> list[PiTool]:
        return [entry.tool for entry in self.registrations if entry.tool.instance.serves(agent)]


@mutant()
class BlankGuidelinesSaid(PromptLines):
    """Says guidelines without a character, too."""

    def guidelines(self, tool: PiTool) -> list[str]:
        given = tool.definition.get("promptGuidelines")
        return [self._line(item) for item in given] if isinstance(given, list) else []
