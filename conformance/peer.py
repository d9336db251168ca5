"""The suite's answers: it plays the packages, the model and the native tools of one stage, and writes its trace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from conformance.deadlines import Watch
from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import (
    AgentCancel,
    AgentDispose,
    AgentFollowUp,
    AgentPrompt,
    AgentSteer,
    CtxCall,
    HostCall,
    HostDispose,
    HostHandle,
    HostListen,
    Message,
    ModelAnswer,
    ModelRespond,
    NativeAnswer,
    NativeExecute,
    NativeRegister,
    NativeUnregister,
    Outcome,
    PackageExecute,
    PackageHandle,
    PackageLoad,
    PackageReload,
    PackageUnload,
    PolicySet,
    ProcessAnswer,
    ProcessSpawn,
    Record,
    Reply,
    StageOpen,
    TraceKind,
    TraceNote,
)
from conformance.plan import Plan
from conformance.scripts import DONE, AnyAct, Behaviour, Hold, NativeBehaviour, pick
from conformance.trace import Event, Trace

Perform = Callable[[AnyAct, str, Message], Awaitable[Outcome | None]]
"""Does one act under an open invocation: (act, invocation id, the message that opened it).

Answers the outcome of an act that has one to hand on.
"""

OPERATORS: dict[type[Message], str] = {
    StageOpen: "open",
    AgentPrompt: "prompt",
    AgentSteer: "steer",
    AgentFollowUp: "follow_up",
    AgentCancel: "cancel",
    AgentDispose: "dispose",
    PackageLoad: "load",
    PackageReload: "reload",
    PackageUnload: "unload",
    NativeRegister: "native",
    NativeUnregister: "drop-native",
    PolicySet: "policy",
    HostListen: "listen",
    HostCall: "host",
    HostDispose: "host",
}
"""What the operator does that changes what comes after, by the message that does it."""


class StagePeer:
    """Answers from the plan and keeps the trace.

    ``perform`` carries out the acts of a behaviour. What goes wrong inside an answer is a fault of the suite; it is
    kept in ``fault`` (and ends the step) because the implementation could only turn it into one of its own results.
    """

    def __init__(self, plan: Plan, perform: Perform, window: float) -> None:
        self.plan = plan
        self.trace = Trace()
        self.fault: BaseException | None = None
        self.window = window
        self.watch = Watch()
        self._perform = perform
        self._opened = time.monotonic()
        self._counts: dict[int, int] = {}
        self._latest = 0
        self._changed = asyncio.Event()
        self.scripted_processes: list[ProcessAnswer] = []
        self.host_replies: dict[str, list[Reply]] = {}

    async def answer(self, message: Message, seq: int) -> Record:
        """Answer one request of the implementation."""
        self.watch.hear()
        self.watch.owed += 1
        try:
            if isinstance(message, ModelRespond):
                return await self._respond(message, seq)
            if isinstance(message, PackageHandle):
                return await self._handle(message, seq)
            if isinstance(message, PackageExecute):
                return await self._execute(message, seq)
            if isinstance(message, NativeExecute):
                return await self._native(message, seq)
            if isinstance(message, ProcessSpawn):
                return self._spawn(message, seq)
            if isinstance(message, HostHandle):
                return await self._host(message, seq)
            raise HarnessError(f"the suite has no answer to {message.method}")
        except (asyncio.CancelledError, GeneratorExit):
            raise  # Whoever asked has gone: an implementation in this process may drop what it awaits.
        except BaseException as error:
            self.fault = self.fault or error
            self._changed.set()
            raise
        finally:
            self.watch.owed -= 1
            self.watch.hear()

    def note(self, message: Message, seq: int) -> None:
        """Keep one notification as a trace event."""
        self.watch.hear()
        if isinstance(message, TraceNote):
            self._write(seq, message.kind, message.agent, message.call_id, message.data)

    def tell(self, message: Message) -> None:
        """Keep what the operator is about to do, as an event after the last that is known."""
        act = OPERATORS.get(type(message))
        if isinstance(message, CtxCall) and message.call == "abort":
            # A package that cancels the turn is no operator, but what comes after is the same.
            opened = self.trace.first("handler.enter", "tool.enter", invocation=message.invocation)
            self._write(self._latest, "operator", opened.agent if opened is not None else None, None, {"act": "cancel"})
        elif act is not None:
            data: dict[str, Any] = {"act": act}
            if isinstance(message, StageOpen):
                data["natives"] = [native.name for native in message.natives]
                data["approval"] = message.services.approval
            elif isinstance(message, NativeRegister):
                data["natives"] = [message.native.name]
            elif isinstance(message, PackageLoad):
                data["package"] = message.package.name
            elif isinstance(message, PackageUnload | PackageReload):
                data["package"] = message.package
            self._write(self._latest, "operator", getattr(message, "agent", None), None, data)

    def closed(self, children: list[int] | None) -> None:
        """Keep that the stage was closed, and which children of the provider outlived it; ``None``: it had none."""
        if children is not None:
            self._write(self._latest, "operator", None, None, {"act": "close", "children": children})

    def dismiss(self) -> None:
        """Carry out nothing any more: who performed, and whoever is known to it, may be let go of."""
        self._perform = _nothing

    async def until(self, satisfied: Callable[[Trace], bool], window: float) -> bool:
        """Wait until the trace satisfies, or nothing new came for ``window`` seconds; say which."""
        while not satisfied(self.trace):
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), window)
            except TimeoutError:
                return satisfied(self.trace)
        return True

    def _write(self, seq: int, kind: TraceKind, agent: str | None, call_id: str | None, data: dict[str, Any]) -> None:
        self._latest = max(self._latest, seq)
        self.trace.add(Event(seq, round(time.monotonic() - self._opened, 6), kind, agent, call_id, data))
        self._changed.set()

    async def _at(self, when: str, call: str | None, invocation: str, message: Message) -> None:
        """Do what is to happen at this moment."""
        agent = getattr(message, "agent", None)
        for timed in self.plan.timed:
            if timed.when != when or timed.call not in (None, call) or timed.agent not in (None, agent):
                continue
            self._counts[id(timed)] = self._counts.get(id(timed), 0) + 1
            if self._counts[id(timed)] == timed.nth:
                for act in timed.acts:
                    await self._act(act, invocation, message)

    async def _respond(self, message: ModelRespond, seq: int) -> ModelAnswer:
        request = {
            "request": message.request,
            "tools": msgspec.to_builtins(message.tools),
            "messages": msgspec.to_builtins(message.messages),
            "system": message.system,
        }
        self._write(seq, "model.request", message.agent, None, request)
        if self.plan.timed:
            await self._at("request", None, "", message)
        script = self.plan.script(message.agent)
        answer = script.pop(0) if script else DONE
        said = {"request": message.request, **msgspec.to_builtins(answer)}
        self._write(seq, "model.answer", message.agent, None, said)
        return answer

    async def _handle(self, message: PackageHandle, seq: int) -> Reply:
        call_id = _field(message.payload, "toolCallId")
        data = {
            "invocation": message.invocation,
            "instance": message.instance,
            "package": message.package,
            "handler": message.handler,
            "event": message.event,
            "payload": message.payload,
        }
        self._write(seq, "handler.enter", message.agent, call_id, data)
        if self.plan.timed:
            await self._at(message.event, call_id, message.invocation, message)
        plan = self.plan.packages.get(message.package)
        behaviour = plan and pick(
            plan.handling.get(message.handler, []),
            self._counts,
            tool=_field(message.payload, "toolName"),
            call=call_id,
            agent=message.agent,
        )
        reply = await self._conduct(behaviour, message.invocation, message) if behaviour else Reply()
        data["reply"] = msgspec.to_builtins(reply)
        return reply

    async def _execute(self, message: PackageExecute, seq: int) -> Reply:
        data = {
            "invocation": message.invocation,
            "instance": message.instance,
            "package": message.package,
            "tool": message.tool,
            "tag": message.tag,
            "params": message.params,
            "extras": message.extras,
            "aborted": message.aborted,
        }
        call_id = message.call_id if isinstance(message.call_id, str) else None
        self._write(seq, "tool.enter", message.agent, call_id, data)
        if self.plan.timed:
            await self._at("body", call_id, message.invocation, message)
        plan = self.plan.packages.get(message.package)
        behaviour = plan and pick(
            plan.executing.get((message.tool, message.tag), []),
            self._counts,
            tool=message.tool,
            call=call_id,
            agent=message.agent,
        )
        usual = Reply(returns=text_result(f"{message.tool} ok"))
        reply = await self._conduct(behaviour, message.invocation, message) if behaviour else usual
        data["reply"] = msgspec.to_builtins(reply)
        return reply

    async def _native(self, message: NativeExecute, seq: int) -> NativeAnswer:
        data = {
            "invocation": message.invocation,
            "tool": message.tool,
            "arguments": message.arguments,
            "scope": message.scope,
        }
        self._write(seq, "native.enter", message.agent, message.call_id, data)
        if self.plan.timed:
            await self._at("body", message.call_id, message.invocation, message)
        behaviour: NativeBehaviour | None = pick(
            self.plan.native_bodies.get(message.tool, []),
            self._counts,
            tool=message.tool,
            call=message.call_id,
            agent=message.agent,
        )
        for act in behaviour.acts if behaviour is not None else ():
            await self._act(act, message.invocation, message)
        answer = behaviour.answer if behaviour is not None else NativeAnswer(text=f"{message.tool} ok")
        data["reply"] = msgspec.to_builtins(answer)
        return answer

    async def _conduct(self, behaviour: Behaviour, invocation: str, message: Message) -> Reply:
        for act in behaviour.acts:
            await self._act(act, invocation, message)
        return behaviour.reply

    async def _act(self, act: AnyAct, invocation: str, message: Message) -> Outcome | None:
        if isinstance(act, Hold):
            seen = len(self.trace)
            await self.until(lambda trace: any(_holds(act, event) for event in trace.events[seen:]), self.window)
            return None
        # While the suite waits for the implementation itself, it is not the suite that owes an answer.
        self.watch.owed -= 1
        self.watch.hear()
        try:
            return await self._perform(act, invocation, message)
        finally:
            self.watch.owed += 1
            self.watch.hear()

    def _spawn(self, message: ProcessSpawn, seq: int) -> ProcessAnswer:
        data = {"argv": message.argv, "cwd": message.cwd, "stdin": message.stdin, "via": "provider"}
        self._write(seq, "spawn", None, None, {**data, "maxBytes": message.max_bytes, "invocation": message.invocation})
        return self.scripted_processes.pop(0) if self.scripted_processes else ProcessAnswer()

    async def _host(self, message: HostHandle, seq: int) -> Reply:
        data = {
            "listener": message.listener,
            "event": message.event,
            "exec": message.exec,
            "result": message.result,
            "invocation": message.invocation,
        }
        self._write(seq, "host.event", message.agent, _field(message.exec, "callId"), data)
        plan = self.plan.listeners.get(message.listener)
        if plan is None:
            queue = self.host_replies.get(message.listener, [])
            return queue.pop(0) if len(queue) > 1 else queue[0] if queue else Reply()
        behaviour: Behaviour | None = pick(
            plan.behaviours,
            self._counts,
            tool=_field(message.exec, "name"),
            call=_field(message.exec, "callId"),
            agent=message.agent,
        )
        if behaviour is None:
            return Reply()
        given: Outcome | None = None
        for act in behaviour.acts:
            given = await self._act(act, message.invocation, message) or given
        reply = behaviour.reply
        if given is None or reply.returns is not msgspec.UNSET or reply.throws is not msgspec.UNSET:
            return reply
        return msgspec.structs.replace(reply, returns=given.returned, throws=given.threw)


def text_result(text: str, **more: Any) -> dict[str, Any]:
    """Return a tool result of one text block, in Pi's form."""
    return {"content": [{"type": "text", "text": text}], "details": {}, **more}


def error(message: str, name: str = "Error") -> dict[str, str]:
    """Return an error as a tagged value."""
    return {"$": "error", "name": name, "message": message}


async def _nothing(act: AnyAct, invocation: str, message: Message) -> Outcome | None:
    return None


def _holds(hold: Hold, event: Event) -> bool:
    return event.kind in hold.kinds and (hold.event is None or event["event"] == hold.event)


def _field(payload: Any, key: str) -> str | None:
    value = payload.get(key) if isinstance(payload, dict) else None
    return value if isinstance(value, str) else None
