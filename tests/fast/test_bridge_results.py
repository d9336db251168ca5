"""What tools answer, and what `tool_result` handlers make of it."""

from __future__ import annotations

from typing import Any

import pytest

from reference_bridge.bridge.values import UNDEFINED
from reference_bridge.host import accept, block, text_block
from tests.fast.small_bridge import Bridged, bridged, pi_tool, result, text
from tests.fast.small_host import OK, call, calls


def shown(stage: Bridged) -> Any:
    """The content of the last durable result, and whether it is an error."""
    return stage.results[-1].content, stage.results[-1].is_error


@bridged()
async def test_patches_chain_across_handlers_and_packages_in_load_order(stage: Bridged) -> None:
    def redact(event: Any, ctx: Any) -> Any:
        return {"content": [text(event["content"][0]["text"].replace("abc", "[R]"))]}

    def note(words: str) -> Any:
        return lambda event, ctx: {"content": [*event["content"], text(words)]}

    await stage.load("a", pi_tool("t", result("KEY=abc")), tool_result=[redact, note("one")])
    await stage.load("b", tool_result=note("two"), watch=True)
    await stage.one("t")
    assert shown(stage) == ([text("KEY=[R]"), text("one"), text("two")], False)
    assert stage.told("tool_execution_end")[0]["result"]["content"] == shown(stage)[0]


@bridged()
async def test_changes_in_place_count_without_an_answer(stage: Bridged) -> None:
    def edit(event: Any, ctx: Any) -> None:
        event["content"][0]["text"] = "edited"
        event["content"].append(text("more"))

    await stage.load("p", pi_tool("t"), tool_result=edit)
    await stage.one("t")
    assert shown(stage) == ([text("edited"), text("more")], False)


@pytest.mark.parametrize("answer", [None, {"details": {"a": 1}}])
@bridged()
async def test_a_replaced_member_counts_once_anybody_answers(stage: Bridged, answer: Any) -> None:
    def replace(event: Any, ctx: Any) -> None:
        event["content"] = [text("replaced")]

    await stage.load("p", pi_tool("t"), tool_result=[replace, lambda event, ctx: answer])
    await stage.one("t")
    assert shown(stage)[0] == [text("replaced" if answer else "t ran")]


@bridged()
async def test_a_handler_that_throws_changes_nothing_and_the_next_one_is_asked(stage: Bridged) -> None:
    def throws(event: Any, ctx: Any) -> None:
        raise RuntimeError("bad")

    await stage.load("p", pi_tool("t"), tool_result=[throws, lambda event, ctx: {"content": [text("next")]}])
    await stage.one("t")
    assert shown(stage) == ([text("next")], False)
    assert ["bad" in notice for notice in stage.notices] == [True]


@bridged()
async def test_a_success_can_be_made_an_error_and_keeps_its_text(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t", result("fine")), tool_result=lambda event, ctx: {"isError": True}, watch=True)
    await stage.one("t")
    assert shown(stage) == ([text("fine")], True)
    assert stage.told("tool_execution_end")[0]["isError"] is True


@bridged()
async def test_a_failure_stays_one_and_the_attempt_is_reported(stage: Bridged) -> None:
    stage.tool("broken", lambda args, exec: 1 / 0)
    recover = {"isError": False, "content": [text("all is well")]}
    await stage.load("p", tool_result=[lambda event, ctx: recover, stage.keep("later")])
    await stage.one("broken")
    assert shown(stage) == ([text("all is well")], True)
    assert stage.told("tool_result")[0]["isError"] is True
    assert ["broken" in notice for notice in stage.notices] == [True]


@pytest.mark.parametrize("in_place", [False, True])
@bridged()
async def test_details_stay_those_of_the_tool_and_the_attempt_is_reported(stage: Bridged, in_place: bool) -> None:
    def patch(event: Any, ctx: Any) -> Any:
        if in_place:
            event["details"]["status"] = "patched"
            return None
        return {"details": {"status": "patched"}}

    await stage.load("p", pi_tool("t", result("x") | {"details": {"status": "own"}}), tool_result=patch, watch=True)
    await stage.one("t")
    assert stage.results[-1].event.data["meta"] == {"details": {"status": "own"}}
    assert stage.told("tool_execution_end")[0]["result"]["details"] == {"status": "own"}
    assert ["details" in notice for notice in stage.notices] == [True]


@pytest.mark.parametrize("patch", [None, UNDEFINED, {}, True, "x", {"content": None}, {"isError": None}, {"usage": 1}])
@bridged()
async def test_an_answer_without_a_patch_changes_nothing(stage: Bridged, patch: Any) -> None:
    await stage.load("p", pi_tool("t"), tool_result=lambda event, ctx: patch)
    await stage.one("t")
    assert shown(stage) == ([text("t ran")], False)
    assert stage.notices == []


@bridged()
async def test_an_empty_content_patch_empties_the_result(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t"), tool_result=lambda event, ctx: {"content": []})
    await stage.one("t")
    assert shown(stage) == ([], False)


@bridged()
async def test_results_of_native_tools_are_patched_alike(stage: Bridged) -> None:
    stage.tool("native", "raw")
    await stage.load("p", tool_result=lambda event, ctx: {"content": [text("patched")]})
    await stage.one("native")
    assert shown(stage) == ([text("patched")], False)


@pytest.mark.parametrize(
    ("decision", "wanted"),
    [
        (accept(content=[text_block("host")]), ([text("host"), text("pi")], False)),
        (block([text_block("host")]), ([text("host"), text("pi")], True)),
        (accept(value="host"), ([text("host"), text("pi")], False)),
    ],
    ids=["content", "block", "value"],
)
@bridged()
async def test_packages_patch_what_the_hosts_own_listeners_left(stage: Bridged, decision: Any, wanted: Any) -> None:
    stage.tool("native", "raw")
    stage.host.on("tools/post-execute", lambda exec, result, following: decision)
    await stage.load("p", tool_result=lambda event, ctx: {"content": [*event["content"], text("pi")]}, watch=True)
    await stage.one("native")
    assert shown(stage) == wanted
    end = stage.told("tool_execution_end")[0]
    assert (end["result"]["content"], end["isError"]) == wanted


@bridged()
async def test_contexts_of_the_hosts_own_listeners_survive_a_patch(stage: Bridged) -> None:
    from reference_bridge.host import plugin_message

    note = plugin_message("remember", "host")
    stage.tool("native", "raw")
    stage.host.on("tools/post-execute", lambda exec, result, following: accept(additional_contexts=[note]))
    await stage.load("p", tool_result=lambda event, ctx: {"isError": True})
    await stage.one("native")
    assert "remember" in stage.said


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("plain", ["plain"]),
        (7, ["7"]),
        ({"content": "text"}, ["text"]),
        ({"details": {"a": 1}}, []),
        ({}, []),
        ({"content": []}, []),
        ({"content": [{"type": "text", "text": 42}]}, ["42"]),
        ({"content": [None, {"type": "video", "url": "u"}]}, ["null", '{\n  "type": "video",\n  "url": "u"\n}']),
    ],
)
@bridged()
async def test_any_answer_is_one_success_of_texts(stage: Bridged, answer: Any, texts: list[str]) -> None:
    await stage.load("p", pi_tool("t", lambda *_: answer))
    await stage.one("t")
    assert shown(stage) == ([text(each) for each in texts], False)
    assert stage.requests == 2


@pytest.mark.parametrize("answer", [None, UNDEFINED])
@bridged()
async def test_no_answer_is_one_error(stage: Bridged, answer: Any) -> None:
    await stage.load("p", pi_tool("t", lambda *_: answer))
    await stage.one("t")
    assert shown(stage)[1] is True
    assert stage.requests == 2


@bridged()
async def test_an_error_flag_in_an_answer_means_nothing(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t", result("kept", isError=True)))
    await stage.one("t")
    assert shown(stage) == ([text("kept")], False)


@bridged()
async def test_details_that_json_cannot_carry_are_left_out_and_reported(stage: Bridged) -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    answers = [{"content": [], "details": cycle}, {"content": [], "details": {"f": print, "kept": 1}}]
    await stage.load("p", pi_tool("t", lambda *_: answers.pop(0)))
    await stage.turn(calls(call("t"), call("t", id="c2")), OK)
    assert [each.event.data["meta"] for each in stage.results] == [{}, {"details": {"kept": 1}}]
    assert len(stage.notices) == 1


@bridged()
async def test_details_that_cannot_be_copied_do_not_spoil_the_result(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t", {"content": [text("fine")], "details": {"task": (i for i in "x")}}), watch=True)
    await stage.one("t")
    assert shown(stage) == ([text("fine")], False)
    assert stage.order() == ["start", "call", "result", "end"]


@bridged()
async def test_a_definition_without_a_body_fails_its_calls(stage: Bridged) -> None:
    tool = pi_tool("t")
    del tool["execute"]
    await stage.load("p", tool)
    assert "not a function" in (await stage.one("t")).text


@bridged()
async def test_updates_come_in_order_before_the_result_and_none_after_the_answer(stage: Bridged) -> None:
    import asyncio

    late: list[Any] = []

    async def body(id: str, params: Any, signal: Any, on_update: Any, ctx: Any) -> Any:
        late.append(on_update)
        for part in ("one", "two", "three"):
            on_update(result(part))
        return result("done")

    async def slow(event: Any, ctx: Any) -> None:
        await asyncio.sleep(0.002 if event["partialResult"]["content"][0]["text"] == "one" else 0)
        stage.seen.append(("slow", "tool_execution_update", event))

    await stage.load("p", pi_tool("t", body), tool_execution_update=slow, watch=False)
    await stage.load("q", tool_result=stage.keep("q"), tool_execution_end=stage.keep("q"))
    await stage.one("t", {"n": "1"})
    late[0](result("late"))
    await stage.bridge.settled(stage.agent)
    assert stage.order() == ["update", "update", "update", "result", "end"]
    updates = stage.told("tool_execution_update")
    assert [each["partialResult"]["content"][0]["text"] for each in updates] == ["one", "two", "three"]
    assert updates[0]["args"] == {"n": "1"}


@bridged()
async def test_native_tools_give_no_updates(stage: Bridged) -> None:
    stage.tool("native")
    await stage.load("p", watch=True)
    await stage.one("native")
    assert stage.told("tool_execution_update") == []
