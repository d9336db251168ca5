"""Defects of a bridge that takes one thing for another that looks like it, or a later one for an earlier one."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object, is_truthy, private_copy, same_json
from reference_bridge.host import Agent, Execution, Json, Session, SessionEvent, ToolResult, deny
from reference_bridge.host.agents import Agents
from reference_bridge.host.decisions import Decision
from reference_bridge.host.loop import _Activity
from reference_bridge.host.messages import Message
from reference_bridge.host.signals import AbortSignal
from reference_bridge.host.waterfall import Next

# --- ids and calls ----------------------------------------------------------------------------------------------------


@mutant()
class UpdatesOfAnIdSeenBeforeDropped(ExecutionEvents):
    """Takes a call whose id an earlier one of the session had for one that is over, and tells no updates of it."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        logged = call.agent.session.events if call.agent is not None else ()
        same = [each for each in logged if each.type == "tool/call" and each.data["callId"] == call.call_id]
        if same and same[0] is not call.logged:
            return
        super().update(call, partial, signal)


@mutant()
class PatchesOfAnIdReturn(ResultPatches):
    """Gives the result of a call the content that a handler gave an earlier turn's call of the same id."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        given: dict[Any, tuple[Any, Any]] = self.__dict__.setdefault("given", {})
        key, turn = (call.agent, call.call_id), call.logged and call.logged.data["turn"]
        if key in given and given[key][0] != turn and not outcome.is_error:
            content = given[key][1]
        elif not same_json(content, outcome.result["content"]):
            given[key] = (turn, private_copy(content))
        return await super().decide(call, outcome, decision, content, fails)


@mutant()
class LateUpdatesGoToTheNextCall(ToolRuns):
    """Tells an update that comes after its call's answer as one of the call of the tool that is at work then."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        at_work: dict[PiTool | None, Call] = self.__dict__.setdefault("at_work", {})
        events, at_work[tool] = self._events, call

        def update(of: Call, partial: Any, signal: AbortSignal | None = None) -> None:
            type(events).update(events, at_work.get(of.tool, of) if of.settled else of, partial, signal)

        events.__dict__["update"] = update
        try:
            return await super().execute(call, tool, execution)
        finally:
            if at_work.get(tool) is call:
                del at_work[tool]


@mutant()
class VotesStickToTools(ToolRuns):
    """Keeps with the tool that its last answer asked to stop: a later call of it that throws asks as well."""

    async def run(self, call: Call, tool: PiTool, execution: Execution) -> Json:
        kept: dict[PiTool, bool] = self.__dict__.setdefault("kept", {})
        try:
            value = await super().run(call, tool, execution)
        except BaseException:
            call.asked_to_stop = call.invalid is None and kept.get(tool, False)
            raise
        kept[tool] = call.asked_to_stop
        return value


class _WhoseVotes(BatchVotes):
    def finalized(self, call: Call) -> None:
        super().finalized(call)
        owners = self.__dict__.setdefault("owners", {})
        if call.agent is not None and call.logged is not None:
            place = self._batches[call.agent][0]
            owners.setdefault((call.agent, place), []).append(call.tool and call.tool.instance)

    def retired(self, instance: Instance) -> None:
        for agent, (place, votes) in list(self._batches.items()):
            owners = self.__dict__["owners"][agent, place]
            left = [vote and owner is not instance for vote, owner in zip(votes, owners, strict=True)]
            self._batches[agent] = (place, left)


@mutant()
class VotesGoWithTheirPackage(Bridge):
    """Takes back the votes of the calls whose tool's package is removed before their batch is over."""

    class votes_type(_WhoseVotes):
        pass

    def retire(self, instance: Instance) -> None:
        if isinstance(self.votes, _WhoseVotes):
            self.votes.retired(instance)
        super().retire(instance)


# --- values -----------------------------------------------------------------------------------------------------------


@mutant()
class ErrorLikeTextsEndAsErrors(ExecutionEvents):
    """Tells the end of a success whose text begins like a failure's as that of a failure."""

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        content = outcome.result.get("content")
        first = as_object(content[0]).get("text") if isinstance(content, list) and content else None
        looks_failed = isinstance(first, str) and first.startswith("Error: ")
        return {**super().end_event(call, outcome), "isError": outcome.is_error or looks_failed}


@mutant()
class EmptyPartialsDropped(ExecutionEvents):
    """Takes an update of false, zero or an empty text for none."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        if partial is None or partial is UNDEFINED or is_truthy(partial):
            super().update(call, partial, signal)


@mutant()
class EndsMissChangesInPlace(Bridge):
    """Tells the end of a result that handlers changed in place, and nobody answered, as it was before."""

    class patches_type(ResultPatches):
        async def ask(self, subscriptions: Any, call: Call, event: Event, execution: Execution) -> bool:
            answered = await super().ask(subscriptions, call, event, execution)
            self.__dict__["answered"] = answered
            return answered

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        call = self.calls.of(execution)
        decision: Decision = await self.guarded(call, following)
        outcome = before = await self.outcome(call, execution, result, decision)
        if isinstance(decision, dict):
            self.patches.__dict__["answered"] = True
            outcome, decision = await self.patches.apply(call, execution, before, decision)
        await self.events.end(call, outcome if self.patches.__dict__.get("answered", True) else before)
        return decision


@mutant()
class EmptiedErrorsKeepTheirText(ResultPatches):
    """Takes the empty content that a handler gives a failure for no content."""

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        if call.failed and answer.get("content") == []:
            answer = {key: value for key, value in answer.items() if key != "content"}
        return super().patch(subscription, call, event, answer)


@mutant()
class PreparedAgainForTheResult(ResultPatches):
    """Shows handlers of a result the arguments as the tool's prepareArguments makes them of those that ran."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        event = super().event(call, outcome)
        prepare = call.tool.definition.get("prepareArguments") if call.tool is not None else None
        return {**event, "input": prepare(private_copy(call.input))} if callable(prepare) else event


class _ChangesTexts(ResultPatches):
    def text(self, text: str) -> str:
        raise NotImplementedError

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        if isinstance(content, list) and not same_json(content, outcome.result["content"]):
            content = [
                {**block, "text": self.text(block["text"])} if isinstance(as_object(block).get("text"), str) else block
                for block in content
            ]
        return await super().decide(call, outcome, decision, content, fails)


@mutant()
class PatchedTextsEndAtNul(_ChangesTexts):
    """Cuts the text that a handler gives at its first NUL."""

    def text(self, text: str) -> str:
        return text.partition("\0")[0]


@mutant()
class PatchedLineEndsChanged(_ChangesTexts):
    """Makes plain line ends of all line ends in the text that a handler gives."""

    def text(self, text: str) -> str:
        return text.replace("\r\n", "\n")


@mutant()
class DollarsOfReasonsHalved(ToolCallGate):
    """Puts the reason of a block into a pattern, where two dollar signs stand for one."""

    def reason_text(self, reason: Any) -> str:
        return super().reason_text(reason).replace("$$", "$")


@mutant()
class ReasonsThatReadAsNoAreNone(ToolCallGate):
    """Takes the texts 0, false and null for no reason."""

    def reason_text(self, reason: Any) -> str:
        return super().reason_text("" if reason in ("0", "false", "null") else reason)


@mutant()
class FailuresOfTwoPackagesToldAsOne(Notices):
    """Reports once what the handlers of two packages threw in the same words."""

    def handler_failed(self, package: str, event: str, text: str) -> None:
        if self.__dict__.setdefault("first", {}).setdefault((event, text), package) == package:
            super().handler_failed(package, event, text)


@mutant()
class EmptyDenialsFilled(Bridge):
    """Gives a denial of the host whose reason is empty a reason of its own."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        empty = decision.get("kind") == "deny" and decision.get("reason") == ""
        return deny("the host does not allow it") if empty else decision


@mutant()
class UserBashOfIndentedPrompts(Bridge):
    """Fires user_bash for a message of the user that begins with blanks and an exclamation mark."""

    def logged(self, session: Session, event: SessionEvent) -> None:
        super().logged(session, event)
        agent = self.host.agents.get(session.id)
        for block in event.data["content"] if agent is not None and event.type == "user/message" else ():
            text = block.get("text", "")
            if text.lstrip().startswith("!") and not text.startswith("!"):
                told: Event = {"type": "user_bash", "command": text.lstrip()[1:], "excludeFromContext": False}
                self.events._beside(agent, self.dispatch.tell(agent, told))


# --- turns ------------------------------------------------------------------------------------------------------------


@mutant()
class CutTurnsEndCompleted(Agents):
    """Forgets that a reply was cut off by its length when the turn goes on after it."""

    class agent_type(Agent):
        async def _run_steps(
            self, activity: _Activity, claimed: list[Message], signal: AbortSignal
        ) -> tuple[dict[str, Json], bool]:
            reason, goes_on = await super()._run_steps(activity, claimed, signal)
            return ({"kind": "completed"} if activity.step > 1 and reason["kind"] == "max-tokens" else reason), goes_on


@mutant()
class SecondCancelClears(Agents):
    """Empties the inbox at a second cancel of the same turn, although it is to be kept."""

    class agent_type(Agent):
        def cancel(self, cause: Json = None, *, keep_inbox: bool = False) -> None:
            again = self._activity is not None and self._activity.abort.signal.aborted
            super().cancel(cause, keep_inbox=keep_inbox and not again)
