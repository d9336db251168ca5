"""Which tools exist, and which of them each scope sees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from reference_bridge.host.definitions import ToolDefinition
from reference_bridge.host.errors import ToolNotFoundError
from reference_bridge.host.json_schema import require_supported
from reference_bridge.host.json_values import UNDEFINED, Json, NotLosslessError, clone, code_units
from reference_bridge.host.results import Execution
from reference_bridge.host.scopes import GLOBAL, Disposer, Scope, owned

RUN_CODE: Final = "run_code"
"""The one reserved name: the tool through which a model runs programs in the modes `code` and `both`."""

Mode: TypeAlias = Literal["native", "both", "code"]
"""How a scope presents its tools: each by itself, only inside `run_code` programs, or both."""

Guard: TypeAlias = Callable[[Execution], Any]
"""Looks at an allowed call; a string it returns denies the call for good, `None` passes."""


@dataclass(frozen=True, slots=True)
class Mask:
    """What one `restrict` hides. It is by name: it outlives the registrations it names."""

    allow: frozenset[str] | None
    deny: frozenset[str]

    def admits(self, name: str) -> bool:
        """An allow list hides also what is registered later; a deny list admits it. Deny wins."""
        return name not in self.deny and (self.allow is None or name in self.allow)


class Layer:
    """What is registered through one scope, or through none."""

    __slots__ = ("guards", "masks", "mode", "tools")

    def __init__(self) -> None:
        self.tools: dict[str, ToolDefinition] = {}
        self.masks: dict[object, Mask] = {}
        self.guards: dict[object, Guard] = {}
        self.mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class View:
    """The tools as one scope has them."""

    visible: Mapping[str, ToolDefinition]
    """What the scope can call, in catalogue order."""
    known_names: Set[str]
    """Everything registered for the scope, masked or not."""
    restrictable_names: Set[str]
    """What `restrict` may name: inherited names, masked or not."""


class Registry:
    """Tools, masks and guards in layers, one a scope and a global one."""

    def __init__(self, changed: Callable[[], None], mode: Mode = "native") -> None:
        """`changed` is told once for every register, unregister, restrict and lift, and for nothing else."""
        self._changed = changed
        self._mode: Mode = mode
        self._layers: dict[Scope | None, Layer] = {GLOBAL: Layer()}
        self.transport: ToolDefinition | None = None
        """The `run_code` tool, shown wherever the mode is not `native`."""

    def register(self, tool: ToolDefinition, scope: Scope | None = GLOBAL) -> Disposer:
        """Add `tool` to the layer of `scope`, where it shadows inherited tools of its name.

        Raises `TypeError` for a missing renderer or a bad time limit, `JsonSchemaError` for an unsupported output
        schema, `ValueError` for a reserved or taken name, `InactiveScopeError` after the scope's end.
        """
        if not callable(tool.render) or not (tool.presentation_meta is None or callable(tool.presentation_meta)):
            raise TypeError(f'tool "{tool.name}" must declare output {{ schema, render, presentationMeta? }}')
        require_supported(tool.output_schema)
        if tool.timeout_ms is not None and not (math.isfinite(tool.timeout_ms) and tool.timeout_ms > 0):
            raise TypeError(f'tool "{tool.name}" timeoutMs must be a positive finite number')
        if tool.name == RUN_CODE:
            raise ValueError(
                f'tool name "{RUN_CODE}" is reserved for the Code Mode presentation transport '
                "and cannot be registered or shadowed"
            )
        tools = self._layer(scope).tools
        if tool.name in tools:
            if scope is GLOBAL:
                hint = " (for a per-agent variant, register through that agent's `agent.ctx` instead)"
                raise ValueError(f'tool "{tool.name}" is already registered{hint}')
            raise ValueError(f'tool "{tool.name}" is already registered in this scope')
        tools[tool.name] = tool
        self._changed()
        return self._undone_by(scope, lambda: tools.pop(tool.name))

    def restrict(
        self, scope: Scope | None, *, allow: Iterable[str] | None = None, deny: Iterable[str] | None = None
    ) -> Disposer:
        """Hide inherited tools from `scope` and its descendants; the disposer lifts exactly this mask.

        The scope's own tools stay visible. One name that cannot be restricted fails the whole call: it then raises
        `ValueError` and nothing has changed. `allow=[]` is a legal way to hide everything inherited.
        """
        if scope is GLOBAL:
            raise ValueError(
                "tools.restrict() requires a scoped context (agent.ctx): a context-global restriction would mask "
                "every agent — deny the tool for the intended agent instead"
            )
        if allow is None and deny is None:
            raise ValueError(
                "tools.restrict({}) is a no-op: pass `allow` and/or `deny` "
                "(an empty filter is almost always a materialized-empty-config bug)"
            )
        allow, deny = None if allow is None else tuple(allow), tuple(deny or ())
        named = [*(allow or ()), *deny]
        if RUN_CODE in named:
            raise ValueError(
                f'tools.restrict() cannot name reserved Code Mode presentation transport "{RUN_CODE}"; '
                "restrict end-capability tools instead"
            )
        known = self.view(scope).restrictable_names
        unknown = [name for name in named if name not in known]
        if unknown:
            listed = ", ".join(sorted(known, key=code_units)) or "(none)"
            quoted = ", ".join(f'"{name}"' for name in unknown)
            raise ValueError(
                f"tools.restrict() names unknown global tool{'s' if len(unknown) > 1 else ''} {quoted}; "
                f"known global tools: {listed}"
            )
        mask = Mask(None if allow is None else frozenset(allow), frozenset(deny))
        masks, key = self._layer(scope).masks, object()
        masks[key] = mask
        self._changed()
        return self._undone_by(scope, lambda: masks.pop(key))

    def guard(self, guard: Guard, scope: Scope | None = GLOBAL) -> Disposer:
        """Let `guard` look at every allowed call of `scope`; nothing can overrule its denial."""
        guards, key = self._layer(scope).guards, object()
        guards[key] = guard
        return owned(scope, lambda: guards.pop(key))

    def present_as(self, mode: Mode, scope: Scope | None) -> Disposer:
        """Present the tools of `scope` as `mode`, whatever the host's mode is. Raises `ValueError` without a scope."""
        if scope is GLOBAL:
            raise ValueError(
                "tools.presentAs() requires a scoped context (agent.ctx): a context-global presentation is the "
                "`mode` config field on the tools row"
            )
        layer = self._layer(scope)
        if layer.mode is not None:
            raise ValueError(
                f'tools.presentAs("{mode}") conflicts with "{layer.mode}" already declared for this scope; '
                "one composition selects one presentation"
            )
        layer.mode = mode
        self._changed()
        return self._undone_by(scope, lambda: setattr(layer, "mode", None))

    def mode_of(self, scope: Scope | None) -> Mode:
        """The presentation of `scope`: the nearest one declared, else the host's."""
        for layer in reversed(self._chain(scope)):
            if layer.mode is not None:
                return layer.mode
        return self._mode

    def view(self, scope: Scope | None = GLOBAL) -> View:
        """What `scope` sees now: inherited tools in order of registration, then its own new ones."""
        layers = self._chain(scope)
        own = self._layers.get(scope) if scope is not GLOBAL else None
        inherited = dict(self._layers[GLOBAL].tools)
        for layer in layers:
            if layer is not own:
                inherited.update(layer.tools)
        visible = inherited
        for mask in (mask for layer in layers for mask in layer.masks.values()):
            visible = {name: tool for name, tool in visible.items() if mask.admits(name)}
        tools = {} if own is None else own.tools
        visible = visible | tools
        if self.transport is not None and self.mode_of(scope) != "native":
            visible[RUN_CODE] = self.transport
        names = inherited.keys()
        return View(visible, names | tools.keys() if tools else names, names)

    def get(self, name: str, scope: Scope | None = GLOBAL) -> ToolDefinition | None:
        """The tool `scope` sees under `name`."""
        return self.view(scope).visible.get(name)

    def collapses(self, name: str, scope: Scope | None, *, nested: bool) -> bool:
        """Whether mode `code` keeps the model from calling `name` directly."""
        return not nested and name != RUN_CODE and self.mode_of(scope) == "code"

    def resolve(self, name: str, scope: Scope | None, *, nested: bool = False) -> ToolDefinition:
        """The tool a call of `name` runs right now; raises `ToolNotFoundError`."""
        tool = self.get(name, scope)
        if tool is None or self.collapses(name, scope, nested=nested):
            raise ToolNotFoundError(name)
        return tool

    def schemas(self, scope: Scope | None = GLOBAL) -> list[dict[str, Json]]:
        """Name, description and parameters of everything `scope` sees, as free copies.

        The scope must be named: without one the answer is the global view. One tool whose parameters are not JSON
        makes every listing raise `ValueError`.
        """
        return [_schema(tool) for tool in self.view(scope).visible.values()]

    def catalogue(self, scope: Scope | None = GLOBAL) -> list[dict[str, Json]]:
        """What a model request of `scope` lists: `schemas` as the mode presents them, sorted by code unit of the name.

        A listener of `system-prompt/assemble` that changed tools can put this in place of `assembly.tools`. Raises
        `ValueError` for a mode that presents `run_code` on a host that cannot run code.
        """
        mode = self.mode_of(scope)
        if mode != "native" and self.transport is None:
            raise ValueError(f'mode "{mode}" requires a code runtime: give the host one or set the mode to "native"')
        listed = [schema for schema in self.schemas(scope) if mode != "code" or schema["name"] == RUN_CODE]
        return sorted(listed, key=lambda schema: code_units(schema["name"]))

    def guard_reason(self, execution: Execution) -> Any:
        """The first denial of the guards that cover the call, farthest first; `UNDEFINED` if they all pass."""
        scope = execution.scope
        for layer in [self._layers[GLOBAL], *self._chain(scope)]:
            for guard in list(layer.guards.values()):
                reason = guard(execution)
                if reason is not None and reason is not UNDEFINED:
                    return reason
        return UNDEFINED

    def _layer(self, scope: Scope | None) -> Layer:
        """The layer of `scope`, made when something is first registered in it and dropped with the scope."""
        if scope is not GLOBAL:
            scope.require_active()
            if scope not in self._layers:
                scope.own(lambda: self._layers.pop(scope))
        return self._layers.setdefault(scope, Layer())

    def _chain(self, scope: Scope | None) -> list[Layer]:
        """The layers of `scope` and its ancestors, farthest first, without the global one."""
        if scope is GLOBAL:
            return []
        return [self._layers[each] for each in scope.chain() if each in self._layers]

    def _undone_by(self, scope: Scope | None, undo: Callable[[], object]) -> Disposer:
        def undo_and_tell() -> None:
            undo()
            self._changed()

        return owned(scope, undo_and_tell)


def _schema(tool: ToolDefinition) -> dict[str, Json]:
    try:
        parameters = clone(tool.parameters)
    except NotLosslessError:
        raise ValueError(f'tool "{tool.name}" parameters must be lossless JSON before schema projection') from None
    return {"name": tool.name, "description": tool.description, "parameters": parameters}
