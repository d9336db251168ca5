"""Defects of whether the end of a call is told, when and to whom."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.mutants.of_starts import ThrowingObserver
from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.values import as_object
from reference_bridge.host import Execution
from reference_bridge.host.decisions import Decision
from reference_bridge.host.waterfall import Next


class EndShows(ExecutionEvents):
    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        raise NotImplementedError

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        event = super().end_event(call, outcome)
        return {**event, **self.shown(call, event)}


@mutant()
class EndWithoutAResult(EndShows):
    """Gives an end an empty result."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"result": {}}


@mutant()
class EndHasContentAndDetailsAlone(EndShows):
    """Gives an end of a result its content and its details."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"result": {name: item for name, item in event["result"].items() if name in ("content", "details")}}


@mutant()
class EndWithoutTheWishToStop(EndShows):
    """Leaves out of the result in an end that the tool asked to stop."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"result": {name: item for name, item in event["result"].items() if name != "terminate"}}


class _EndsSome(ExecutionEvents):
    def ends(self, call: Call, outcome: Outcome) -> bool:
        raise NotImplementedError

    async def end(self, call: Call, outcome: Outcome) -> None:
        if self.ends(call, outcome):
            await super().end(call, outcome)


@mutant()
class NoEndForBlockedCalls(_EndsSome):
    """Tells no end of a call that a package blocked."""

    def ends(self, call: Call, outcome: Outcome) -> bool:
        return call.executed or call.invalid is not None or not call.known


@mutant()
class NoEndForUnknownCalls(_EndsSome):
    """Tells no end of a call that no tool has."""

    def ends(self, call: Call, outcome: Outcome) -> bool:
        return call.known


@mutant()
class NoEndForInvalidCalls(_EndsSome):
    """Tells no end of a call whose arguments did not pass."""

    def ends(self, call: Call, outcome: Outcome) -> bool:
        return call.invalid is None


@mutant()
class NoEndForRefusedCalls(_EndsSome):
    """Tells no end of a native call that was refused."""

    def ends(self, call: Call, outcome: Outcome) -> bool:
        return not (call.known and call.tool is None and not call.executed)


@mutant()
class NoEndForDeniedCalls(_EndsSome):
    """Tells no end of a migrated tool's call that did not run though its arguments passed."""

    def ends(self, call: Call, outcome: Outcome) -> bool:
        return call.executed or call.invalid is not None or not (call.known and call.tool is not None)


@mutant()
class NoEndWhereTheHostThrows(Bridge):
    """Tells no end of a call that a listener or guard of the host ends by throwing."""

    async def guarded(self, call: Call, following: Next) -> Any:
        try:
            return await following()
        except Exception:
            call.ended = True
            raise

    class events_type(ExecutionEvents):
        def end_beside(self, call: Call, outcome: Outcome) -> None:
            return


@mutant()
class EveryEventOfAnEndTwice(ExecutionEvents):
    """Tells every end twice."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        if call.logged is not None and not call.ended:
            await self._dispatch.tell(call.agent, self.end_event(call, outcome))
        await super().end(call, outcome)


@mutant()
class StartWithoutAnEndAfterACancel(Bridge):
    """Tells the start, and no end, of calls that a cancel kept from starting."""

    class events_type(ExecutionEvents):
        def end_beside(self, call: Call, outcome: Outcome) -> None:
            return


@mutant()
class EndBeforeResult(Bridge):
    """Tells the end of a call before the tool_result handlers are asked."""

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        call = self.calls.of(execution)
        decision: Decision = await self.guarded(call, following)
        outcome = await self.outcome(call, execution, result, decision)
        await self.events.end(call, outcome)
        _, decision = await self.patches.apply(call, execution, outcome, decision)
        return decision


@mutant()
class EndCarriesTheUnpatchedResult(Bridge):
    """Tells an end with the result as it was before the handlers patched it."""

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        call = self.calls.of(execution)
        decision: Decision = await self.guarded(call, following)
        outcome = await self.outcome(call, execution, result, decision)
        _, decision = await self.patches.apply(call, execution, outcome, decision)
        await self.events.end(call, outcome)
        return decision


@mutant()
class EndErrorFlagIsStale(EndShows):
    """Tells an end whose error flag is that of the body."""

    def shown(self, call: Call, event: Event) -> dict[str, Any]:
        return {"isError": False} if call.executed else {}


@mutant()
class EndBesideTheLog(ExecutionEvents):
    """Does not wait for end handlers before the result is logged."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        self._beside(call.agent, super().end(call, outcome))
        await asyncio.sleep(0)


@mutant()
class EndOfDeniedCallsBesideTheLog(ExecutionEvents):
    """Does not wait for the end handlers of calls that did not run."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        if call.executed:
            await super().end(call, outcome)
        else:
            self._beside(call.agent, super().end(call, outcome))
            await asyncio.sleep(0)


@mutant()
class EndHandlersNotAwaited(Bridge):
    """Waits for end handlers neither before the log nor before the next request."""

    events_type = EndBesideTheLog

    async def before_step(self, pre_step: Any, following: Next) -> Decision:
        return await self.votes.enter(pre_step, following)


@mutant()
class EndToldFirst(Bridge):
    """Tells the end of a call right after its start."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        await self.events.end(self.calls.of(execution), Outcome({"content": []}, False))
        return await super().before_call(execution, following)


@mutant()
class BlockedCallsAreToldAsResults(Bridge):
    """Asks tool_result handlers about blocked calls, too."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        decision = await super().before_call(execution, following)
        if as_object(decision).get("kind") == "deny":
            self.calls.of(execution).executed = True
        return decision


@mutant()
class OneEndForABatch(ExecutionEvents):
    """Tells one end for each call id, however many calls have it."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        ended: set[str] = getattr(self, "_ended", set())
        if call.call_id not in ended:
            self._ended = {*ended, call.call_id}
            await super().end(call, outcome)


@mutant()
class ThrowingEndHandlerEndsTheOthers(ThrowingObserver):
    """Tells later handlers nothing after an end handler threw."""

    event = "tool_execution_end"
    stops_all = True


@mutant()
class ThrowingEndHandlerFailsTheCall(ThrowingObserver):
    """Fails a call whose end handler threw."""

    event = "tool_execution_end"
    fails = True


@mutant()
class ThrowingEndHandlerUnreported(ThrowingObserver):
    """Says nothing of what an end handler throws."""

    event = "tool_execution_end"
    reports = False


@mutant()
class EndAnswerReplacesTheResult(Bridge):
    """Takes what an end handler returns for the result."""

    async def after_body(self, execution: Execution, result: Any, following: Next) -> Decision:
        decision = await super().after_body(execution, result, following)
        call = self.calls.of(execution)
        for each in self.dispatch.subscriptions(call.agent, "tool_execution_end"):
            if each.instance.package.name == "forger":
                answer = as_object(await each.call({"type": "tool_execution_end"}, call.agent, None))
                return {"kind": "accept", "content": answer.get("content", [])}
        return decision
