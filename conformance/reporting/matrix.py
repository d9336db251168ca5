"""Puts reports beside each other, as a page, for a pull request, for a CI server and as badges."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from conformance.reporting.badge import badge
from conformance.reporting.files import safe, shown, write_atomically
from conformance.reporting.junit import matrix_junit
from conformance.reporting.markdown import matrix_markdown
from conformance.reporting.merge import Column, Matrix, merge
from conformance.reporting.page import matrix_page
from conformance.reporting.read import ReportError, read_reports
from conformance.verdicts import Exit

PAGE = Path("reports") / "matrix.html"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="bridge-conformance matrix",
        description="Put any number of reports beside each other: rules down, implementations across.",
        epilog="Exit status: 0 written, 4 a report cannot be read or an option does not fit. The verdicts do not count "
        "here: `run` has answered by them.",
    )
    made.add_argument("report", nargs="+", type=Path, metavar="REPORT", help="a conformance.json, or the folder of one")
    made.add_argument(
        "--output", type=Path, metavar="FILE", help=f"the page ({PAGE}, unless another form is asked for)"
    )
    made.add_argument("--markdown", type=Path, metavar="FILE", help="the same as Markdown; - prints it")
    made.add_argument("--junit", type=Path, metavar="FILE", help="the same as JUnit XML")
    made.add_argument(
        "--badge", type=Path, metavar="FILE", help="the badge of one implementation as FILE.json, or a folder for all"
    )
    made.add_argument("--badge-of", metavar="LABEL", help="whose badge FILE.json is, where there are several bridges")
    made.add_argument("--apart", action="store_true", help="give every report its own column")
    return made


def main(argv: list[str]) -> int:
    """Write what was asked for and return 0, or 4 on wrong use."""
    parsing = parser()
    try:
        given = parsing.parse_args(argv)
    except SystemExit as stop:
        raise SystemExit(Exit.WRONG_USE if stop.code else 0) from None
    try:
        matrix = merge(read_reports(given.report), apart=given.apart)
        asked = list(_asked(given, matrix))
    except ReportError as error:
        print(error, file=sys.stderr)
        return Exit.WRONG_USE
    for path, text in asked:
        if str(path) == "-":
            print(text, end="")
            continue
        try:
            write_atomically(path, text.encode())
        except OSError as error:
            print(f"{shown(path)} cannot be written: {error.strerror}\nMend: name another place", file=sys.stderr)
            return Exit.WRONG_USE
        print(f"written: {shown(path)}", file=sys.stderr)
    return 0


def _asked(given: argparse.Namespace, matrix: Matrix) -> Iterator[tuple[Path, str]]:
    if given.output is not None or not (given.markdown or given.junit or given.badge):
        yield given.output or PAGE, matrix_page(matrix)
    if given.markdown is not None:
        yield given.markdown, matrix_markdown(matrix)
    if given.junit is not None:
        yield given.junit, matrix_junit(matrix)
    if given.badge is not None and given.badge.suffix == ".json":
        yield given.badge, badge(_badge_of(matrix, given.badge_of))
    elif given.badge is not None:
        for column in matrix.columns:
            yield given.badge / f"{safe(column.bridge.label)}.json", badge(column)


def _badge_of(matrix: Matrix, label: str | None) -> Column:
    """The newest column of this label; without one the only bridge, else the only implementation."""
    if label is not None:
        found = [column for column in matrix.columns if column.bridge.label == label]
    else:
        bridges = [column for column in matrix.columns if column.role == "bridge"] or list(matrix.columns)
        found = bridges if len({column.bridge.label for column in bridges}) == 1 else []
    if not found:
        labels = ", ".join(dict.fromkeys(column.bridge.label for column in matrix.columns))
        what = f"no implementation is called {label!r}" if label else "there are several implementations"
        raise ReportError(f"{what}\nMend: name one by --badge-of: {labels}; or name a folder to --badge for all")
    return max(found, key=lambda column: column.sources[-1].report.started)
