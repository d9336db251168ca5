"""Defects of the host in what comes first: guards, what waits for an agent, and the numbers of steps."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.host import Message, Session
from reference_bridge.host.inbox import Inbox, Target
from reference_bridge.host.json_values import UNDEFINED
from reference_bridge.host.results import Execution
from reference_bridge.host.scheduler import BatchLog
from reference_bridge.host.tools import Tools

# --- guards -----------------------------------------------------------------------------------------------------------


class _AsksGuards(Tools):
    def answers(self, execution: Execution) -> list[Any]:
        """What each guard that covers the call says of it."""
        layers = [self._layers[None], *self._chain(execution.scope)]
        return [guard(execution) for layer in layers for guard in list(layer.guards.values())]


@mutant()
class FirstGuardDecides(_AsksGuards):
    """Asks the first guard of a call and no further one."""

    def guard_reason(self, execution: Execution) -> Any:
        answers = self.answers(execution)
        return UNDEFINED if not answers or answers[0] is None else answers[0]


@mutant()
class LastGuardDecides(_AsksGuards):
    """Denies with the reason of the last guard that denies."""

    def guard_reason(self, execution: Execution) -> Any:
        denials = [answer for answer in self.answers(execution) if answer is not None and answer is not UNDEFINED]
        return denials[-1] if denials else UNDEFINED


@mutant()
class GuardsCoverEveryAgent(Tools):
    """Asks the guards of every scope about every call."""

    def guard_reason(self, execution: Execution) -> Any:
        guards = [guard for layer in self._layers.values() for guard in list(layer.guards.values())]
        answers = (guard(execution) for guard in guards)
        return next((answer for answer in answers if answer is not None and answer is not UNDEFINED), UNDEFINED)


# --- what waits -------------------------------------------------------------------------------------------------------


class _Claims(Inbox):
    def places(self, target: Target, waiting: int) -> tuple[int, int]:
        """Where what is taken for a step or a turn begins, and how much it is."""
        return (0, waiting) if target == "next-step" else (0, 1)

    def claim(self, target: Target) -> list[Message]:
        claimed = self._splice("next-step", *self.places("next-step", len(self.next_step)), [])
        if target == "next-turn" and self.next_turn:
            claimed += self._splice("next-turn", *self.places("next-turn", len(self.next_turn)), [])
        return claimed


@mutant()
class LastPromptFirst(_Claims):
    """Opens the next turn with the prompt that was queued last."""

    def places(self, target: Target, waiting: int) -> tuple[int, int]:
        return (waiting - 1, 1) if target == "next-turn" else super().places(target, waiting)


@mutant()
class AllPromptsInOneTurn(_Claims):
    """Opens the next turn with all prompts that are queued."""

    def places(self, target: Target, waiting: int) -> tuple[int, int]:
        return 0, waiting


@mutant()
class SteeringOneAStep(_Claims):
    """Takes one of several steered messages for each step."""

    def places(self, target: Target, waiting: int) -> tuple[int, int]:
        return 0, 1


@mutant()
class SteeringReversed(Inbox):
    """Takes steered messages last first."""

    def claim(self, target: Target) -> list[Message]:
        return super().claim(target)[::-1]


@mutant()
class StepsCountedFromZero(BatchLog):
    """Logs calls and results with the number of the step before theirs."""

    def __init__(self, session: Session, turn: int, step: int) -> None:
        super().__init__(session, turn, step - 1)
