"""A sequence diagram as values: lanes, rows, and the spans of what runs from row to row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from conformance.trace import Event

LaneKind = Literal["model", "host", "bridge", "package", "tool"]
Shape = Literal["arrow", "trip", "note", "line", "gap"]
Tone = Literal["plain", "bad", "warn"]
MODEL, HOST, BRIDGE = 0, 1, 2
"""The places of the lanes that are always there."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One party. ``kind`` decides its place and colour."""

    name: str
    kind: LaneKind
    under: str


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that is drawn.

    An ``arrow`` goes from lane ``source`` to lane ``target``, dashed when it is an ``answer``; a ``trip`` goes there
    and comes back at once; a ``note`` stands on ``source``; a ``line`` divides, strongly when a turn starts or ends; a
    ``gap`` says that rows were left out. ``head`` is the word for it and ``tail`` what is worth knowing beside it.
    ``depth`` is that of the span that it begins or ends.
    """

    shape: Shape
    head: str
    tail: str = ""
    source: int = 0
    target: int = 0
    answer: bool = False
    strong: bool = False
    tone: Tone = "plain"
    depth: int = 0
    agent: str | None = None
    call: str | None = None
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """Something that runs on a lane from row to row; ``last`` is None for what never came back."""

    lane: int
    first: int
    last: int | None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Diagram:
    """The whole. ``agents`` and ``calls`` are in the order in which they came up."""

    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]
    spans: tuple[Span, ...]
    agents: tuple[str, ...]
    calls: tuple[str, ...]
