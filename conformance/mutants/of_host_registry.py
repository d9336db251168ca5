"""Defects of the host's registry: layers of scopes, names, and what a restriction hides from whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.host import GLOBAL, RUN_CODE, Agent, Disposer, Host, Scope, ToolDefinition, View
from reference_bridge.host.agents import Agents
from reference_bridge.host.registry import Layer, Mode
from reference_bridge.host.scheduler import Batch
from reference_bridge.host.tools import Tools


@mutant()
class GlobalToolsWin(Tools):
    """Runs the global tool where a scope has one of the same name."""

    def view(self, scope: Scope | None = GLOBAL) -> View:
        seen = super().view(scope)
        return View({**seen.visible, **self._layers[GLOBAL].tools}, seen.known_names, seen.restrictable_names)


@mutant()
class DisposedShadowsKeepHiding(Tools):
    """Keeps the inherited tool hidden when the one that stood before it is taken back."""

    def register(self, tool: ToolDefinition, scope: Scope | None = GLOBAL) -> Disposer:
        dispose = super().register(tool, scope)
        if scope is GLOBAL or tool.name not in self.view(scope).restrictable_names:
            return dispose

        def undo() -> None:
            dispose()
            if scope.active:
                self.restrict(scope, deny=[tool.name])

        return Disposer(undo)


@mutant()
class LaterRegistrationReplaces(Tools):
    """Puts a second registration of a name in the place of the first."""

    def register(self, tool: ToolDefinition, scope: Scope | None = GLOBAL) -> Disposer:
        self._layer(scope).tools.pop(tool.name, None)
        super().register(tool, scope)
        return Disposer(lambda: self._layer(scope).tools.pop(tool.name, None))


@mutant()
class FarthestScopeWins(Tools):
    """Runs the tool of the farthest scope of a chain."""

    def view(self, scope: Scope | None = GLOBAL) -> View:
        seen = super().view(scope)
        tools: dict[str, ToolDefinition] = {}
        for layer in reversed(self._chain(scope)):
            tools.update(layer.tools)
        return View(
            {**seen.visible, **{name: tool for name, tool in tools.items() if name in seen.visible}},
            seen.known_names,
            seen.restrictable_names,
        )


@mutant()
class ChildAgentsInheritScopes(Agents):
    """Makes the scope of an agent's child agent a child of its own."""

    async def create(self, id: str, model: Any, **named: Any) -> Agent:
        agent = await super().create(id, model, **named)
        if named.get("owner") is not None:
            agent.scope.bind_parent(named["owner"].scope)
        return agent


@mutant()
class RequestInOrderOfRegistration(Tools):
    """Lists tools to the model as they were registered."""

    def catalogue(self, scope: Scope | None = GLOBAL) -> list[dict[str, Any]]:
        rows = {row["name"]: row for row in super().catalogue(scope)}
        return [rows[name] for name in self.view(scope).visible if name in rows]


@mutant()
class NamesFoundInAnyCase(Tools):
    """Finds a tool under its name in another case or with blanks around it."""

    def get(self, name: str, scope: Scope | None = GLOBAL) -> ToolDefinition | None:
        visible = self.view(scope).visible
        alike = (tool for each, tool in visible.items() if each.lower() == name.strip().lower())
        return visible[name] if name in visible else next(alike, None)


class _HoldsTools(Tools):
    held: dict[Scope | None, View]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.held = {}

    def get(self, name: str, scope: Scope | None = GLOBAL) -> ToolDefinition | None:
        return self.held[scope].visible.get(name) if scope in self.held else super().get(name, scope)


class _HoldingBatch(Batch):
    async def run(self) -> bool:
        tools: Any = self._pipeline._registry
        scope = self._calls[0][1].target
        tools.held[scope] = tools.view(scope)
        try:
            return await super().run()
        finally:
            del tools.held[scope]


class _HoldingAgent(Agent):
    batch_type = _HoldingBatch


class _HoldingAgents(Agents):
    agent_type = _HoldingAgent


@mutant()
class BatchKeepsItsTools(Host):
    """Runs the calls of a batch with the tools that were there when it began."""

    tools_type = _HoldsTools
    agents_type = _HoldingAgents


@mutant()
class TransportNameIsFree(Tools):
    """Lets anybody register a tool under the reserved name."""

    def register(self, tool: ToolDefinition, scope: Scope | None = GLOBAL) -> Disposer:
        if tool.name != RUN_CODE:
            return super().register(tool, scope)
        self._layer(scope).tools[tool.name] = tool
        return Disposer(lambda: self._layer(scope).tools.pop(tool.name, None))


@mutant()
class OddParametersDropped(Tools):
    """Keeps of a tool's parameters the type and the properties only."""

    def register(self, tool: ToolDefinition, scope: Scope | None = GLOBAL) -> Disposer:
        kept = {key: tool.parameters[key] for key in ("type", "properties", "required") if key in tool.parameters}
        return super().register(replace(tool, parameters=kept), scope)


@mutant()
class ChangesToldTwice(Tools):
    """Tells every change of the registry twice."""

    def __init__(self, changed: Callable[[], None], mode: Mode, *rest: Any) -> None:
        def twice() -> None:
            changed()
            changed()

        super().__init__(twice, mode, *rest)


# --- restrictions


class _Restricts(Tools):
    def restrict(
        self, scope: Scope | None, *, allow: Iterable[str] | None = None, deny: Iterable[str] | None = None
    ) -> Disposer:
        return super().restrict(scope, **self.meant(scope, allow, deny))

    def meant(self, scope: Scope | None, allow: Any, deny: Any) -> dict[str, Any]:
        raise NotImplementedError


@mutant()
class UnknownNamesAreSkipped(_Restricts):
    """Skips names in a restriction that it does not know."""

    def meant(self, scope: Scope | None, allow: Any, deny: Any) -> dict[str, Any]:
        known = self.view(scope).restrictable_names | {RUN_CODE}
        return {
            "allow": None if allow is None else [name for name in allow if name in known],
            "deny": None if deny is None else [name for name in deny if name in known],
        }


@mutant()
class EmptyFilterAccepted(_Restricts):
    """Accepts a restriction without any list."""

    def meant(self, scope: Scope | None, allow: Any, deny: Any) -> dict[str, Any]:
        return {"allow": allow, "deny": [] if allow is None and deny is None else deny}


@mutant()
class EmptyAllowListHidesNothing(_Restricts):
    """Takes an empty list of allowed names for none."""

    def meant(self, scope: Scope | None, allow: Any, deny: Any) -> dict[str, Any]:
        return {"allow": None, "deny": deny or []} if allow == [] else {"allow": allow, "deny": deny}


@mutant()
class AllowWins(_Restricts):
    """Lets a name through that a restriction both allows and denies."""

    def meant(self, scope: Scope | None, allow: Any, deny: Any) -> dict[str, Any]:
        return {"allow": allow, "deny": None if deny is None else [name for name in deny if name not in (allow or ())]}


@mutant()
class OwnToolsAreHidden(Tools):
    """Hides a scope's own tools as those that it inherits."""

    def view(self, scope: Scope | None = GLOBAL) -> View:
        seen = super().view(scope)
        masks = [mask for layer in self._chain(scope) for mask in layer.masks.values()]
        shown = {name: tool for name, tool in seen.visible.items() if all(mask.admits(name) for mask in masks)}
        return View(shown, seen.known_names, seen.known_names)


@mutant()
class TransportNameCanBeNamed(_Restricts):
    """Skips the reserved name in a restriction."""

    def meant(self, scope: Scope | None, allow: Any, deny: Any) -> dict[str, Any]:
        return {
            "allow": None if allow is None else [name for name in allow if name != RUN_CODE],
            "deny": None if deny is None else [name for name in deny if name != RUN_CODE],
        }


@mutant()
class MasksReplaceEachOther(_Restricts):
    """Puts a restriction in the place of the scope's earlier one."""

    def meant(self, scope: Scope | None, allow: Any, deny: Any) -> dict[str, Any]:
        if scope is not GLOBAL and (allow is not None or deny is not None):
            self._layer(scope).masks.clear()
        return {"allow": allow, "deny": deny}

    def _undone_by(self, scope: Scope | None, undo: Callable[[], object]) -> Disposer:
        def lenient() -> None:
            try:
                undo()
            except KeyError:
                return

        return super()._undone_by(scope, lenient)


@mutant()
class AllowListsAreOfTheMoment(_Restricts):
    """Hides by a list of allowed names only what is there already."""

    def meant(self, scope: Scope | None, allow: Any, deny: Any) -> dict[str, Any]:
        if allow is None or scope is GLOBAL:
            return {"allow": allow, "deny": deny}
        known = self.view(scope).restrictable_names
        if any(name not in known for name in allow):
            return {"allow": allow, "deny": deny}
        return {"allow": None, "deny": [*(deny or ()), *(known - set(allow))]}


@mutant()
class MasksOfTheScopeOnly(Tools):
    """Keeps a restriction from the scopes below."""

    def _chain(self, scope: Scope | None) -> list[Layer]:
        chain = super()._chain(scope)
        return [each if each is self._layers.get(scope) else _unmasked(each) for each in chain]


def _unmasked(layer: Layer) -> Layer:
    free = Layer()
    free.tools, free.guards, free.mode = layer.tools, layer.guards, layer.mode
    return free


@mutant()
class MaskedToolsRun(Tools):
    """Runs a call of a tool that a restriction hides."""

    def get(self, name: str, scope: Scope | None = GLOBAL) -> ToolDefinition | None:
        return super().get(name, scope) or self._layers[GLOBAL].tools.get(name)
