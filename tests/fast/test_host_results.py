"""What a body may answer, what is made of it, and who may still change it."""

from __future__ import annotations

import asyncio
import datetime
from typing import Any

import pytest

from reference_bridge.host import UNDEFINED, ToolResult, accept, block, plugin_message, text_block
from tests.fast.small_host import OK, Stage, call, calls, show, staged

LOSSY = 'Error: tool "b" returned invalid output: value is not lossless JSON'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (3, "3"),
        ({"a": [1]}, '{"a": [1]}'),
        (UNDEFINED, LOSSY),
        ({"a": UNDEFINED}, LOSSY),
        (-0.0, LOSSY),
        (float("nan"), LOSSY),
        (datetime.date(2020, 1, 1), LOSSY),
        (object(), LOSSY),
    ],
)
@pytest.mark.parametrize("how", ["plain", "async"])
@staged()
async def test_a_body_answers_with_lossless_json(stage: Stage, value: Any, text: str, how: str) -> None:
    async def later(args: Any, exec: Any) -> Any:
        return value

    stage.tool("b", later if how == "async" else lambda args, exec: value)
    result = await stage.one("b")
    assert result.text == text
    assert result.event.data.get("error") == (
        {"name": "ToolOutputError", "code": "INVALID_TOOL_OUTPUT"} if text == LOSSY else None
    )


def broken(what: str) -> Any:
    def project(*args: Any) -> Any:
        raise RuntimeError(what)

    return project


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        ({"output_schema": {"type": "object"}}, '"value" must be an object'),
        ({"render": broken("r")}, "output.render failed: r"),
        ({"render": lambda args, value: UNDEFINED}, "output.render returned non-lossless JSON"),
        ({"presentation_meta": broken("m")}, "output.presentationMeta failed: m"),
        (
            {"presentation_meta": lambda args, value: UNDEFINED},
            "output.presentationMeta returned non-lossless JSON",
        ),
    ],
)
@staged()
async def test_a_broken_output_contract_fails_the_call(stage: Stage, extra: dict[str, Any], problem: str) -> None:
    stage.tool("b", "v", **extra)
    result = await stage.one("b")
    assert result.text == f'Error: tool "b" returned invalid output: {problem}'
    assert result.code == "INVALID_TOOL_OUTPUT"


@pytest.mark.parametrize(
    "content",
    [
        "str",
        [],
        [{"type": "zzz", "foo": 1}],
        [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
    ],
)
@staged()
async def test_the_shape_of_content_is_nobodys_business(stage: Stage, content: Any) -> None:
    stage.tool("b", "v", render=lambda args, value: content)
    result = await stage.one("b")
    assert (result.is_error, result.content) == (False, content)
    assert stage.model.requests[1].messages[-1]["content"][0]["content"] == content


@staged()
async def test_meta_is_logged_and_the_value_is_not(stage: Stage) -> None:
    stage.tool("m", lambda args, exec: {"secret": 1}, render=lambda a, v: [], presentation_meta=lambda a, v: None)
    result = await stage.one("m")
    assert "meta" in result.event.data
    assert result.event.data["meta"] is None
    assert "secret" not in str([event.as_json() for event in stage.agent.session.events])


@staged()
async def test_results_are_not_capped(stage: Stage) -> None:
    big = "x" * (5 << 20)
    stage.tool("big", big)
    assert (await stage.one("big")).text == big


@pytest.mark.parametrize(
    ("finalize", "text"),
    [
        (lambda exec, result: None, "v"),
        (lambda exec, result: [text_block(f"final:{result.is_error}")], "final:False"),
        (broken("fc"), "Error: fc"),
        (lambda exec, result: [object()], "Error: tool result must be losslessly JSON-serializable"),
    ],
)
@staged()
async def test_a_tool_has_the_last_word_on_its_content(stage: Stage, finalize: Any, text: str) -> None:
    stage.tool("b", "v", finalize_content=finalize)
    assert (await stage.one("b")).text == text


@staged()
async def test_the_last_word_is_asked_once_on_every_path(stage: Stage) -> None:
    asked: list[bool] = []

    def body(args: Any, exec: Any) -> str:
        if args.get("fail"):
            raise RuntimeError("f")
        return "x"

    async def policy(exec: Any, next: Any) -> Any:
        if exec.arguments.get("boom"):
            raise RuntimeError("b")
        return {"kind": "deny", "reason": "d"} if exec.arguments.get("deny") else await next()

    stage.tool("c", body, finalize_content=lambda exec, result: asked.append(result.is_error))
    stage.host.on("tools/pre-execute", policy)
    await stage.turn(
        calls(
            call("c", id="1"),
            call("c", {"fail": 1}, id="2"),
            call("c", {"deny": 1}, id="3"),
            call("c", {"boom": 1}, id="4"),
            call("c", raw='{"n":-0}', id="5"),
        ),
        OK,
    )
    assert asked == [False, True, True, True, True]


def decides(stage: Stage, decision: Any) -> None:
    stage.host.on("tools/post-execute", lambda exec, result, next: decision)


@pytest.mark.parametrize(
    ("decision", "is_error", "content"),
    [
        ({"kind": "accept"}, False, [text_block("ran")]),
        (accept(content=[text_block("patched")]), False, [text_block("patched")]),
        (accept(content=[]), False, []),
        ({"kind": "accept", "content": UNDEFINED}, False, [text_block("ran")]),
        ({"kind": "accept", "content": "str"}, False, "str"),
        (accept(value="new"), False, [text_block("new")]),
        (
            accept(content=[], value="y"),
            True,
            [text_block("Error: tools/post-execute accept decision cannot replace both value and content")],
        ),
        ({"kind": "accept", "value": UNDEFINED}, True, [text_block(LOSSY)]),
        (
            accept(content=[{"type": "text", "text": "x", "d": object()}]),
            True,
            [text_block("Error: tool result must be losslessly JSON-serializable")],
        ),
        (block([text_block("blocked")]), True, [text_block("blocked")]),
        (block([]), True, []),
        (block([{"type": "image"}]), True, [{"type": "image"}]),
        ({"kind": "whatever"}, False, [text_block("ran")]),
        (True, False, [text_block("ran")]),
        (
            UNDEFINED,
            True,
            [text_block("Error: Cannot read properties of undefined (reading 'additionalContexts')")],
        ),
    ],
)
@staged()
async def test_a_post_execute_decision_on_a_success(stage: Stage, decision: Any, is_error: bool, content: Any) -> None:
    decides(stage, decision)
    stage.tool("b")
    result = await stage.one("b")
    assert (result.is_error, result.content) == (is_error, content)
    assert stage.turn_ends == [{"kind": "completed"}]


@pytest.mark.parametrize(
    ("decision", "text", "code"),
    [
        (accept(), 'Error: unknown tool "f"', "UNKNOWN_TOOL"),
        (accept(content=[text_block("softer")]), "softer", "UNKNOWN_TOOL"),
        (accept(value="v"), "Error: tools/post-execute cannot replace the value of a failed result", None),
        (block([text_block("harder")]), "harder", None),
    ],
)
@staged()
async def test_no_decision_turns_a_failure_into_a_success(
    stage: Stage, decision: Any, text: str, code: str | None
) -> None:
    decides(stage, decision)
    result = await stage.one("f")
    assert (result.is_error, result.text, result.code) == (True, text, code)


@staged()
async def test_every_post_execute_listener_sees_the_original_and_the_outermost_decides(stage: Stage) -> None:
    seen: list[str] = []

    async def outer(exec: Any, result: ToolResult, next: Any) -> Any:
        decision = await next()
        seen.append(f"outer {result.content[0]['text']} {decision['content'][0]['text']}")
        return accept(content=[text_block("outer")])

    async def inner(exec: Any, result: ToolResult, next: Any) -> Any:
        seen.append(f"inner {result.content[0]['text']}")
        return accept(content=[text_block("inner")], additional_contexts=[plugin_message("ctx", "p")])

    stage.host.on("tools/post-execute", outer)
    stage.host.on("tools/post-execute", inner)
    stage.tool("b", "orig")
    assert (await stage.one("b")).text == "outer"
    assert seen == ["inner orig", "outer orig inner"]
    assert stage.said == ["go"]


@staged()
async def test_deferred_and_added_contexts_join_the_next_step(stage: Stage) -> None:
    def body(args: Any, exec: Any) -> str:
        exec.defer_context(plugin_message("from body", "p"))
        if args.get("fail"):
            raise RuntimeError("f")
        return "x"

    stage.tool("b", body)
    undo = stage.host.on(
        "tools/post-execute",
        lambda exec, result, next: accept(additional_contexts=[plugin_message("from post", "p")]),
    )
    await stage.one("b")
    assert stage.said == ["go", "from body", "from post"]
    undo()
    await stage.one("b", {"fail": True})
    assert stage.said[3:] == ["go", "from body"]
    decides(stage, block([text_block("no")]))
    await stage.one("b")
    assert stage.said[5:] == ["go"]


@staged()
async def test_a_failure_can_be_changed_in_place_and_other_results_cannot(stage: Stage) -> None:
    frozen: dict[str, tuple[bool, bool]] = {}

    def body(args: Any, exec: Any) -> str:
        if args.get("defer"):
            exec.defer_context(plugin_message("c", "p"))
        if args.get("fail"):
            raise RuntimeError("orig")
        return "x"

    async def policy(exec: Any, next: Any) -> Any:
        return {"kind": "deny", "reason": "d"} if exec.arguments.get("deny") else await next()

    async def mutate(exec: Any, result: ToolResult, next: Any) -> Any:
        try:
            result.content[0]["text"] = "MUTATED"
            changed = True
        except TypeError:
            changed = False
        frozen[exec.call_id] = (result.frozen, not changed)
        return await next()

    stage.tool("f", body)
    stage.host.on("tools/pre-execute", policy)
    stage.host.on("tools/post-execute", mutate)
    results = await stage.turn(
        calls(*(call("f", {kind: True}, id=kind) for kind in ("ok", "fail", "deny", "defer"))), OK
    )
    assert frozen == {"ok": (True, True), "fail": (False, False), "deny": (True, True), "defer": (False, True)}
    assert [result.text for result in results] == ["x", "MUTATED", "Error: d", "x"]


@staged()
async def test_every_result_observer_is_told_and_none_can_fail_the_call(stage: Stage) -> None:
    told: list[str] = []
    notices: list[str] = []
    done = asyncio.Event()
    stage.host.logger.on(lambda notice: notices.append(notice.text))

    def first(exec: Any, result: Any) -> None:
        told.append("first")
        raise RuntimeError("sync observer")

    async def second(exec: Any, result: Any) -> None:
        told.append("second")
        done.set()
        raise RuntimeError("async observer")

    def third(exec: Any, result: Any) -> None:
        told.append("third")
        with pytest.raises(TypeError):
            exec.name = "x"
        with pytest.raises(TypeError):
            result.content = []

    for observer in (first, second, third):
        stage.host.on("tools/result", observer)
    stage.tool("b")
    assert not (await stage.one("b")).is_error
    await done.wait()
    await stage.host.background.drain()
    assert sorted(told) == ["first", "second", "third"]
    assert notices == [
        'tool "b" (c1): tools/result observer failed: sync observer',
        'tool "b" (c1): tools/result observer failed: async observer',
    ]


@staged()
async def test_post_execute_is_awaited_before_the_turn_ends_and_result_observers_are_not(stage: Stage) -> None:
    turn_ended = asyncio.Event()

    async def observer(exec: Any, result: Any) -> None:
        await turn_ended.wait()
        stage.note("late work")

    async def post(exec: Any, result: Any, next: Any) -> Any:
        decision = await next()
        await asyncio.sleep(0)
        stage.note("awaited work")
        return decision

    stage.observe()
    stage.host.on("tools/result", observer)
    stage.host.on("tools/post-execute", post)
    stage.host.on("session/event", lambda session, event: event.type == "turn/end" and turn_ended.set())
    stage.tool("b")
    await stage.one("b")
    await stage.host.background.drain()
    kinds = stage.trace
    assert kinds.index("awaited work") < kinds.index("emit#c1") < kinds.index("tool/result#c1")
    assert kinds.index("tool/result#c1") < kinds.index("turn/end") < kinds.index("late work")


@staged()
async def test_pictures_reach_the_log_and_the_model_by_reference(stage: Stage) -> None:
    picture = {"type": "image", "attachment": {"attachmentId": "sha256:" + "ab" * 32, "mediaType": "image/png"}}
    stage.tool("img", "x", render=lambda args, value: [*show(args, value), picture])
    result = await stage.one("img")
    assert result.content[1] == picture
    assert stage.model.requests[1].messages[-1]["content"][0]["content"][1] == picture
