"""What waits for an agent: prompts for turns of their own, and input for the next step of the current one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from reference_bridge.host.json_values import Json
from reference_bridge.host.messages import Message
from reference_bridge.host.session import Session

Target: TypeAlias = Literal["next-turn", "next-step"]


class Inbox:
    """Two queues. Every change is logged before it is made, so a reloaded log knows what was waiting."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queues: dict[Target, list[Message]] = {"next-turn": [], "next-step": []}
        for event in session.events:
            if event.type == "agent/inbox/spliced":
                self._apply(event.data)

    @property
    def next_turn(self) -> Sequence[Message]:
        """Prompts, each waiting for its own turn."""
        return self._queues["next-turn"]

    @property
    def next_step(self) -> Sequence[Message]:
        """Input that joins the next step, all at once."""
        return self._queues["next-step"]

    @property
    def has_pending(self) -> bool:
        """Whether anything waits."""
        return bool(self.next_turn or self.next_step)

    def add(self, target: Target, message: Message) -> None:
        """Queue `message` behind what waits already.

        Raises `ValueError` if it waits already, `RuntimeError` inside a `session/event` listener.
        """
        if any(waiting.get("id") == message.get("id") for queue in self._queues.values() for waiting in queue):
            raise ValueError(f'message "{message.get("id")}" is already pending')
        self._splice(target, len(self._queues[target]), 0, [message])

    def claim(self, target: Target) -> list[Message]:
        """Take everything that waits for a step and, where a turn opens, the first prompt. What is taken is gone."""
        claimed = self._splice("next-step", 0, len(self.next_step), [])
        if target == "next-turn":
            claimed += self._splice("next-turn", 0, 1, [])
        return claimed

    def remove(self, message_id: str) -> bool:
        """Throw away one message that waits; answers whether it still did."""
        for target, queue in self._queues.items():
            for index, message in enumerate(queue):
                if message.get("id") == message_id:
                    self._splice(target, index, 1, [], outcome="canceled")
                    return True
        return False

    def clear(self) -> None:
        """Throw away everything that waits."""
        self._splice("next-step", 0, len(self.next_step), [], outcome="canceled")
        self._splice("next-turn", 0, len(self.next_turn), [], outcome="canceled")

    def _splice(
        self, target: Target, start: int, remove: int, insert: list[Message], outcome: str | None = None
    ) -> list[Message]:
        remove = min(remove, len(self._queues[target]) - start)
        if not remove and not insert:
            return []
        data: dict[str, Json] = {"target": target, "start": start}
        if remove:
            data["removedCount"] = remove
        data["inserted"] = insert
        if remove and outcome is not None:
            data["outcome"] = outcome
        return self._apply(self._session.append("agent/inbox/spliced", data).data)

    def _apply(self, data: dict[str, Json]) -> list[Message]:
        queue, start = self._queues[data["target"]], data["start"]
        end = start + data.get("removedCount", 0)
        removed = queue[start:end]
        queue[start:end] = data["inserted"]
        return removed
