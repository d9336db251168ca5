"""The command that judges recordings by the rules as they are now, and says which verdicts change and why."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from conformance import __version__
from conformance.catalogue import Catalogue, Features, compile_features, load_catalogue
from conformance.catalogue.features import item_id
from conformance.catalogue.fingerprint import Fingerprints, fingerprints
from conformance.drivers.driver import HarnessError
from conformance.reporting.files import NAME, safe
from conformance.reporting.model import BridgeReport, ProofReport, Report
from conformance.transcripts import files
from conformance.transcripts.files import Head, Transcript, Verdict
from conformance.verdicts import Exit


@dataclass(frozen=True)
class Change:
    """One item of which something else is said now; ``why`` is a sentence, ``now`` is empty for what is not asked."""

    item: str
    then: str
    now: str
    why: str
    said: str = ""

    def __str__(self) -> str:
        said = "".join(f"\n    now:     {line}" for line in self.said.splitlines()[:1])
        head = f"  {self.item.removeprefix('test_')}: {self.then} → {self.now or 'not asked'}"
        return f"{head}\n    because: {self.why}{said}"


def main(argv: list[str]) -> int:
    """Judge every recording again; 0 when nothing changed, 1 when something did, 3 when one could not be judged."""
    parser = argparse.ArgumentParser(
        prog="bridge-conformance rejudge",
        description="Judge recorded stages by the rules as they are now, without the implementation, and say which "
        "verdicts change and why.",
        epilog="Exit status: 0 nothing changed, 1 verdicts changed, 3 a recording is damaged or the harness broke, "
        "4 wrong use.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="what --bridge-record=DIR wrote, or one label of it")
    parser.add_argument("-n", type=int, default=0, metavar="N", help="processes (0: this one alone)")
    try:
        given = parser.parse_args(argv)
    except SystemExit as stop:
        raise SystemExit(int(Exit.WRONG_USE) if stop.code else 0) from None
    try:
        found = files.folders(given.folder)
    except HarnessError as error:
        print(error, file=sys.stderr)
        return Exit.WRONG_USE
    read = {folder: _read(folder) for folder in found}
    broken = [problem for _, problems in read.values() for problem in problems]
    for problem in broken:
        print(problem, file=sys.stderr)
    readable = {folder: kept for folder, (kept, _) in read.items() if kept}
    if not readable:
        return Exit.HARNESS_ERROR
    reports = _session(readable, given.n)
    if reports is None:
        print("the session of the recordings broke; what pytest printed says why", file=sys.stderr)
        return Exit.HARNESS_ERROR
    catalogue, features = load_catalogue(), compile_features()
    marks = fingerprints(catalogue, features)
    changed = 0
    for folder, kept in readable.items():
        changes = list(compare(kept, reports[_label(folder)], catalogue, features, marks))
        changed += len(changes)
        broken += [change.said for change in changes if change.now == "harness error"]
        print(_heading(folder, kept, catalogue, marks, len(changes)))
        for change in changes:
            print(change)
    return Exit.HARNESS_ERROR if broken else Exit.NOT_CONFORMANT if changed else Exit.CONFORMANT


def compare(
    kept: list[Transcript], report: BridgeReport, catalogue: Catalogue, features: Features, marks: Fingerprints
) -> Iterator[Change]:
    """The items of one label of which something else is said now than when they were recorded."""
    proofs = {proof.item: proof for rule in report.rules for proof in rule.proofs if proof.kind != "invariant"}
    items = {pickle.item for pickle in features.pickles}
    items |= {item_id(rule.id, row.case) for rule in catalogue.rules for row in rule.vectors}
    for transcript in kept:
        head, then = transcript.head, transcript.judged
        proof = proofs.get(head.item)
        if proof is None or proof.verdict == "not run":
            yield Change(head.item, _word(then), "", _unasked(head, catalogue, head.item in items))
            continue
        now = _now(proof)
        if (then.verdict, then.broken) != (now.verdict, now.broken):
            why = _why(head, catalogue, marks, then, now)
            yield Change(head.item, _word(then), _word(now), why, now.message)


def _now(proof: ProofReport) -> Verdict:
    broken = sorted({each.invariant for each in proof.broken})
    return Verdict(verdict=str(proof.verdict), outcome=str(proof.verdict), message=proof.message, broken=broken)


def _word(verdict: Verdict) -> str:
    return verdict.verdict + "".join(f", breaks {name}" for name in verdict.broken)


def _unasked(head: Head, catalogue: Catalogue, known: bool) -> str:
    if head.rule not in catalogue.by_id:
        return f"there is no rule {head.rule} any more"
    if not known:
        return f"the rule {head.rule} has no such proof any more"
    return f"the rule {head.rule} is no longer asked of this implementation"


def _why(head: Head, catalogue: Catalogue, marks: Fingerprints, then: Verdict, now: Verdict) -> str:
    rule, mark = catalogue.by_id[head.rule], marks.rules[head.rule]
    reasons = []
    if rule.level != head.level:
        reasons.append(f"the rule was a {head.level} and is a {rule.level}")
    elif mark.text != head.text:
        reasons.append(f"the rule changed since (it says: {rule.text})")
    if mark.proof != head.proof:
        reasons.append("its scenarios or vectors changed")
    if then.broken != now.broken:
        reasons.append("the invariants judge the same trace otherwise")
    if not reasons:
        other = f"suite {head.suite} then, {__version__} now" if head.suite != __version__ else f"suite {__version__}"
        reasons.append(f"neither the rule nor its scenario changed, so the steps that judge it did ({other})")
    return "; ".join(reasons)


def _heading(folder: Path, kept: list[Transcript], catalogue: Catalogue, marks: Fingerprints, changes: int) -> str:
    head = kept[0].head
    same = "the same rules" if head.digest == marks.spec else f"other rules (digest {marks.spec[:12]})"
    count = f"{changes} verdict{'' if changes == 1 else 's'} change{'s' if changes == 1 else ''}"
    return (
        f"{folder.name}: {len(kept)} stages of {head.hello.name} {head.hello.version}, recorded with spec version "
        f"{head.spec} (digest {head.digest[:12]}), judged by version {catalogue.version}, {same}: {count}"
    )


def _read(folder: Path) -> tuple[list[Transcript], list[str]]:
    kept, problems = [], []
    for path in files.transcripts(folder):
        try:
            kept.append(files.read(path))
        except HarnessError as error:
            problems.append(str(error))
    return kept, problems


def _label(folder: Path) -> str:
    return safe(folder.resolve().name)


def _session(read: Mapping[Path, list[Transcript]], processes: int) -> dict[str, BridgeReport] | None:
    import pytest

    from conformance.commands.run import pytest_arguments

    with tempfile.TemporaryDirectory(prefix="bridge-conformance-rejudge-") as place:
        arguments = [f"--bridge={_label(folder)}=replay:{folder}" for folder in read]
        rest = ["-qq", "--no-header", "--no-summary", "--tb=no", *(["-n", str(processes)] if processes else [])]
        os.environ.pop("PYTEST_ADDOPTS", None)
        with io.StringIO() as said:
            with contextlib.redirect_stdout(said):
                status = int(pytest.main(pytest_arguments([*arguments, f"--report={place}", "--", *rest])))
            report = Path(place) / NAME
            if status in (Exit.INTERRUPTED, Exit.WRONG_USE) or not report.is_file():
                print(said.getvalue(), file=sys.stderr)
                return None
            made = msgspec.json.decode(report.read_bytes(), type=Report)
    return {bridge.label: bridge for bridge in made.bridges}
