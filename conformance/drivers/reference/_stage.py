"""One stage: a host, a bridge on it, and what the suite does to both."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import re
from collections.abc import Callable
from typing import Any

from conformance.drivers.backend import Suite
from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import (
    AgentCancel,
    AgentCreate,
    AgentDispose,
    AgentFollowUp,
    AgentPrompt,
    AgentSettle,
    AgentSteer,
    CtxCall,
    HostCall,
    HostDispose,
    HostListen,
    HostNext,
    Message,
    NativeRegister,
    NativeUnregister,
    Nothing,
    Outcome,
    PackageLoad,
    PackageReload,
    PackageUnload,
    PiCall,
    PolicySet,
    Record,
    SignalAbort,
    SignalCreate,
    StageOpen,
    ToolUpdate,
)
from conformance.drivers.reference._invocations import Invocation, Invocations
from conformance.drivers.reference._operator import Natives, Policies, SuiteModel
from conformance.drivers.reference._packages import Packages, Running
from conformance.drivers.reference._seams import Seams
from conformance.drivers.reference._services import Services
from conformance.drivers.reference._trace import Notes
from conformance.drivers.reference._values import decode, returned, threw
from reference_bridge.bridge.bridge import Bridge, Mount
from reference_bridge.host import UNDEFINED, AbortController, AbortSignal, Agent, Host

CLOSING = 1.0
"""Seconds the host has to come to rest before what still runs is cancelled."""


class OpenStage:
    """Answers every message of an open stage."""

    def __init__(
        self,
        suite: Suite,
        message: StageOpen,
        mount: Mount,
        numbers: itertools.count[int],
        bridge_type: type[Bridge],
        host_type: type[Host],
    ) -> None:
        self._suite = suite
        self._cwd = message.cwd
        self._signals: dict[str, AbortController] = {}
        self.notes = Notes(suite)
        self.invocations = Invocations(numbers)
        self.services = Services(suite, self.notes, numbers, message)
        self.host = host_type(self.services.options())
        self.notes.follow(self.host)
        self.services.attach(self.host)
        self.natives = Natives(suite, self.notes, self.invocations, self.host)
        self.policies = Policies(self.notes, self.host)
        self.seams = Seams(suite, self.notes, self.invocations, numbers, self.host, self.natives, self._signal)
        self.packages = Packages(suite, self.notes, self.invocations, numbers, self._signal)
        self.bridge = bridge_type(self.host, mount)
        for native in message.natives:
            self.natives.register(native, None)
        for policy in message.policies:
            if policy.place == "before":
                self.policies.set(policy)
        self.bridge.attach()
        for policy in message.policies:
            if policy.place != "before":
                self.policies.set(policy)

    def invocation_of(self, message: Message) -> Invocation | None:
        """The open handler or tool a message is sent from."""
        id = getattr(message, "invocation", None)
        return None if id is None else self._invocation(id)

    async def close(self) -> list[int]:
        """End everything; gives the children that were still there."""
        children = self.services.children()
        self.invocations.cancel()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.host.close(), CLOSING)
        await self.bridge.close()
        await self.services.close()
        return children

    async def answer(self, message: Message) -> Record:
        """Answer one message of the suite."""
        handler = _ANSWERS.get(type(message))
        if handler is None:
            raise HarnessError(f"the reference has no answer to {message.method}", "ask it while no stage is open")
        answer: Record = await handler(self, message)
        return answer

    # --- packages -----------------------------------------------------------------------------------------------------

    async def _load(self, message: PackageLoad) -> Outcome:
        return await self._attempt(self.bridge.load(self.packages.package(message.package)))

    async def _unload(self, message: PackageUnload) -> Outcome:
        async def unload() -> None:
            self.bridge.unload(message.package)

        return await self._attempt(unload())

    async def _reload(self, message: PackageReload) -> Outcome:
        replacement = None if message.replacement is None else self.packages.package(message.replacement)
        return await self._attempt(self.bridge.reload(message.package, replacement))

    async def _pi_call(self, message: PiCall) -> Outcome:
        running = self._running(message)
        return (await self.packages.call(running, message.call, message.args, message.invocation))[0]

    async def _ctx_call(self, message: CtxCall) -> Outcome:
        async def call() -> Any:
            value: Any = self._invocation(message.invocation).ctx
            for name in message.call.split("."):
                value = getattr(value, re.sub(r"([a-z])([A-Z]+)", r"\1_\2", name).lower(), UNDEFINED)
            if callable(value):
                value = value(*(decode(arg, self._signal) for arg in message.args))
            if inspect.isawaitable(value):
                value = await value
            return UNDEFINED if value is None else value

        return await self._attempt(call())

    async def _tool_update(self, message: ToolUpdate) -> Outcome:
        async def update() -> None:
            on_update = self._invocation(message.invocation).on_update
            if on_update is None:
                raise HarnessError(f"invocation {message.invocation} is no tool's", "update from inside a tool's body")
            on_update(decode(message.update))

        return await self._attempt(update())

    # --- agents -------------------------------------------------------------------------------------------------------

    async def _create(self, message: AgentCreate) -> Outcome:
        owner = None if message.parent is None else self._agent(message.parent)
        if message.resumes is not None:
            self.services.resume(message.agent, message.resumes)

        async def create() -> None:
            agent = await self.host.agents.create(
                message.agent, SuiteModel(self._suite), owner=owner, cwd=message.cwd or self._cwd
            )
            await self.bridge.ready(agent)

        return await self._attempt(create())

    async def _prompt(self, message: AgentPrompt | AgentFollowUp) -> Outcome:
        return self._say(message.agent, lambda agent: agent.followup(message.text))

    async def _steer(self, message: AgentSteer) -> Outcome:
        return self._say(message.agent, lambda agent: agent.steer(message.text))

    async def _cancel(self, message: AgentCancel) -> Outcome:
        return self._say(message.agent, lambda agent: agent.cancel())

    async def _settle(self, message: AgentSettle) -> Nothing:
        agent = self._agent(message.agent)
        while True:
            await agent.when_idle()
            await self.bridge.settled(agent)
            await self.invocations.settled(agent.id)
            if agent.status == "idle" and not self.invocations.is_pending(agent.id):
                return Nothing()

    async def _dispose(self, message: AgentDispose) -> Outcome:
        return await self._attempt(self._agent(message.agent).dispose())

    # --- the operator's things ----------------------------------------------------------------------------------------

    async def _native_register(self, message: NativeRegister) -> Outcome:
        scope = None if message.native.agent is None else self._agent(message.native.agent).scope

        async def register() -> None:
            self.natives.register(message.native, scope)

        return await self._attempt(register())

    async def _native_unregister(self, message: NativeUnregister) -> Outcome:
        async def unregister() -> bool:
            return self.natives.unregister(message.name, message.agent)

        return await self._attempt(unregister())

    async def _policy(self, message: PolicySet) -> Nothing:
        self.policies.set(message.policy)
        return Nothing()

    async def _signal_create(self, message: SignalCreate) -> Nothing:
        self._signals[message.signal] = AbortController()
        return Nothing()

    async def _signal_abort(self, message: SignalAbort) -> Nothing:
        if message.signal not in self._signals:
            raise HarnessError(f"there is no signal {message.signal!r}", "make it with signal.create first")
        self._signals[message.signal].abort(message.reason)
        return Nothing()

    # --- the host's own seams -----------------------------------------------------------------------------------------

    async def _host_call(self, message: HostCall) -> Outcome:
        return await self.seams.call(message)

    async def _host_listen(self, message: HostListen) -> Outcome:
        return await self.seams.listen(message)

    async def _host_next(self, message: HostNext) -> Outcome:
        return await self.seams.next(message.invocation)

    async def _host_dispose(self, message: HostDispose) -> Outcome:
        return await self.seams.dispose(message.handle)

    # --- looking things up --------------------------------------------------------------------------------------------

    async def _attempt(self, work: Any) -> Outcome:
        """The outcome of ``work``; instances that ended with it are noted."""
        try:
            outcome = returned(_undefined(await work))
        except HarnessError:
            raise
        except Exception as error:
            outcome = threw(error)
        self.packages.note_gone()
        return outcome

    def _say(self, agent: str, say: Callable[[Agent], None]) -> Outcome:
        try:
            say(self._agent(agent))
        except HarnessError:
            raise
        except Exception as error:
            return threw(error)
        return returned()

    def _agent(self, id: str) -> Agent:
        agent = self.host.agents.get(id)
        if agent is None:
            raise HarnessError(f"there is no agent {id!r}", "create it with agent.create first")
        return agent

    def _invocation(self, id: str) -> Invocation:
        invocation = self.invocations.get(id)
        if invocation is None:
            raise HarnessError(f"there is no invocation {id!r}", "use the id of a handler or tool of the open stage")
        return invocation

    def _running(self, message: PiCall) -> Running:
        if message.instance in self.packages.known:
            return self.packages.known[message.instance]
        if message.invocation is not None:
            pi = self._invocation(message.invocation).pi
            for running in self.packages.known.values():
                if running.pi is pi:
                    return running
        raise HarnessError(
            f"pi.call names no instance of this stage: {message.instance!r}, {message.invocation!r}",
            "use an instance told of by instance.created, or the invocation of a package's handler or tool",
        )

    def _signal(self, id: str) -> AbortSignal:
        return self._signals.setdefault(id, AbortController()).signal


def _undefined(value: Any) -> Any:
    return UNDEFINED if value is None else value


_ANSWERS: dict[type[Message], Callable[[OpenStage, Any], Any]] = {
    PackageLoad: OpenStage._load,
    PackageUnload: OpenStage._unload,
    PackageReload: OpenStage._reload,
    PiCall: OpenStage._pi_call,
    CtxCall: OpenStage._ctx_call,
    ToolUpdate: OpenStage._tool_update,
    AgentCreate: OpenStage._create,
    AgentPrompt: OpenStage._prompt,
    AgentSteer: OpenStage._steer,
    AgentFollowUp: OpenStage._prompt,
    AgentCancel: OpenStage._cancel,
    AgentSettle: OpenStage._settle,
    AgentDispose: OpenStage._dispose,
    NativeRegister: OpenStage._native_register,
    NativeUnregister: OpenStage._native_unregister,
    PolicySet: OpenStage._policy,
    SignalCreate: OpenStage._signal_create,
    SignalAbort: OpenStage._signal_abort,
    HostCall: OpenStage._host_call,
    HostListen: OpenStage._host_listen,
    HostNext: OpenStage._host_next,
    HostDispose: OpenStage._host_dispose,
}
