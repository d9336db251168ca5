"""How the end of a test becomes a verdict, by the type of what was raised and by the ledger."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from conformance._pytest.bridges import Bridge
from conformance._pytest.plan import Plan, Task
from conformance.drivers.driver import HarnessError, Unsupported
from conformance.drivers.envelope import printable
from conformance.ledger import Ledger
from conformance.reporting.model import Broken
from conformance.verdicts import Finding, RuleFailed, Verdict, of_error, of_rule, with_ledger

DIFFERS = "differs-from:"
"""How the name of a difference between two implementations begins, where the names of broken invariants stand."""


class NotRun(Exception):
    """The test was decided before it ran; ``verdict`` says how."""

    def __init__(self, verdict: Verdict, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict


class InvariantBroken(Finding):
    """The test's own steps found nothing wrong, and the trace breaks an invariant."""


class Judged(msgspec.Struct, frozen=True):
    """What one phase of one test said, as it travels from a worker to the controller.

    ``verdict`` is about the test's own rule, ``outcome`` about the test: it also counts invariants that broke.
    """

    label: str
    item: str
    rule: str
    verdict: Verdict
    outcome: Verdict
    message: str = ""
    step: str = ""
    duration: float = 0.0
    expected: Any | UnsetType = UNSET
    got: Any | UnsetType = UNSET
    broken: list[Broken] = []
    witnessed: bool = False
    """Whether the trace was judged by the invariants."""
    probed: dict[str, bool] = {}
    """Which of the capabilities that the test needs are there, as far as their probes decided it."""


def judge(task: Task, plan: Plan, error: BaseException | None, broken: list[Broken], **rest: Any) -> Judged:
    """Decide one phase of a test that ended with ``error`` and whose trace broke ``broken``."""
    own = _own(task, None if isinstance(error, InvariantBroken) else error)
    own = with_ledger(own, listed=task.deviation is not None, expired=task.expired)
    ledger = plan.ledgers.get(task.bridge.label)
    finding = error if isinstance(error, Finding) else None
    message = printable(describe(error)) if error is not None else ""
    if own is Verdict.STALE:
        message = _stale(task, message)
    return Judged(
        label=task.bridge.label,
        item=task.item,
        rule=task.rule.id,
        verdict=own,
        # A deviation only when everything that broke is in the ledger.
        outcome=of_rule([own, *(of_breach(each, task.bridge, plan, ledger) for each in broken)]),
        message=message,
        expected=plain(finding.expected) if finding else UNSET,
        got=plain(finding.got) if finding else UNSET,
        broken=broken,
        probed=dict(task.probed),
        **rest,
    )


def of_breach(broken: Broken, bridge: Bridge, plan: Plan, ledger: Ledger | None) -> Verdict:
    """What a broken invariant says of the bridge; not applicable where none of its rules is asked of it."""
    return of_rule(of_breached_rule(broken.invariant, rule, bridge, plan, ledger) for rule in broken.rules)


def of_breached_rule(invariant: str, rule_id: str, bridge: Bridge, plan: Plan, ledger: Ledger | None) -> Verdict:
    """What a broken invariant says of one of its rules."""
    rule = plan.catalogue.by_id.get(rule_id)
    if rule is None or not rule.applies_to(bridge.hello.role, bridge.mount, bridge.hello.capabilities):
        return Verdict.NOT_APPLICABLE
    entry = ledger.find(rule_id, f"invariant:{invariant}", bridge.mount) if ledger else None
    verdict = of_error(RuleFailed(invariant), rule.level)
    return with_ledger(verdict, listed=entry is not None, expired=entry is not None and entry.expired(plan.day))


def _own(task: Task, error: BaseException | None) -> Verdict:
    if isinstance(error, NotRun):
        return error.verdict
    if isinstance(error, pytest.skip.Exception):
        return Verdict.NOT_RUN  # A skip is never a pass, whoever asked for it.
    if isinstance(error, Unsupported):
        # Declared and not there is absent; what was never promised is unsupported.
        declared = error.capability in task.bridge.hello.capabilities
        return Verdict.ABSENT if declared else Verdict.UNSUPPORTED
    verdict = of_error(error, task.rule.level)
    if verdict is Verdict.PASS and task.undeclared:
        return Verdict.UNDECLARED
    return verdict


def _stale(task: Task, message: str) -> str:
    entry = task.deviation
    assert entry is not None
    if task.expired:
        then = f"and the test still ends so: {message}" if message else "and the test passes"
        return f"the ledger entry {entry.where} expired on {entry.expires}, {then}; renew it with a reason, or drop it"
    if entry.example is None:
        hint = "drop it, or, where other tests of the rule still fail, name each of those as its example"
    else:
        hint = "drop it"
    return f"the ledger entry {entry.where} lists this test, and it passes; {hint}"


def describe(error: BaseException) -> str:
    """One paragraph on what was raised; lone surrogates, which no file in UTF-8 can hold, are replaced."""
    ours = isinstance(error, Finding | NotRun | HarnessError | Unsupported)
    text = str(error) if ours else f"{type(error).__name__}: {error}"
    return text.encode(errors="replace").decode()


def plain(value: Any) -> Any:
    """The value as JSON values; what is none becomes its text."""
    if isinstance(value, UnsetType):
        return UNSET
    try:
        return msgspec.json.decode(msgspec.json.encode(value, enc_hook=repr))
    except (TypeError, ValueError, RecursionError):
        return repr(value)
