"""Defects of what tool_result handlers may patch: failures, pictures and content of odd shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Contents, Pictures
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.values import is_truthy, private_copy
from reference_bridge.host import Execution
from reference_bridge.host.decisions import Decision


@mutant()
class ErrorTextKept(ResultPatches):
    """Keeps the text of a failure, whatever a patch says."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        if outcome.is_error:
            return outcome, decision
        return await super().decide(call, outcome, decision, content, fails)


@mutant()
class PatchedEndsLoseFurtherFields(ResultPatches):
    """Tells of a patched result its content and its details alone."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        patched, decision = await super().decide(call, outcome, decision, content, fails)
        if patched is not outcome:
            kept = {name: item for name, item in patched.result.items() if name in ("content", "details")}
            patched = Outcome(kept, patched.is_error)
        return patched, decision


@mutant()
class RecoveryDropsThePatch(ResultPatches):
    """Drops a patch whole that tries to make a failure a success."""

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        if event["isError"] is True and "isError" in answer and not is_truthy(answer["isError"]):
            self.recovery_ignored(call, subscription.instance.package.name)
            return False
        return super().patch(subscription, call, event, answer)


@mutant()
class OddContentEndsTheTurn(ResultPatches):
    """Cancels the turn where a patch's content is no list of blocks."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        if call.agent is not None and not isinstance(content, list):
            call.agent.cancel()
        return await super().decide(call, outcome, decision, content, fails)


@mutant()
class ErrorClearsTerminate(ResultPatches):
    """Forgets that a result asked to stop when a patch makes it an error."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        if fails:
            call.asked_to_stop = False
        return await super().decide(call, outcome, decision, content, fails)


@mutant()
class PicturesShownAsReferences(Contents):
    """Shows handlers pictures as the host's references."""

    async def _to_pi(self, block: Any, pictures: Pictures) -> Any:
        return block


@mutant()
class NewPicturesLeftOut(ResultPatches):
    """Leaves out pictures of a patch that the tool's own result did not have."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        if isinstance(content, list):
            content = [block for block in content if not self._is_new(call, block)]
        return await super().decide(call, outcome, decision, content, fails)

    def _is_new(self, call: Call, block: Any) -> bool:
        return isinstance(block, dict) and block.get("type") == "image" and call.pictures.stored(block) is None


@mutant()
class HandlersErrorIsFinal(ResultPatches):
    """Keeps an error that a handler made of a success, whatever later handlers say."""

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        call.failed = call.failed or event["isError"] is True
        return super().patch(subscription, call, event, answer)


@mutant()
class NativeResultsUnchangedInPlace(ResultPatches):
    """Forgets what a handler changed in place in a native tool's result when it answers nothing."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        own = private_copy(event["content"])
        answered = await super().ask(subscriptions, call, event, execution)
        if call.tool is None and not answered:
            event["content"][:] = own
        return answered


class _Frozen(dict[str, Any]):
    """An object that takes no change."""

    def __setitem__(self, name: str, value: Any) -> None:
        raise TypeError(f"Cannot assign to read only property {name!r}")

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"Cannot delete property {name!r}")


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return _Frozen({name: _frozen(member) for name, member in value.items()})
    return [_frozen(member) for member in value] if isinstance(value, list) else value


@mutant()
class DetailsCannotBeTouched(ResultPatches):
    """Shows handlers details that take no change, so that one that tries has failed."""

    def event(self, call: Call, outcome: Outcome) -> Event:
        event = super().event(call, outcome)
        return {**event, "details": _frozen(event["details"])}


@mutant()
class NativeFailuresAreShownToOnePackage(ResultPatches):
    """Shows the failure of a native tool to the handlers of the first package that listens."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        if call.tool is None and event["isError"] is True:
            subscriptions = [each for each in subscriptions if each.instance is subscriptions[0].instance]
        return await super().ask(subscriptions, call, event, execution)


@mutant()
class NoErrorIsTheLastWord(ResultPatches):
    """Lets no handler make an error of a result of which an earlier one said that it is none."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        self._settled = False
        return await super().ask(subscriptions, call, event, execution)

    def patch(self, subscription: Subscription, call: Call, event: Event, answer: dict[str, Any]) -> bool:
        if self._settled:
            answer = {name: item for name, item in answer.items() if name != "isError"}
        self._settled = self._settled or answer.get("isError") is False
        return super().patch(subscription, call, event, answer)
