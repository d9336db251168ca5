"""One fresh host with one scenario on it: opened late, driven by plain functions, closed without leftovers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from conformance.deadlines import PING_SECONDS, Alarm, Deadlines, Stuck
from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import Driver, HarnessError, PossibleHang
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
    InitializeResult,
    Message,
    NativeRegister,
    NativeUnregister,
    Outcome,
    PackageLoad,
    PackageReload,
    PackageUnload,
    PiCall,
    Ping,
    PolicySet,
    SignalAbort,
    SignalCreate,
    StageClose,
    StageOpen,
    ToolUpdate,
)
from conformance.peer import StagePeer
from conformance.plan import MAIN, Plan
from conformance.scripts import (
    AbortSignal,
    AnyAct,
    CallCtx,
    CallHost,
    CallPi,
    Cancel,
    EndAgent,
    Next,
    RegisterNative,
    Reload,
    Say,
    SetPolicy,
    StartAgent,
    Unload,
    UnregisterNative,
    Update,
)
from conformance.trace import Event, Trace
from conformance.verdicts import Inconclusive, RuleFailed

T = TypeVar("T")

HOLD_WINDOW = 0.05
"""Seconds without news after which a held handler gives up waiting for an event that must not come."""


class Stage:
    """Gathers a :class:`Plan`, opens at the first thing that needs it, and is driven by the steps.

    Every public method is synchronous: the loop stands still between steps, on purpose. Methods raise
    :class:`~conformance.drivers.driver.HarnessError` when the connection broke and
    :class:`~conformance.drivers.driver.Unsupported` when the implementation lacks something.
    """

    def __init__(
        self,
        runner: asyncio.Runner,
        driver: Driver,
        hello: InitializeResult,
        mount: str | None = None,
        deadlines: Deadlines | None = None,
    ) -> None:
        self.hello = hello
        self.driver = driver
        self.deadlines = deadlines or Deadlines()
        self._awaited = "the stage"
        self.plan = Plan(mount=mount)
        self.peer = StagePeer(self.plan, self._perform, HOLD_WINDOW)
        self.outcomes: list[tuple[str, Outcome]] = []
        self.child_agents: list[str] = []
        """Agents that were created to work for another."""
        self._runner = runner
        self._open = False
        self._agents: list[str] = []
        self._loaded: list[str] = []
        self._removed: set[str] = set()
        self._children: set[int] = set()
        self._aborts: list[asyncio.Future[Any]] = []
        self._handles: dict[str, str] = {}
        self._alarm = Alarm() if isinstance(driver, InProcessDriver) else None
        self._lost: asyncio.Future[HarnessError] | None = None

    # --- life ---------------------------------------------------------------------------------------------------------

    @property
    def role(self) -> str:
        """The implementation's role."""
        return self.hello.role

    @property
    def trace(self) -> Trace:
        """The record so far."""
        return self.peer.trace

    @property
    def is_open(self) -> bool:
        """Whether the host has been opened, and not closed again."""
        return self._open

    def open(self, agents: bool = True) -> None:
        """Open the host and load the packages in order; then create the agents unless told not to. Idempotent."""
        if not self._open:
            self._open = True
            self.driver.bind(self.peer)
            plan = self.plan
            natives = [native for native in plan.natives if native.agent is None]
            self.ask(
                StageOpen(
                    mount=plan.mount,
                    natives=natives,
                    policies=plan.policies,
                    services=plan.services,
                    cwd=plan.cwd,
                )
            )
            self._prepare_signals()
            self._listen(None)
        for package in list(self.plan.packages.values()):
            if not package.late and package.name not in self._loaded:
                self.load(package.name)
        if agents and not self._agents:
            for agent in self.plan.agents or [MAIN]:
                self.create_agent(agent)

    def _prepare_signals(self) -> None:
        """Make the plan's signals; abort them at once, when the trace tells of a child, or leave it to a body."""
        # Only who asks for no local child has reason to ask later who was started.
        self._children = self.children() if self.plan.services.subprocess != "local" else set()
        for signal, when in self.plan.signals.items():
            self.ask(SignalCreate(signal=signal))
            if when == "already":
                self.ask(SignalAbort(signal=signal))
            elif isinstance(when, int):
                self.trace.watchers.append(partial(self._abort_at_spawn, signal, when, []))

    def _abort_at_spawn(self, signal: str, number: int, started: list[Event], event: Event) -> None:
        if event.kind != "spawn" or event["pid"] in {each["pid"] for each in started} - {None}:
            return
        started.append(event)
        if len(started) == number:
            self._aborts.append(asyncio.ensure_future(self.driver.request(SignalAbort(signal=signal))))

    def children(self) -> set[int]:
        """Return the ids of the implementation's direct children, as the operating system lists them."""
        pid = getattr(self.driver, "pid", None) or os.getpid()
        try:
            lists = [(task / "children").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
        except OSError:
            return set()
        return {int(child) for text in lists for child in text.split()}

    def new_children(self) -> list[int]:
        """Return the direct children that were not there when the stage opened."""
        found: list[int] = self.seen("new children", lambda: sorted(self.children() - self._children))
        return found

    def seen(self, what: str, look: Callable[[], Any]) -> Any:
        """Look at the machine itself; a recording keeps what was seen, and a replay tells it instead of looking."""
        keep = getattr(self.driver, "seen", None)
        return look() if keep is None else keep(what, look)

    def close(self) -> None:
        """Close the host, however far it got; leftovers of the loop are a harness error."""
        if self._open:
            self._open = False
            try:
                self.ask(StageClose())
                self.peer.closed(self._outlived())
            finally:
                self.driver.bind(None)
                self.leave()
                self.peer.dismiss()

    def _outlived(self) -> list[int] | None:
        """Return the provider's children that still run though the stage is closed; ``None`` where it had none."""
        started = {event["pid"] for event in self.trace.of("spawn", via="provider") if event["pid"]}
        return sorted(pid for pid in started & self.children() if _runs(pid)) if started else None

    def leave(self) -> None:
        """Stop watching the connection, which a stage that broke is not closed over. Idempotent."""
        if self._lost is not None:
            self._lost.cancel()
            self._lost = None
        if self._alarm is not None:
            self._alarm.remove()

    def load(self, package: str) -> Outcome:
        """Load one package of the plan and return how that ended."""
        self._loaded.append(package)
        self._removed.discard(package)
        outcome: Outcome = self.ask(PackageLoad(package=self.plan.package(package).spec()))
        self.outcomes.append((f"load {package}", outcome))
        return outcome

    def unload(self, package: str) -> None:
        """Remove a package that was loaded; only :meth:`load` brings it back."""
        self._removed.add(package)
        self.outcomes.append((f"unloaded {package}", self.ask(PackageUnload(package=package))))

    def is_removed(self, package: str) -> bool:
        """Whether the operator has removed the package, and not loaded it again since."""
        return package in self._removed

    def create_agent(self, agent: str, resumes: str | None = None) -> None:
        """Create an agent, to go on with the session of ``resumes``, and register the natives of its own scope."""
        self._agents.append(agent)
        folder = self.plan.folders.get(agent)
        self.outcomes.append((f"create {agent}", self.ask(AgentCreate(agent=agent, resumes=resumes, cwd=folder))))
        for native in self.plan.natives:
            if native.agent == agent:
                self.ask(NativeRegister(native=native))
        self._listen(agent)

    def _listen(self, scope: str | None) -> None:
        for message in self._listeners_in(scope):
            self.ask(message)

    def _listeners_in(self, scope: str | None) -> list[HostListen]:
        place = None if scope is None else self._handles.get(scope, scope)
        return [
            HostListen(listener=listener.name, event=listener.event, scope=place, prepend=listener.prepend)
            for listener in self.plan.listeners.values()
            if listener.scope == scope
        ]

    def prompt(self, text: str = "go", agent: str = MAIN, settle: bool = True) -> None:
        """Say something to an agent and wait until nothing of it is pending."""
        self.open()
        self.ask(AgentPrompt(agent=agent, text=text))
        if settle:
            self.settle(agent)

    def settle(self, agent: str = MAIN) -> None:
        """Wait until nothing of this agent is pending."""
        self.ask(AgentSettle(agent=agent))

    def call_pi(self, package: str, call: str, args: list[Any], agent: str | None = None) -> Outcome:
        """Call ``pi.<call>`` outside any handler, on the instance that serves ``agent``."""
        self.open(agents=agent is not None)
        outcome: Outcome = self.ask(PiCall(call=call, args=args, instance=self.instance(package, agent)))
        self.outcomes.append((call, outcome))
        return outcome

    def call_host(self, act: CallHost) -> Outcome:
        """Call a seam of the host, once there are agents, and return how that ended."""
        self.open()
        outcome: Outcome = self.do(self._call_host(act))
        return outcome

    async def _call_host(self, act: CallHost) -> Outcome:
        if act.call == "dispose":
            message: Message = HostDispose(handle=self._handles.get(act.args[0], act.args[0]))
        else:
            target, _, call = act.call.partition(".")
            scope = None if act.scope is None else self._handles.get(act.scope, act.scope)
            args = [self._handles.get(arg, arg) if isinstance(arg, str) else arg for arg in act.args]
            message = msgspec.convert({"target": target, "call": call, "args": args, "scope": scope}, HostCall)
        outcome: Outcome = await self._request(message)
        if act.name is not None and isinstance(outcome.returned, dict):
            self._handles[act.name] = outcome.returned.get("id", act.name)
            for listen in self._listeners_in(act.name):
                await self._request(listen)
        self.outcomes.append((act.call, outcome))
        return outcome

    def instance(self, package: str, agent: str | None = MAIN) -> str:
        """Return the id of the package's instance that serves ``agent``. Raises ``Inconclusive`` without one."""
        made = [event for event in self.trace.of("instance.created", package=package) if event["role"] != "anchor"]
        for event in reversed(made):
            if event.agent == agent or event["role"] == "shared" or agent is None:
                return str(event["instance"])
        raise Inconclusive(f"package {package!r} has no instance that serves agent {agent!r}")

    def ask(self, message: Message) -> Any:
        """Ask the implementation something and wait for the answer."""
        self._awaited = f"the answer to {message.method}"
        return self.do(self._request(message))

    async def _request(self, message: Message) -> Any:
        self.peer.tell(message)
        return await self.driver.request(message)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` on the worker's loop; end at once when the connection breaks or the suite's answer failed.

        Raises ``Inconclusive`` when a deadline passes (``RuleFailed`` where the rule speaks of ending in time), and
        :class:`~conformance.drivers.driver.PossibleHang` when there is no sign of life either.
        """
        if self._alarm is not None:
            self._alarm.install()
            self._alarm.wind(self.deadlines.request + PING_SECONDS)
        try:
            # Not Runner.run: it installs a handler of SIGINT for each run, which costs more than most steps.
            return self._runner.get_loop().run_until_complete(self._watched(work))
        except Stuck:
            mend = "the implementation keeps this process busy; look for a loop without an await"
            raise PossibleHang(self._awaited, mend) from None
        finally:
            if self._alarm is not None:
                self._alarm.rest()
            rested = getattr(self.driver, "rested", None)
            if rested is not None:
                rested()  # A recording keeps how far things had come when the next step went on.

    def wait_for(self, satisfied: Callable[[Trace], bool], window: float = 2.0) -> bool:
        """Wait until the trace satisfies, or nothing new came for ``window`` seconds; say which."""
        return self.do(self.peer.until(satisfied, window))

    async def _watched(self, work: Coroutine[Any, Any, T]) -> T:
        self.peer.watch.hear()
        task = asyncio.ensure_future(work)
        if self._lost is None:
            self._lost = asyncio.ensure_future(self.driver.failed())
        lost = self._lost
        try:
            await asyncio.sleep(0)  # In one process most answers are there by then, and a wait is dearer than they are.
            while not task.done():
                left = self.peer.watch.left(self.deadlines)
                if left <= 0:
                    await self._too_late()
                await asyncio.wait((task, lost), timeout=min(left, 1.0), return_when=asyncio.FIRST_COMPLETED)
                if self._alarm is not None:
                    self._alarm.wind(self.deadlines.request + PING_SECONDS)
                if lost.done() and not task.done():
                    raise lost.result()
            if self.peer.fault is not None:
                fault, self.peer.fault = self.peer.fault, None
                raise fault
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _too_late(self) -> NoReturn:
        """Ask for a sign of life, and say what the deadline that passed means."""
        awaited = self._awaited
        ping = asyncio.ensure_future(self.driver.request(Ping()))
        await asyncio.wait({ping}, timeout=PING_SECONDS)
        if not ping.done():
            ping.cancel()
            raise PossibleHang(awaited, "run bridge-conformance with only this rule, and look where the adapter waits")
        whole = self.peer.watch.clock() - self.peer.watch.began >= self.deadlines.scenario
        limit = self.deadlines.scenario if whole else self.deadlines.request
        what = "the scenario took longer than" if whole else "nothing came for"
        sentence = f"{what} {limit:g} s while the suite awaited {awaited}; a ping was answered"
        raise RuleFailed(sentence) if self.deadlines.decides else Inconclusive(sentence)

    async def _perform(self, act: AnyAct, invocation: str, message: Message) -> Outcome | None:
        request = self._request
        agent = getattr(message, "agent", None) or MAIN
        if isinstance(act, CallPi):
            # Another package's call is made for the agent whose handler is open, so its place is named as well.
            place = {} if act.outside or not invocation else {"invocation": invocation}
            if act.outside or act.package:
                place["instance"] = self.instance(act.package or message.package, agent)  # type: ignore[attr-defined]
            call = PiCall(call=act.call, args=act.args, **place)
            outcomes = await asyncio.gather(*(request(call) for _ in range(act.times)))
            self.outcomes.extend((act.call, outcome) for outcome in outcomes)
        elif isinstance(act, CallCtx):
            self.outcomes.append(
                (act.call, await request(CtxCall(invocation=invocation, call=act.call, args=act.args)))
            )
        elif isinstance(act, Update):
            await request(ToolUpdate(invocation=invocation, update=act.update))
        elif isinstance(act, Cancel):
            await request(AgentCancel(agent=agent))
        elif isinstance(act, Say):
            kind = AgentSteer if act.how == "steer" else AgentFollowUp
            await request(kind(agent=agent, text=act.text))
        elif isinstance(act, SetPolicy):
            await request(PolicySet(policy=act.policy))
        elif isinstance(act, RegisterNative):
            await request(NativeRegister(native=act.native))
        elif isinstance(act, UnregisterNative):
            await request(NativeUnregister(name=act.name, agent=act.agent))
        elif isinstance(act, AbortSignal):
            await request(SignalAbort(signal=act.signal))
        elif isinstance(act, Unload):
            await request(PackageUnload(package=act.package))
        elif isinstance(act, Reload):
            await request(PackageReload(package=act.package))
        elif isinstance(act, StartAgent):
            await request(AgentCreate(agent=act.agent))
        elif isinstance(act, EndAgent):
            await request(AgentDispose(agent=act.agent))
        elif isinstance(act, CallHost):
            await self._call_host(act)
        elif isinstance(act, Next):
            given: Outcome = await request(HostNext(invocation=invocation))
            self.outcomes.append((f"next of {message.listener}", given))  # type: ignore[attr-defined]
            return given
        else:
            raise HarnessError(f"the stage does not know the act {type(act).__name__}")
        return None

    # --- what was seen ------------------------------------------------------------------------------------------------

    def requests(self, agent: str = MAIN) -> list[Event]:
        """Return the agent's model requests, in order."""
        return self.trace.of("model.request", agent=agent)

    def results(self, agent: str = MAIN) -> list[Event]:
        """Return the agent's durable tool results, in log order."""
        return self.trace.of("log.result", agent=agent)

    def returned(self, call: str) -> list[Outcome]:
        """Return the outcomes of every ``pi.<call>`` made in this scenario, in order."""
        return [outcome for name, outcome in self.outcomes if name == call]


def _runs(pid: int) -> bool:
    """Say whether a process is there and has not ended; one that has and that nobody asked about is listed, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def text_json(value: Any) -> str:
    """Return ``value`` as compact JSON, for messages."""
    return msgspec.json.encode(value).decode()
