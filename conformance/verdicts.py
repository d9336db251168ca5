"""The one table of verdicts, from which pytest outcome, exit status, JUnit, Allure and the report's word all derive."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, Literal

from msgspec import UNSET

from conformance.catalogue.model import Level


class Finding(AssertionError):
    """What a step found out about the implementation.

    The sentence says what is wrong. ``expected`` and ``got`` are values to show beside it; left out, nothing is shown.
    """

    def __init__(self, sentence: str, *, expected: Any = UNSET, got: Any = UNSET) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.expected = expected
        self.got = got


class RuleFailed(Finding):
    """The implementation answered the rule the other way."""


class Absent(Finding):
    """A declared capability is not there."""


class Inconclusive(Finding):
    """A deadline passed, or the trace does not decide; the sentence names what was awaited."""


class Verdict(StrEnum):
    """What is said of a proof and of a rule. The order is the precedence of a rule's verdict over its proofs."""

    FAIL = "fail"
    ABSENT = "absent"
    STALE = "stale deviation"
    HARNESS_ERROR = "harness error"
    INCONCLUSIVE = "inconclusive"
    UNSUPPORTED = "unsupported"
    NOT_RUN = "not run"
    DEVIATION = "deviation"
    DEPARTS = "departs"
    UNDECLARED = "undeclared"
    NOTED = "noted"
    PASS = "pass"
    NOT_APPLICABLE = "not applicable"


WRONG = frozenset({Verdict.FAIL, Verdict.ABSENT, Verdict.DEPARTS, Verdict.NOTED})
"""Verdicts on a wrong answer, whatever the rule's level makes of it."""

Outcome = Literal["passed", "failed", "skipped", "xfailed", "error", "deselected", "none"]
"""pytest's word; ``none`` where pytest never hears of the item."""

ALL: frozenset[Level] = frozenset({"must", "should", "may"})
MUST: frozenset[Level] = frozenset({"must"})
NO_LEVEL: frozenset[Level] = frozenset()


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    ``spoils`` holds the levels at which the verdict keeps the whole from being conformant. ``in_totals`` is false for
    what is in no total and a dash in the matrix. ``junit`` and ``allure`` are the words of those formats; ``none``
    where the item is not in them. ``mark`` is one character for tables.
    """

    verdict: Verdict
    when: str
    outcome: Outcome
    junit: Literal["passed", "failure", "error", "skipped", "none"]
    allure: Literal["passed", "failed", "broken", "skipped", "none"]
    spoils: frozenset[Level]
    mark: str
    in_totals: bool = True


TABLE: dict[Verdict, Row] = {
    row.verdict: row
    for row in (
        Row(Verdict.FAIL, "a must is answered wrongly", "failed", "failure", "failed", ALL, "F"),
        Row(Verdict.ABSENT, "a declared capability is not there", "failed", "failure", "failed", ALL, "A"),
        Row(
            Verdict.STALE,
            "the deviation ledger lists it, and it passes, or the entry has expired or names nothing that is there",
            "failed",
            "failure",
            "failed",
            ALL,
            "L",
        ),
        # Its own exit status says that it is no statement about the bridge.
        Row(Verdict.HARNESS_ERROR, "the driver or the suite broke", "error", "error", "broken", NO_LEVEL, "E"),
        Row(
            Verdict.INCONCLUSIVE,
            "a deadline passed, or the trace does not decide",
            "failed",
            "failure",
            "failed",
            ALL,
            "?",
        ),
        Row(
            Verdict.UNSUPPORTED,
            "a needed capability is not declared, so it was not run",
            "skipped",
            "skipped",
            "skipped",
            MUST,
            "s",
        ),
        Row(Verdict.NOT_RUN, "selected away, stopped early or interrupted", "none", "none", "none", MUST, "-"),
        Row(
            Verdict.DEVIATION,
            "it fails or is absent as the deviation ledger says",
            "xfailed",
            "skipped",
            "skipped",
            NO_LEVEL,
            "x",
        ),
        Row(Verdict.DEPARTS, "a should is answered wrongly", "passed", "passed", "passed", NO_LEVEL, "d"),
        Row(Verdict.UNDECLARED, "it works though not declared", "passed", "passed", "passed", NO_LEVEL, "u"),
        Row(Verdict.NOTED, "a may is answered the other way", "passed", "passed", "passed", NO_LEVEL, "n"),
        Row(Verdict.PASS, "answered as the rule says", "passed", "passed", "passed", NO_LEVEL, "."),
        Row(
            Verdict.NOT_APPLICABLE,
            "the relation excludes this role, or the rule this mount",
            "deselected",
            "none",
            "none",
            NO_LEVEL,
            " ",
            in_totals=False,
        ),
    )
}
"""Every verdict, in order of precedence."""

_RANK = {verdict: rank for rank, verdict in enumerate(TABLE)}
_WRONG: dict[Level, Verdict] = {"must": Verdict.FAIL, "should": Verdict.DEPARTS, "may": Verdict.NOTED}


def of_error(error: BaseException | None, level: Level) -> Verdict:
    """Return what an item of a rule of this level says that ended so; everything that is no finding is the suite's."""
    if error is None:
        return Verdict.PASS
    if isinstance(error, Absent):
        return Verdict.ABSENT
    if isinstance(error, Inconclusive):
        return Verdict.INCONCLUSIVE
    if isinstance(error, RuleFailed):
        return _WRONG[level]
    return Verdict.HARNESS_ERROR


def with_ledger(verdict: Verdict, *, listed: bool, expired: bool = False) -> Verdict:
    """Return what becomes of ``verdict`` when the ledger lists its proof.

    A deviation excuses what broke; a harness error, an inconclusive run and what never ran are not excused by it.
    """
    broke = {Verdict.FAIL, Verdict.ABSENT, Verdict.DEPARTS, Verdict.NOTED}
    if not listed or verdict not in broke | {Verdict.PASS, Verdict.UNDECLARED}:
        return verdict
    return Verdict.DEVIATION if verdict in broke and not expired else Verdict.STALE


def of_rule(verdicts: Iterable[Verdict]) -> Verdict:
    """Return a rule's verdict: the first in order of precedence among its proofs', or not applicable without any."""
    return min(verdicts, key=_RANK.__getitem__, default=Verdict.NOT_APPLICABLE)


class Exit(IntEnum):
    """What the process answers."""

    CONFORMANT = 0
    NOT_CONFORMANT = 1
    INTERRUPTED = 2
    HARNESS_ERROR = 3
    WRONG_USE = 4
    NOTHING_RAN = 5


def exit_status(
    judged: Iterable[tuple[Level, Verdict]], *, selected: bool = False, interrupted: bool = False, stale: bool = False
) -> Exit:
    """Return the exit status of a run over rules of these levels with these verdicts.

    ``selected``: the user chose among the rules, so what did not run counts for nothing. ``stale``: a ledger speaks of
    what is not there.
    """
    pairs = [(level, verdict) for level, verdict in judged if TABLE[verdict].in_totals]
    if interrupted:
        return Exit.INTERRUPTED
    if selected:
        pairs = [(level, verdict) for level, verdict in pairs if verdict is not Verdict.NOT_RUN]
    if all(verdict is Verdict.NOT_RUN for _, verdict in pairs):
        return Exit.NOTHING_RAN
    if stale or any(level in TABLE[verdict].spoils for level, verdict in pairs):
        return Exit.NOT_CONFORMANT
    if any(verdict is Verdict.HARNESS_ERROR for _, verdict in pairs):
        return Exit.HARNESS_ERROR
    return Exit.CONFORMANT


@dataclass(frozen=True, slots=True)
class Standing:
    """The word for the whole of one implementation. ``departures`` and ``deviations`` count rules."""

    word: Literal["conformant", "not conformant", "unproven", "no statement"]
    departures: int = 0
    deviations: int = 0

    def __str__(self) -> str:
        if self.word != "conformant":
            return self.word
        extras = [
            f"{count} {name}{'' if count == 1 else 's'}"
            for count, name in ((self.departures, "departure"), (self.deviations, "deviation"))
            if count
        ]
        return f"conformant with {' and '.join(extras)}" if extras else "conformant"


def standing(judged: Iterable[tuple[Level, Verdict]], *, complete: bool, stale: bool = False) -> Standing:
    """Return the word for an implementation whose rules of these levels got these verdicts.

    A part (``complete`` false) makes no statement on the whole, except that what is wrong is wrong. A must that was
    not decided leaves the whole unproven, and never conformant.
    """
    pairs = [(level, verdict) for level, verdict in judged if TABLE[verdict].in_totals]
    undecided = {Verdict.NOT_RUN, Verdict.HARNESS_ERROR}
    departures = sum(verdict is Verdict.DEPARTS for _, verdict in pairs)
    deviations = sum(verdict is Verdict.DEVIATION for _, verdict in pairs)
    wrong = (level in TABLE[verdict].spoils for level, verdict in pairs if verdict not in undecided)
    if stale or any(wrong):
        return Standing("not conformant", departures, deviations)
    if not complete:
        return Standing("no statement", departures, deviations)
    if any(verdict in undecided for level, verdict in pairs if level == "must"):
        return Standing("unproven", departures, deviations)
    return Standing("conformant", departures, deviations)
