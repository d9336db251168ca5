"""Says what became of verdicts from one report to the next, and what ran before and no longer does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from conformance.reporting._spoken import clean, fitted
from conformance.reporting.files import shown, write_atomically
from conformance.reporting.markdown import code, escaped, table
from conformance.reporting.merge import version_of
from conformance.reporting.model import BridgeReport, ProofReport, RuleReport
from conformance.reporting.read import Read, ReportError, read_reports
from conformance.verdicts import Exit, Verdict

SILENT = (Verdict.NOT_RUN, Verdict.UNSUPPORTED, Verdict.NOT_APPLICABLE)
"""Verdicts of what did not run."""
TIERS: tuple[frozenset[Verdict], ...] = (
    frozenset({Verdict.FAIL, Verdict.ABSENT, Verdict.STALE}),
    frozenset({Verdict.HARNESS_ERROR, Verdict.INCONCLUSIVE}),
    frozenset({Verdict.DEVIATION}),
    frozenset({Verdict.DEPARTS}),
    frozenset({Verdict.UNDECLARED, Verdict.NOTED, Verdict.PASS}),
)
"""What ran, the worst first; within one tier no verdict is better than another."""

Kind = Literal[
    "worse",
    "no longer runs",
    "fewer examples",
    "no longer there",
    "another word",
    "better",
    "runs now",
    "more examples",
    "new",
]
KINDS: dict[Kind, bool] = {
    "worse": True,
    "no longer runs": True,
    "fewer examples": True,
    "no longer there": True,
    "another word": False,
    "better": False,
    "runs now": False,
    "more examples": False,
    "new": False,
}
"""Every kind of difference, and whether it is a step back."""

POLICIES = {"back": "on a step back", "any": "on any difference", "never": "never"}
NAMED = 6
"""Examples that are named where some are gone; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of one rule. ``before`` and ``after`` are verdicts or numbers; ``why`` says more in one line."""

    kind: Kind
    rule: str
    level: str
    before: str
    after: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """One implementation in both reports, or in one of them."""

    label: str
    old: BridgeReport | None
    new: BridgeReport | None
    differences: tuple[Difference, ...]

    @property
    def title(self) -> str:
        """Who it is, with both versions where they differ."""
        names = [
            f"{each.implementation.name} {each.implementation.version}{f', mount {each.mount}' if each.mount else ''}"
            for each in (self.old, self.new)
            if each is not None
        ]
        return f"{self.label}: {' → '.join(dict.fromkeys(names))}"

    @property
    def standing(self) -> str:
        """The word for the whole, before and after."""
        words = [each.standing if each is not None else "not in the report" for each in (self.old, self.new)]
        return " → ".join(dict.fromkeys(words))

    @property
    def back(self) -> bool:
        """Whether anything is a step back."""
        return self.new is None or any(KINDS[each.kind] for each in self.differences)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole. ``notes`` say what makes the two reports unlike each other."""

    old: Read
    new: Read
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]

    @property
    def back(self) -> bool:
        """Whether anything is a step back."""
        return any(pair.back for pair in self.pairs)

    @property
    def differs(self) -> bool:
        """Whether anything is another way at all."""
        return any(pair.differences or pair.old is None or pair.new is None for pair in self.pairs)


def compare(old: Read, new: Read) -> Comparison:
    """Compare two reports, implementation by implementation as their labels say.

    Where each holds just one they are compared whatever they are called.
    """
    before = {bridge.label: bridge for bridge in old.report.bridges}
    after = {bridge.label: bridge for bridge in new.report.bridges}
    notes = list(_notes(old, new))
    if len(before) == len(after) == 1 and before.keys() != after.keys():
        (one,), (other,) = before, after
        notes.append(f"{one} is compared with {other}, the only implementation of either report.")
        before = {other: before[one]}
    pairs = [
        Pair(label, before.get(label), after.get(label), tuple(_differences(before.get(label), after.get(label))))
        for label in dict.fromkeys([*before, *after])
    ]
    return Comparison(old, new, tuple(pairs), tuple(notes))


def _notes(old: Read, new: Read) -> Iterator[str]:
    one, other = old.report, new.report
    if one.started > other.started:
        yield f"The first report is of {one.started[:10]} and the younger one; perhaps they are the wrong way round."
    if one.suite.version != other.suite.version:
        yield f"The suite went from {one.suite.version} to {other.suite.version}."
    if one.spec.digest != other.spec.digest:
        versions = dict.fromkeys([version_of(old), version_of(new)])
        digests = f"{one.spec.digest[:12]} → {other.spec.digest[:12]}"
        yield f"They do not ask the same: rules {' → '.join(versions)}, digest {digests}."
    for read in (old, new):
        if read.report.selection != "complete":
            yield f"{read.name} is of a run that was {read.report.selection}: what it left out counts as not run."


def _differences(old: BridgeReport | None, new: BridgeReport | None) -> Iterator[Difference]:
    if old is None or new is None:
        return
    before = {rule.id: rule for rule in old.rules}
    after = {rule.id: rule for rule in new.rules}
    found = [
        difference
        for rule_id in dict.fromkeys([*before, *after])
        for difference in _of_rule(before.get(rule_id), after.get(rule_id))
    ]
    order = list(KINDS)
    yield from sorted(found, key=lambda each: order.index(each.kind))


def _of_rule(before: RuleReport | None, after: RuleReport | None) -> Iterator[Difference]:
    if before is None:
        assert after is not None
        if after.verdict is not Verdict.NOT_APPLICABLE:
            yield Difference("new", after.id, after.level, "–", str(after.verdict), _why(after))
        return
    if after is None:
        if before.verdict not in SILENT:
            yield Difference("no longer there", before.id, before.level, str(before.verdict), "–")
        return
    level = after.level if before.level == after.level else f"{before.level} → {after.level}"
    words = (str(before.verdict), str(after.verdict))
    if before.verdict is not after.verdict:
        if after.verdict in SILENT and before.verdict not in SILENT:
            yield Difference("no longer runs", after.id, level, *words, _why(after))
        elif before.verdict in SILENT and after.verdict not in SILENT:
            yield Difference("runs now", after.id, level, *words, _why(after))
        else:
            yield Difference(_moved(before.verdict, after.verdict), after.id, level, *words, _why(after))
    if before.verdict not in SILENT and after.verdict not in SILENT:
        ran, runs = _ran(before), _ran(after)
        lost = [name for name in ran if name not in runs]
        if len(runs) < len(ran):
            yield Difference("fewer examples", after.id, level, str(len(ran)), str(len(runs)), _named(lost))
        elif len(runs) > len(ran):
            fresh = [name for name in runs if name not in ran]
            yield Difference("more examples", after.id, level, str(len(ran)), str(len(runs)), _named(fresh))


def _moved(before: Verdict, after: Verdict) -> Kind:
    """Which way a verdict moved; what did not run, before and after, stands in no tier."""
    was, now = (next((tier for tier, known in enumerate(TIERS) if each in known), -1) for each in (before, after))
    return "worse" if now < was else "better" if now > was else "another word"


def _ran(rule: RuleReport) -> list[str]:
    return [proof.item for proof in rule.proofs if proof.verdict not in SILENT]


def _named(items: list[str]) -> str:
    more = f" and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return ", ".join(item.removeprefix("test_") for item in items[:NAMED]) + more


def _why(rule: RuleReport) -> str:
    def first(proofs: Iterable[ProofReport]) -> str:
        return next((proof.message.splitlines()[0] for proof in proofs if proof.message), "")

    return first(proof for proof in rule.proofs if proof.verdict is rule.verdict)


# --- what is written --------------------------------------------------------------------------------------------------


def comparison_text(whole: Comparison) -> str:
    """The text for a terminal."""
    lines = [f"{clean(whole.old.name)} → {clean(whole.new.name)}", *(clean(note) for note in whole.notes)]
    for pair in whole.pairs:
        lines += ["", clean(pair.title), f"  {pair.standing}"]
        width = max((len(each.rule) for each in pair.differences), default=0)
        for kind in KINDS:
            found = [each for each in pair.differences if each.kind == kind]
            if found:
                lines.append(f"  {kind} ({len(found)})")
            for each in found:
                why = f"  {fitted(clean(each.why), 100)}" if each.why else ""
                lines.append(f"    {clean(each.rule):<{width}}  {each.level}: {each.before} → {each.after}{why}")
        if not pair.differences and pair.old and pair.new:
            lines.append("  no difference")
    return "\n".join(lines) + "\n"


def comparison_markdown(whole: Comparison) -> str:
    """The same for a pull request."""
    lines = ["## Verdicts compared", "", f"{code(whole.old.name, 80)} → {code(whole.new.name, 80)}", ""]
    lines += [f"> {escaped(note, 400)}  " for note in whole.notes] + ([""] if whole.notes else [])
    for pair in whole.pairs:
        lines += [f"### {escaped(pair.title)}", "", f"**{escaped(pair.standing)}**", ""]
        if not pair.differences and pair.old and pair.new:
            lines += ["No difference.", ""]
        for back in (True, False):
            found = [each for each in pair.differences if KINDS[each.kind] is back]
            if not found:
                continue
            if not back:
                lines += ["<details><summary>No step back: " + str(len(found)) + "</summary>", ""]
            lines += table(
                ["", "rule", "level", "before", "after", "why"],
                (
                    [
                        each.kind,
                        code(each.rule),
                        each.level,
                        escaped(each.before),
                        escaped(each.after),
                        escaped(each.why),
                    ]
                    for each in found
                ),
            )
            if not back:
                lines += ["</details>", ""]
    return "\n".join(lines)


# --- the command ------------------------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="bridge-conformance compare",
        description="Say what became of verdicts from one report to the next: what is worse, what ran and no longer "
        "runs, and where fewer examples ran.",
        epilog="Exit status: 0 no step back, 1 a step back, 4 a report cannot be read.",
    )
    made.add_argument("old", type=Path, metavar="OLD", help="a conformance.json, or the folder of one")
    made.add_argument("new", type=Path, metavar="NEW", help="the same, of a later run")
    made.add_argument("--markdown", type=Path, metavar="FILE", help="write it as Markdown there; - prints that")
    made.add_argument(
        "--fail",
        choices=POLICIES,
        default="back",
        help="when to answer 1: " + ", ".join(f"{name} {when}" for name, when in POLICIES.items()) + " (back)",
    )
    return made


def main(argv: list[str]) -> int:
    """Compare, print, and answer by what was found."""
    try:
        given = parser().parse_args(argv)
    except SystemExit as stop:
        raise SystemExit(Exit.WRONG_USE if stop.code else 0) from None
    try:
        old, new = read_reports([given.old, given.new])
    except ReportError as error:
        print(error, file=sys.stderr)
        return Exit.WRONG_USE
    whole = compare(old, new)
    if given.markdown is None or str(given.markdown) != "-":
        print(comparison_text(whole), end="")
    if given.markdown is not None:
        if str(given.markdown) == "-":
            print(comparison_markdown(whole), end="")
        else:
            write_atomically(given.markdown, comparison_markdown(whole).encode())
            print(f"written: {shown(given.markdown)}", file=sys.stderr)
    wrong = {"back": whole.back, "any": whole.differs, "never": False}[given.fail]
    return Exit.NOT_CONFORMANT if wrong else Exit.CONFORMANT
