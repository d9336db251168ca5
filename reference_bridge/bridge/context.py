"""`ctx`, the last argument of every handler and tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reference_bridge.bridge.values import UNDEFINED
from reference_bridge.host.loop import Agent
from reference_bridge.host.signals import AbortSignal


class Dialogs:
    """`ctx.ui` where nobody can be asked: no question is answered yes, nothing is chosen and nothing is typed."""

    def confirm(self, title: Any = UNDEFINED, message: Any = UNDEFINED, options: Any = UNDEFINED) -> bool:
        """Always false: what nobody allows is not allowed."""
        return False

    def select(self, title: Any = UNDEFINED, choices: Any = UNDEFINED, options: Any = UNDEFINED) -> Any:
        """Nothing is chosen."""
        return UNDEFINED

    def input(self, title: Any = UNDEFINED, placeholder: Any = UNDEFINED, options: Any = UNDEFINED) -> Any:
        """Nothing is typed."""
        return UNDEFINED

    def notify(self, message: Any = UNDEFINED, kind: Any = UNDEFINED) -> Any:
        """Nobody looks."""
        return UNDEFINED


class Context:
    """What a package may ask about the work it does."""

    def __init__(self, agent: Agent | None, signal: AbortSignal | None = None) -> None:
        self._agent = agent
        self.signal = signal
        """The signal of the call at hand; `None` where there is none."""

    @property
    def agent_id(self) -> str | None:
        """Whose work this is; `None` where it is nobody's in particular."""
        return None if self._agent is None else self._agent.id

    @property
    def cwd(self) -> str:
        """The agent's folder; that of the process where it has none of its own."""
        return (self._agent and self._agent.cwd) or str(Path.cwd())

    @property
    def has_ui(self) -> bool:
        """Always false: no dialog of a package can reach a person here."""
        return False

    @property
    def ui(self) -> Dialogs:
        """Dialogs, which nobody answers."""
        return Dialogs()

    def is_idle(self) -> bool:
        """Whether the agent rests."""
        return self._agent is None or self._agent.status == "idle"

    def has_pending_messages(self) -> bool:
        """Whether input waits for the agent."""
        return self._agent is not None and self._agent.inbox.has_pending

    def abort(self) -> None:
        """Cancel the agent's turn."""
        if self._agent is not None:
            self._agent.cancel({"kind": "hook", "reason": "aborted by a package"})
