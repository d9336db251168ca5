"""What packages' tools say in the system prompt, while they are active."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reference_bridge.bridge.tools import PiTool


class PromptLines:
    """Makes prompt sections from `promptSnippet` and `promptGuidelines`."""

    def sections(self, tools: Iterable[PiTool]) -> list[str]:
        """The sections for the active tools; none where no tool has anything to say."""
        tools = list(tools)
        lines = [f"- {tool.name}: {text}" for tool in tools if (text := self.snippet(tool))]
        bullets = dict.fromkeys(f"- {text}" for tool in tools for text in self.guidelines(tool))
        headed = (("Available tools:", lines), ("Guidelines:", list(bullets)))
        return ["\n".join([heading, *body]) for heading, body in headed if body]

    def snippet(self, tool: PiTool) -> str:
        """A tool's one line, white space collapsed."""
        return self._line(tool.definition.get("promptSnippet"))

    def guidelines(self, tool: PiTool) -> list[str]:
        """A tool's bullets, without blank ones."""
        given = tool.definition.get("promptGuidelines")
        return [line for item in (given if isinstance(given, list) else []) if (line := self._line(item))]

    def _line(self, text: Any) -> str:
        return " ".join(text.split()) if isinstance(text, str) else ""
