"""Sequence diagrams: what is drawn, and that nothing in a trace can break out of the picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conformance.cli import main
from conformance.drivers.protocol import TraceKind
from conformance.reporting._diagram import Lane, Row
from conformance.reporting.sequence import diagram
from conformance.reporting.sequence_svg import STYLE, sequence_svg
from conformance.reporting.sequence_text import sequence_text
from conformance.trace import Event, events_of

SVG = "{http://www.w3.org/2000/svg}"
KINDS = sorted({*TraceKind.__args__, "a.later-kind"})  # type: ignore[attr-defined]


class Story:
    """Events in the order in which they are told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, kind: Any, agent: str | None = None, called: str | None = None, /, **data: Any) -> Story:
        self.events.append(Event(len(self.events) + 1, 0.0, kind, agent, called, data))
        return self


def blocked_call() -> Story:
    """A package blocks the one call of an agent."""
    tell = Story()
    tell("api.call", api="p1", instance="n1", invocation=None, call="on", args=[{"id": "h", "event": "tool_call"}])
    tell("api.return", api="p1", call="on", outcome={"returned": {"$": "undefined"}})
    tell("instance.created", instance="n1", package="guard", role="shared", calls=[])
    tell("agent.created", "main")("turn.start", "main", turn=1)("step.start", "main", turn=1, step=1)
    tell("model.request", "main", request=1, tools=[{"name": "look"}], messages=[])
    tell("model.answer", "main", request=1, calls=[{"id": "c1", "name": "look", "arguments": "{}"}])
    tell("log.call", "main", "c1", name="look", arguments="{}")
    payload = {"type": "tool_call", "toolName": "look", "toolCallId": "c1", "input": {}}
    tell(
        "handler.enter",
        "main",
        "c1",
        invocation="i1",
        instance="n1",
        package="guard",
        event="tool_call",
        payload=payload,
    )
    tell("handler.exit", "main", invocation="i1", instance="n1", package="guard", event="tool_call")
    tell("log.result", "main", "c1", content=[{"type": "text", "text": "closed"}], isError=True, code="DENIED")
    return tell("step.end", "main", turn=1, step=1)("turn.end", "main", turn=1, reason="completed")


def rows(tell: Story) -> list[Row]:
    return list(diagram(tell.events).rows)


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


# --- what is drawn ----------------------------------------------------------------------------------------------------


def test_every_party_has_a_lane_also_a_tool_that_never_ran() -> None:
    assert diagram(blocked_call().events).lanes == (
        Lane("model", "model", "asked by the host"),
        Lane("host", "host", "loop, log, policy"),
        Lane("bridge", "bridge", "under test"),
        Lane("guard", "package", "package"),
        Lane("look", "tool", "tool, never run"),
    )


def test_a_call_and_its_immediate_return_are_one_row() -> None:
    trip = next(row for row in rows(blocked_call()) if row.head == "tool_call")

    assert (trip.shape, trip.tail, trip.source, trip.target, trip.call) == ("trip", "look {}", 2, 3, "c1")
    assert [event.kind for event in trip.events] == ["handler.enter", "handler.exit"]


def test_what_happens_inside_of_a_handler_keeps_it_open() -> None:
    tell = Story()
    tell("handler.enter", "main", "c1", invocation="i1", package="guard", instance="n1", event="tool_call", payload={})
    tell("api.call", api="p1", instance="n1", invocation="i1", call="getActiveTools", args=[])
    tell("api.return", api="p1", invocation="i1", call="getActiveTools", outcome={"returned": ["look"]})
    tell("handler.exit", "main", invocation="i1", package="guard", instance="n1", event="tool_call")

    drawn = diagram(tell.events)

    assert [(row.shape, row.head, row.tail, row.call) for row in drawn.rows] == [
        ("arrow", "tool_call", "{}", "c1"),
        ("trip", "pi.getActiveTools", '→ ["look"]', "c1"),
        ("arrow", "tool_call", "returned", "c1"),
    ]
    assert [(span.lane, span.first, span.last) for span in drawn.spans] == [(3, 0, 2)]


def test_a_return_that_comes_later_goes_to_whoever_asked() -> None:
    tell = Story()("tool.enter", "main", "c1", invocation="i1", package="p", instance="n1", tool="look", params={})
    tell("api.call", api="p1", instance="n1", invocation="i1", call="exec", args=["ls"])
    tell("spawn", argv=["ls"], via="provider")
    tell("api.return", api="p1", call="exec", outcome={"returned": {"code": 0}})

    back = rows(tell)[-1]

    assert (back.head, back.tail, back.source, back.target, back.call) == ("pi.exec", "→ {code: 0}", 2, 4, "c1")


def test_what_the_operator_does_in_a_row_is_one_row() -> None:
    tell = Story()("operator", act="open")("operator", act="load")("operator", "main", act="prompt")

    assert [(row.head, row.tail) for row in rows(tell)] == [("operator", "open, load"), ("operator", "prompt")]


def test_what_never_returns_stays_open_to_the_end() -> None:
    tell = Story()("tool.enter", "main", "c1", invocation="i1", package="p", instance="n", tool="look", params={})

    assert [span.last for span in diagram(tell.events).spans] == [None]
    assert "lost" in sequence_svg(tell.events, style=False)


def test_runs_that_overlap_on_a_lane_are_drawn_beside_each_other() -> None:
    tell = Story()
    for number in "123":
        tell("tool.enter", "main", number, invocation=f"i{number}", package="p", instance="n", tool="look", params={})
    for number in "123":
        tell("tool.exit", "main", invocation=f"i{number}", package="p", instance="n", tool="look")

    drawn = diagram(tell.events)

    assert sorted(span.depth for span in drawn.spans) == [0, 1, 2]
    assert [row.depth for row in drawn.rows] == [0, 1, 2, 0, 1, 2]


def test_a_run_takes_the_place_of_one_that_has_ended() -> None:
    tell = Story()
    for act, number in (("enter", 1), ("enter", 2), ("exit", 1), ("enter", 3)):
        tell(f"tool.{act}", "main", str(number), invocation=f"i{number}", package="p", instance="n", tool="look")

    assert [row.depth for row in rows(tell)] == [0, 1, 0, 0]


def test_equal_calls_of_an_answer_are_counted() -> None:
    calls = [{"id": str(number), "name": "look", "arguments": "{}"} for number in range(11)]
    tell = Story()("model.answer", "main", text="so", calls=[*calls, {"id": "x", "name": "peek", "arguments": "{}"}])

    assert rows(tell)[0].tail == '"so" · calls look {} × 11 · calls peek {}'


def test_registrations_in_a_row_are_one_row_and_one_that_throws_is_not_among_them() -> None:
    tell = Story()
    for number, name in enumerate(("look", "peek", "again", "last")):
        tell("api.call", api=f"p{number}", instance="n1", invocation=None, call="registerTool", args=[{"name": name}])
        outcome: dict[str, Any] = {"returned": {"$": "undefined"}}
        if name == "again":
            outcome = {"threw": {"$": "error", "name": "Error", "message": "taken"}}
        tell("api.return", api=f"p{number}", call="registerTool", outcome=outcome)

    found = [(row.shape, row.tail, row.tone) for row in rows(tell)]

    assert found == [
        ("trip", "look, peek", "plain"),
        ("trip", "again threw Error: taken", "bad"),
        ("trip", "last", "plain"),
    ]


def test_an_error_in_the_log_stands_out() -> None:
    result = next(row for row in rows(blocked_call()) if row.head.startswith("log result"))

    assert (result.head, result.tail, result.tone) == ("log result DENIED", '"closed"', "bad")


def test_boundaries_in_a_row_are_one_line() -> None:
    assert [row.head for row in rows(blocked_call()) if row.shape == "line"] == [
        "agent main created · turn 1 · step 1",
        "step 1 ends · turn 1 ends: completed",
    ]


def test_more_packages_than_fit_share_a_lane_and_are_named_in_the_rows() -> None:
    tell = Story()
    for number in range(9):
        tell("instance.created", instance=f"n{number}", package=f"pack{number}", role="shared", calls=[])

    drawn = diagram(tell.events)

    assert [lane.name for lane in drawn.lanes[3:]] == ["9 packages"]
    assert drawn.rows[8].head == "pack8 loaded"


def test_the_last_rows_are_kept_where_there_are_too_many() -> None:
    drawn = diagram(blocked_call().events, most=2)

    assert [row.shape for row in drawn.rows] == ["gap", "note", "line"]
    assert drawn.rows[0].head == "11 earlier events are left out"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_event_is_drawn(kind: Any) -> None:
    assert rows(Story()(kind, "main", "c1"))[0].events[0].kind == kind


# --- the picture ------------------------------------------------------------------------------------------------------


def test_the_same_trace_is_the_same_picture() -> None:
    assert sequence_svg(blocked_call().events) == sequence_svg(list(reversed(blocked_call().events)))


def test_the_picture_is_well_formed_and_needs_nothing_from_anywhere() -> None:
    svg = sequence_svg(blocked_call().events, title="A call that is blocked")
    root = ElementTree.fromstring(svg)

    assert root.get("aria-label") == "A call that is blocked"
    assert not [node for node in root.iter() if {"id", "href", "src"} & set(node.attrib)]
    assert re.findall(r"https?://[^\"]*|url\(|@import", svg) == ["http://www.w3.org/2000/svg"]
    assert "tool_call look {}" in texts(svg)
    assert "prefers-color-scheme:dark" in STYLE


def test_a_long_picture_names_its_lanes_again() -> None:
    tell = Story()
    for number in range(1, 4):
        tell("step.start", "main", turn=1, step=number)
        for _ in range(20):
            tell("log.user", "main", text="again")

    shown = texts(sequence_svg(tell.events))

    assert shown.count("model") == shown.count("bridge") == 4
    assert texts(sequence_svg(blocked_call().events)).count("model") == 2


def test_the_style_can_be_left_to_the_page() -> None:
    assert "<style>" not in sequence_svg(blocked_call().events, style=False)


def test_every_rule_of_the_style_stays_inside_of_the_picture() -> None:
    selectors = re.findall(r"(?:^|[{}])([^{}@]+)\{", STYLE.replace("@media (prefers-color-scheme:dark){", ""))

    assert selectors
    assert [
        each for each in selectors if not all(part.startswith(".bridge-sequence") for part in each.split(","))
    ] == []


def test_text_stays_inside_of_the_picture() -> None:
    svg = sequence_svg(blocked_call().events)
    root = ElementTree.fromstring(svg)
    width = float(root.get("width", "0"))

    for node in root.iter(f"{SVG}text"):
        if node.get("class") not in ("name", "under") and node.get("text-anchor") != "end":
            assert float(node.get("x", "0")) + len("".join(node.itertext())) * 6.63 <= width + 8


HOSTILE = "</text><script>alert(1)</script>&lt;\"'\x00\x1b[31m\ud800\u202e\ufffe"
VALUES = [
    HOSTILE,
    None,
    7,
    1.5,
    True,
    [],
    {},
    [HOSTILE, None, [HOSTILE]],
    {HOSTILE: {HOSTILE: HOSTILE}},
    {"$": HOSTILE},
]
FIELDS = frozenset(
    word
    for line in (
        "tools calls text finish code content isError name arguments package instance invocation event payload tool",
        "params threw call args outcome role error id phase decision reason exec result listener argv via level",
        "channel turn step request api cwd aborted",
    )
    for word in line.split()
)
"""Every name that the data of an event may have."""


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_an_implementation_sends_breaks_the_picture(kind: Any, value: Any) -> None:
    events = Story()(kind, HOSTILE, HOSTILE, **dict.fromkeys(FIELDS, value)).events

    svg = sequence_svg(events, title=HOSTILE)

    assert not [node for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("script")]
    assert "\n" in sequence_text(events)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\ud800]", sequence_text(events))
    svg.encode()


def test_long_texts_do_not_make_the_picture_large() -> None:
    many = Story()
    for _ in range(60):
        many("notice", channel="logger", level="warn", text="x" * 1_000_000)

    assert len(sequence_svg(many.events)) < 120_000
    assert max(map(len, sequence_text(many.events).splitlines())) < 120


def test_tooltips_hold_the_events_where_they_are_wanted() -> None:
    events = blocked_call().events

    assert "<title>9 log.call main call c1 {name: &quot;look&quot;" in sequence_svg(events)
    assert "<title>" not in sequence_svg(events, tooltips=False)


def test_deep_values_are_cut() -> None:
    deep: Any = "core"
    for number in range(5000):
        deep = [deep] if number % 2 else {"in": deep}
    tell = Story()("tool.enter", "main", "c1", invocation="i1", package="p", instance="n", tool="look", params=deep)

    assert "core" not in sequence_svg(tell.events)
    assert "…" in sequence_text(tell.events)


# --- plain text -------------------------------------------------------------------------------------------------------


def test_the_text_shows_lanes_arrows_and_words() -> None:
    lines = sequence_text(blocked_call().events).splitlines()

    assert lines[0].split() == ["model", "host", "bridge", "guard", "look"]
    assert lines[-1] == lines[0]
    shown = next(line for line in lines if "tool_call look" in line)
    assert shown == "10 #c1     │        │        ├◁──────▶│        │     tool_call look {}"
    assert "✗ log result DENIED" in "\n".join(lines)


def test_the_text_fits_the_columns_it_is_given() -> None:
    assert max(map(len, sequence_text(blocked_call().events, columns=80).splitlines())) <= 80


def test_nothing_is_drawn_of_nothing() -> None:
    assert sequence_text([]) == ""
    ElementTree.fromstring(sequence_svg([]))


# --- the command ------------------------------------------------------------------------------------------------------

LINE = '{"seq":1,"at":0.0,"kind":"log.user","agent":"main","data":{"text":"go"}}\n'


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "one.jsonl"
    path.write_text(LINE)
    return path


def test_the_command_draws_text_and_pictures(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", str(kept)]) == 0
    assert 'log user "go"' in capsys.readouterr().out
    assert main(["trace", str(kept), "--svg", f"--output={kept.with_suffix('.svg')}"]) == 0
    assert ElementTree.parse(kept.with_suffix(".svg")).getroot().tag == f"{SVG}svg"


def test_a_record_is_drawn_as_its_trace_also_where_it_was_cut_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.jsonl"
    record.write_text(
        f'{{"transcript":1}}\n{{"wire":"suite asks","id":1}}\n{{"trace":{LINE.strip()}}}\n{{"trace":{{"seq":2,'
    )

    assert main(["trace", str(record)]) == 0
    assert 'log user "go"' in capsys.readouterr().out


def test_the_command_draws_several_into_a_folder(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = kept.with_name("two.jsonl")
    other.write_text(LINE)

    assert main(["trace", str(kept), str(other)]) == 0
    assert capsys.readouterr().out.count('log user "go"') == 2
    assert main(["trace", "--svg", str(kept), str(other)]) == 4
    assert "name a folder with --output" in capsys.readouterr().err
    assert main(["trace", "--svg", str(kept), str(other), f"--output={kept.parent / 'drawn'}"]) == 0
    assert sorted(path.name for path in (kept.parent / "drawn").iterdir()) == ["one.svg", "two.svg"]


def test_the_same_test_of_two_bridges_is_drawn_twice(tmp_path: Path) -> None:
    paths = [tmp_path / label / "same.jsonl" for label in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(LINE)

    assert main(["trace", *map(str, paths), f"--output={tmp_path / 'drawn'}"]) == 0
    assert sorted(each.name for each in (tmp_path / "drawn").iterdir()) == ["one--same.txt", "two--same.txt"]


def test_a_trace_that_cannot_be_drawn_does_not_keep_the_others_from_it(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", str(kept.with_name("none.jsonl")), str(kept)]) == 4
    assert 'log user "go"' in capsys.readouterr().out


@pytest.mark.parametrize("content", [None, "", "{}\n", LINE + "no json\n", '{"seq":1,"at":0,"kind":"nothing"}\n'])
def test_the_command_says_what_is_wrong_with_a_file(
    tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.jsonl"
    if content is not None:
        path.write_text(content)

    assert main(["trace", str(path)]) == 4
    assert "cannot be drawn" in capsys.readouterr().err


def test_the_line_that_is_no_event_is_named() -> None:
    with pytest.raises(ValueError, match="line 2 is no event"):
        events_of(LINE + "{\n")


def test_only_a_line_feed_ends_an_event() -> None:
    said = '{"seq":1,"at":0.0,"kind":"log.user","data":{"text":"one\u2028two\u0085three"}}\n'

    assert [event["text"] for event in events_of(said * 2)] == ["one\u2028two\u0085three"] * 2
