"""The durable log: what goes in, in which order, who is told, and what a reload finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reference_bridge.host import UNDEFINED, JsonLinesStore, MemoryStore, Session, SessionEvent, Store, user_message
from tests.fast.small_host import OK, Script, Stage, call, calls, open_stage, staged


@staged()
async def test_the_log_of_a_prompt_with_one_call(stage: Stage) -> None:
    stage.tool("g", "ran", presentation_meta=lambda args, value: {"m": 1})
    await stage.turn(call("g", {"x": 1}))
    events = stage.agent.session.events
    assert [event.seq for event in events] == list(range(len(events)))
    chunks = ["assistant/chunk"] * 3
    assert [event.type for event in events] == [
        *("agent/inbox/spliced", "turn/start", "agent/inbox/spliced", "step/start", "user/message"),
        *("request/header", "request/context", *chunks, "assistant/message", "tool/call", "tool/result", "step/end"),
        *("step/start", *chunks, "assistant/chunk", "assistant/message", "step/end", "turn/end"),
    ]
    made = next(event for event in events if event.type == "tool/call")
    assert made.as_json() == {
        "type": "tool/call",
        "seq": made.seq,
        "time": made.time,
        "data": {"turn": 1, "step": 1, "callId": "c1", "name": "g", "arguments": '{"x": 1}'},
    }
    ended = events[made.seq + 1].as_json()
    message = ended["data"]["message"]
    assert (ended["type"], ended["surfaceOp"], ended["sourceEventSeqs"]) == ("tool/result", "append", [made.seq])
    assert {key: value for key, value in ended["data"].items() if key != "message"} == {
        "turn": 1,
        "step": 1,
        "meta": {"m": 1},
    }
    assert {key: value for key, value in message.items() if key != "id"} == {
        "role": "user",
        "source": {"kind": "tool", "callId": "c1"},
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "content": [{"type": "text", "text": "ran"}],
                "isError": False,
            }
        ],
    }


@staged()
async def test_the_reply_holds_the_calls_and_names_its_chunks(stage: Stage) -> None:
    stage.tool("g")
    await stage.turn(call("g"))
    events = stage.agent.session.events
    reply = next(event for event in events if event.type == "assistant/message")
    assert reply.data["message"]["content"] == [{"type": "tool-call", "id": "c1", "name": "g", "arguments": "{}"}]
    assert reply.source_event_seqs is not None
    assert {events[seq].type for seq in reply.source_event_seqs} == {"assistant/chunk"}


@staged()
async def test_a_header_is_logged_only_when_it_changes(stage: Stage) -> None:
    stage.tool("a")
    await stage.turn(OK)
    await stage.turn(OK)
    stage.tool("b")
    await stage.turn(OK)
    headers = [event.data for event in stage.agent.session.events if event.type == "request/header"]
    assert [header["reason"] for header in headers] == ["initial", "change"]
    assert [tool["name"] for tool in headers[1]["header"]["tools"]] == ["a", "b"]


@staged()
async def test_events_are_frozen_all_the_way_down(stage: Stage) -> None:
    stage.tool("g")
    await stage.turn(call("g"))
    event = stage.results[0].event
    for write in (
        lambda: setattr(event, "seq", 9),
        lambda: event.data.update(turn=9),
        lambda: event.data["message"]["content"][0]["content"].append(1),
    ):
        with pytest.raises(TypeError):
            write()


@pytest.mark.parametrize(
    ("type", "data", "more", "text"),
    [
        (
            "todo/write",
            {"todos": [UNDEFINED]},
            {},
            'session event "todo/write" carries non-JSON-serializable data',
        ),
        (
            "tool/result",
            {},
            {},
            'session event "tool/result" is surface-eligible and requires a surfaceOp marker',
        ),
        (
            "user/message",
            {},
            {"surface_op": "append", "source_event_seqs": []},
            "sourceEventSeqs must not be empty except on assistant/message",
        ),
    ],
)
@staged()
async def test_an_append_that_would_spoil_the_log_is_refused(
    stage: Stage, type: str, data: Any, more: Any, text: str
) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole text is compared below
        stage.agent.session.append(type, data, **more)
    assert str(refused.value) == text
    assert stage.agent.session.events == []


@staged()
async def test_any_type_may_be_appended(stage: Stage) -> None:
    assert stage.agent.session.append("made/up", {"a": 1}).as_json()["data"] == {"a": 1}


@staged()
async def test_listeners_are_told_inside_the_append_and_cannot_append_steer_or_fail_it(stage: Stage) -> None:
    refused: list[str] = []

    def listener(session: Session, event: SessionEvent) -> None:
        if event.type != "tool/call":
            return
        assert session.events[-1] is event
        acts: list[Callable[[], Any]] = [
            lambda: session.append("user/message", user_message("x"), surface_op="append"),
            lambda: stage.agent.steer("y"),
        ]
        for act in acts:
            with pytest.raises(RuntimeError) as error:
                act()
            refused.append(str(error.value))
        raise LookupError("listener")

    notices: list[str] = []
    stage.host.logger.on(lambda notice: notices.append(notice.text))
    stage.host.on("session/event", listener)
    stage.tool("g")
    assert (await stage.one("g")).text == "ran"
    assert refused == ["session append cannot reenter while another append is being published"] * 2
    assert notices == ["session a1: session/event observer failed: listener"]


@staged()
async def test_a_message_waits_once(stage: Stage) -> None:
    message = user_message("x")
    stage.agent.inject(message)
    with pytest.raises(ValueError, match="is already pending"):
        stage.agent.inject(message)


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else JsonLinesStore(tmp_path / "log.jsonl")


def one_turn(stage: Stage) -> list[Any]:
    stage.tool("g", lambda args, exec: args)
    return [call("g", raw='{"s":"\\ud800","n":12345678901234567890,"b":1,"1":2}')]


def logged(events: Any) -> list[Any]:
    return [event.as_json() for event in events]


def test_a_reload_finds_the_log_and_an_agent_continues_it(store: Store) -> None:
    @staged(store=lambda id: store)
    async def run(stage: Stage) -> None:
        await stage.turn(*one_turn(stage))
        before = logged(stage.agent.session.events)
        stage.agent.inject(user_message("waiting"))
        await stage.agent.dispose()

        assert logged(store.load())[: len(before)] == before
        again = await stage.host.agents.create("a1", stage.model)
        assert not again.inbox.has_pending
        stage.model.replies = [OK]
        again.followup("more")
        await again.when_idle()
        assert [event.seq for event in again.session.events] == list(range(len(again.session.events)))
        assert [e.data["turn"] for e in again.session.events if e.type == "turn/start"] == [1, 2]
        assert [e.data["reason"] for e in again.session.events if e.type == "request/header"] == ["initial", "resume"]
        assert len(stage.model.requests[-1].messages) == len(stage.model.requests[0].messages) + 4

    run()


def test_what_waited_is_waiting_after_a_reload(store: Store) -> None:
    @staged()
    async def run(stage: Stage) -> None:
        session = Session("s", store, lambda session, event: None)
        inbox_data = {"target": "next-turn", "start": 0, "inserted": [user_message("parked")]}
        session.append("agent/inbox/spliced", inbox_data)
        session.close()
        other = (await open_stage(store=lambda id: store)).host
        agent = other.agents.get("a1")
        assert agent is not None
        assert [message["content"][0]["text"] for message in agent.inbox.next_turn] == ["parked"]
        await other.close()

    run()


def test_a_log_that_breaks_off_inside_a_turn_is_completed_as_interrupted(store: Store) -> None:
    session = Session("s", store, lambda session, event: None)
    blocks = [{"type": "tool-call", "id": id, "name": "g", "arguments": "{}"} for id in ("c1", "c2", "c3")]
    position = {"turn": 1, "step": 1}
    session.append("turn/start", {"turn": 1})
    session.append("step/start", position)
    reply = {"role": "assistant", "content": blocks, "source": {}, "id": "m"}
    session.append("assistant/message", {**position, "message": reply}, surface_op="append", source_event_seqs=[])
    started = [
        session.append("tool/call", {**position, "callId": id, "name": "g", "arguments": "{}"}) for id in ("c1", "c2")
    ]
    done = {"role": "user", "content": [], "source": {"kind": "tool", "callId": "c1"}, "id": "r"}
    session.append("tool/result", {**position, "message": done}, surface_op="append", source_event_seqs=[3])
    session.close()

    for _ in range(2):
        reloaded = Session("s", store, lambda session, event: None).events
        assert [event.type for event in reloaded[6:]] == ["tool/result", "tool/result", "step/end", "turn/end"]
        unknown, not_started = reloaded[6:8]
        assert (unknown.data["error"]["code"], unknown.source_event_seqs) == (
            "TOOL_OUTCOME_UNKNOWN",
            (started[1].seq,),
        )
        assert (not_started.data["error"]["code"], not_started.source_event_seqs) == ("TOOL_NOT_STARTED", None)
        assert reloaded[-1].data == {"turn": 1, "reason": {"kind": "interrupted"}}
        assert [event.seq for event in reloaded] == list(range(10))


def test_an_unknown_type_is_refused_on_load_unless_it_is_ignorable(store: Store) -> None:
    session = Session("s", store, lambda session, event: None)
    session.append("made/up", {}, ignorable=True)
    session.close()
    assert Session("s", store, lambda session, event: None).events[0].ignorable
    session.append("made/up", {})
    session.close()
    with pytest.raises(ValueError, match='event type "made/up"'):
        Session("s", store, lambda session, event: None)


def test_a_torn_last_line_is_dropped_and_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    session = Session("s", JsonLinesStore(path), lambda session, event: None)
    session.append("request/context", {"n": 1})
    session.append("request/context", {"n": 2, "long": "x" * 500})
    session.close()
    path.write_bytes(path.read_bytes()[:-7])
    again = Session("s", JsonLinesStore(path), lambda session, event: None)
    assert [event.data["n"] for event in again.events] == [1]
    again.append("request/context", {"n": 3})
    again.close()
    assert [json.loads(line)["data"]["n"] for line in path.read_text().splitlines()] == [1, 3]


@pytest.mark.parametrize(
    ("line", "text"),
    [(b"{}", "not an event"), (b"5", "not an event"), (b"{bad", "not an event"), (None, "a line is missing")],
)
def test_a_broken_line_elsewhere_is_an_error_with_its_place(tmp_path: Path, line: bytes | None, text: str) -> None:
    path = tmp_path / "log.jsonl"
    session = Session("s", JsonLinesStore(path), lambda session, event: None)
    for n in range(3):
        session.append("request/context", {"n": n})
    session.close()
    lines = path.read_bytes().split(b"\n")
    lines[1:2] = [] if line is None else [line]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(ValueError, match=f"log.jsonl:2: .*{text}"):
        JsonLinesStore(path).load()


def test_the_disk_is_reached_once_a_turn_and_not_touched_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)

    @staged(store=lambda id: JsonLinesStore(path))
    async def run(stage: Stage) -> None:
        assert not path.exists()
        stage.tool("g")
        await stage.turn(call("g"))
        assert len(synced) == 1
        await stage.turn(OK)
        assert len(synced) == 2

    run()


def test_a_host_of_its_own_continues_what_another_wrote(tmp_path: Path) -> None:
    @staged(store=lambda id: JsonLinesStore(tmp_path / f"{id}.jsonl"))
    async def write(stage: Stage) -> None:
        await stage.turn(*one_turn(stage))

    @staged(store=lambda id: JsonLinesStore(tmp_path / f"{id}.jsonl"))
    async def read(stage: Stage) -> None:
        assert stage.turn_ends == [{"kind": "completed"}]
        assert json.loads(stage.results[0].text)["b"] == 1
        model = Script()
        model.replies = [calls(), OK]
        stage.agent.followup("more")
        await stage.agent.when_idle()
        assert stage.said == ["go", "more"]

    write()
    read()
