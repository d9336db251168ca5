"""Carries a program out on one fresh stage, within one run of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from conformance.deadlines import Deadlines, Watch
from conformance.drivers.driver import Driver, HarnessError, Unsupported
from conformance.drivers.protocol import (
    AgentCancel,
    AgentCreate,
    AgentDispose,
    AgentFollowUp,
    AgentPrompt,
    AgentSettle,
    AgentSteer,
    InitializeResult,
    Message,
    NativeRegister,
    NativeUnregister,
    Outcome,
    PackageLoad,
    PackageReload,
    PackageUnload,
    PiCall,
    PolicySet,
    StageOpen,
)
from conformance.invariants import Context
from conformance.plan import MAIN
from conformance.programs.clock import PatientLoop
from conformance.programs.operations import (
    AddAgent,
    AddNative,
    AddPackage,
    AddPolicy,
    AddServices,
    AnyOperation,
    CallApi,
    CancelTurn,
    DropAgent,
    DropNative,
    LoadAgain,
    Program,
    Prompt,
    ReloadPackage,
    Tell,
    UnloadPackage,
)
from conformance.scripts import AnyAct, CallCtx, CallPi, EndAgent, Unload, Update
from conformance.stage import Stage
from conformance.trace import Trace
from conformance.verdicts import Inconclusive

BUSY = Deadlines(60.0, 600.0)
"""Deadlines on a clock that jumps. In real seconds the first is how long a program may keep the process busy."""


@dataclass(frozen=True)
class Connection:
    """A started driver, the loop it lives on, what it said of itself, and the mount."""

    runner: asyncio.Runner
    driver: Driver
    hello: InitializeResult
    mount: str | None = None

    @property
    def waits_cost_nothing(self) -> bool:
        """Whether the clock of the loop jumps over waits."""
        return isinstance(self.runner.get_loop(), PatientLoop)

    @property
    def context(self) -> Context:
        """What an invariant may know besides the trace."""
        return Context(self.hello.role, self.mount, frozenset(self.hello.capabilities), settled=True)


@dataclass(frozen=True)
class Ran:
    """A program that was carried out: its trace and whose it is, and what answered the calls.

    ``skipped`` names the operations and acts that were left out, and why.
    """

    trace: Trace
    context: Context
    outcomes: list[tuple[str, Outcome]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def run_program(connection: Connection, program: Program, deadlines: Deadlines | None = None) -> Ran:
    """Carry a program out on a fresh stage and return what came of it.

    Raises :class:`~conformance.drivers.driver.HarnessError` when the connection broke, and what
    :meth:`~conformance.stage.Stage.do` raises when a deadline passes.
    """
    stage = ProgramStage(connection.runner, connection.driver, connection.hello, connection.mount, deadlines)
    stage.play(program)
    context = replace(connection.context, child_agents=frozenset(stage.child_agents))
    return Ran(stage.trace, context, stage.outcomes, stage.skipped)


class ProgramStage(Stage):
    """A stage that is driven by a program instead of by steps."""

    def __init__(
        self,
        runner: asyncio.Runner,
        driver: Driver,
        hello: InitializeResult,
        mount: str | None = None,
        deadlines: Deadlines | None = None,
    ) -> None:
        loop = runner.get_loop()
        if isinstance(loop, PatientLoop):
            # On a clock that jumps, who waits in vain is found out at once: only who is busy takes time that is real.
            super().__init__(runner, driver, hello, mount, BUSY)
            self.peer.watch = Watch(loop.time)
        else:
            super().__init__(runner, driver, hello, mount, deadlines)
        self.skipped: list[str] = []
        self._ended: set[str] = set()
        self._parents: dict[str, str] = {}
        self._prompted: set[str] = set()

    def play(self, program: Program) -> None:
        """Carry out a program, settle every agent, and close."""
        self._awaited = "the end of the program"
        try:
            self.do(self._play(program))
        except HarnessError:
            self.leave()  # Nothing can be closed over a connection that broke.
            raise
        except BaseException:
            self.close()
            raise
        self.close()

    async def _play(self, program: Program) -> None:
        for number, operation in enumerate(program, 1):
            try:
                await _DO[type(operation)](self, operation)
            except Unsupported as lack:
                self._skip(f"operation {number} ({operation.__struct_config__.tag})", f"lacks {lack.capability}")
        await self._ready()
        for agent in tuple(self._agents):
            await self._send(AgentSettle(agent=agent))

    def _skip(self, what: str, why: str) -> None:
        self.skipped.append(f"{what}: {why}")

    async def _send(self, message: Message) -> Any:
        self._awaited = f"the answer to {message.method}"
        return await self._request(message)

    async def _note(self, what: str, message: Message) -> None:
        self.outcomes.append((what, await self._send(message)))

    async def _ready(self) -> None:
        """Open the stage with what was gathered, unless it is open."""
        if self._open:
            return
        self._open = True
        self.driver.bind(self.peer)
        plan = self.plan
        await self._send(
            StageOpen(
                mount=plan.mount,
                natives=[native for native in plan.natives if native.agent is None],
                policies=plan.policies,
                services=plan.services,
            )
        )
        for package in list(plan.packages.values()):
            await self._load(package.name)
        for agent in (MAIN, *plan.agents):
            await self._create(agent)

    async def _load(self, package: str) -> None:
        self._loaded.append(package)
        await self._note(f"load {package}", PackageLoad(package=self.plan.package(package).spec()))

    async def _create(self, agent: str, parent: str | None = None, resumes: str | None = None) -> None:
        await self._note(f"create {agent}", AgentCreate(agent=agent, parent=parent, resumes=resumes))
        self._agents.append(agent)
        for native in self.plan.natives:
            if native.agent == agent:
                await self._send(NativeRegister(native=native))

    # --- operations ---------------------------------------------------------------------------------------------------

    async def _services(self, operation: AddServices) -> None:
        if not self._open:
            self.plan.services = operation.services

    async def _package(self, operation: AddPackage) -> None:
        if operation.name in self.plan.packages:
            self._skip(f"package {operation.name}", "there is one of that name")
            return
        plan = self.plan.package(operation.name)
        plan.calls, plan.throws = operation.calls, operation.throws
        for tool in operation.tools:
            plan.tools.append(tool.spec)
            for behaviour in tool.does:
                plan.executes(str(tool.spec.name), behaviour, tool.spec.tag)
        for handler in operation.handlers:
            id = plan.listen(handler.event, further=True)
            if handler.sync is not msgspec.UNSET:
                plan.make_sync(id, handler.sync)
            for behaviour in handler.does:
                plan.handles(id, behaviour)
        if self._open:
            await self._load(operation.name)

    async def _native(self, operation: AddNative) -> None:
        if self._open and operation.native.agent is not None and not self._lives(operation.native.agent):
            return
        self.plan.native_bodies.setdefault(operation.native.name, []).extend(operation.does)
        if self._open:
            await self._note(f"native {operation.native.name}", NativeRegister(native=operation.native))
        elif any(native.name == operation.native.name for native in self.plan.natives):
            self._skip(f"native {operation.native.name}", "there is one of that name")
        else:
            self.plan.natives.append(operation.native)

    async def _drop_native(self, operation: DropNative) -> None:
        await self._ready()
        await self._note(f"drop native {operation.name}", NativeUnregister(name=operation.name))

    async def _policy(self, operation: AddPolicy) -> None:
        if self._open:
            await self._send(PolicySet(policy=operation.policy))
        else:
            self.plan.policies = [known for known in self.plan.policies if known.id != operation.policy.id]
            self.plan.policies.append(operation.policy)

    async def _agent(self, operation: AddAgent) -> None:
        if operation.parent is not None or operation.resumes is not None:
            await self._ready()
        if operation.agent in (MAIN, *(self._agents if self._open else self.plan.agents)):
            self._skip(f"agent {operation.agent}", "there is one of that name")
        elif operation.parent is not None and self._lives(operation.parent):
            await self._create(operation.agent, parent=operation.parent)
            self.child_agents.append(operation.agent)
            self._parents[operation.agent] = operation.parent
        elif operation.resumes is not None and operation.resumes not in self._ended:
            self._skip(f"agent {operation.agent}", f"{operation.resumes} has not ended")
        elif operation.parent is None and self._open:
            await self._create(operation.agent, resumes=operation.resumes)
        elif operation.parent is None:
            self.plan.agents.append(operation.agent)

    async def _drop_agent(self, operation: DropAgent) -> None:
        await self._ready()
        if self._lives(operation.agent):
            self._end(operation.agent)
            await self._note(f"drop agent {operation.agent}", AgentDispose(agent=operation.agent))

    async def _pi(self, operation: CallApi) -> None:
        await self._ready()
        if self._serves(operation.package, operation.agent):
            instance = self.instance(operation.package, operation.agent)
            await self._note(operation.call, PiCall(call=operation.call, args=operation.args, instance=instance))

    async def _prompt(self, operation: Prompt) -> None:
        await self._ready()
        self.plan.timed = list(operation.meanwhile)
        turns = [turn for turn in operation.turns if self._lives(turn.agent)]
        self._prompted = {turn.agent for turn in turns}
        for turn in turns:
            self.plan.script(turn.agent).extend(turn.messages)
            await self._note("prompt", AgentPrompt(agent=turn.agent, text=turn.text))
        for turn in turns:
            await self._send(AgentSettle(agent=turn.agent))
        self.plan.timed = []

    async def _say(self, operation: Tell) -> None:
        await self._ready()
        if self._lives(operation.agent):
            self.plan.script(operation.agent).extend(operation.messages)
            kind = AgentSteer if operation.how == "steer" else AgentFollowUp
            await self._note(operation.how, kind(agent=operation.agent, text=operation.text))
            await self._send(AgentSettle(agent=operation.agent))

    async def _cancel(self, operation: CancelTurn) -> None:
        await self._ready()
        if self._lives(operation.agent):
            await self._note("cancel", AgentCancel(agent=operation.agent))
            await self._send(AgentSettle(agent=operation.agent))

    async def _unload(self, operation: UnloadPackage) -> None:
        await self._ready()
        if operation.package in self._loaded:
            self._removed.add(operation.package)
            await self._note(f"unload {operation.package}", PackageUnload(package=operation.package))
        else:
            self._skip(f"unload {operation.package}", "it is not loaded")

    async def _load_again(self, operation: LoadAgain) -> None:
        await self._ready()
        if self.is_removed(operation.package):
            self._removed.discard(operation.package)
            await self._load(operation.package)
        else:
            self._skip(f"load {operation.package}", "it was not removed")

    async def _reload(self, operation: ReloadPackage) -> None:
        await self._ready()
        if operation.package in self._loaded:
            await self._note(f"reload {operation.package}", PackageReload(package=operation.package))
        else:
            self._skip(f"reload {operation.package}", "it is not loaded")

    # --- what is there ------------------------------------------------------------------------------------------------

    def _lives(self, agent: str) -> bool:
        if agent not in self._agents:
            self._skip(f"agent {agent}", "it is not there")
        return agent in self._agents

    def _end(self, agent: str) -> None:
        """Count an agent out; who works for it may go with it."""
        self._agents.remove(agent)
        self._ended.add(agent)
        for child in [child for child in self._agents if self._parents.get(child) == agent]:
            self._end(child)

    def _serves(self, package: str, agent: str) -> bool:
        try:
            self.instance(package, agent)
        except Inconclusive as lack:
            self._skip(f"package {package}", str(lack))
            return False
        return True

    async def _perform(self, act: AnyAct, invocation: str, message: Message) -> Outcome | None:
        """Carry out an act; one that has no object here, or no counterpart in the implementation, is left out."""
        agent = getattr(message, "agent", None) or MAIN
        if isinstance(act, CallPi):
            package = act.package or getattr(message, "package", None)
            if package is None:
                self._skip(f"act {act.call}", "nobody's code is running that could call it")
                return None
            if (act.outside or act.package) and not self._serves(package, agent):
                return None
        if isinstance(act, CallCtx | Update) and getattr(message, "package", None) is None:
            self._skip(f"act {act.__struct_config__.tag}", "nobody's code is running that could call it")
            return None
        if isinstance(act, Unload) and act.package not in self._loaded:
            return None
        if isinstance(act, EndAgent):
            if not self._lives(act.agent) or act.agent in self._prompted:
                return None  # One that is at work would wait for itself.
            self._end(act.agent)
        try:
            return await super()._perform(act, invocation, message)
        except Unsupported as lack:
            self._skip(f"act {act.__struct_config__.tag}", f"lacks {lack.capability}")
            return None


_DO: dict[type[AnyOperation], Callable[[ProgramStage, Any], Awaitable[None]]] = {
    AddServices: ProgramStage._services,
    AddPackage: ProgramStage._package,
    AddNative: ProgramStage._native,
    DropNative: ProgramStage._drop_native,
    AddPolicy: ProgramStage._policy,
    AddAgent: ProgramStage._agent,
    DropAgent: ProgramStage._drop_agent,
    CallApi: ProgramStage._pi,
    Prompt: ProgramStage._prompt,
    Tell: ProgramStage._say,
    CancelTurn: ProgramStage._cancel,
    UnloadPackage: ProgramStage._unload,
    LoadAgain: ProgramStage._load_again,
    ReloadPackage: ProgramStage._reload,
}
