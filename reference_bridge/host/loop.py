"""The agent: one session, and the loop that takes it from prompt to answer.

A *turn* is what one prompt causes, a *step* one model request and its batch of tool calls. A turn goes on while a step
called tools or input waits for the next step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from reference_bridge.host.background import Background
from reference_bridge.host.errors import ModelError, error_chain, error_message
from reference_bridge.host.inbox import Inbox, Target
from reference_bridge.host.json_values import Json, freeze, member
from reference_bridge.host.logger import Logger
from reference_bridge.host.messages import Message, user_message
from reference_bridge.host.pipeline import Pipeline
from reference_bridge.host.registry import Registry
from reference_bridge.host.results import CallRequest
from reference_bridge.host.scheduler import Batch, BatchLog, parse_arguments
from reference_bridge.host.scopes import Scope
from reference_bridge.host.session import Session
from reference_bridge.host.signals import AbortController, AbortSignal
from reference_bridge.host.steps import Assembly, ModelRoute, PromptContext, Requests
from reference_bridge.host.waterfall import Events

Status: TypeAlias = Literal["idle", "running"]

USER = {"kind": "user"}
"""The cause of a cancel by the user. Others: `parent`, `disposed`, and `hook` with a `reason`."""


@dataclass(frozen=True, slots=True)
class Services:
    """What every agent of a host shares."""

    registry: Registry
    events: Events
    pipeline: Pipeline
    background: Background
    logger: Logger
    pool_size: int


@dataclass(frozen=True, slots=True)
class PreStep:
    """What `agent/pre-step` listeners see; they answer `{kind: "enter", messages}` or `{kind: "reject"}`."""

    agent: Agent
    turn: int
    step: int
    messages: list[Message]
    """Taken from the inbox for this step. After a reject they are lost."""
    signal: AbortSignal


@dataclass(frozen=True, slots=True)
class TurnStopping:
    """The turn is about to end; a listener that steers the agent makes it go on."""

    agent: Agent
    turn: int
    signal: AbortSignal


@dataclass(frozen=True, slots=True)
class StatusChange:
    """An agent began to work or came to rest."""

    agent: Agent
    status: Status


@dataclass(slots=True)
class _Activity:
    """One stretch of work, from a wake-up to the next rest."""

    turn: int
    step: int = 0
    abort: AbortController = field(default_factory=AbortController)
    wake_again: bool = False


class Agent:
    """One conversation. Its `scope` is where its own tools, masks, guards and listeners live."""

    inbox_type: type[Inbox] = Inbox
    batch_type: type[Batch] = Batch
    log_type: type[BatchLog] = BatchLog

    def __init__(
        self,
        id: str,
        services: Services,
        session: Session,
        route: ModelRoute,
        cwd: str | None,
        dispose: Callable[[Agent], Awaitable[None]],
    ) -> None:
        self.id = id
        self.session = session
        self.scope = Scope(id)
        self.cwd = cwd
        self.owner: Agent | None = None
        """The agent that made this one to work for it; `None` for one that people talk to."""
        self.inbox = self.inbox_type(session)
        self._services = services
        self._requests = Requests(self, route)
        self._dispose = dispose
        self._activity: _Activity | None = None
        self._driver: asyncio.Task[None] | None = None
        self._last_turn: int = session.latest("turn/start").get("turn", 0)

    def __repr__(self) -> str:
        return f"Agent({self.id!r})"

    @property
    def status(self) -> Status:
        """Whether a turn is open or about to be."""
        return "idle" if self._activity is None else "running"

    def followup(self, message: str | Message) -> None:
        """Queue a prompt for a turn of its own; an idle agent opens that turn before this returns."""
        self._send("next-turn", message)

    def steer(self, message: str | Message) -> None:
        """Add input to the next step of the current turn; an idle agent opens a turn with it."""
        self._send("next-step", message)

    def inject(self, message: str | Message) -> None:
        """Add input to the next step, whenever that comes: this wakes nobody."""
        self.inbox.add("next-step", _as_message(message))

    def cancel(self, cause: Json = None, *, keep_inbox: bool = False) -> None:
        """Ask the current turn to end as `aborted` with `cause` (the user, unless told).

        What waits in the inbox is thrown away, or with `keep_inbox` stays parked until the next prompt.
        """
        if not keep_inbox:
            self.inbox.clear()
            if self._activity is not None:
                self._activity.wake_again = False
        if self._activity is not None:
            self._activity.abort.abort(freeze(USER if cause is None else cause))

    async def when_idle(self) -> None:
        """Wait until the agent rests. Work of listeners that nobody awaits may still go on."""
        while self._driver is not None and not self._driver.done():
            await asyncio.wait({self._driver})

    async def dispose(self) -> None:
        """End the agent: cancel its turn, wait for what runs, then take away all that its scope owns."""
        await self._dispose(self)

    def _send(self, target: Target, message: str | Message) -> None:
        """Queue and wake. Behind a cancel that is still under way, input waits for a turn of its own."""
        activity = self._activity
        after_abort = activity is not None and activity.abort.signal.aborted
        self.inbox.add("next-turn" if after_abort else target, _as_message(message))
        if activity is None:
            self._wake()
        elif after_abort and member(activity.abort.signal.reason, "kind") != "disposed":
            activity.wake_again = True

    def _wake(self) -> None:
        activity = self._activity = _Activity(self._last_turn)
        self._tell_status()
        claimed = self._open_turn(activity)
        self._driver = self._services.background.start(
            self._drive(activity, claimed),
            lambda error: self._services.logger.error(f"agent {self.id}: {error_message(error)}"),
        )

    async def _drive(self, activity: _Activity, claimed: list[Message]) -> None:
        """Run turns until none is due. A failed or cancelled turn leaves what waits parked."""
        try:
            while await self._run_turn(activity, claimed) and self.inbox.has_pending:
                activity.abort, activity.wake_again, activity.step = AbortController(), False, 0
                claimed = self._open_turn(activity)
        finally:
            self._activity, self._last_turn = None, activity.turn
            self._tell_status()
        if activity.wake_again and self.inbox.has_pending:
            self._wake()

    def _open_turn(self, activity: _Activity) -> list[Message]:
        activity.turn += 1
        self.session.append("turn/start", {"turn": activity.turn})
        return self.inbox.claim("next-turn")

    async def _run_turn(self, activity: _Activity, claimed: list[Message]) -> bool:
        """Run one turn to its logged end; answers whether the next one may follow."""
        signal = activity.abort.signal
        reason: dict[str, Json] = {"kind": "aborted", "reason": {"kind": "disposed"}}
        goes_on = False
        try:
            reason, goes_on = await self._run_steps(activity, claimed, signal)
        except Exception as error:
            if signal.aborted:
                reason = {"kind": "aborted", "reason": signal.reason}
            else:
                code = error.code if isinstance(error, ModelError) else "UNKNOWN"
                reason = {"kind": "error", "error": {"message": error_chain(error), "code": code}}
        finally:
            self.session.append("turn/end", {"turn": activity.turn, "reason": reason})
        return goes_on

    async def _run_steps(
        self, activity: _Activity, claimed: list[Message], signal: AbortSignal
    ) -> tuple[dict[str, Json], bool]:
        """Run steps until one ends the turn; gives the reason, and whether the next turn may follow."""
        reason: dict[str, Json] | None = None
        while True:
            signal.throw_if_aborted()
            assembly, decision = await self._pre_step(activity, claimed, signal)
            if member(decision, "kind") == "reject":
                return {"kind": "blocked"}, False
            messages = member(decision, "messages")
            # No list of messages at all is an error, not an empty one.
            member(messages, "length")
            if not messages and (reason is not None or activity.step == 0):
                return reason or {"kind": "completed"}, reason is not None
            activity.step += 1
            step_end = await self._run_step(activity, assembly, messages, signal)
            # Once a reply was cut by length the turn ends so, whatever a later step says.
            if reason is None or reason["kind"] != "max-tokens":
                reason = step_end
            signal.throw_if_aborted()
            if reason is not None and not self.inbox.next_step:
                stopping = TurnStopping(self, activity.turn, signal)
                await self._services.events.serial("agent/turn-stopping", self.scope, stopping)
                signal.throw_if_aborted()
                if not self.inbox.next_step:
                    return reason, True
            claimed = self.inbox.claim("next-step")

    async def _pre_step(
        self, activity: _Activity, claimed: list[Message], signal: AbortSignal
    ) -> tuple[Assembly, Json]:
        """Assemble the prompt, then ask whether the step may be entered, and with which messages."""
        events = self._services.events
        assembly = Assembly(tools=self._services.registry.catalogue(self.scope))

        async def unchanged() -> Assembly:
            return assembly

        assembly = await events.waterfall(
            "system-prompt/assemble", self.scope, assembly, PromptContext(self, signal), innermost=unchanged
        )
        signal.throw_if_aborted()

        async def enter() -> Json:
            return {"kind": "enter", "messages": claimed}

        proposal = PreStep(self, activity.turn, activity.step + 1, claimed, signal)
        decision = await events.waterfall("agent/pre-step", self.scope, proposal, innermost=enter)
        signal.throw_if_aborted()
        return assembly, decision

    async def _run_step(
        self, activity: _Activity, assembly: Assembly, messages: list[Message], signal: AbortSignal
    ) -> dict[str, Json] | None:
        """One model request and its batch; gives the reason if this step would end the turn."""
        position = {"turn": activity.turn, "step": activity.step}
        self.session.append("step/start", position)
        try:
            for message in messages:
                self.session.append("user/message", message, surface_op="append")
            signal.throw_if_aborted()
            reply = await self._requests.ask(assembly, position, signal)
            if reply.finish == "max-tokens":
                return {"kind": "max-tokens"}
            if not reply.calls:
                return {"kind": "completed"}
            calls = [
                (call, CallRequest(call.id, call.name, parse_arguments(call.arguments_text), signal, agent=self))
                for call in reply.calls
            ]
            log = self.log_type(self.session, activity.turn, activity.step)
            pipeline, pool_size = self._services.pipeline, self._services.pool_size
            batch = self.batch_type(pipeline, log, calls, signal, pool_size, self._accept_context)
            return {"kind": "completed"} if await batch.run() else None
        finally:
            self.session.append("step/end", position)

    def _accept_context(self, message: Message) -> None:
        self.inbox.add("next-step", message)

    def _tell_status(self) -> None:
        change = StatusChange(self, self.status)
        self._services.events.emit("agent/status", self.scope, change, about=f"agent {self.id}")


def _as_message(message: str | Message) -> Message:
    return user_message(message) if isinstance(message, str) else message
