"""Notices: what the harness and its plugins have to say to the operator, outside of any conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from reference_bridge.host.scopes import Disposer

Level: TypeAlias = Literal["info", "warn", "error"]


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence for the operator."""

    level: Level
    text: str


class Logger:
    """Hands each notice to whoever listens, and keeps none."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Notice], None]] = []

    def on(self, listener: Callable[[Notice], None]) -> Disposer:
        """Call `listener` with every later notice."""
        self._listeners.append(listener)
        return Disposer(lambda: self._listeners.remove(listener))

    def info(self, text: str) -> None:
        """Something the operator may want to know."""
        self._tell(Notice("info", text))

    def warn(self, text: str) -> None:
        """Something that went wrong and was contained."""
        self._tell(Notice("warn", text))

    def error(self, text: str) -> None:
        """Something that went wrong and was not contained."""
        self._tell(Notice("error", text))

    def _tell(self, notice: Notice) -> None:
        for listener in list(self._listeners):
            listener(notice)
