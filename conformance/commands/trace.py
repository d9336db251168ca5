"""Draws a trace that a run has kept as a sequence diagram."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from conformance.reporting import files
from conformance.reporting.sequence_svg import sequence_svg
from conformance.reporting.sequence_text import sequence_text
from conformance.trace import Event, events_of


def main(argv: list[str]) -> int:
    """Draw one trace and return 0, or 4 where there is none to draw."""
    parsing = argparse.ArgumentParser(
        prog="bridge-conformance trace",
        description="Draw a trace as a sequence diagram: who asked whom for what, in which order.",
        epilog="A run keeps the traces of failed tests in reports/traces; run --record=DIR keeps all of them.",
    )
    parsing.add_argument("file", type=Path, metavar="FILE", help="a trace, one event a line (.jsonl)")
    form = parsing.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="as plain text (the default)")
    form.add_argument("--svg", action="store_true", help="as a picture for browsers, light and dark")
    parsing.add_argument("--last", type=_count, metavar="N", help="only the last N rows of the picture")
    parsing.add_argument("--output", type=Path, metavar="FILE", help="write there instead of to standard output")
    given = parsing.parse_args(argv)
    try:
        events = _read(given.file)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        print(
            f"{given.file} cannot be drawn: {why}.\n"
            "Mend: name a file that a run has written, such as one of reports/traces/*.jsonl.",
            file=sys.stderr,
        )
        return 4
    if given.svg:
        drawn = f"{sequence_svg(events, most=given.last, title=f'Sequence diagram of {given.file.stem}')}\n"
    else:
        columns = shutil.get_terminal_size().columns if given.output is None and sys.stdout.isatty() else None
        drawn = sequence_text(events, most=given.last, columns=columns)
    if given.output is None:
        sys.stdout.write(drawn)
    else:
        files.write_atomically(given.output, drawn.encode())
    return 0


def _read(path: Path) -> list[Event]:
    events = events_of(path.read_text(encoding="utf-8", errors="replace"))
    if not events:
        raise ValueError("it holds no event")
    return events


def _count(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError("a number of rows, 1 or more")
    return int(text)
