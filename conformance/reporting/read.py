"""Reads reports back: of this suite, of an older one, and of a newer one that kept the form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from conformance.reporting.files import NAME, shown
from conformance.reporting.model import FORMAT, Report
from conformance.trace import Event

BESIDE = re.compile(r"(traces|stderr)/[A-Za-z0-9._-]+")
"""What a report may call a file beside it; anything else is not opened."""


class ReportError(Exception):
    """A file is no report that this suite can read; the message has a cause and a mend."""


@dataclass(frozen=True)
class Read:
    """A report and the file it came from."""

    path: Path
    report: Report

    @property
    def name(self) -> str:
        """The file's name as people read it."""
        return shown(self.path)

    def trace(self, name: str | None) -> tuple[Event, ...]:
        """The events of a trace that the report names; none where the file is not there or is no trace."""
        if name is None or not BESIDE.fullmatch(name) or ".." in name:
            return ()
        try:
            lines = (self.path.parent / name).read_bytes().splitlines()
            return tuple(msgspec.json.decode(line, type=Event) for line in lines if line.strip())
        except (OSError, msgspec.MsgspecError, ValueError):
            return ()


def read_report(path: Path) -> Read:
    """Read one report; a folder stands for the ``conformance.json`` in it. Raises :class:`ReportError`."""
    file = path / NAME if path.is_dir() else path
    again = "make it anew: bridge-conformance run --bridge=… --report=DIR"
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ReportError(f"{shown(file)} cannot be read: {error.strerror}\nMend: {again}") from None
    try:
        form = json.loads(data)["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ReportError(f"{shown(file)} is no report: it is not JSON, or says no format\nMend: {again}") from None
    if not isinstance(form, int) or form > FORMAT:
        raise ReportError(
            f"{shown(file)} has format {form!r}, and this suite reads formats up to {FORMAT}\n"
            "Mend: use the suite that wrote it, or a newer one"
        )
    try:
        return Read(file, msgspec.json.decode(data, type=Report))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ReportError(f"{shown(file)} is no report: {error}\nMend: {again}") from None


def read_reports(paths: Iterable[Path]) -> list[Read]:
    """Read each of these. Raises one :class:`ReportError` that says what is wrong with every one of them."""
    found, wrong = [], []
    for path in paths:
        try:
            found.append(read_report(path))
        except ReportError as error:
            wrong.append(str(error))
    if wrong:
        raise ReportError("\n".join(wrong))
    return found
