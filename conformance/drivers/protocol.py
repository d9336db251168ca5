"""Every message between the suite and an implementation, named once.

The suite plays the package, the model and the operator; the implementation asks it what each of them does. The same
messages travel in process and as JSON-RPC 2.0 over stdio; on the wire names are camelCase. Decoding is the check: an
unknown or missing field is refused. The JSON Schemas of the guide for driver writers are generated from this module.

A *value* is any JSON value. What JSON lacks travels as a tag, an object with the one key ``$``: ``undefined``,
``NaN``, ``Infinity``, ``-Infinity``, ``-0``, ``bigint`` (with ``digits``), ``cycle``, ``function``, ``symbol``,
``date``, ``error`` (with ``name`` and ``message``), ``signal`` (with ``id``), ``repeat`` (with ``text`` and ``times``),
``escaped`` (with ``text``: a string that holds half a surrogate pair, written as between the quotes of a JSON string)
and ``text`` (with ``bytes``, ``sha256``, ``head``, ``tail``: a string over 1 MiB, on its way to the suite only).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, UnsetType

PROTOCOL_VERSION = 1
UNSUPPORTED = -32050
"""JSON-RPC error code of an implementation that lacks what was asked; ``data.capability`` names it."""

Value = Any
Role = Literal["bridge", "pi", "host"]
EventName = Literal[
    "tool_execution_start", "tool_execution_update", "tool_execution_end", "tool_call", "tool_result", "user_bash"
]


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """A value inside a message."""


class Message(Record, frozen=True):
    """The parameters of one request or notification; ``method`` and ``Result`` name the rest of the exchange."""

    method: ClassVar[str]
    Result: ClassVar[type[Record]]


class Nothing(Record, frozen=True):
    """The result of a request that only has to be done."""


class Outcome(Record, frozen=True):
    """How a call into the implementation ended: exactly one of ``returned`` and ``threw`` is set.

    What a package threw, or what threw at a package, is an outcome and never a JSON-RPC error.
    """

    returned: Value | UnsetType = UNSET
    threw: Value | UnsetType = UNSET


# --- what packages, tools and the operator's things are made of ------------------------------------------------------


class Op(Record, frozen=True):
    """One change a handler or tool makes to the object it was handed.

    ``set``, ``delete`` and ``append`` change the object at ``path`` in place; ``assign`` replaces the event's own
    field named by the first path element. ``at`` says when: on entry, after the reply came, or after the handler
    returned (a change made too late to be awaited).
    """

    op: Literal["set", "delete", "append", "assign"]
    path: list[str | int]
    value: Value | UnsetType = UNSET
    at: Literal["enter", "after-await", "after-return"] = "after-await"


class Reply(Record, frozen=True):
    """What a handler or a tool's ``execute`` does with one call.

    Neither ``returns`` nor ``throws``: it returns nothing (JavaScript's ``undefined``). ``delay_ms`` holds the return
    inside the adapter; ``late_updates`` are handed to ``onUpdate`` after a tool has returned.
    """

    returns: Value | UnsetType = UNSET
    throws: Value | UnsetType = UNSET
    ops: list[Op] = []
    delay_ms: int = 0
    late_updates: list[Value] = []


class ToolSpec(Record, frozen=True):
    """A tool as a package registers it; a field left out is absent from the definition.

    ``tag`` tells registrations of one name apart in ``package.execute``. ``prepare`` is the reply of a synchronous
    ``prepareArguments`` (its ops change the argument it was given; without ``returns`` that argument is returned).
    ``executes`` false leaves ``execute`` out.
    """

    name: Value | UnsetType = UNSET
    label: Value | UnsetType = UNSET
    description: Value | UnsetType = UNSET
    parameters: Value | UnsetType = UNSET
    execution_mode: Value | UnsetType = UNSET
    prompt_snippet: Value | UnsetType = UNSET
    prompt_guidelines: Value | UnsetType = UNSET
    prepare: Reply | UnsetType = UNSET
    executes: bool = True
    tag: str = ""


class HandlerSpec(Record, frozen=True):
    """One ``pi.on`` subscription. ``sync`` is the fixed reply of a handler that never asks the suite.

    ``callable`` false subscribes something that is not a function.
    """

    id: str
    event: str
    sync: Reply | UnsetType = UNSET
    callable: bool = True


class ApiCall(Record, frozen=True):
    """One call of a ``pi.*`` method made while the factory runs; ``args`` as in :class:`PiCall`."""

    call: str
    args: list[Value] = []


class PackageSpec(Record, frozen=True):
    """A package as data: its factory registers ``tools``, then ``handlers``, makes ``calls``, then may throw."""

    name: str
    tools: list[ToolSpec] = []
    handlers: list[HandlerSpec] = []
    calls: list[ApiCall] = []
    throws: Value | UnsetType = UNSET


class NativeSpec(Record, frozen=True):
    """A native tool of the host. ``agent`` names the agent in whose own scope it is registered; absent means globally.

    ``reserved`` asks for the host's reserved transport name under the name the host gives it. ``timeout_ms`` is
    milliseconds. A native tool runs by asking the suite (``native.execute``).
    """

    name: str
    description: str = ""
    parameters: Value = msgspec.field(default_factory=lambda: {"type": "object", "properties": {}})
    agent: str | None = None
    reserved: bool = False
    parallel: bool = False
    timeout_ms: int | None = None


class PolicySpec(Record, frozen=True):
    """One listener of the host's policy, outside the bridge.

    ``place`` is before (outer) or after (inner) the bridge's own listener. ``tools`` limits it to those names.
    ``answer``: ``next`` hands on what the rest decides, ``allow``, ``deny`` and ``ask`` decide (``skip`` true: without
    asking the rest), ``throw`` throws ``reason``; ``guard`` denies where the host's unconditional guards sit, and
    ``guard-throw`` throws there.
    """

    id: str
    place: Literal["before", "after"] = "before"
    tools: list[str] | None = None
    answer: Literal["next", "allow", "deny", "ask", "throw", "guard", "guard-throw"] = "next"
    reason: str | None = None
    skip: bool = False


class Services(Record, frozen=True):
    """Which of the host's optional services are there.

    ``approval`` is how a question to the user is answered; ``none`` leaves the service out.
    """

    attachments: bool = True
    subprocess: Literal["local", "scripted", "none"] = "local"
    approval: Literal["none", "allowed-once", "rejected", "cancelled", "unanswered"] = "none"


class Limits(Record, frozen=True):
    """What an implementation asks the suite to respect: bytes of one line, and milliseconds of grace before a kill."""

    line_bytes: int = 64 * 1024 * 1024
    kill_grace_ms: int = 5000


class Settle(Record, frozen=True):
    """How well ``agent.settle`` knows that nothing is pending: ``exact``, or ``quiet`` for so many milliseconds."""

    mode: Literal["exact", "quiet"] = "exact"
    quiet_ms: int = 0


# --- what the suite asks ---------------------------------------------------------------------------------------------


class InitializeResult(Record, frozen=True):
    """Who answers. ``versions`` names what else is running (the host, Pi's packages, Node); ``mounts`` come in order of
    preference, and a bridge that has but one names it all the same."""

    protocol: int
    name: str
    version: str
    role: Role
    mounts: list[str] = []
    capabilities: list[str] = []
    versions: dict[str, str] = {}
    limits: Limits = Limits()
    settle: Settle = Settle()
    issues_url: str = ""


class Initialize(Message, frozen=True):
    """The first request of a connection; ``mount`` is the one chosen with the bridge specification, if any."""

    method: ClassVar[str] = "initialize"
    Result: ClassVar[type[Record]] = InitializeResult
    protocol: int
    suite: str
    mount: str | None = None


class Ping(Message, frozen=True):
    """Asks for a sign of life."""

    method: ClassVar[str] = "ping"
    Result: ClassVar[type[Record]] = Nothing


class StageOpen(Message, frozen=True):
    """Makes one fresh host; one stage is open at a time. ``cwd`` is the working folder of agents without their own."""

    method: ClassVar[str] = "stage.open"
    Result: ClassVar[type[Record]] = Nothing
    mount: str | None = None
    natives: list[NativeSpec] = []
    policies: list[PolicySpec] = []
    services: Services = Services()
    cwd: str | None = None


class StageClosed(Record, frozen=True):
    """``children``: process ids the host's subprocess service still had; they have been ended."""

    children: list[int] = []


class StageClose(Message, frozen=True):
    """Ends the open stage and everything on it."""

    method: ClassVar[str] = "stage.close"
    Result: ClassVar[type[Record]] = StageClosed


class PackageLoad(Message, frozen=True):
    """Installs a package. Its instances announce themselves by ``trace`` (``instance.created``), now or with agents."""

    method: ClassVar[str] = "package.load"
    Result: ClassVar[type[Record]] = Outcome
    package: PackageSpec


class PackageUnload(Message, frozen=True):
    """Removes a package and all it registered."""

    method: ClassVar[str] = "package.unload"
    Result: ClassVar[type[Record]] = Outcome
    package: str


class PackageReload(Message, frozen=True):
    """Runs the factories again, as the implementation's own reload does; ``replacement`` is the package's new text."""

    method: ClassVar[str] = "package.reload"
    Result: ClassVar[type[Record]] = Outcome
    package: str
    replacement: PackageSpec | None = None


class PiCall(Message, frozen=True):
    """Calls ``pi.<call>(…args)`` of one instance; with ``invocation`` in the context of that open handler or tool.

    ``registerTool`` takes a :class:`ToolSpec`, ``on`` a :class:`HandlerSpec`; a ``signal`` inside exec's options is the
    tag of one made with ``signal.create``. The outcome comes when a returned promise has settled.
    """

    method: ClassVar[str] = "pi.call"
    Result: ClassVar[type[Record]] = Outcome
    call: str
    args: list[Value] = []
    instance: str | None = None
    invocation: str | None = None


class CtxCall(Message, frozen=True):
    """Calls, or where it is no function reads, ``ctx.<call>`` of an open handler or tool, such as ``ui.confirm``."""

    method: ClassVar[str] = "ctx.call"
    Result: ClassVar[type[Record]] = Outcome
    invocation: str
    call: str
    args: list[Value] = []


class ToolUpdate(Message, frozen=True):
    """Calls the ``onUpdate`` of a tool's invocation, also after it returned."""

    method: ClassVar[str] = "tool.update"
    Result: ClassVar[type[Record]] = Outcome
    invocation: str
    update: Value | UnsetType = UNSET


class AgentCreate(Message, frozen=True):
    """Creates an agent; answered when packages that are made for it are ready.

    ``parent`` makes it a child's. ``resumes`` names an agent of this stage that has ended: the new one goes on with its
    session, as after a restart of the host (capability ``resume``).
    """

    method: ClassVar[str] = "agent.create"
    Result: ClassVar[type[Record]] = Outcome
    agent: str
    parent: str | None = None
    resumes: str | None = None
    cwd: str | None = None


class AgentPrompt(Message, frozen=True):
    """Hands the agent a prompt; answered when it is accepted, not when it is done."""

    method: ClassVar[str] = "agent.prompt"
    Result: ClassVar[type[Record]] = Outcome
    agent: str
    text: str


class AgentSteer(Message, frozen=True):
    """Adds input to the running turn, before its next request."""

    method: ClassVar[str] = "agent.steer"
    Result: ClassVar[type[Record]] = Outcome
    agent: str
    text: str


class AgentFollowUp(Message, frozen=True):
    """Queues input for after the running turn's work."""

    method: ClassVar[str] = "agent.follow_up"
    Result: ClassVar[type[Record]] = Outcome
    agent: str
    text: str


class AgentCancel(Message, frozen=True):
    """Cancels the running turn as the user would; answered when the wish is delivered."""

    method: ClassVar[str] = "agent.cancel"
    Result: ClassVar[type[Record]] = Outcome
    agent: str


class AgentSettle(Message, frozen=True):
    """Answered when nothing of this agent is pending: no turn, handler, tool, projection or write."""

    method: ClassVar[str] = "agent.settle"
    Result: ClassVar[type[Record]] = Nothing
    agent: str


class AgentDispose(Message, frozen=True):
    """Ends an agent."""

    method: ClassVar[str] = "agent.dispose"
    Result: ClassVar[type[Record]] = Outcome
    agent: str


class OperatorBash(Message, frozen=True):
    """Types ``!command`` (``!!command`` with ``exclude``) on the operator's own command surface."""

    method: ClassVar[str] = "operator.bash"
    Result: ClassVar[type[Record]] = Outcome
    agent: str
    command: str
    exclude: bool = False


class SignalCreate(Message, frozen=True):
    """Makes an abort signal on the implementation's side under the suite's ``signal`` id."""

    method: ClassVar[str] = "signal.create"
    Result: ClassVar[type[Record]] = Nothing
    signal: str


class SignalAbort(Message, frozen=True):
    """Aborts a signal made before."""

    method: ClassVar[str] = "signal.abort"
    Result: ClassVar[type[Record]] = Nothing
    signal: str
    reason: str = "aborted"


class NativeRegister(Message, frozen=True):
    """Registers a native tool on the running host."""

    method: ClassVar[str] = "native.register"
    Result: ClassVar[type[Record]] = Outcome
    native: NativeSpec


class NativeUnregister(Message, frozen=True):
    """Removes a native tool; ``agent`` as it was registered."""

    method: ClassVar[str] = "native.unregister"
    Result: ClassVar[type[Record]] = Outcome
    name: str
    agent: str | None = None


class PolicySet(Message, frozen=True):
    """Adds a policy listener, or replaces the one of the same id in its place."""

    method: ClassVar[str] = "policy.set"
    Result: ClassVar[type[Record]] = Nothing
    policy: PolicySpec


class HostCall(Message, frozen=True):
    """Calls a host seam: ``target.call(…args)`` in a scope (``None``: global; else an agent id, or a scope handle).

    The outcome's ``returned`` is the value, or ``{"$": "handle", "id": …}`` for what can be disposed or addressed.
    """

    method: ClassVar[str] = "host.call"
    Result: ClassVar[type[Record]] = Outcome
    target: Literal["tools", "agents", "agent", "inbox", "subprocess", "approval", "scopes", "attachments", "session"]
    call: str
    args: list[Value] = []
    scope: str | None = None


class HostListen(Message, frozen=True):
    """Listens on a host waterfall or emit; each dispatch asks the suite with ``host.handle``.

    A reply with neither ``returns`` nor ``throws`` hands on what ``next()`` decides. The event ``guard`` is the host's
    unconditional guard: it cannot wait, so it passes and is noted as ``host.event``.
    """

    method: ClassVar[str] = "host.listen"
    Result: ClassVar[type[Record]] = Outcome
    listener: str
    event: str
    scope: str | None = None
    prepend: bool = False


class HostNext(Message, frozen=True):
    """Calls ``next()`` of an open ``host.handle``; any number of times."""

    method: ClassVar[str] = "host.next"
    Result: ClassVar[type[Record]] = Outcome
    invocation: str


class HostDispose(Message, frozen=True):
    """Disposes what ``host.call`` or ``host.listen`` returned (a handle id or a listener id)."""

    method: ClassVar[str] = "host.dispose"
    Result: ClassVar[type[Record]] = Outcome
    handle: str


# --- what the implementation asks ------------------------------------------------------------------------------------


class RequestTool(Record, frozen=True):
    """One row of the catalogue a model request carries."""

    name: Value
    description: Value = None
    parameters: Value = None


class RequestMessage(Record, frozen=True):
    """One message of a model request. A tool's result carries ``call_id`` and ``is_error``; content is the blocks."""

    role: Literal["user", "assistant", "tool"]
    content: Value = []
    call_id: str | None = None
    is_error: bool | None = None


class ToolCall(Record, frozen=True):
    """One call of an assistant message; ``arguments`` is the raw text as the model wrote it."""

    id: str
    name: str
    arguments: str


class ModelAnswer(Record, frozen=True):
    """The next assistant message. Without ``finish`` it ends as its calls say."""

    text: str | None = None
    calls: list[ToolCall] = []
    finish: Literal["stop", "calls", "length", "error"] | None = None


class ModelRespond(Message, frozen=True):
    """Asks the model for its next message. ``request`` counts this agent's requests from 1."""

    method: ClassVar[str] = "model.respond"
    Result: ClassVar[type[Record]] = ModelAnswer
    agent: str
    request: int
    tools: list[RequestTool]
    messages: list[RequestMessage]
    system: str = ""


class PackageHandle(Message, frozen=True):
    """A handler was entered: what does it do? ``event`` is the payload as the handler got it."""

    method: ClassVar[str] = "package.handle"
    Result: ClassVar[type[Record]] = Reply
    package: str
    instance: str
    handler: str
    event: str
    payload: Value
    invocation: str
    agent: str | None = None


class PackageExecute(Message, frozen=True):
    """A registered tool's ``execute`` was entered. ``extras`` describes the other arguments: their types by name."""

    method: ClassVar[str] = "package.execute"
    Result: ClassVar[type[Record]] = Reply
    package: str
    instance: str
    tool: str
    call_id: Value
    params: Value
    invocation: str
    tag: str = ""
    agent: str | None = None
    aborted: bool | None = None
    extras: dict[str, str] = {}


class NativeAnswer(Record, frozen=True):
    """What a native tool's body does: text or content blocks, or a throw.

    ``conclude`` ends the turn, ``defer`` adds context to the next step.
    """

    text: str = ""
    content: Value | UnsetType = UNSET
    throws: Value | UnsetType = UNSET
    conclude: bool = False
    defer: str | None = None


class NativeExecute(Message, frozen=True):
    """A native tool's body was entered with these arguments."""

    method: ClassVar[str] = "native.execute"
    Result: ClassVar[type[Record]] = NativeAnswer
    tool: str
    call_id: str
    arguments: Value
    invocation: str
    agent: str | None = None
    scope: str | None = None


class ProcessAnswer(Record, frozen=True):
    """How a scripted child ends: its streams as text, an exit code or a signal name; ``fails`` is a failed start.

    ``runs`` true means it ends only when it is told to (abort or time-out).
    """

    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = 0
    signal: str | None = None
    fails: str | None = None
    runs: bool = False


class ProcessSpawn(Message, frozen=True):
    """The host's scripted subprocess provider was asked for a child."""

    method: ClassVar[str] = "process.spawn"
    Result: ClassVar[type[Record]] = ProcessAnswer
    argv: list[str]
    invocation: str
    cwd: str | None = None
    stdin: Value = None
    max_bytes: dict[str, int] = {}


class HostHandle(Message, frozen=True):
    """A listener made with ``host.listen`` was called; ``exec`` and ``result`` are what it was handed."""

    method: ClassVar[str] = "host.handle"
    Result: ClassVar[type[Record]] = Reply
    listener: str
    event: str
    invocation: str
    exec: Value = None
    result: Value = None
    agent: str | None = None


TraceKind = Literal[
    "instance.created",
    "instance.disposed",
    "handler.enter",
    "handler.exit",
    "tool.enter",
    "tool.exit",
    "tool.aborted",
    "native.enter",
    "native.exit",
    "model.request",
    "model.answer",
    "api.call",
    "api.return",
    "log.user",
    "log.assistant",
    "log.call",
    "log.result",
    "notice",
    "policy",
    "spawn",
    "turn.start",
    "turn.end",
    "step.start",
    "step.end",
    "agent.created",
    "agent.disposed",
    "host.event",
    "operator",
    "crash",
]
"""Every kind of trace event; `docs/writing-a-driver.md` says what ``data`` holds for each."""

ADAPTER_KINDS: frozenset[str] = frozenset(TraceKind.__args__) - {  # type: ignore[attr-defined]
    "model.request",
    "model.answer",
    "operator",
}
"""Kinds an implementation may send. The others the suite writes from the exchange itself."""


class TraceNote(Message, frozen=True):
    """Notification: something happened that the suite was not asked about."""

    method: ClassVar[str] = "trace"
    Result: ClassVar[type[Record]] = Nothing
    kind: TraceKind
    agent: str | None = None
    call_id: str | None = None
    data: dict[str, Value] = {}


SUITE_ASKS: dict[str, type[Message]] = {
    message.method: message
    for message in (
        Initialize,
        Ping,
        StageOpen,
        StageClose,
        PackageLoad,
        PackageUnload,
        PackageReload,
        PiCall,
        CtxCall,
        ToolUpdate,
        AgentCreate,
        AgentPrompt,
        AgentSteer,
        AgentFollowUp,
        AgentCancel,
        AgentSettle,
        AgentDispose,
        OperatorBash,
        SignalCreate,
        SignalAbort,
        NativeRegister,
        NativeUnregister,
        PolicySet,
        HostCall,
        HostListen,
        HostNext,
        HostDispose,
    )
}
"""Requests of the suite, by method."""

ADAPTER_ASKS: dict[str, type[Message]] = {
    message.method: message
    for message in (ModelRespond, PackageHandle, PackageExecute, NativeExecute, ProcessSpawn, HostHandle)
}
"""Requests of the implementation, by method."""

NOTES: dict[str, type[Message]] = {TraceNote.method: TraceNote}
"""Notifications of the implementation, by method."""
