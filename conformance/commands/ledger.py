"""Writes the start of a ledger of known deviations from what a run found."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import yaml

from conformance.ledger import example_of
from conformance.reporting.files import write_atomically
from conformance.reporting.model import BridgeReport, RuleReport
from conformance.reporting.read import ReportError, read_report
from conformance.verdicts import Verdict

DAYS = 90
"""How long an entry holds that nobody gave another end."""
LONG = 300
"""Characters of a finding that are kept as the reason to be explained."""
EXCUSED = (Verdict.FAIL, Verdict.ABSENT, Verdict.DEPARTS, Verdict.DEVIATION)
"""What an entry is written for. The other answer to a may needs none."""


class WrongUseError(Exception):
    """The report does not hold what was asked for; the message has a cause and a mend."""


@dataclass(frozen=True)
class Known:
    """Why a test departs, and for how long that is accepted. ``found`` is the reason where nobody has explained it."""

    added: str
    expires: str
    reason: str = ""
    link: str | None = None
    found: str = field(default="", compare=False)


def main(argv: list[str]) -> int:
    """Write a ledger to a file or to standard output. Returns 0, or 4 where the report does not serve."""
    parsing = argparse.ArgumentParser(
        prog="bridge-conformance ledger",
        description="Write the start of a ledger of known deviations: an entry for each rule that a run found answered "
        "wrongly, with what it found as the reason. What a ledger of that run explained already is kept.",
        epilog="Replace each reason that begins with `To be explained` before you keep the file. "
        "Exit status: 0 written, 4 wrong use.",
        allow_abbrev=False,
    )
    parsing.add_argument(
        "report", nargs="?", type=Path, default=Path("reports"), help="report or its folder (./reports)"
    )
    parsing.add_argument(
        "--label",
        action="append",
        default=[],
        help="bridge of the report; repeatable for one implementation under several mounts",
    )
    parsing.add_argument("--name", help="label that the ledger is for (that of the bridge)")
    parsing.add_argument(
        "--expires", metavar="DAY", help=f"last day of new entries, as 2026-01-31 ({DAYS} days from now)"
    )
    parsing.add_argument("--output", type=Path, metavar="FILE", help="where it is written (standard output)")
    given = parsing.parse_args(argv)
    try:
        last = date.fromisoformat(given.expires) if given.expires else date.today() + timedelta(days=DAYS)
    except ValueError:
        print(f"--expires={given.expires} is no day\nMend: write one as 2026-01-31", file=sys.stderr)
        return 4
    try:
        chosen = choose(read_report(given.report).report.bridges, given.label)
    except (ReportError, WrongUseError) as error:
        print(error, file=sys.stderr)
        return 4
    text = ledger(chosen, given.name or chosen[0].label, date.today(), last)
    if given.output is None:
        print(text, end="")
    else:
        write_atomically(given.output, text.encode())
    return 0


def choose(bridges: Sequence[BridgeReport], labels: Sequence[str]) -> list[BridgeReport]:
    """Return the bridges that are labelled so, else the only one. Raises :class:`WrongUseError`."""
    known = ", ".join(bridge.label for bridge in bridges)
    missing = [label for label in labels if label not in {bridge.label for bridge in bridges}]
    if missing:
        raise WrongUseError(f"the report has no bridge {missing[0]!r}\nMend: name one of {known}")
    if not labels and len(bridges) != 1:
        raise WrongUseError(f"the report is about {len(bridges)} bridges\nMend: choose with --label among {known}")
    chosen = [bridge for bridge in bridges if not labels or bridge.label in labels]
    names = {bridge.implementation.name for bridge in chosen}
    mounts = {bridge.mount for bridge in chosen}
    if len(names) > 1 or len(mounts) < len(chosen):
        raise WrongUseError(
            "a ledger is about one implementation, and about each mount once\n"
            "Mend: choose other labels, or write a ledger for each"
        )
    return chosen


def ledger(bridges: Sequence[BridgeReport], label: str, today: date, last: date) -> str:
    """Return the text of a ledger over the same implementation under each of its mounts."""
    entries = list(_entries(bridges, today, last))
    head = f"# Known deviations of {bridges[0].implementation.name} {bridges[0].implementation.version}.\n"
    if not entries:
        return f"{head}bridge: {_scalar(label)}\ndeviations: []\n"
    blocks = [yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=110) for entry in entries]
    indented = "".join(f"\n  {block.rstrip().replace(chr(10), chr(10) + '  ')}\n" for block in blocks)
    return f"{head}bridge: {_scalar(label)}\ndeviations:{indented}"


def _scalar(text: str) -> str:
    return str(yaml.safe_dump(text, allow_unicode=True, explicit_end=False).split("\n")[0])


def _entries(bridges: Sequence[BridgeReport], today: date, last: date) -> Iterator[dict[str, Any]]:
    """Entries in the order of the rules; what holds under every mount stands once."""
    order = {rule.id: None for bridge in bridges for rule in bridge.rules}
    for rule_id in order:
        # What is unexplained is the same under two mounts where the same tests depart, whatever each run said of them.
        mounts: dict[tuple[Known, tuple[str, ...]], list[str | None]] = defaultdict(list)
        for bridge in bridges:
            rule = next((rule for rule in bridge.rules if rule.id == rule_id), None)
            for known, examples in _of_rule(bridge, rule, today, last) if rule is not None else ():
                mounts[known, examples].append(bridge.mount)
        for (known, examples), where in mounts.items():
            for mount in [None] if len(where) == len(bridges) else where:
                yield _entry(rule_id, known, examples, mount)


def _of_rule(
    bridge: BridgeReport, rule: RuleReport, today: date, last: date
) -> Iterable[tuple[Known, tuple[str, ...]]]:
    """What there is to excuse of one rule: examples by reason, no example where all depart for one reason."""
    wrong = [proof for proof in rule.proofs if proof.verdict in EXCUSED]
    found: dict[Known, list[str]] = defaultdict(list)
    explained = {
        (entry.rule, entry.example): Known(entry.added, entry.expires or last.isoformat(), entry.reason, entry.link)
        for entry in bridge.deviations
        if entry.mount in (None, bridge.mount)
    }
    new = Known(today.isoformat(), last.isoformat(), found=_short(wrong[0].message)) if wrong else None
    for proof in wrong:
        example = example_of(proof.item, rule.id)
        known = explained.get((rule.id, example)) or explained.get((rule.id, None)) or new
        if known is not None:
            found[known].append(example)
    if len(found) == 1 and all(proof.verdict in EXCUSED for proof in rule.proofs):
        return [(known, ()) for known in found]
    return [(known, tuple(examples)) for known, examples in found.items()]


def _entry(rule: str, known: Known, examples: Sequence[str], mount: str | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"rule": rule}
    if len(examples) == 1:
        entry["example"] = examples[0]
    elif examples:
        entry["examples"] = list(examples)
    if mount is not None:
        entry["mount"] = mount
    entry["reason"] = known.reason or f"To be explained: {known.found}"
    if known.link is not None:
        entry["link"] = known.link
    return {**entry, "added": known.added, "expires": known.expires}


def _short(message: str) -> str:
    text = " ".join(message.split())
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"
