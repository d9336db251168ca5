"""The host's own seams, called and listened on by the suite (capability ``host-seams``)."""

from __future__ import annotations

import base64
import inspect
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from conformance.drivers.backend import Suite
from conformance.drivers.driver import HarnessError, Unsupported
from conformance.drivers.protocol import HostCall, HostHandle, HostListen, NativeSpec, Outcome, Reply
from conformance.drivers.reference._invocations import Invocation, Invocations
from conformance.drivers.reference._operator import Natives
from conformance.drivers.reference._replies import apply_ops, finish
from conformance.drivers.reference._trace import Notes
from conformance.drivers.reference._values import Signals, decode, encode, returned, threw
from reference_bridge.host import UNDEFINED, Agent, Execution, Host, Scope, ToolResult
from reference_bridge.host.subprocess import SpawnSpec, SubprocessRuntime

WATERFALLS = frozenset(
    {
        "tools/pre-execute",
        "tools/execute",
        "tools/post-execute",
        "approval/request",
        "system-prompt/assemble",
        "agent/pre-step",
    }
)
"""The events whose listeners end with ``next``; what they answer counts."""

KEPT_BYTES = 65536
"""How much of a stream is kept where a spawn does not say."""
GRACE_MS = 300
"""How long a child may take to end where a spawn does not say."""

Following = Callable[[], Awaitable[Any]]


@dataclass(slots=True)
class Dispatch:
    """One call of a listener that the suite answers for."""

    following: Following | None
    answers: list[tuple[Any, Any]] = field(default_factory=list)
    """What `next` gave, as the suite was told it and as it was."""

    def original(self, value: Any) -> Any:
        """The object the suite means by ``value``: what `next` gave it, else the value itself."""
        return next((given for told, given in reversed(self.answers) if told == value), UNDEFINED)


class Seams:
    """Calls seams under the names the harness gives them, and keeps what can be disposed."""

    def __init__(
        self,
        suite: Suite,
        notes: Notes,
        invocations: Invocations,
        numbers: itertools.count[int],
        host: Host,
        natives: Natives,
        signals: Signals,
    ) -> None:
        self._suite = suite
        self._notes = notes
        self._signals = signals
        self._invocations = invocations
        self._numbers = numbers
        self._host = host
        self._natives = natives
        self._handles: dict[str, Any] = {}
        self._open: dict[str, Dispatch] = {}

    async def call(self, message: HostCall) -> Outcome:
        """Call a seam; what it throws is the outcome."""
        method = getattr(self, f"_{message.target}_{message.call}", None)
        if method is None:
            raise HarnessError(f"the host has no {message.target}.{message.call}", "see the driver's table of seams")
        try:
            value = method(self.scope(message.scope), *(decode(arg, self._signals) for arg in message.args))
            if inspect.isawaitable(value):
                value = await value
            return returned(UNDEFINED if value is None else value)
        except (HarnessError, Unsupported):
            raise
        except Exception as error:
            return threw(error)

    async def listen(self, message: HostListen) -> Outcome:
        """Add a listener; each of its calls asks the suite."""
        scope = self.scope(message.scope)
        try:
            self._handles[message.listener] = (
                self._host.tools.guard(self._passing_guard(message.listener), scope)
                if message.event == "guard"
                else self._host.on(message.event, self._listener(message), scope=scope, prepend=message.prepend)
            )
        except Exception as error:
            return threw(error)
        return returned({"$": "handle", "id": message.listener})

    async def next(self, invocation: str) -> Outcome:
        """Call ``next()`` of an open listener."""
        dispatch = self._open.get(invocation)
        if dispatch is None or dispatch.following is None:
            raise HarnessError(f"invocation {invocation} has no next", "use the one of an open waterfall listener")
        try:
            given = await dispatch.following()
        except Exception as error:
            return threw(error)
        told = encode(plain(given))
        dispatch.answers.append((told, given))
        return Outcome(returned=told)

    async def dispose(self, handle: str) -> Outcome:
        """Dispose what a call or a listener gave; again does nothing."""
        known = self._handles.get(handle)
        if known is None:
            raise HarnessError(f"there is no handle {handle!r}", "use one that host.call or host.listen returned")
        try:
            known.dispose() if isinstance(known, Scope) else known()
        except Exception as error:
            return threw(error)
        return returned()

    def scope(self, id: str | None) -> Scope | None:
        """The scope of an agent's id or of a handle; the global one where none is named."""
        if id is None:
            return None
        agent = self._host.agents.get(id)
        scope = self._handles.get(id) if agent is None else agent.scope
        if not isinstance(scope, Scope):
            raise HarnessError(f"there is no scope {id!r}", "name an agent, or a handle that scopes.create returned")
        return scope

    def _passing_guard(self, listener: str) -> Callable[[Execution], None]:
        """A guard answers at once and cannot wait for the suite: it passes, and is noted."""

        def guard(execution: Execution) -> None:
            agent = _agent_of(execution)
            told = encode(plain(execution))
            self._notes.send("host.event", agent, execution.call_id, listener=listener, event="guard", exec=told)

        return guard

    def _listener(self, message: HostListen) -> Callable[..., Any]:
        # Plain, not async: what it asks is numbered at the dispatch, also of an emit that nobody awaits.
        def listener(*payload: Any) -> Awaitable[Any]:
            following = payload[-1] if message.event in WATERFALLS else None
            subject = payload[0] if payload else None
            agent = _agent_of(subject)
            invocation = self._invocations.open(agent)
            dispatch = self._open[invocation.id] = Dispatch(following)
            results = [each for each in payload if isinstance(each, ToolResult)]
            asked = self._suite.ask(
                HostHandle(
                    listener=message.listener,
                    event=message.event,
                    invocation=invocation.id,
                    exec=encode(plain(subject)),
                    result=encode(plain(results[0])) if results else None,
                    agent=agent,
                )
            )
            return answered(asked, invocation, dispatch, subject)

        async def answered(asked: Awaitable[Any], invocation: Invocation, dispatch: Dispatch, subject: Any) -> Any:
            try:
                reply: Reply = await asked
                return await self._answer(message.event, reply, dispatch, subject)
            finally:
                del self._open[invocation.id]
                self._invocations.close(invocation)

        return listener

    async def _answer(self, event: str, reply: Reply, dispatch: Dispatch, subject: Any) -> Any:
        """Carry out a reply; one that neither returns nor throws hands on what the rest decides."""
        view = _View(subject) if isinstance(subject, Execution) else subject
        apply_ops(reply.ops, "enter", view)
        apply_ops(reply.ops, "after-await", view)
        if reply.returns is msgspec.UNSET and reply.throws is msgspec.UNSET:
            return None if dispatch.following is None else await dispatch.following()
        original = dispatch.original(reply.returns) if reply.returns is not msgspec.UNSET else UNDEFINED
        answer = finish(reply) if original is UNDEFINED else original
        if event == "tools/execute" and isinstance(answer, dict):
            failed = answer.get("isError") is True
            return ToolResult.failure(answer.get("message")) if failed else ToolResult.success(answer.get("value"))
        return answer

    def _handle(self, value: Any) -> dict[str, str]:
        id = f"h{next(self._numbers)}"
        self._handles[id] = value
        return {"$": "handle", "id": id}

    def _agent(self, scope: Scope | None) -> Agent:
        for agent in self._host.agents:
            if agent.scope is scope:
                return agent
        raise HarnessError("this seam is an agent's, and the scope is none", "name the agent as the scope")

    # --- tools --------------------------------------------------------------------------------------------------------

    def _tools_register(self, scope: Scope | None, definition: Any) -> Any:
        spec = msgspec.convert(definition, NativeSpec)
        return self._handle(self._host.tools.register(self._natives.definition(spec, spec.name), scope))

    def _tools_restrict(self, scope: Scope | None, filter: Any) -> Any:
        return self._handle(self._host.tools.restrict(scope, allow=filter.get("allow"), deny=filter.get("deny")))

    def _tools_presentAs(self, scope: Scope | None, mode: Any) -> Any:  # noqa: N802 - the harness's own name
        return self._handle(self._host.tools.present_as(mode, scope))

    def _tools_schemas(self, scope: Scope | None) -> Any:
        return self._host.tools.schemas(scope)

    def _tools_view(self, scope: Scope | None) -> Any:
        view = self._host.tools.view(scope)
        return {
            "visible": list(view.visible),
            "knownNames": sorted(view.known_names),
            "restrictableNames": sorted(view.restrictable_names),
        }

    async def _tools_execute(self, scope: Scope | None, request: Any) -> Any:
        agent = next((each for each in self._host.agents if scope is not None and each.scope is scope), None)
        result = await self._host.tools.execute(
            request["callId"],
            request["name"],
            request.get("arguments", UNDEFINED),
            agent=agent,
            scope=scope,
            signal=request.get("signal"),
        )
        return plain(result)

    # --- agents, their inbox and their log ----------------------------------------------------------------------------

    def _agents_list(self, scope: Scope | None) -> Any:
        return [agent.id for agent in self._host.agents]

    def _agent_status(self, scope: Scope | None) -> Any:
        return self._agent(scope).status

    def _agent_followup(self, scope: Scope | None, text: str) -> None:
        self._agent(scope).followup(text)

    def _agent_steer(self, scope: Scope | None, text: str) -> None:
        self._agent(scope).steer(text)

    def _agent_inject(self, scope: Scope | None, text: str) -> None:
        self._agent(scope).inject(text)

    def _agent_cancel(self, scope: Scope | None, cause: Any = None, options: Any = None) -> None:
        keep = bool((options or {}).get("keepInbox"))
        self._agent(scope).cancel(cause, keep_inbox=keep)

    def _inbox_nextTurn(self, scope: Scope | None) -> Any:  # noqa: N802
        return [_text(message) for message in self._agent(scope).inbox.next_turn]

    def _inbox_nextStep(self, scope: Scope | None) -> Any:  # noqa: N802
        return [_text(message) for message in self._agent(scope).inbox.next_step]

    def _session_events(self, scope: Scope | None) -> Any:
        return [event.as_json() for event in self._agent(scope).session.events]

    def _session_append(self, scope: Scope | None, type: str, data: Any, options: Any = None) -> Any:
        given = options or {}
        event = self._agent(scope).session.append(
            type, data, surface_op=given.get("surfaceOp"), source_event_seqs=given.get("sourceEventSeqs")
        )
        return event.as_json()

    # --- scopes and services ------------------------------------------------------------------------------------------

    def _scopes_create(self, scope: Scope | None, name: str = "") -> Any:
        return self._handle(Scope(name, parent=scope))

    def _scopes_bindParent(self, scope: Scope | None, parent: str) -> None:  # noqa: N802
        if scope is None:
            raise HarnessError("the global scope has no parent", "name the scope to bind")
        above = self.scope(parent)
        if above is not None:
            scope.bind_parent(above)

    def _approval_policy(self, scope: Scope | None, policy: Any) -> None:
        if self._host.approval is None:
            raise HarnessError("this stage has no approval service", "open it with one")
        self._host.approval.policy = policy

    async def _attachments_saveImage(self, scope: Scope | None, image: Any) -> Any:  # noqa: N802
        store = self._host.attachments
        if store is None:
            raise HarnessError("this stage has no attachment service", "open it with one")
        return await store.save_image(base64.b64decode(image["data"]), image["mediaType"], image.get("name"))

    async def _subprocess_resolveExecutable(self, scope: Scope | None, command: str) -> Any:  # noqa: N802
        return await self._subprocess().resolve_executable(command)

    async def _subprocess_spawn(self, scope: Scope | None, spec: Any) -> Any:
        """Start a child and wait for its end; streams are named by the bytes to keep, and `stdin` by its text."""
        child = self._subprocess().spawn(
            SpawnSpec(
                argv=spec["argv"],
                cwd=spec.get("cwd", "/"),
                stdout=spec.get("stdout", KEPT_BYTES),
                stderr=spec.get("stderr", KEPT_BYTES),
                grace=spec.get("graceMs", GRACE_MS) / 1000,
                signal=spec.get("signal"),
                stdin=spec.get("stdin", "").encode(),
                env={name: None if value is UNDEFINED else value for name, value in spec.get("env", {}).items()},
            )
        )
        ended = await child.done()
        streams = {"stdout": child.stdout.read_from(0), "stderr": child.stderr.read_from(0)}
        return {
            "exitCode": ended.code,
            "signal": ended.signal,
            **{
                name: {"text": read.text, "nextOffset": read.next_offset, "lossy": read.lossy}
                for name, read in streams.items()
            },
        }

    def _subprocess(self) -> SubprocessRuntime:
        if self._host.subprocess is None:
            raise Unsupported("subprocess", "this stage has no subprocess service")
        return self._host.subprocess


class _View:
    """An execution as ops see it: its own members can be assigned, its arguments are frozen."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution

    def __getitem__(self, key: str) -> Any:
        return getattr(self._execution, key)

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self._execution, key, value)


def plain(value: Any) -> Any:
    """What a listener was handed, or `next` gave, as data."""
    if isinstance(value, Execution):
        return {
            "callId": value.call_id,
            "rootCallId": value.root_call_id,
            "name": value.name,
            "arguments": value.arguments,
            "nested": value.parent is not None,
            "aborted": value.signal.aborted,
        }
    if isinstance(value, ToolResult):
        told: dict[str, Any] = {"isError": value.is_error, "content": value.content}
        if value.value is not UNDEFINED:
            told["value"] = value.value
        if value.meta is not UNDEFINED:
            told["meta"] = value.meta
        if value.error is not None:
            told["error"] = {"message": value.error.message, "info": value.error.info}
        return told
    if isinstance(value, Agent):
        return {"agent": value.id}
    names = getattr(type(value), "__dataclass_fields__", None)
    if names is None:
        return value
    return {_camel(name): plain(getattr(value, name)) for name in names if name not in ("agent", "signal", "execution")}


def _agent_of(subject: Any) -> str | None:
    agent = subject if isinstance(subject, Agent) else getattr(subject, "agent", None)
    return agent.id if isinstance(agent, Agent) else None


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def _text(message: Any) -> str:
    return "".join(block.get("text", "") for block in message["content"])
