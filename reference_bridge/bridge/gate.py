"""`tool_call`: packages judge each call before it runs, and may rewrite the arguments of packages' tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.values import as_object, is_error, is_truthy, json_text, same_json, thrown_text
from reference_bridge.host.json_values import Json, js_string
from reference_bridge.host.results import Execution
from reference_bridge.host.signals import AbortSignal

PATIENCE = 1.0
"""Seconds for which a judge is waited for once the turn was cancelled: nobody can end a turn whose judge is stuck."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a call may not run, and whether its judge wants the loop to stop."""

    reason: str
    terminate: bool = False


class ToolCallGate:
    """Asks the handlers about one call."""

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch

    async def judge(self, call: Call, execution: Execution) -> Verdict | None:
        """The reason why the call may not run, or `None`. Handlers change `call.input` in place."""
        call.passed_over = not self.is_asked(call)
        if call.passed_over:
            return None
        verdict = await self.ask(call, self.event(call), execution.signal)
        return verdict or self.refusal(call, execution.arguments)

    def is_asked(self, call: Call) -> bool:
        """Whether packages have a say: they have none about names nobody knows and arguments that did not pass."""
        return call.known and call.invalid is None

    def event(self, call: Call) -> Event:
        """What a handler gets. Replacing a member of the event changes nothing, changing its `input` does."""
        return {"type": "tool_call", "toolName": call.name, "toolCallId": call.call_id, "input": call.input}

    async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
        """The first verdict; after it nobody is asked any more."""
        for subscription in self._dispatch.subscriptions(call.agent, "tool_call"):
            verdict = await self.ask_one(subscription, call, event, signal)
            if verdict is not None:
                return verdict
        return None

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        """The verdict of one handler. One that throws has blocked the call."""
        try:
            async with self.patience(signal):
                answer = await subscription.call(event, call.agent, signal)
        except Exception as error:
            return self.thrown(error)
        return self.read(answer)

    @asynccontextmanager
    async def patience(self, signal: AbortSignal | None) -> AsyncIterator[None]:
        """Raise `TimeoutError` in what goes on for too long after `signal` was aborted."""
        if signal is None:
            yield
            return

        def begin() -> None:
            limit.reschedule(asyncio.get_running_loop().time() + PATIENCE)

        try:
            async with asyncio.timeout(None) as limit:
                if signal.aborted:
                    begin()
                else:
                    signal.add_listener(begin)
                yield
        except TimeoutError:
            raise TimeoutError(f"no answer in the {PATIENCE:g} s since the turn was cancelled") from None
        finally:
            signal.remove_listener(begin)

    def read(self, answer: Any) -> Verdict | None:
        """What an answer means: `block` decides by its truth, and only beside it does `terminate` count."""
        members = as_object(answer)
        if not is_truthy(members.get("block")):
            return None
        return Verdict(self.reason_text(members.get("reason")), members.get("terminate") is True)

    def thrown(self, error: Exception) -> Verdict:
        """What a thrown error means; it never asks the loop to stop."""
        text = thrown_text(error)
        return Verdict(self.reason_text(text if is_error(error) else f"Extension failed, blocking execution: {text}"))

    def reason_text(self, reason: Any) -> str:
        """A reason the model can use. It is never empty: a denial without one would let the call run."""
        if not is_truthy(reason):
            return "Tool execution was blocked"
        return json_text(reason) if isinstance(reason, dict | list) else js_string(reason)

    def refusal(self, call: Call, logged: Json) -> Verdict | None:
        """A native tool runs with the arguments that are in the log, or not at all."""
        if call.tool is not None or same_json(call.input, logged):
            return None
        return Verdict(
            f"the arguments of the native tool {call.name!r} may not be changed: "
            "they are already in the log, and the tool would run with others"
        )
