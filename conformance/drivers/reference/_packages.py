"""Packages from data: factories, handlers and tools that ask the suite what to do."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from conformance.drivers.backend import Suite
from conformance.drivers.protocol import (
    HandlerSpec,
    Outcome,
    PackageExecute,
    PackageHandle,
    PackageSpec,
    Reply,
    ToolSpec,
)
from conformance.drivers.reference._invocations import Invocation, Invocations
from conformance.drivers.reference._replies import apply_ops, finish
from conformance.drivers.reference._trace import Notes
from conformance.drivers.reference._values import Signals, decode, encode, encode_error, exception, returned, threw
from reference_bridge.bridge.api import Pi
from reference_bridge.bridge.context import Context
from reference_bridge.bridge.packages import Package
from reference_bridge.host import UNDEFINED, AbortSignal
from reference_bridge.host.waterfall import settle

Row = dict[str, Any]

_METHODS = {
    "registerTool": "register_tool",
    "unregisterTool": "unregister_tool",
    "exec": "exec",
    "getActiveTools": "get_active_tools",
    "getAllTools": "get_all_tools",
    "setActiveTools": "set_active_tools",
    "on": "on",
}


@dataclass(eq=False, slots=True)
class Running:
    """One instance as the suite knows it."""

    id: str
    package: str
    pi: Pi
    calls: list[Row] = field(default_factory=list)

    @property
    def agent(self) -> str | None:
        """The id of the agent it serves, if it serves but one."""
        return None if self.pi.agent is None else self.pi.agent.id


class Packages:
    """Makes packages from specs, and keeps the instances they run as."""

    def __init__(
        self, suite: Suite, notes: Notes, invocations: Invocations, numbers: itertools.count[int], signals: Signals
    ) -> None:
        self._suite = suite
        self._notes = notes
        self._invocations = invocations
        self._numbers = numbers
        self._signals = signals
        self.known: dict[str, Running] = {}
        self._alive: list[Running] = []

    def package(self, spec: PackageSpec) -> Package:
        """The package whose factory does what ``spec`` says."""

        async def factory(pi: Pi) -> None:
            await self._run_factory(spec, pi)

        return Package(spec.name, factory)

    def note_gone(self) -> None:
        """Note the instances that have ended since."""
        for running in list(self._alive):
            if not running.pi.active:
                self._alive.remove(running)
                self._notes.send("instance.disposed", running.agent, instance=running.id)

    async def call(
        self, running: Running, call: str, args: list[Any], invocation: str | None = None
    ) -> tuple[Outcome, Row]:
        """Call ``pi.<call>`` and note it; the row is what ``instance.created`` tells of a call while loading."""
        api, agent = f"p{next(self._numbers)}", running.agent
        self._notes.send("api.call", agent, api=api, instance=running.id, invocation=invocation, call=call, args=args)
        outcome = await self._outcome(running, call, args)
        told = msgspec.to_builtins(outcome)
        self._notes.send("api.return", agent, api=api, call=call, outcome=told)
        return outcome, {"call": call, "args": args, "outcome": told}

    async def _run_factory(self, spec: PackageSpec, pi: Pi) -> None:
        running = Running(f"n{next(self._numbers)}", spec.name, pi)
        self.known[running.id] = running
        self._alive.append(running)
        more: dict[str, Any] = {}
        try:
            calls = [("registerTool", [msgspec.to_builtins(tool)]) for tool in spec.tools]
            calls += [("on", [msgspec.to_builtins(handler)]) for handler in spec.handlers]
            calls += [(call.call, call.args) for call in spec.calls]
            for name, args in calls:
                running.calls.append((await self.call(running, name, args))[1])
            if spec.throws is not msgspec.UNSET:
                more["error"] = spec.throws
                raise exception(decode(spec.throws))
        finally:
            role = "shared" if pi.agent is None else "agent"
            self._notes.send(
                "instance.created",
                running.agent,
                instance=running.id,
                package=spec.name,
                role=role,
                calls=running.calls,
                **more,
            )

    async def _outcome(self, running: Running, call: str, args: list[Any]) -> Outcome:
        try:
            method = getattr(running.pi, _METHODS[call], None) if call in _METHODS else None
            if method is None:
                raise TypeError(f"pi.{call} is not a function")
            value = await settle(method(*self._arguments(running, call, args)))
            outcome = returned(UNDEFINED if value is None else value)
            spoil(value)
            return outcome
        except Exception as error:
            return threw(error)

    def _arguments(self, running: Running, call: str, args: list[Any]) -> list[Any]:
        if call == "registerTool" and args:
            spec = _spec(args[0], ToolSpec)
            return [decode(args[0]) if spec is None else self._definition(running, spec)]
        if call == "on" and args:
            handler = _spec(args[0], HandlerSpec)
            if handler is not None:
                return [handler.event, self._handler(running, handler)]
        return [decode(arg, self._signals) for arg in args]

    # --- what a package is made of ------------------------------------------------------------------------------------

    def _definition(self, running: Running, spec: ToolSpec) -> dict[str, Any]:
        """The definition as `registerTool` gets it; fields left out are absent."""
        definition = {
            key: decode(value)
            for key, value in msgspec.to_builtins(spec).items()
            if key not in ("prepare", "executes", "tag")
        }
        if spec.prepare is not msgspec.UNSET:
            definition["prepareArguments"] = self._prepare(spec.prepare)
        if spec.executes:
            definition["execute"] = self._execute(running, spec)
        return definition

    def _prepare(self, reply: Reply) -> Callable[[Any], Any]:
        def prepare(arguments: Any) -> Any:
            for at in ("enter", "after-await"):
                apply_ops(reply.ops, at, arguments)
            return finish(reply, otherwise=arguments)

        return prepare

    def _execute(self, running: Running, spec: ToolSpec) -> Callable[..., Any]:
        async def execute(call_id: Any, params: Any, signal: Any, on_update: Callable[..., Any], ctx: Context) -> Any:
            invocation = self._invocations.open(ctx.agent_id, running.pi, ctx, on_update)
            if isinstance(signal, AbortSignal):
                signal.add_listener(lambda: self._notes.send("tool.aborted", ctx.agent_id, invocation=invocation.id))
            message = PackageExecute(
                package=running.package,
                instance=running.id,
                tool=str(spec.name),
                call_id=encode(call_id),
                params=encode(params),
                invocation=invocation.id,
                tag=spec.tag,
                agent=ctx.agent_id,
                aborted=signal.aborted if isinstance(signal, AbortSignal) else None,
                extras={"signal": _type_name(signal), "onUpdate": _type_name(on_update), "ctx": _type_name(ctx)},
            )
            exit_data = {"instance": running.id, "package": running.package, "tool": str(spec.name)}
            threw_data: dict[str, Any] = {}
            late: list[Callable[[], Any]] = []
            try:
                reply: Reply = await self._suite.ask(message)
                for update in reply.late_updates:
                    late.append(partial(on_update, decode(update)))
                return await self._carry_out(reply, invocation, params)
            except Exception as error:
                threw_data["threw"] = encode_error(error)
                raise
            finally:
                for update in late:
                    self._invocations.later(invocation, update)
                self._invocations.close(invocation)
                self._notes.send("tool.exit", ctx.agent_id, invocation=invocation.id, **exit_data, **threw_data)

        return execute

    def _handler(self, running: Running, spec: HandlerSpec) -> Any:
        if not spec.callable:
            return UNDEFINED
        return self._asking(running, spec) if spec.sync is msgspec.UNSET else self._fixed(running, spec, spec.sync)

    def _asking(self, running: Running, spec: HandlerSpec) -> Callable[..., Any]:
        async def handler(event: dict[str, Any], ctx: Context) -> Any:
            invocation = self._invocations.open(ctx.agent_id, running.pi, ctx)
            message = PackageHandle(
                package=running.package,
                instance=running.id,
                handler=spec.id,
                event=spec.event,
                payload=encode(event),
                invocation=invocation.id,
                agent=ctx.agent_id,
            )
            threw_data: dict[str, Any] = {}
            left = False
            try:
                return await self._carry_out(await self._suite.ask(message), invocation, event)
            except Exception as error:
                threw_data["threw"] = encode_error(error)
                raise
            except asyncio.CancelledError:
                left = True  # It never came to its end, so nothing tells of one.
                raise
            finally:
                self._invocations.close(invocation)
                if not left:
                    self._exit(running, spec, invocation, threw_data)

        return handler

    def _fixed(self, running: Running, spec: HandlerSpec, reply: Reply) -> Callable[..., Any]:
        def handler(event: dict[str, Any], ctx: Context) -> Any:
            invocation = self._invocations.open(ctx.agent_id, running.pi, ctx)
            entry = {"instance": running.id, "package": running.package, "handler": spec.id, "event": spec.event}
            call_id = event.get("toolCallId")
            self._notes.send(
                "handler.enter", ctx.agent_id, call_id, invocation=invocation.id, payload=encode(event), **entry
            )
            threw_data: dict[str, Any] = {}
            try:
                for at in ("enter", "after-await"):
                    apply_ops(reply.ops, at, event)
                self._change_late(reply, invocation, event)
                return finish(reply)
            except Exception as error:
                threw_data["threw"] = encode_error(error)
                raise
            finally:
                self._invocations.close(invocation)
                self._exit(running, spec, invocation, threw_data)

        return handler

    def _exit(self, running: Running, spec: HandlerSpec, invocation: Invocation, more: dict[str, Any]) -> None:
        self._notes.send(
            "handler.exit",
            invocation.agent,
            invocation=invocation.id,
            instance=running.id,
            package=running.package,
            handler=spec.id,
            event=spec.event,
            **more,
        )

    async def _carry_out(self, reply: Reply, invocation: Invocation, target: Any) -> Any:
        apply_ops(reply.ops, "enter", target)
        if reply.delay_ms:
            await asyncio.sleep(reply.delay_ms / 1000)
        apply_ops(reply.ops, "after-await", target)
        self._change_late(reply, invocation, target)
        return finish(reply, signals=self._signals)

    def _change_late(self, reply: Reply, invocation: Invocation, target: Any) -> None:
        if any(op.at == "after-return" for op in reply.ops):
            self._invocations.later(invocation, lambda: apply_ops(reply.ops, "after-return", target))


def _spec(value: Any, kind: type[Any]) -> Any | None:
    """``value`` as a spec of that kind; ``None`` where it is something else, which then goes to the bridge as it is."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def _type_name(value: Any) -> str:
    """The name of a value's type as JavaScript code would ask for it."""
    if value is None or value is UNDEFINED:
        return "undefined" if value is UNDEFINED else "null"
    if isinstance(value, AbortSignal):
        return "AbortSignal"
    if isinstance(value, dict | list | Context):
        return "array" if isinstance(value, list) else "object"
    return "function" if callable(value) else type(value).__name__


def spoil(value: Any) -> None:
    """Change what a method returned, as a careless package does: a list that is not the caller's own shows it later."""
    if isinstance(value, list):
        for row in value:
            if isinstance(row, dict):
                row["description"] = "spoiled by its reader"
        value.append("spoiled by its reader")
