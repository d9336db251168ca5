"""How a turn goes on, how it ends, and what waits for the next one."""

from __future__ import annotations

from typing import Any

import pytest

from reference_bridge.host import ModelReply, accept, block, plugin_message, text_block, user_message
from tests.fast.small_host import OK, Stage, call, calls, staged


def stop(stage: Stage) -> None:
    def body(args: Any, exec: Any) -> str:
        exec.conclude_turn()
        if args.get("fail"):
            raise RuntimeError("f")
        if args.get("defer"):
            exec.defer_context(plugin_message("ctx", "p"))
        return "stopped"

    stage.tool("stop", body)
    stage.tool("go", "went")


def requests(stage: Stage) -> int:
    return len(stage.model.requests)


MORE = ModelReply(text="more")


@staged()
async def test_one_concluding_call_ends_the_turn_after_the_whole_batch(stage: Stage) -> None:
    stop(stage)
    results = await stage.turn(calls(call("stop", id="1"), call("go", id="2")))
    assert [result.text for result in results] == ["stopped", "went"]
    assert (requests(stage), stage.turn_ends) == (1, [{"kind": "completed"}])


@pytest.mark.parametrize(
    ("made", "decision", "asked"),
    [
        (call("stop", {"fail": True}), None, 2),
        (call("stop", {"defer": True}), None, 2),
        (call("stop"), block([text_block("b")]), 2),
        (call("stop"), accept(content=[text_block("patched")]), 1),
        (call("stop"), accept(value="v"), 1),
        (call("stop"), accept(additional_contexts=[plugin_message("ctx", "p")]), 2),
    ],
)
@staged()
async def test_what_keeps_and_what_cancels_a_conclusion(stage: Stage, made: Any, decision: Any, asked: int) -> None:
    stop(stage)
    if decision is not None:
        stage.host.on("tools/post-execute", lambda exec, result, next: decision)
    await stage.turn(calls(made), MORE)
    assert (requests(stage), stage.turn_ends) == (asked, [{"kind": "completed"}])


@pytest.mark.parametrize(
    ("act", "asked", "turns"),
    [
        (lambda stage: stage.agent.steer("s"), 2, 1),
        (lambda stage: stage.agent.inject(plugin_message("i", "p")), 2, 1),
        (lambda stage: stage.agent.followup("f"), 2, 2),
    ],
)
@staged()
async def test_input_that_races_a_conclusion_is_still_answered(stage: Stage, act: Any, asked: int, turns: int) -> None:
    stop(stage)
    stage.host.on("tools/result", lambda exec, result: act(stage))
    await stage.turn(calls(call("stop")), MORE)
    assert (requests(stage), len(stage.turn_ends)) == (asked, turns)


@pytest.mark.parametrize(
    ("event", "answer", "asked"),
    [
        ("tools/pre-execute", None, 1),
        ("tools/pre-execute", {"kind": "deny", "reason": "x"}, 2),
        ("tools/post-execute", None, 2),
        ("tools/post-execute", accept(value="v"), 1),
    ],
)
@staged()
async def test_a_listener_concludes_only_before_the_result_is_made(
    stage: Stage, event: str, answer: Any, asked: int
) -> None:
    async def concluding(exec: Any, *rest: Any) -> Any:
        exec.conclude_turn()
        return await rest[-1]() if answer is None else answer

    stop(stage)
    stage.host.on(event, concluding)
    await stage.turn(calls(call("go")), MORE)
    assert requests(stage) == asked


@staged()
async def test_a_post_execute_listener_that_raises_takes_the_conclusion_with_it(stage: Stage) -> None:
    def broken(exec: Any, result: Any, next: Any) -> Any:
        raise RuntimeError("listener bug")

    stop(stage)
    stage.host.on("tools/post-execute", broken)
    (result,) = await stage.turn(calls(call("stop")), MORE)
    assert (result.text, requests(stage)) == ("Error: listener bug", 2)


@staged()
async def test_a_rejected_step_blocks_the_turn_and_loses_what_it_claimed(stage: Stage) -> None:
    claimed: list[str] = []
    reject = []

    def body(args: Any, exec: Any) -> str:
        reject.append(True)
        stage.agent.steer("steered")
        stage.agent.followup("queued")
        return "x"

    async def gate(step: Any, next: Any) -> Any:
        if not reject:
            return await next()
        reject.clear()
        claimed.extend(message["content"][0]["text"] for message in step.messages)
        return {"kind": "reject"}

    stage.observe()
    stage.tool("g", body)
    stage.host.on("agent/pre-step", gate)
    await stage.turn(calls(call("g")))
    assert (claimed, stage.said, stage.turn_ends) == (["steered"], ["go"], [{"kind": "blocked"}])
    assert "turn-stopping" not in stage.trace
    assert (stage.agent.status, len(stage.agent.inbox.next_turn)) == ("idle", 1)

    await stage.turn(OK, OK, prompt="later")
    assert stage.said == ["go", "queued", "later"]


@staged()
async def test_a_rejected_first_step_opens_and_closes_the_turn_without_a_step(stage: Stage) -> None:
    stage.host.on("agent/pre-step", lambda step, next: {"kind": "reject"})
    await stage.turn()
    events = [event.type for event in stage.agent.session.events if event.type.startswith(("turn", "step"))]
    assert (events, stage.turn_ends) == (["turn/start", "turn/end"], [{"kind": "blocked"}])


@staged()
async def test_pre_step_may_rewrite_what_enters(stage: Stage) -> None:
    async def rewrite(step: Any, next: Any) -> Any:
        return {**await next(), "messages": [user_message("rewritten")]}

    stage.host.on("agent/pre-step", rewrite)
    await stage.turn(OK)
    assert stage.said == ["rewritten"]


@staged()
async def test_a_first_step_without_messages_completes_the_turn(stage: Stage) -> None:
    stage.host.on("agent/pre-step", lambda step, next: {"kind": "enter", "messages": []})
    await stage.turn()
    assert (requests(stage), stage.turn_ends) == (0, [{"kind": "completed"}])


@staged()
async def test_turn_stopping_is_not_told_while_input_waits(stage: Stage) -> None:
    stop(stage)
    stage.observe()
    stage.host.on("tools/result", lambda exec, result: stage.agent.steer("s"))
    await stage.turn(calls(call("stop")), MORE)
    assert stage.trace.count("turn-stopping") == 1


@staged()
async def test_a_step_that_nothing_enters_does_not_extend_the_turn(stage: Stage) -> None:
    async def swallow(step: Any, next: Any) -> Any:
        return await next() if step.step == 1 else {"kind": "enter", "messages": []}

    stage.host.on("agent/pre-step", swallow)
    stage.host.on("agent/turn-stopping", lambda stopping: stage.agent.steer("swallowed"))
    await stage.turn(OK)
    assert (requests(stage), stage.said, stage.turn_ends) == (1, ["go"], [{"kind": "completed"}])


@staged()
async def test_turn_stopping_is_awaited_and_may_extend_the_turn(stage: Stage) -> None:
    extended: list[bool] = []

    async def extend(stopping: Any) -> None:
        if not extended:
            extended.append(True)
            stopping.agent.steer("one more")

    stage.observe()
    stage.tool("g")
    stage.host.on("agent/turn-stopping", extend)
    await stage.turn(call("g"), MORE)
    assert (requests(stage), len(stage.turn_ends)) == (3, 1)
    assert stage.trace[-3:] == ["turn-stopping", "turn/end", "status:idle"]
    assert stage.said == ["go", "one more"]


@staged()
async def test_a_turn_stopping_listener_that_answers_something_is_the_last_to_be_told(stage: Stage) -> None:
    told: list[str] = []
    stage.host.on("agent/turn-stopping", lambda stopping: told.append("first"))
    stage.host.on("agent/turn-stopping", lambda stopping: told.append("second") or "answer")
    stage.host.on("agent/turn-stopping", lambda stopping: told.append("third"))
    await stage.turn(OK)
    assert told == ["first", "second"]


@pytest.mark.parametrize("event", ["agent/turn-stopping", "system-prompt/assemble", "agent/pre-step"])
@staged()
async def test_a_listener_around_a_step_that_raises_ends_the_turn_with_its_text_and_cause(
    stage: Stage, event: str
) -> None:
    def broken(*args: Any) -> Any:
        raise RuntimeError("outer") from ValueError("inner")

    stage.host.on(event, broken)
    await stage.turn(OK)
    assert stage.turn_ends == [{"kind": "error", "error": {"message": "outer: inner", "code": "UNKNOWN"}}]


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (None, "Cannot read properties of null (reading 'kind')"),
        ({}, "Cannot read properties of undefined (reading 'length')"),
        ({"kind": "enter"}, "Cannot read properties of undefined (reading 'length')"),
    ],
)
@staged()
async def test_a_malformed_pre_step_decision_ends_the_turn_with_an_error(
    stage: Stage, decision: Any, text: str
) -> None:
    stage.host.on("agent/pre-step", lambda step, next: decision)
    await stage.turn(OK)
    assert stage.turn_ends == [{"kind": "error", "error": {"message": text, "code": "UNKNOWN"}}]


@staged()
async def test_steer_and_inject_join_the_next_step_and_a_followup_gets_its_own_turn(stage: Stage) -> None:
    def body(args: Any, exec: Any) -> str:
        stage.agent.steer("steer")
        stage.agent.inject(plugin_message("inject", "p"))
        stage.agent.followup("follow")
        return "x"

    stage.tool("g", body)
    await stage.turn(call("g"), MORE)
    order = [
        event.data["content"][0]["text"] if event.type == "user/message" else event.type
        for event in stage.agent.session.events
        if event.type in ("user/message", "turn/start", "tool/result")
    ]
    assert order == ["turn/start", "go", "tool/result", "steer", "inject", "turn/start", "follow"]


@staged()
async def test_a_prompt_to_an_idle_agent_opens_its_turn_at_once(stage: Stage) -> None:
    stage.model.replies = [OK, OK]
    stage.agent.followup("go")
    assert [event.type for event in stage.agent.session.events] == [
        "agent/inbox/spliced",
        "turn/start",
        "agent/inbox/spliced",
    ]
    stage.agent.steer("too late for step 1")
    await stage.agent.when_idle()
    steps = [event.data for event in stage.agent.session.events if event.type == "step/start"]
    assert steps == [{"turn": 1, "step": 1}, {"turn": 1, "step": 2}]


@staged()
async def test_injected_input_wakes_nobody_and_joins_the_next_prompt(stage: Stage) -> None:
    stage.agent.inject(plugin_message("note", "p"))
    assert stage.agent.status == "idle"
    await stage.turn(OK)
    assert stage.said == ["note", "go"]


@staged()
async def test_prompts_wait_their_turn(stage: Stage) -> None:
    stage.model.replies = [OK, OK]
    stage.agent.followup("one")
    stage.agent.followup("two")
    await stage.agent.when_idle()
    assert stage.said == ["one", "two"]
    assert stage.turn_ends == [{"kind": "completed"}] * 2


@staged()
async def test_max_tokens_is_how_the_turn_ends_whatever_a_later_step_says(stage: Stage) -> None:
    stage.host.on("agent/turn-stopping", lambda stopping: requests(stage) == 1 and stopping.agent.steer("go on"))
    await stage.turn(ModelReply(text="cut", finish="max-tokens"), MORE)
    assert (requests(stage), stage.turn_ends) == (2, [{"kind": "max-tokens"}])


@staged()
async def test_the_order_around_one_prompt(stage: Stage) -> None:
    stage.tool("g")
    seen: list[str] = []

    async def assemble(assembly: Any, context: Any, next: Any) -> Any:
        seen.append("assemble")
        return await next()

    async def pre_step(step: Any, next: Any) -> Any:
        seen.append(f"pre-step:{len(step.messages)}")
        return await next()

    on = stage.host.on
    on("agent/start", lambda agent: seen.append("start"))
    on("agent/end", lambda agent: seen.append("end"))
    on("agent/status", lambda change: seen.append(change.status))
    on("system-prompt/assemble", assemble)
    on("agent/pre-step", pre_step)
    on("session/event", lambda session, event: seen.append(event.type))
    agent = await stage.host.agents.create("o", stage.model, setup=lambda agent: seen.append("setup"))
    stage.model.replies = [calls(call("g")), OK]
    agent.followup("go")
    await agent.when_idle()
    await agent.dispose()
    shown = [what for what in seen if what not in ("assistant/chunk", "request/header", "request/context")]
    assert shown == [
        *("setup", "start", "agent/inbox/spliced", "running", "turn/start", "agent/inbox/spliced"),
        *("assemble", "pre-step:1", "step/start", "user/message", "assistant/message"),
        *("tool/call", "tool/result", "step/end"),
        *("assemble", "pre-step:0", "step/start", "assistant/message", "step/end", "turn/end", "idle", "end"),
    ]


@staged()
async def test_the_catalogue_is_taken_before_the_prompt_is_assembled_and_may_be_taken_again(stage: Stage) -> None:
    stage.tool("a")
    stage.tool("b")
    again: list[bool] = [False]

    async def narrow(assembly: Any, context: Any, next: Any) -> Any:
        stage.host.tools.restrict(context.agent.scope, deny=["a"] if again[0] else ["b"])
        assembly = await next()
        if again[0]:
            assembly.tools = stage.host.tools.catalogue(context.agent.scope)
        assembly.sections.append("Be brief.")
        return assembly

    stage.host.on("system-prompt/assemble", narrow)
    await stage.turn(OK)
    again[0] = True
    await stage.turn(OK)
    assert [[t["name"] for t in request.tools] for request in stage.model.requests] == [["a", "b"], []]
    assert stage.model.requests[0].system == "Be brief."
