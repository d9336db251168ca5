"""What a transcript holds: one stage's wire and trace as JSON lines, with who was asked what, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import PROTOCOL_VERSION, InitializeResult
from conformance.reporting.files import safe, write_atomically
from conformance.trace import Event

FORMAT = 1
"""Version of the form; it rises when a reader of the old form would go wrong."""

AGAIN = "record the stage again (--bridge-record), or take the file from where it was whole"


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """A part of a transcript."""


class Head(Line, frozen=True):
    """The first line: whose stage it is, and by which rules it was judged.

    ``rule`` and ``level`` are of the rule that ``item`` proves; ``text`` and ``proof`` the rule's fingerprints then;
    ``probed`` what was found of the capabilities that it needs.
    """

    transcript: int
    suite: str
    protocol: int
    spec: int
    digest: str
    label: str
    bridge: str
    mount: str | None
    hello: InitializeResult
    item: str
    rule: str
    level: str
    text: str
    proof: str
    probed: dict[str, bool] = {}


class Failure(Line, frozen=True):
    """Why there was no answer: what the implementation lacks, or what broke; ``kind`` is the error's type."""

    kind: str
    cause: str
    mend: str = ""


Wire = Literal[
    "suite asks",
    "suite answers",
    "suite gives up",
    "adapter asks",
    "adapter answers",
    "adapter notes",
    "lost",
    "seen",
    "rest",
]


class Entry(Line, frozen=True):
    """One thing that crossed the connection, in the order in which the suite sent or took it.

    ``id`` counts the requests of one side on this stage; an answer has its request's. ``seq`` is the implementation's
    own number. ``seen`` is no message: it is what the suite read off the machine itself.
    """

    wire: Wire
    id: int | None = None
    seq: int | None = None
    method: str | None = None
    params: Any | UnsetType = UNSET
    result: Any | UnsetType = UNSET
    error: Failure | None = None


class Traced(Line, frozen=True):
    """One event of the trace that was judged."""

    trace: Event


class Verdict(Line, frozen=True):
    """What was said of the item: of its own rule, and of the item with all invariants."""

    verdict: str
    outcome: str
    message: str = ""
    broken: list[str] = []


class Last(Line, frozen=True):
    """The last line: a file without it was cut off."""

    judged: Verdict


@dataclass(frozen=True)
class Transcript:
    """One stage, read back."""

    path: Path
    head: Head
    entries: tuple[Entry, ...]
    trace: tuple[Event, ...]
    judged: Verdict


def place(folder: Path, label: str, item: str) -> Path:
    """The file of an item's stage; an item's name begins with its rule."""
    return folder / safe(label) / name_of(item)


def name_of(item: str) -> str:
    """The name of an item's file."""
    return f"{item.removeprefix('test_')}.jsonl"


def write(path: Path, head: Head, entries: list[bytes], trace: list[Event], judged: Verdict) -> None:
    """Write a transcript in one move; ``entries`` are encoded already."""
    encode = msgspec.json.encode
    lines = [encode(head), *entries, *(encode(Traced(trace=event)) for event in trace), encode(Last(judged=judged))]
    write_atomically(path, b"\n".join(lines) + b"\n")


def read_head(path: Path) -> Head:
    """Read who a transcript is of. Raises ``HarnessError`` for a file that is none, or of a form not spoken here."""
    try:
        with path.open("rb") as file:
            line = file.readline()
    except OSError as error:
        raise HarnessError(f"the transcript {path} cannot be read: {error.strerror}", AGAIN) from None
    try:
        form = msgspec.json.decode(line, type=_Form)
    except msgspec.DecodeError as error:
        raise HarnessError(f"the first line of {path} is not that of a transcript: {error}", AGAIN) from None
    spoken = {"form": (form.transcript, FORMAT), "protocol": (form.protocol, PROTOCOL_VERSION)}
    for what, (theirs, ours) in spoken.items():
        if theirs != ours:
            raise HarnessError(
                f"the transcript {path} has version {theirs} of the {what}, and this suite reads version {ours}",
                f"judge it with the release that wrote it (pi-bridge-conformance {form.suite}), or record again",
            )
    return _decoded(path, 1, line, Head)


def read(path: Path) -> Transcript:
    """Read a transcript whole. Raises ``HarnessError`` for a damaged file: which line, what is wrong, and the mend."""
    head = read_head(path)
    lines = path.read_bytes().split(b"\n")
    if lines[-1] != b"":
        raise HarnessError(f"the transcript {path} ends in the middle of line {len(lines)}", AGAIN)
    entries: list[Entry] = []
    events: list[Event] = []
    judged: Verdict | None = None
    for number, line in enumerate(lines[1:-1], 2):
        if judged is not None:
            raise HarnessError(f"{path}:{number} comes after the verdict, which ends a transcript", AGAIN)
        if line.startswith(b'{"trace"'):
            events.append(_decoded(path, number, line, Traced).trace)
        elif line.startswith(b'{"judged"'):
            judged = _decoded(path, number, line, Last).judged
        else:
            entries.append(_decoded(path, number, line, Entry))
    if judged is None:
        raise HarnessError(f"the transcript {path} ends after line {len(lines) - 1}, without a verdict", AGAIN)
    return Transcript(path, head, tuple(entries), tuple(events), judged)


def folders(given: Path) -> list[Path]:
    """The folders of one label each in, or at, a folder of recordings. Raises ``HarnessError`` when there is none."""
    if not given.is_dir():
        raise HarnessError(f"there is no folder {given}", "name one that --bridge-record=DIR has written")
    if next(transcripts(given), None) is not None:
        return [given]
    found = sorted(path for path in given.iterdir() if path.is_dir() and next(transcripts(path), None) is not None)
    if not found:
        raise HarnessError(f"the folder {given} holds no transcript", "name one that --bridge-record=DIR has written")
    return found


def transcripts(folder: Path) -> Iterator[Path]:
    """The transcripts of one folder, by name."""
    return iter(sorted(folder.glob("*.jsonl")))


class _Form(msgspec.Struct, frozen=True):
    """The part of the first line that says whether the rest can be read."""

    transcript: int
    protocol: int
    suite: str = "unknown"


L = TypeVar("L", bound=Line)


def _decoded(path: Path, number: int, line: bytes, kind: type[L]) -> L:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.DecodeError as error:
        raise HarnessError(f"{path}:{number} is damaged: {error}", AGAIN) from None
