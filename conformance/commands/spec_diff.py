"""Compares two states of the rules for their reviewers."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from conformance import resources
from conformance._pytest.registries import registered
from conformance.catalogue.diff import diff
from conformance.catalogue.revisions import RevisionError, side
from conformance.reporting.files import shown, write_atomically
from conformance.reporting.read import Read, ReportError, read_report
from conformance.reporting.review import POLICIES, review, review_json, review_markdown
from conformance.verdicts import Exit

SAMPLES = Path("reports") / "samples"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="bridge-conformance spec diff",
        description="Say what became of the rules between two states, what is behind each change, and which shipped "
        "verdicts it may move.",
        epilog="Exit status: 0 nothing that the policy forbids, 1 something that it forbids, 4 wrong use, or rules "
        "that do not load. Policies: " + "; ".join(f"{name}: {does}" for name, does in POLICIES.items()) + ".",
    )
    made.add_argument("base", metavar="BASE", help="a git revision, or a folder that holds spec/ and features/")
    made.add_argument("head", metavar="HEAD", nargs="?", help="the same; the files as they are, unless named")
    made.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write Markdown there; - prints it, as without options"
    )
    made.add_argument("--json", type=Path, metavar="FILE", help="write the same for programs; - prints it")
    made.add_argument("--policy", choices=POLICIES, default="released", help="what fails (released)")
    made.add_argument(
        "--reports",
        type=Path,
        action="append",
        metavar="PATH",
        help=f"reports, or folders of them ({SAMPLES}); repeatable",
    )
    return made


def main(argv: list[str]) -> int:
    """Compare, write, and answer by the policy."""
    parsing = parser()
    try:
        given = parsing.parse_args(argv)
    except SystemExit as stop:
        raise SystemExit(Exit.WRONG_USE if stop.code else 0) from None
    root = _root()
    known = registered()
    try:
        with (
            side(given.base, root) as base,
            side(given.head or str(root), root, "the files as they are" if given.head is None else "") as head,
        ):
            found = diff(base, head, proofs={**known["properties"], **known["invariants"]})
            samples = [root / SAMPLES] if (root / SAMPLES).is_dir() else []
            whole = review(found, _reports(given.reports or samples), given.policy)
    except RevisionError as error:
        print(error, file=sys.stderr)
        return Exit.WRONG_USE
    outputs = [(given.json, review_json), (given.markdown, review_markdown)]
    if given.json is None and given.markdown is None:
        outputs = [(Path("-"), review_markdown)]
    for path, render in outputs:
        if path is None:
            continue
        if str(path) == "-":
            print(render(whole), end="")
        else:
            write_atomically(path, render(whole).encode())
            print(f"written: {shown(path)}", file=sys.stderr)
    wrong = [*whole.broken, *whole.against]
    for sentence in wrong:
        print(f"policy {given.policy}: {sentence}", file=sys.stderr)
    return Exit.NOT_CONFORMANT if wrong else Exit.CONFORMANT


def _root() -> Path:
    """The checkout in which the user stands, else the one that the suite runs from."""
    try:
        done = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        done = None
    here = Path(done.stdout.strip()) if done is not None and done.returncode == 0 else Path.cwd()
    return here if (here / "spec").is_dir() else resources.spec_dir().parent


def _reports(paths: list[Path]) -> Iterator[Read]:
    """Every report there; a JSON file that is none is no fault in a folder that holds other things too."""
    for path in paths:
        for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
            try:
                yield read_report(file)
            except ReportError as error:
                if file == path:
                    raise RevisionError(str(error)) from None
