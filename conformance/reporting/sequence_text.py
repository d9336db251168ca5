"""Draws a sequence diagram as plain text, for terminals, logs and mails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.reporting._diagram import Diagram, Row
from conformance.reporting._spoken import clean, fitted, width
from conformance.reporting.sequence import diagram
from conformance.trace import Event

NARROWEST, WIDEST = 9, 22
"""Columns from lane to lane."""
WORDS = 64
"""Columns of the words beside the picture, where no width is asked for."""


def sequence_text(events: Iterable[Event], *, most: int | None = None, columns: int | None = None) -> str:
    """Return the picture of a trace as lines of text: lanes and arrows at the left, words at the right.

    ``most`` bounds the rows: the last are kept. ``columns`` is the width to fit into; without it the words may be
    :data:`WORDS` wide. It ends with a line break unless there is nothing to draw.
    """
    return "".join(f"{line.rstrip()}\n" for line in _lines(diagram(events, most), columns))


def _lines(whole: Diagram, columns: int | None) -> Iterator[str]:
    if not whole.rows:
        return
    names = [fitted(lane.name, WIDEST - 2) for lane in whole.lanes]
    pitch = max(NARROWEST, *(width(name) + 2 for name in names))
    seq = max(len(str(event.seq)) for row in whole.rows for event in row.events)
    call = max((width(_call(row)) for row in whole.rows), default=0)
    agent = max((width(_agent(row)) for row in whole.rows), default=0) if len(whole.agents) > 1 else 0
    margin = seq + (call + 1 if call else 0) + (agent + 1 if agent else 0) + 1
    room = max(20, columns - margin - pitch * len(names) - 1) if columns else WORDS
    head = "".join(_centred(name, pitch) for name in names)
    yield f"{' ' * margin}{head}"
    for row in whole.rows:
        first = "" if row.shape == "gap" else str(row.events[0].seq)
        gutter = first.rjust(seq)
        gutter += f" {_padded(_call(row), call)}" if call else ""
        gutter += f" {_padded(_agent(row), agent)}" if agent else ""
        words = " ".join(filter(None, (row.head, row.tail)))
        if row.shape in ("line", "gap"):
            mark = "═" if row.strong else "─"
            text = fitted(words, pitch * len(names) + room)
            begin, end = ("⋮", "") if row.shape == "gap" else (mark * 2, mark * (pitch * len(names) - width(text) - 4))
            yield f"{gutter} {begin} {text} {end}"
            continue
        sign = {"bad": "✗ ", "warn": "! "}.get(row.tone, "")
        yield f"{gutter} {''.join(_cells(row, len(names), pitch))} {fitted(sign + words, room)}"
    yield f"{' ' * margin}{head}"


def _call(row: Row) -> str:
    return f"#{fitted(clean(row.call), 8)}" if row.call is not None else ""


def _agent(row: Row) -> str:
    return fitted(clean(row.agent), 10) if row.agent is not None else ""


def _padded(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def _centred(text: str, columns: int) -> str:
    left = max(0, columns // 2 - width(text) // 2)
    return _padded(" " * left + text, columns)


def _cells(row: Row, lanes: int, pitch: int) -> list[str]:
    """One line of lifelines, with what the row draws over them."""
    line = [" "] * (pitch * lanes)
    middles = [lane * pitch + pitch // 2 for lane in range(lanes)]
    for middle in middles:
        line[middle] = "│"
    source, target = middles[row.source], middles[row.target]
    if row.shape == "note":
        line[source] = "■"
    elif source == target:
        line[source : source + 3] = "├─╮"
    else:
        low, high = sorted((source, target))
        for at in range(low + 1, high):
            line[at] = "╌" if row.answer else "─"
        right = target > source
        line[source] = "├" if right else "┤"
        line[target - 1 if right else target + 1] = "▶" if right else "◀"
        if row.shape == "trip":
            line[source + 1 if right else source - 1] = "◁" if right else "▷"
    return line
