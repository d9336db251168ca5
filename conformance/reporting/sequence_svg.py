"""Draws a sequence diagram as SVG: one self-contained text, the same for the same trace, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from conformance.reporting._diagram import Diagram, Lane, Row
from conformance.reporting._spoken import clean, fitted, spoken, width
from conformance.reporting.sequence import diagram
from conformance.trace import Event

SCOPE = "bridge-sequence"
"""The class of the picture's root; every rule of its style is below it, so that it can stand in any page."""
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1d2433",
    "quiet": "#5b6475",
    "rule": "#d3d8e2",
    "band": "#f3f5f9",
    "model": "#7440b5",
    "host": "#475569",
    "bridge": "#1d5fc2",
    "package": "#0b7568",
    "tool": "#9a4f06",
    "bad": "#bf1f2f",
    "warn": "#8f5a00",
}
DARK = {
    "paper": "#13161c",
    "ink": "#e6e9f0",
    "quiet": "#9aa4b5",
    "rule": "#39414f",
    "band": "#1c212a",
    "model": "#bb9af2",
    "host": "#a9b5c7",
    "bridge": "#82b4f8",
    "package": "#5ecab6",
    "tool": "#e6a663",
    "bad": "#ff8b8b",
    "warn": "#e9b85a",
}
"""The names of the colours are those of the custom properties ``--seq-…`` that a page may set on the root."""

PITCH = 132
"""Pixels from lane to lane."""
HEAD = 46
RIGHT = (76, 232)
"""Least and most room beside the last lane; labels that need more lose their end."""
COLUMN = 6.63
"""Width of a character of the labels at 11 pixels."""
BESIDE, MOST_BESIDE = 5, 12
"""Pixels from one run to the next that overlaps it, and how many there are room for beside each other."""
FAR = 18
"""Rows after which a divider names the lanes again."""
NAMES = 16
"""Pixels of those names."""
HEIGHT = {"arrow": 31, "trip": 38, "note": 28, "line": 32, "gap": 30}
DETAIL = 600
"""Characters of an event that its tooltip shows."""


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--seq-{name}:{value};" for name, value in colours.items())


STYLE = (
    f".{SCOPE}{{{_variables(LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{.{SCOPE}{{{_variables(DARK)}}}}}"
    f".{SCOPE} text{{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    "fill:var(--seq-ink);white-space:pre}"
    f".{SCOPE} .paper{{fill:var(--seq-paper)}}"
    f".{SCOPE} .halo{{paint-order:stroke;stroke:var(--seq-paper);stroke-width:4px;stroke-linejoin:round}}"
    f".{SCOPE} .head{{font-weight:700}}"
    f".{SCOPE} .quiet{{fill:var(--seq-quiet)}}"
    f".{SCOPE} .name{{font:700 12px system-ui,sans-serif;text-anchor:middle}}"
    f".{SCOPE} .under{{font:10px system-ui,sans-serif;text-anchor:middle;fill:var(--seq-quiet)}}"
    f".{SCOPE} .life{{stroke:var(--seq-rule);stroke-dasharray:2 4}}"
    f".{SCOPE} .box{{fill:var(--seq-band);stroke-width:1.25}}"
    f".{SCOPE} .line{{stroke:var(--seq-rule)}}"
    f".{SCOPE} .strong{{stroke:var(--seq-quiet)}}"
    f".{SCOPE} .go{{fill:none;stroke:currentColor;stroke-width:1.4}}"
    f".{SCOPE} .back{{fill:none;stroke:currentColor;stroke-width:1.2;stroke-dasharray:5 3}}"
    f".{SCOPE} .tip{{fill:currentColor}}"
    f".{SCOPE} .open{{fill:none;stroke:currentColor;stroke-width:1.2}}"
    f".{SCOPE} .run{{fill:var(--seq-paper);stroke:currentColor;stroke-width:1.2}}"
    f".{SCOPE} .lost{{stroke-dasharray:3 3}}"
    f".{SCOPE} .dot{{fill:currentColor}}"
    + "".join(f".{SCOPE} .{name}{{color:var(--seq-{name})}}" for name in ("model", "host", "bridge", "package", "tool"))
    + "".join(
        f".{SCOPE} .{name}{{color:var(--seq-{name})}}.{SCOPE} .{name} text,.{SCOPE} text.{name}"
        f"{{fill:var(--seq-{name})}}"
        for name in ("bad", "warn")
    )
)
"""The style of every picture. A page that holds many may put it in once."""


def sequence_svg(
    events: Iterable[Event],
    *,
    most: int | None = None,
    style: bool = True,
    tooltips: bool = True,
    title: str = "",
) -> str:
    """Return the picture of a trace as an ``<svg>`` element.

    It uses no ids, so any number of them can stand in one page; every text is escaped. ``most`` bounds the rows: the
    last are kept. ``style`` false leaves :data:`STYLE` to the page; ``tooltips`` false leaves out the events
    themselves, which no browser shows where the picture is an ``<img>``. ``title`` is what a screen reader says first.
    """
    return "".join(_parts(diagram(events, most), style, tooltips, title or "Sequence diagram of a trace"))


class _Place:
    """Where lanes and columns stand."""

    def __init__(self, whole: Diagram) -> None:
        numbers = [str(event.seq) for row in whole.rows for event in row.events] or ["0"]
        self.seq = 10 + max(map(len, numbers)) * COLUMN
        self.call = self.seq + 12
        names = [*whole.agents] if len(whole.agents) > 1 else []
        shown = max([3, *(width(_id(call)) for call in whole.calls)]) if whole.calls else 0
        self.agent = self.call + (shown * COLUMN + 22 if shown else 0)
        self.shows_agents = bool(names)
        self.left = self.agent + (max(width(fitted(clean(name), 12)) for name in names) * COLUMN + 10 if names else 0)
        self.first = self.left + 62
        last = self.lane(len(whole.lanes) - 1)
        wanted = max(
            (self.label(row) + (width(row.head) + width(row.tail) + 2) * COLUMN for row in whole.rows), default=0
        )
        self.width = round(min(max(last + RIGHT[0], wanted + 20), last + RIGHT[1]))

    def lane(self, number: int) -> float:
        """The middle of a lane."""
        return self.first + number * PITCH

    def label(self, row: Row) -> float:
        """Where the words of a row begin."""
        if row.shape in ("line", "gap"):
            return self.left + 12
        left = self.lane(min(row.source, row.target)) if row.shape != "note" else self.lane(row.source)
        return left + (0 if row.shape == "note" else 30 if row.source == row.target else 12)


def _parts(whole: Diagram, style: bool, tooltips: bool, title: str) -> Iterator[str]:
    place = _Place(whole)
    tops: list[float] = []
    y = float(HEAD + 18)
    far = _far(whole.rows)
    for at, row in enumerate(whole.rows):
        tops.append(y)
        y += HEIGHT[row.shape] + (NAMES if at in far else 0)
    bottom = y + 10
    height = round(bottom + HEAD + 6)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{SCOPE}" role="img" aria-label="{_text(title)}" '
        f'width="{place.width}" height="{height}" viewBox="0 0 {place.width} {height}">'
    )
    yield f"<style>{STYLE}</style>" if style else ""
    yield f'<rect class="paper" width="{place.width}" height="{height}" rx="6"/>'
    for number, lane in enumerate(whole.lanes):
        x = place.lane(number)
        yield f'<line class="life" x1="{x:g}" x2="{x:g}" y1="{HEAD + 6}" y2="{bottom:g}"/>'
        yield _head(lane, x, 6)
        yield _head(lane, x, bottom)
    for span in whole.spans:
        lane, x = whole.lanes[span.lane], place.lane(span.lane) - 4 + _beside(span.depth)
        top = tops[span.first] + 20
        end = bottom if span.last is None else tops[span.last] + 20
        lost = " lost" if span.last is None else ""
        yield f'<rect class="run {lane.kind}{lost}" x="{x:g}" y="{top:g}" width="8" height="{end - top:g}" rx="2"/>'
    for at in sorted(far):
        for number, lane in enumerate(whole.lanes):
            name = _text(fitted(lane.name, 16))
            yield f'<text class="under halo" x="{place.lane(number):g}" y="{tops[at] + 35:g}">{name}</text>'
    for row, top in zip(whole.rows, tops, strict=True):
        yield f'<g class="{_tone(row)}">'
        if tooltips:
            yield f"<title>{_text(_detail(row))}</title>"
        yield from _gutter(row, place, whole, top)
        yield from _DRAW[row.shape](row, place, whole, top)
        yield "</g>"
    yield "</svg>"


def _beside(depth: int) -> int:
    return min(depth, MOST_BESIDE) * BESIDE


def _far(rows: Sequence[Row]) -> set[int]:
    """The dividers that name the lanes again, for who has scrolled the heads away."""
    found: set[int] = set()
    last = 0
    for at, row in enumerate(rows):
        if row.shape == "line" and at - last >= FAR and len(rows) - at >= FAR // 2:
            found.add(at)
            last = at
    return found


def _tone(row: Row) -> str:
    return row.tone if row.tone != "plain" else "row"


def _head(lane: Lane, x: float, y: float) -> str:
    box = PITCH - 16
    return (
        f'<g class="{lane.kind}"><rect class="box" stroke="currentColor" x="{x - box / 2:g}" y="{y:g}" width="{box}" '
        f'height="{HEAD - 10}" rx="5"/>'
        f'<text class="name" x="{x:g}" y="{y + 16:g}">{_text(fitted(lane.name, 16))}</text>'
        f'<text class="under" x="{x:g}" y="{y + 29:g}">{_text(fitted(lane.under, 22))}</text></g>'
    )


def _gutter(row: Row, place: _Place, whole: Diagram, top: float) -> Iterator[str]:
    if row.shape == "gap":
        return
    base = top + 20
    yield f'<text class="quiet" text-anchor="end" x="{place.seq:g}" y="{base:g}">{row.events[0].seq}</text>'
    if row.call is not None:
        shown = _id(row.call)
        hue = _hue(whole.calls.index(row.call))
        yield (
            f'<rect x="{place.call:g}" y="{base - 11:g}" width="{width(shown) * COLUMN + 10:g}" height="15" rx="7.5" '
            f'fill="{hue}"/><text x="{place.call + 5:g}" y="{base:g}" style="fill:#fff">{_text(shown)}</text>'
        )
    if place.shows_agents and row.agent is not None:
        yield f'<text class="quiet" x="{place.agent:g}" y="{base:g}">{_text(fitted(clean(row.agent), 12))}</text>'


def _arrow(row: Row, place: _Place, whole: Diagram, top: float) -> Iterator[str]:
    x1, x2 = place.lane(row.source), place.lane(row.target)
    # The far end is where the run stands that begins or ends here.
    x1, x2 = (x1 + _beside(row.depth), x2) if row.answer else (x1, x2 + _beside(row.depth))
    y = top + 20
    kind = "" if row.tone != "plain" else whole.lanes[row.target if row.answer is False else row.source].kind
    yield f'<g class="{kind}">'
    if row.source == row.target:
        yield f'<path class="go" d="M{x1 + 5:g} {y - 6:g}h18v9h-12"/>{_tip(x1 + 6, y + 3, -1)}'
        yield _label(row, top + 16, place)
    else:
        way = 1 if x2 > x1 else -1
        a, b = x1 + 5 * way, x2 - 5 * way
        yield f'<line class="{"back" if row.answer else "go"}" x1="{a:g}" x2="{b - 2 * way:g}" y1="{y:g}" y2="{y:g}"/>'
        yield _hook(b, y, way) if row.answer else _tip(b, y, way)
        yield _label(row, top + 14, place)
    yield "</g>"


def _trip(row: Row, place: _Place, whole: Diagram, top: float) -> Iterator[str]:
    """There and back at once: a short run on the far lane between the two arrows."""
    yield from _arrow(row, place, whole, top)
    x1, x2 = place.lane(row.source), place.lane(row.target)
    if x1 == x2:
        return
    y, way = top + 29, 1 if x2 > x1 else -1
    yield f'<g class="{"" if row.tone != "plain" else whole.lanes[row.target].kind}">'
    yield f'<rect class="run" x="{x2 - 4:g}" y="{y - 12:g}" width="8" height="15" rx="2"/>'
    yield f'<line class="back" x1="{x2 - 5 * way:g}" x2="{x1 + 7 * way:g}" y1="{y:g}" y2="{y:g}"/>'
    yield f"{_hook(x1 + 5 * way, y, -way)}</g>"


def _note(row: Row, place: _Place, whole: Diagram, top: float) -> Iterator[str]:
    x = place.label(row)
    kind = "" if row.tone != "plain" else whole.lanes[row.source].kind
    room = int((place.width - x - 24) / COLUMN)
    head, tail = _cut(row, room)
    long = (width(head) + (width(tail) + 1 if tail else 0)) * COLUMN + 16
    yield (
        f'<g class="{kind}"><rect class="box" stroke="currentColor" x="{x - 8:g}" y="{top + 5:g}" width="{long:g}" '
        f'height="19" rx="3"/></g><text x="{x:g}" y="{top + 18:g}">{_spans(head, tail)}</text>'
    )


def _line(row: Row, place: _Place, whole: Diagram, top: float) -> Iterator[str]:
    y = top + 16
    strong = " strong" if row.strong else ""
    x = place.label(row)
    head = fitted(row.head, int((place.width - x - 20) / COLUMN))
    after = x + width(head) * COLUMN + 8
    yield f'<path class="line{strong}" d="M{x - 10:g} {y:g}h6M{after:g} {y:g}H{place.width - 8}"/>'
    yield f'<text class="halo head quiet" x="{x:g}" y="{y + 4:g}">{_text(head)}</text>'


def _gap(row: Row, place: _Place, whole: Diagram, top: float) -> Iterator[str]:
    yield f'<text class="halo quiet" x="{place.label(row):g}" y="{top + 20:g}">⋮  {_text(row.head)}</text>'


_DRAW = {"arrow": _arrow, "trip": _trip, "note": _note, "line": _line, "gap": _gap}


def _tip(x: float, y: float, way: int) -> str:
    return f'<path class="tip" d="M{x:g} {y:g}l{-8 * way} -4v8z"/>'


def _hook(x: float, y: float, way: int) -> str:
    return f'<path class="open" d="M{x - 6 * way:g} {y - 4:g}l{6 * way} 4l{-6 * way} 4"/>'


def _label(row: Row, y: float, place: _Place) -> str:
    x = place.label(row)
    head, tail = _cut(row, int((place.width - x - 8) / COLUMN))
    return f'<text class="halo" x="{x:g}" y="{y:g}">{_spans(head, tail)}</text>'


def _cut(row: Row, columns: int) -> tuple[str, str]:
    head = fitted(row.head, columns)
    left = columns - width(head) - 1
    return head, fitted(row.tail, left) if row.tail and left > 3 else ""


def _spans(head: str, tail: str) -> str:
    return f'<tspan class="head">{_text(head)}</tspan>{" " + _text(tail) if tail else ""}'


def _id(call: str) -> str:
    """A call's id where there is little room: its end tells more than its beginning."""
    call = clean(call)
    return call if width(call) <= 6 else f"…{call[-4:]}"


def _hue(number: int) -> str:
    """A colour on which white can be read, another for each of the first calls."""
    return ("#5b6bb5", "#b0568a", "#3f8579", "#a8663a", "#7a5bb0", "#4d7f3c", "#a24f4f", "#39799e")[number % 8]


def _detail(row: Row) -> str:
    """What a tooltip says: the events as they are."""
    lines = []
    for event in row.events[:6]:
        text = spoken(event.data)
        who = "".join(f" {clean(part)}" for part in (event.agent, event.call_id and f"call {event.call_id}") if part)
        lines.append(f"{event.seq} {event.kind}{who} {text[:DETAIL]}{'…' if len(text) > DETAIL else ''}")
    if len(row.events) > 6:
        lines.append(f"and {len(row.events) - 6} more")
    return "\n".join(lines)


def _text(text: str) -> str:
    """Text that is safe in SVG: markup escaped, and nothing in it that XML does not allow."""
    allowed = "".join(
        each
        if each == "\n" or (each >= " " and not "\ud800" <= each <= "\udfff" and each not in "\ufffe\uffff")
        else "\ufffd"
        for each in text
    )
    return escape(allowed)
