"""Who sees what: a scope owns what is registered through it and takes all of it away when it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reference_bridge.host.errors import InactiveScopeError

GLOBAL: Final = None
"""The layer below every scope, where plain registrations go."""


class Disposer:
    """Takes one registration back when called. Calling it again does nothing."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], object]) -> None:
        self._undo: Callable[[], object] | None = undo

    def __call__(self) -> None:
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()


class Scope:
    """One visibility boundary. Each agent has one; others form chains by `parent`.

    What a scope sees is its own layer, then its ancestors', then the global one. An agent made from another agent is
    *not* a child scope of it: parents exist only where someone binds them.
    """

    __slots__ = ("_undos", "active", "name", "parent")

    def __init__(self, name: str = "", parent: Scope | None = None) -> None:
        self.name = name
        self.parent = parent
        self.active = True
        self._undos: dict[Disposer, None] = {}

    def __repr__(self) -> str:
        return f"Scope({self.name!r})"

    def bind_parent(self, parent: Scope) -> None:
        """Make `parent` this scope's parent. A second bind raises `RuntimeError`."""
        if self.parent is not None:
            raise RuntimeError(
                "dsh-scope: scope key is already bound to a parent; "
                "re-linking requires the binding returned by the original bind"
            )
        self.parent = parent

    def chain(self) -> list[Scope]:
        """This scope and its ancestors, farthest first."""
        chain: list[Scope] = []
        scope: Scope | None = self
        while scope is not None:
            chain.append(scope)
            scope = scope.parent
        chain.reverse()
        return chain

    def covers(self, target: Scope | None) -> bool:
        """Whether `target` is this scope or one of its descendants."""
        while target is not None and target is not self:
            target = target.parent
        return target is not None

    def own(self, undo: Callable[[], object]) -> Disposer:
        """Let `undo` run at the returned disposer's call or at this scope's end, whichever comes first."""
        self.require_active()

        def undo_and_forget() -> None:
            self._undos.pop(disposer, None)
            undo()

        disposer = Disposer(undo_and_forget)
        self._undos[disposer] = None
        return disposer

    def require_active(self) -> None:
        """Raise `InactiveScopeError` once the scope has ended."""
        if not self.active:
            raise InactiveScopeError

    def dispose(self) -> None:
        """End the scope: everything registered through it goes, last first."""
        self.active = False
        while self._undos:
            next(reversed(self._undos))()


def owned(scope: Scope | None, undo: Callable[[], object]) -> Disposer:
    """A disposer for `undo`, owned by `scope` where there is one."""
    return Disposer(undo) if scope is None else scope.own(undo)
