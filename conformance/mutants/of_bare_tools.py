"""Defects of tools that are less than registered: of later packages, after a reload, for a second agent."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.packages import Instance, Package
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool
from reference_bridge.host import Execution, Json
from reference_bridge.host.messages import text_block

BARE = ("name", "label", "description", "parameters", "execute")
"""What a tool needs to be listed and to run."""


class _Bares(Registrations):
    """Keeps of some tools no more than they need to run."""

    def is_bare(self, instance: Instance) -> bool:
        """Whether those of this instance are."""
        raise NotImplementedError

    def register(self, instance: Instance, definition: Any) -> None:
        if isinstance(definition, dict) and self.is_bare(instance):
            definition = {key: definition[key] for key in BARE if key in definition}
        super().register(instance, definition)


@mutant()
class ReloadedToolsAreBare(_Bares):
    """Forgets what a package's tools prepare and say in the prompt when the package is reloaded."""

    def is_bare(self, instance: Instance) -> bool:
        known: dict[tuple[Package, Any], Instance] = self.__dict__.setdefault("_first", {})
        return known.setdefault((instance.package, instance.agent), instance) is not instance


@mutant()
class ToolsOfLaterPackagesAreBare(_Bares):
    """Forgets what the tools of a package prepare and say in the prompt that is loaded while agents are there."""

    def is_bare(self, instance: Instance) -> bool:
        return bool(self._host.agents)


@mutant()
class PicturesOfOneAgentsCalls(Bridge):
    """Leaves the pictures out of the results of all agents but the one that was the first to call."""

    async def run_tool(self, tool: PiTool, execution: Execution) -> Json:
        value = await super().run_tool(tool, execution)
        if execution.agent is self.__dict__.setdefault("_first", execution.agent):
            return value
        return {**value, "content": [block for block in value["content"] if block.get("type") != "image"]}


@mutant()
class PicturesShownOnce(Bridge):
    """Says of a picture that an agent has seen that it has, and does not show it again."""

    async def run_tool(self, tool: PiTool, execution: Execution) -> Json:
        value = await super().run_tool(tool, execution)
        seen: list[Any] = self.__dict__.setdefault("_seen", {}).setdefault(execution.agent, [])
        known = [block in seen for block in value["content"]]
        seen += [block for block in value["content"] if block.get("type") == "image"]
        shown = [
            text_block("(shown before)") if old else block for block, old in zip(value["content"], known, strict=True)
        ]
        return {**value, "content": shown}
