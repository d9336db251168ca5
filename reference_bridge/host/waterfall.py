"""Listeners: who is told what, in which order, and whose answer counts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias

from reference_bridge.host.background import Background
from reference_bridge.host.errors import error_message
from reference_bridge.host.json_values import UNDEFINED
from reference_bridge.host.logger import Logger
from reference_bridge.host.scopes import Disposer, Scope, owned

Listener: TypeAlias = Callable[..., Any]
"""A plain or async function. In a waterfall its last argument is `next`, which must be awaited."""

Next: TypeAlias = Callable[[], Awaitable[Any]]
"""Hands the call to the listeners further in and gives their answer."""


def is_awaitable(value: object) -> bool:
    """Whether `value` can be awaited."""
    return hasattr(type(value), "__await__")


async def settle(value: Any) -> Any:
    """`value`, awaited if it is awaitable: listeners and bodies may be plain or async functions."""
    return await value if is_awaitable(value) else value


class _Cursor:
    """The `next` of one dispatch: each call asks the listener further in, and past the last one the innermost."""

    __slots__ = ("_args", "_innermost", "_remaining")

    def __init__(self, listeners: Iterable[Listener], args: tuple[Any, ...], innermost: Next) -> None:
        self._remaining = iter(listeners)
        self._args = args
        self._innermost = innermost

    async def __call__(self) -> Any:
        listener = next(self._remaining, None)
        answer = self._innermost() if listener is None else listener(*self._args, self)
        return await answer if is_awaitable(answer) else answer


class Events:
    """Every listener of a host, by event name.

    A listener registered through a scope hears of that scope and its descendants only; one registered through none
    hears of everything. Scope never changes the order.
    """

    def __init__(self, background: Background, logger: Logger) -> None:
        self._listeners: dict[str, list[tuple[Scope | None, Listener]]] = {}
        self._background = background
        self._logger = logger

    def on(self, event: str, listener: Listener, *, scope: Scope | None = None, prepend: bool = False) -> Disposer:
        """Add `listener` as the innermost of `event`, or with `prepend` as the outermost.

        Dispatches that are already on their way do not see it.
        """
        listeners = self._listeners.setdefault(event, [])
        entry = (scope, listener)

        def remove() -> None:
            # By identity: the same function may be registered twice.
            for index, candidate in enumerate(listeners):
                if candidate is entry:
                    del listeners[index]
                    return

        disposer = owned(scope, remove)
        listeners.insert(0 if prepend else len(listeners), entry)
        return disposer

    def heard_by(self, event: str, target: Scope | None) -> list[Listener]:
        """The listeners of `event` that hear of `target`, outermost first."""
        listeners = self._listeners.get(event)
        if not listeners:
            return []
        return [listener for scope, listener in listeners if scope is None or scope.covers(target)]

    async def waterfall(self, event: str, target: Scope | None, *args: Any, innermost: Next) -> Any:
        """Ask the outermost listener; its answer is the answer.

        All `next` of one dispatch share one cursor: calling `next()` again never runs a listener a second time, but
        past the last listener it runs `innermost` again.
        """
        return await _Cursor(self.heard_by(event, target), args, innermost)()

    async def serial(self, event: str, target: Scope | None, *args: Any) -> None:
        """Tell each listener and wait for it before the next one is told; one that answers something is the last."""
        for listener in self.heard_by(event, target):
            answer = await settle(listener(*args))
            if answer is not None and answer is not False and answer is not UNDEFINED:
                return

    def emit(self, event: str, target: Scope | None, *args: Any, about: str = "") -> None:
        """Tell every listener now and wait for none: what an async listener does may land any time later.

        A listener that throws stops nobody; the operator reads `about` and its text in a notice.
        """
        listeners = self.heard_by(event, target)
        if not listeners:
            return

        def failed(error: Exception) -> None:
            self._logger.warn(f"{about or 'harness'}: {event} observer failed: {error_message(error)}")

        for listener in listeners:
            try:
                outcome = listener(*args)
            except Exception as error:
                failed(error)
            else:
                if is_awaitable(outcome):
                    self._background.start(settle(outcome), failed)
