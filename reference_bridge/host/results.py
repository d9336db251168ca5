"""One call on its way through the pipeline, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reference_bridge.host.errors import ABORTED, ABORTED_BEFORE_DISPATCH, HarnessError, error_message
from reference_bridge.host.json_values import UNDEFINED, Json, NotLosslessError, freeze, js_string
from reference_bridge.host.messages import Message, text_block
from reference_bridge.host.scopes import Scope
from reference_bridge.host.signals import AbortSignal

if TYPE_CHECKING:
    from reference_bridge.host.loop import Agent


@dataclass(frozen=True, slots=True)
class ToolFailure:
    """Why a result is an error; `info` is the identity of a `HarnessError`, `{name, code}`."""

    message: Json
    info: Json = None


class ToolResult:
    """What a call came to. Free to change while it travels, frozen once it is final."""

    __slots__ = (
        "_frozen",
        "_owner",
        "additional_contexts",
        "concludes_turn",
        "content",
        "error",
        "is_error",
        "meta",
        "value",
    )

    _frozen: bool
    is_error: bool
    content: Json
    """Content blocks for the model."""
    value: Json
    """The canonical value of a success. Never logged."""
    error: ToolFailure | None
    meta: Json
    """`UNDEFINED` where the tool projects none."""
    additional_contexts: Sequence[Message]
    """Messages that join the next step."""
    concludes_turn: bool

    def __init__(
        self,
        *,
        is_error: bool,
        content: Json,
        value: Json = UNDEFINED,
        error: ToolFailure | None = None,
        meta: Json = UNDEFINED,
        additional_contexts: Sequence[Message] = (),
        concludes_turn: bool = False,
    ) -> None:
        object.__setattr__(self, "_frozen", False)
        self._owner: object = None
        self.is_error = is_error
        self.content = content
        self.value = value
        self.error = error
        self.meta = meta
        self.additional_contexts = additional_contexts
        self.concludes_turn = concludes_turn

    def __setattr__(self, name: str, value: object) -> None:
        if name != "_owner" and self._frozen:
            raise TypeError(f"Cannot assign to read only property '{name}' of a final tool result")
        object.__setattr__(self, name, value)

    @property
    def frozen(self) -> bool:
        """Whether nothing can be assigned any more; `content` may be frozen even where the result is not."""
        return self._frozen

    @staticmethod
    def success(value: Json) -> ToolResult:
        """The answer of an execute wrapper that ran no body; the tool renders `value` itself."""
        return ToolResult(is_error=False, content=[], value=value)

    @staticmethod
    def failure(message: Json, content: Json = UNDEFINED, info: Json = None) -> ToolResult:
        """An error result; its content is `Error: <message>` unless given."""
        shown = [text_block(f"Error: {js_string(message)}")] if content is UNDEFINED else content
        return ToolResult(is_error=True, content=shown, error=ToolFailure(message, info))

    def with_changes(self, **changes: Any) -> ToolResult:
        """A free copy with other members."""
        members = {name: getattr(self, name) for name in _MEMBERS}
        return ToolResult(**(members | changes))

    def finalized(self) -> ToolResult:
        """A frozen copy; raises `TypeError` where content, meta, contexts or error are not lossless JSON."""
        try:
            final = self.with_changes(
                content=freeze(self.content),
                meta=self.meta if self.meta is UNDEFINED else freeze(self.meta),
                additional_contexts=freeze(list(self.additional_contexts)),
                error=self.error and ToolFailure(freeze(self.error.message), freeze(self.error.info)),
            )
        except NotLosslessError:
            raise TypeError("tool result must be losslessly JSON-serializable") from None
        final._frozen = True
        return final


_MEMBERS = tuple(name for name in ToolResult.__slots__ if not name.startswith("_"))


def thrown_result(error: Exception) -> ToolResult:
    """The result of anything that raised: its text, and its identity if it is a `HarnessError`."""
    info = {"name": error.name, "code": error.code} if isinstance(error, HarnessError) else None
    return ToolResult.failure(error_message(error), info=info)


def aborted_result(*, started: bool, prior: ToolResult | None = None) -> ToolResult:
    """The result of a call that the cancel reached before or after its body `started`."""
    message = "tool call aborted" if started else "tool call aborted before dispatch"
    info = {"name": "AbortError", "code": ABORTED if started else ABORTED_BEFORE_DISPATCH}
    result = ToolResult.failure(message, info=info)
    result.additional_contexts = prior.additional_contexts if prior else ()
    return result


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call as it is handed to the pipeline."""

    call_id: str
    name: str
    arguments: Json
    """Parsed; `UNDEFINED` and anything else JSON cannot carry is refused."""
    signal: AbortSignal
    agent: Agent | None = None
    scope: Scope | None = None
    """Whose tools and listeners apply: the agent's scope unless told."""
    parent: object = None
    """The token of the call that makes this one from inside its body."""
    root_call_id: str | None = None

    @property
    def target(self) -> Scope | None:
        """The scope this call is made in."""
        return self.scope if self.scope is not None or self.agent is None else self.agent.scope


class CallState:
    """What the pipeline remembers of one call and shows to nobody."""

    __slots__ = ("body_started", "caller_signal", "concludes", "deferred", "finalize", "scope")

    def __init__(self, scope: Scope | None, caller_signal: AbortSignal) -> None:
        self.scope = scope
        self.caller_signal = caller_signal
        self.body_started = False
        self.concludes = False
        self.deferred: list[Message] = []
        self.finalize: Callable[[Execution, ToolResult], Json] | None = None


class Execution:
    """One call: the same object at every stage, listeners, guards and body included.

    `arguments` are deeply frozen. The object itself is not before the `tools/result` emit, so a listener *can* assign
    `arguments`, `name` or `signal`; the body then runs with them while the log keeps what the model wrote.
    """

    __slots__ = (
        "_frozen",
        "_state",
        "agent",
        "arguments",
        "call_id",
        "name",
        "parent",
        "root_call_id",
        "signal",
        "token",
    )

    _frozen: bool
    token: object
    """Identifies this call in this process; `parent` of calls made from inside its body."""
    call_id: str
    root_call_id: str
    name: str
    signal: AbortSignal
    """The turn's own, shared by every call and stage of the turn."""
    agent: Agent | None
    parent: object
    arguments: Json

    def __init__(self, request: CallRequest, arguments: Json) -> None:
        object.__setattr__(self, "_frozen", False)
        self._state = CallState(request.target, request.signal)
        self.token = object()
        self.call_id = request.call_id
        self.root_call_id = request.call_id if request.root_call_id is None else request.root_call_id
        self.name = request.name
        self.signal = request.signal
        self.agent = request.agent
        self.parent = request.parent
        self.arguments = arguments

    def __setattr__(self, name: str, value: object) -> None:
        if self._frozen:
            raise TypeError(f"Cannot assign to read only property '{name}' of a finished call")
        object.__setattr__(self, name, value)

    @property
    def frozen(self) -> bool:
        """Whether the call has been told to `tools/result`."""
        return self._frozen

    @property
    def scope(self) -> Scope | None:
        """The scope whose tools and listeners this call meets, whatever is assigned to the call."""
        return self._state.scope

    def defer_context(self, message: Message) -> None:
        """Let `message` join the agent's next step, unless a post-execute decision blocks the result."""
        self._state.deferred.append(message)

    def conclude_turn(self) -> None:
        """End the turn after this batch if this call succeeds. One such call suffices, whatever the others do."""
        self._state.concludes = True
