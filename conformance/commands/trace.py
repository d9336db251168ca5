"""Draws traces that a run has kept as sequence diagrams."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import msgspec

from conformance.reporting.files import write_atomically
from conformance.reporting.sequence_svg import sequence_svg
from conformance.reporting.sequence_text import sequence_text
from conformance.trace import Event, events_of

RECORD, TRACED = '{"transcript":', '{"trace":'
"""How a record of ``run --record`` begins, and its lines that hold an event."""


def main(argv: list[str]) -> int:
    """Draw each trace and return 0, or 4 where one of them cannot be drawn."""
    parsing = argparse.ArgumentParser(
        prog="bridge-conformance trace",
        description="Draw traces as sequence diagrams: who asked whom for what, in which order.",
        epilog="A run keeps the traces of failed tests in reports/traces; run --record=DIR keeps all of them.",
    )
    parsing.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a trace or a record (.jsonl)")
    form = parsing.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="as plain text (the default)")
    form.add_argument("--svg", action="store_true", help="as a picture for browsers, light and dark")
    parsing.add_argument("--last", type=_count, metavar="N", help="only the last N rows of each picture")
    parsing.add_argument(
        "--output", type=Path, metavar="FILE", help="write there instead of to standard output; of several, a folder"
    )
    given = parsing.parse_args(argv)
    names, output = given.files, given.output
    if given.svg and output is None and len(names) > 1:
        print("several pictures need a place each. Mend: name a folder with --output.", file=sys.stderr)
        return 4
    columns = shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else None
    status = 0
    for path in names:
        try:
            events = _read(path)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            print(
                f"{path} cannot be drawn: {why}.\n"
                "Mend: name a file that a run has written, such as one of reports/traces/*.jsonl.",
                file=sys.stderr,
            )
            status = 4
            continue
        if given.svg:
            drawn = f"{sequence_svg(events, most=given.last, title=f'Sequence diagram of {path.stem}')}\n"
        else:
            drawn = sequence_text(events, most=given.last, columns=columns)
        if output is None:
            sys.stdout.write(drawn if len(names) == 1 else f"{path}\n{drawn}\n")
        elif len(names) > 1 or output.is_dir():
            # A record keeps the same test of each bridge, in a folder of the bridge.
            alike = [each for each in names if each.stem == path.stem]
            stem = path.stem if len(alike) == 1 else f"{path.parent.name}--{path.stem}"
            write_atomically(output / f"{stem}.{'svg' if given.svg else 'txt'}", drawn.encode())
        else:
            write_atomically(output, drawn.encode())
    return status


class _Recorded(msgspec.Struct):
    """What of a line of a record is of interest: the event, where it holds one."""

    trace: Event | None = None


def _read(path: Path) -> list[Event]:
    text = path.read_text(encoding="utf-8", errors="replace")
    events = _recorded(text) if text.startswith(RECORD) else events_of(text)
    if not events:
        raise ValueError("it holds no event")
    return events


def _recorded(text: str) -> list[Event]:
    """The events of a record, which holds the wire as well; one that was cut off is drawn as far as it goes."""
    lines = (line for line in text.split("\n") if line.startswith(TRACED) and line.endswith("}"))
    found = (msgspec.json.decode(line, type=_Recorded).trace for line in lines)
    return [event for event in found if event is not None]


def _count(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError("a number of rows, 1 or more")
    return int(text)
