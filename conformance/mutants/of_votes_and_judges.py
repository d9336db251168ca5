"""Defects of who is counted in a batch of which several judges, or a judge that fails, have their say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event, Subscription
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.packages import Package
from reference_bridge.host import Agent
from reference_bridge.host.signals import AbortSignal


@mutant()
class CallsOfAThrowingJudgeAreNotCounted(Bridge):
    """Leaves the calls out of a batch's count whose judge threw."""

    class gate_type(ToolCallGate):
        async def ask(self, call: Call, event: Event, signal: AbortSignal | None = None) -> Verdict | None:
            verdict = await super().ask(call, event, signal)
            if verdict is not None and verdict.reason.endswith(_THROWN):
                self.__dict__.setdefault("broken", set()).add(call)
                return replace(verdict, reason=verdict.reason.removesuffix(_THROWN))
            return verdict

        def thrown(self, error: Exception) -> Verdict:
            verdict = super().thrown(error)
            return replace(verdict, reason=verdict.reason + _THROWN)

    class votes_type(BatchVotes):
        gate: ToolCallGate

        def finalized(self, call: Call) -> None:
            if call not in self.gate.__dict__.get("broken", ()):
                super().finalized(call)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.votes.gate = self.gate  # type: ignore[attr-defined]


_THROWN = "\0"
"""Marks a reason that was thrown, on its way out of the handler's answer."""


@mutant()
class CallsNotJudgedAreNotCounted(BatchVotes):
    """Leaves the calls out of a batch's count that a listener of the host broke off before any judge was asked."""

    def finalized(self, call: Call) -> None:
        if call.bound:
            super().finalized(call)


class _Judged(ToolCallGate):
    """Remembers which packages were asked about each call, and whether they blocked it asking to stop."""

    async def ask_one(
        self, subscription: Subscription, call: Call, event: Event, signal: AbortSignal | None
    ) -> Verdict | None:
        verdict = await super().ask_one(subscription, call, event, signal)
        asked: dict[Call, dict[Package, bool]] = self.__dict__.setdefault("asked", {})
        asked.setdefault(call, {})[subscription.instance.package] = verdict is not None and verdict.terminate
        return verdict


class _CountsByJudges(Bridge):
    """Knows, of each batch at hand, what each package wanted with the calls that it was asked about."""

    gate_type = _Judged

    class votes_type(BatchVotes):
        gate: _Judged

        def finalized(self, call: Call) -> None:
            super().finalized(call)
            batches = self.__dict__.setdefault("calls", {})
            place, votes = self._batches.get(call.agent, (None, []))  # type: ignore[arg-type]
            if call.agent is not None and votes:
                kept = batches.get(call.agent, (place, []))
                batches[call.agent] = (place, [*(kept[1] if kept[0] == place else []), call])

        def wishes(self, agent: Agent) -> list[list[bool]]:
            """For each package what it wanted, call by call, of those that it was asked about."""
            asked = self.gate.__dict__.get("asked", {})
            calls = self.__dict__.get("calls", {}).get(agent, (None, []))[1]
            packages = dict.fromkeys(package for call in calls for package in asked.get(call, {}))
            return [[asked[call][each] for call in calls if each in asked.get(call, {})] for each in packages]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.votes.gate = self.gate  # type: ignore[attr-defined]


@mutant()
class EachPackageCountsForItself(_CountsByJudges):
    """Stops the loop when one package asked to at every call that it was asked about."""

    class votes_type(_CountsByJudges.votes_type):
        def stops(self, agent: Agent, turn: int, step: int) -> bool:
            ended = self._batches.get(agent, (None, []))[0] == (turn, step)
            return super().stops(agent, turn, step) or (ended and any(all(wishes) for wishes in self.wishes(agent)))


@mutant()
class OnlyOnePackagesWishesCount(_CountsByJudges):
    """Stops the loop when every call was blocked asking to stop, by one and the same package."""

    class votes_type(_CountsByJudges.votes_type):
        def stops(self, agent: Agent, turn: int, step: int) -> bool:
            judged = self.wishes(agent)
            if not super().stops(agent, turn, step) or not any(any(wishes) for wishes in judged):
                return super().stops(agent, turn, step)
            count = len(self._batches[agent][1])
            return any(len(wishes) == count and all(wishes) for wishes in judged)
