"""`tool_result`: packages patch the result of an executed call before the model reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Contents
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.values import UNDEFINED, as_object, is_truthy, private_copy, same_json
from reference_bridge.host.decisions import Decision
from reference_bridge.host.results import Execution

PATCHED = ("content", "details", "isError")
"""What a handler's answer can replace."""


class ResultPatches:
    """Asks the handlers about one result, each about what the earlier ones left."""

    def __init__(self, dispatch: Dispatch, contents: Contents, notices: Notices) -> None:
        self._dispatch = dispatch
        self._contents = contents
        self._notices = notices

    def is_asked(self, call: Call) -> bool:
        """Whether the call has a result of its own: only executed calls have."""
        return call.executed and call.invalid is None

    async def apply(
        self, call: Call, execution: Execution, outcome: Outcome, decision: Decision
    ) -> tuple[Outcome, Decision]:
        """What packages make of `outcome` and of the `decision` of the host's own listeners that led to it."""
        subscriptions = self._dispatch.subscriptions(call.agent, "tool_result")
        if not subscriptions or not self.is_asked(call):
            return outcome, decision
        call.failed = outcome.is_error
        event = self.event(call, outcome)
        # Changes inside these objects count without any answer; a replaced member counts once anybody answers.
        content, details = event["content"], event["details"]
        answered = await self.ask(subscriptions, call, event, execution)
        if answered and event["content"] is not None and event["content"] is not UNDEFINED:
            content = event["content"]
        if not same_json(details, outcome.result.get("details", UNDEFINED)):
            self.details_ignored(call, "a package")
        fails = answered and self.fails(event["isError"])
        return await self.decide(call, outcome, decision, content, fails)

    def event(self, call: Call, outcome: Outcome) -> Event:
        """What a handler gets. It may change it at will: the result itself is the host's."""
        return {
            "type": "tool_result",
            "toolName": call.name,
            "toolCallId": call.call_id,
            "input": call.input,
            "content": private_copy(outcome.result["content"]),
            "details": private_copy(outcome.result.get("details", UNDEFINED)),
            "isError": outcome.is_error,
        }

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        """Let every handler patch `event`; answers whether any gave a patch. One that throws changes nothing."""
        answered = False
        for subscription in subscriptions:
            try:
                answer = await subscription.call(event, call.agent, execution.signal)
            except Exception as error:
                self._dispatch.failed(subscription, event, error)
            else:
                answered = self.patch(subscription, call, event, as_object(answer)) or answered
        return answered

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        """Put one handler's answer into `event`; answers whether it was a patch. Null patches nothing."""
        given = {key: answer[key] for key in PATCHED if answer.get(key) is not None and answer[key] is not UNDEFINED}
        package = subscription.instance.package.name
        if "details" in given and not same_json(given["details"], event["details"]):
            self.details_ignored(call, f"package {package!r}")
        if "isError" in given and call.failed and not is_truthy(given["isError"]):
            # A failure of the host cannot be made a success; the next handler must not believe that it was.
            del given["isError"]
            self.recovery_ignored(call, package)
        event.update(given)
        return any(key in answer and answer[key] is not UNDEFINED for key in PATCHED)

    def fails(self, is_error: Any) -> bool:
        """Whether the result ends as an error, as the handlers left it."""
        return is_truthy(is_error)

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        """The decision for the host that has this content and error, and the outcome it leads to."""
        turns_error = fails and not outcome.is_error
        if same_json(content, outcome.result["content"]) and not turns_error:
            return outcome, decision
        patched = await self._contents.to_host(content, call.pictures)
        shown = await self._contents.to_pi(patched, call.pictures)
        result = {**outcome.result, "content": shown}
        if turns_error:
            self.details_lost(call, outcome)
            kept = {key: decision[key] for key in ("additionalContexts",) if key in decision}
            return Outcome(result, True), {"kind": "block", "feedback": patched, **kept}
        if decision.get("kind") == "block":
            return Outcome(result, True), {**decision, "feedback": patched}
        kept = {key: member for key, member in decision.items() if key != "value"}
        return Outcome(result, outcome.is_error), {**kept, "content": patched}

    def details_ignored(self, call: Call, who: str) -> None:
        """Report that the details in the log are the tool's own."""
        self._notices.warn_once(
            ("details", who, call.name),
            f"{who} changed the details of a result of {call.name!r} in tool_result: "
            "the host keeps those the tool gave",
        )

    def details_lost(self, call: Call, outcome: Outcome) -> None:
        """Report that an error has no details, where the result that became it had any."""
        if as_object(outcome.result.get("details")):
            self._notices.warn_once(
                ("details of an error", call.name),
                f"the details of a result of {call.name!r} are not kept: it became an error, and the host's have none",
            )

    def recovery_ignored(self, call: Call, package: str) -> None:
        """Report that an error stays one."""
        self._notices.warn_once(
            ("recovery", package, call.name),
            f"package {package!r} tried to make a failed result of {call.name!r} a success in tool_result: "
            "the host cannot recover a failure, it stays an error",
        )
