"""Which stages a call meets, and whose decision counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reference_bridge.host import UNDEFINED, HarnessError, Thrown, ToolResult, allow, block, deny, user_message
from reference_bridge.host.signals import AbortController
from tests.fast.small_host import OK, Stage, call, calls, staged, tool

Setup = Callable[[Stage], Any]


def answers(event: str, answer: Any, *, prepend: bool = False) -> Setup:
    """A listener of `event` that answers without asking further, or raises."""

    def listener(*args: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return lambda stage: stage.host.on(event, listener, prepend=prepend)


def guards(answer: Any) -> Setup:
    def guard(exec: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return lambda stage: stage.host.tools.guard(guard)


def nothing(stage: Stage) -> None: ...


SUCCESS = "call pre guard exec body post emit result"
PATHS: dict[str, tuple[Setup, str, str, str | None]] = {
    "success": (nothing, SUCCESS, "v", None),
    "denied by a later listener": (
        answers("tools/pre-execute", deny("r")),
        "call pre post emit result",
        "Error: r",
        None,
    ),
    "denied by an earlier listener that skips next": (
        answers("tools/pre-execute", deny("r"), prepend=True),
        "call post emit result",
        "Error: r",
        None,
    ),
    "asked without an approval service": (
        answers("tools/pre-execute", {"kind": "ask"}),
        "call pre post emit result",
        'Error: tool "g" requires approval (not yet supported)',
        None,
    ),
    "pre-execute raises": (
        answers("tools/pre-execute", RuntimeError("t")),
        "call pre emit result",
        "Error: t",
        None,
    ),
    "pre-execute answers undefined": (
        answers("tools/pre-execute", UNDEFINED),
        "call pre emit result",
        "Error: Cannot read properties of undefined (reading 'kind')",
        None,
    ),
    "pre-execute answers null": (
        answers("tools/pre-execute", None),
        "call pre emit result",
        "Error: Cannot read properties of null (reading 'kind')",
        None,
    ),
    "a guard denies": (guards("g"), "call pre guard post emit result", "Error: g", None),
    "a guard raises": (guards(RuntimeError("g")), "call pre guard emit result", "Error: g", None),
    "an execute wrapper raises": (
        answers("tools/execute", RuntimeError("w")),
        "call pre guard exec emit result",
        "Error: w",
        None,
    ),
    "an execute wrapper answers itself": (
        answers("tools/execute", ToolResult.success("w")),
        "call pre guard exec post emit result",
        "w",
        None,
    ),
    "an execute wrapper answers nothing": (
        answers("tools/execute", UNDEFINED),
        "call pre guard exec emit result",
        "Error: Cannot read properties of undefined (reading 'isError')",
        None,
    ),
    "post-execute blocks": (
        answers("tools/post-execute", block([{"type": "text", "text": "b"}])),
        SUCCESS,
        "b",
        None,
    ),
    "post-execute raises": (answers("tools/post-execute", RuntimeError("p")), SUCCESS, "Error: p", None),
}


async def walk(stage: Stage, setup: Setup, body: Any = None, name: str = "g") -> Any:
    stage.observe()

    def noting(args: Any, exec: Any) -> Any:
        stage.note(f"body#{exec.call_id}")
        return "v" if body is None else body(args, exec)

    stage.tool("g", noting)
    setup(stage)
    return await stage.one(name)


@pytest.mark.parametrize("path", PATHS)
@staged()
async def test_a_path_meets_its_stages(stage: Stage, path: str) -> None:
    setup, stages, text, code = PATHS[path]
    result = await walk(stage, setup)
    assert (stage.stages("c1"), result.text, result.code) == (stages, text, code)
    assert stage.turn_ends == [{"kind": "completed"}]


@staged()
async def test_a_body_that_raises_meets_every_stage(stage: Stage) -> None:
    def body(args: Any, exec: Any) -> Any:
        raise RuntimeError("body")

    result = await walk(stage, nothing, body)
    assert (stage.stages("c1"), result.text, result.code) == (SUCCESS, "Error: body", None)


@staged()
async def test_an_unknown_tool_meets_every_stage_but_the_body(stage: Stage) -> None:
    result = await walk(stage, nothing, name="ghost")
    assert stage.stages("c1") == "call pre guard exec post emit result"
    assert (result.text, result.code) == ('Error: unknown tool "ghost"', "UNKNOWN_TOOL")


@staged()
async def test_invalid_output_meets_every_stage(stage: Stage) -> None:
    result = await walk(stage, nothing, lambda args, exec: UNDEFINED)
    assert stage.stages("c1") == SUCCESS
    assert result.code == "INVALID_TOOL_OUTPUT"


@pytest.mark.parametrize(
    ("decision", "ran", "guarded", "text"),
    [
        ({"kind": "deny"}, True, False, "ran"),
        ({"kind": "deny", "reason": ""}, False, False, "Error: "),
        ({"kind": "deny", "reason": 7}, False, False, "Error: 7"),
        ({"kind": "deny", "reason": None}, False, False, "Error: null"),
        ({"kind": "deny", "reason": {"a": 1}}, False, False, "Error: [object Object]"),
        ({"kind": "proceed"}, True, False, "ran"),
        ({"kind": "proceed", "reason": "r"}, False, False, "Error: r"),
        ({}, True, False, "ran"),
        (True, True, False, "ran"),
        ("deny", True, False, "ran"),
        ({"kind": "allow", "arguments": {"x": 2}}, True, True, "ran"),
        ({"kind": "ask", "reason": "because"}, False, False, "Error: because"),
    ],
)
@staged()
async def test_only_a_reason_denies_and_only_allow_meets_the_guards(
    stage: Stage, decision: Any, ran: bool, guarded: bool, text: str
) -> None:
    seen: list[str] = []
    arguments: list[Any] = []
    stage.host.tools.guard(lambda exec: seen.append("guard"))
    stage.tool("g", lambda args, exec: arguments.append(args) or "ran")
    answers("tools/pre-execute", decision)(stage)
    result = await stage.one("g", {"x": 1})
    assert (arguments, bool(seen), result.text) == ([{"x": 1}] if ran else [], guarded, text)


def marking(stage: Stage, seen: list[str], name: str) -> Callable[[Any, Any], Any]:
    async def listener(exec: Any, next: Any) -> Any:
        seen.append(f"{name}>")
        decision = await next()
        seen.append(f"<{name}:{decision['kind']}")
        return decision

    return listener


@staged()
async def test_listeners_run_outermost_first_and_prepended_ones_before_them(stage: Stage) -> None:
    seen: list[str] = []
    on = stage.host.on
    on("tools/pre-execute", marking(stage, seen, "A"))
    on("tools/pre-execute", marking(stage, seen, "B"))
    on("tools/pre-execute", marking(stage, seen, "P"), prepend=True)
    on("tools/pre-execute", marking(stage, seen, "agent"), scope=stage.agent.scope)
    stage.tool("g")
    await stage.one("g")
    assert seen == ["P>", "A>", "B>", "agent>", "<agent:allow", "<B:allow", "<A:allow", "<P:allow"]


@staged()
async def test_an_outer_listener_may_turn_a_denial_into_an_allow_but_no_guard(stage: Stage) -> None:
    async def overrule(exec: Any, next: Any) -> Any:
        await next()
        return allow()

    stage.host.on("tools/pre-execute", overrule)
    answers("tools/pre-execute", deny("inner"))(stage)
    stage.tool("g")
    assert (await stage.one("g")).text == "ran"
    stage.host.tools.guard(lambda exec: "for good")
    assert (await stage.one("g")).text == "Error: for good"


@staged()
async def test_next_shares_one_cursor_between_all_listeners(stage: Stage) -> None:
    seen: list[str] = []

    async def thrice(exec: Any, next: Any) -> Any:
        await next()
        await next()
        return await next()

    async def inner(exec: Any, next: Any) -> Any:
        seen.append("inner")
        return await next()

    for event in ("tools/pre-execute", "tools/execute"):
        stage.host.on(event, thrice)
        stage.host.on(event, inner)
    stage.tool("g", lambda args, exec: seen.append("body") or "ran")
    assert (await stage.one("g")).text == "ran"
    assert seen == ["inner", "inner", "body", "body", "body"]


@staged()
async def test_a_second_next_goes_on_to_the_listener_that_the_first_did_not_reach(stage: Stage) -> None:
    seen: list[str] = []

    async def twice(exec: Any, next: Any) -> Any:
        first, second = await next(), await next()
        seen.append(f"{first['kind']} {second['kind']}")
        return second

    stage.host.on("tools/pre-execute", twice)
    answers("tools/pre-execute", deny("first"))(stage)
    stage.host.on("tools/pre-execute", marking(stage, seen, "last"))
    stage.tool("g")
    assert (await stage.one("g")).text == "ran"
    assert seen == ["last>", "<last:allow", "deny allow"]


@staged()
async def test_a_listener_added_during_a_dispatch_does_not_see_it(stage: Stage) -> None:
    seen: list[str] = []

    async def adding(exec: Any, next: Any) -> Any:
        stage.host.on("tools/pre-execute", marking(stage, seen, "added"))
        return await next()

    undo = stage.host.on("tools/pre-execute", adding)
    stage.tool("g")
    await stage.one("g")
    assert seen == []
    undo()
    await stage.one("g")
    assert seen == ["added>", "<added:allow"]


@pytest.mark.parametrize(
    ("error", "text", "identity"),
    [
        (RuntimeError("boom"), "Error: boom", None),
        (KeyError("key"), "Error: key", None),
        (FileNotFoundError(2, "no file"), "Error: [Errno 2] no file", None),
        (HarnessError("harness boom", "MY_CODE"), "Error: harness boom", {"name": "HarnessError", "code": "MY_CODE"}),
        (Thrown("str"), "Error: str", None),
        (Thrown({"message": "objmsg"}), "Error: objmsg", None),
        (Thrown({"message": 7}), "Error: [object Object]", None),
        (Thrown(None), "Error: null", None),
        (Thrown(UNDEFINED), "Error: undefined", None),
        (RuntimeError(""), "Error: ", None),
    ],
)
@pytest.mark.parametrize("where", ["listener", "body"])
@staged()
async def test_whatever_is_thrown_becomes_a_result(
    stage: Stage, error: Exception, text: str, identity: Any, where: str
) -> None:
    def body(args: Any, exec: Any) -> Any:
        raise error

    stage.tool("g", body)
    if where == "listener":
        answers("tools/pre-execute", error)(stage)
    result = await stage.one("g")
    assert (result.text, result.event.data.get("error")) == (text, identity)


@staged()
async def test_a_wrapper_that_aborts_its_own_signal_keeps_the_body_from_running(stage: Stage) -> None:
    async def wrapper(exec: Any, next: Any) -> Any:
        controller = AbortController()
        controller.abort("wrapper")
        exec.signal = controller.signal
        return await next()

    stage.observe()
    stage.host.on("tools/execute", wrapper)
    stage.tool("g", lambda args, exec: stage.note("body#c1"))
    result = await stage.one("g")
    assert result.code == "ABORTED_BEFORE_DISPATCH"
    assert stage.stages("c1") == "call pre guard exec post emit result"


@staged()
async def test_a_wrappers_signal_reaches_the_body_and_the_turns_still_does(stage: Stage) -> None:
    controllers: list[AbortController] = []

    async def wrapper(exec: Any, next: Any) -> Any:
        controllers.append(AbortController())
        exec.signal = controllers[0].signal
        return await next()

    async def body(args: Any, exec: Any) -> str:
        controllers[0].abort("mine")
        await exec.signal.wait()
        return "late"

    stage.host.on("tools/execute", wrapper)
    stage.tool("g", body)
    assert (await stage.one("g")).code == "ABORTED"
    assert stage.turn_ends == [{"kind": "completed"}]


@staged()
async def test_the_fused_signal_is_the_bodys_alone(stage: Stage) -> None:
    seen: list[Any] = []

    async def wrapper(exec: Any, next: Any) -> Any:
        exec.signal = AbortController().signal
        seen.append(exec.signal)
        return await next()

    async def post(exec: Any, result: Any, next: Any) -> Any:
        seen.append(exec.signal)
        return await next()

    stage.host.on("tools/execute", wrapper)
    stage.host.on("tools/post-execute", post)
    stage.tool("g", lambda args, exec: seen.append(exec.signal) or "ran")
    await stage.one("g")
    assert seen[0] is seen[2]
    assert seen[1] is not seen[0]


@staged()
async def test_an_aborted_call_still_delivers_the_contexts_of_its_body(stage: Stage) -> None:
    controller = AbortController()

    async def wrapper(exec: Any, next: Any) -> Any:
        exec.signal = controller.signal
        return await next()

    def body(args: Any, exec: Any) -> str:
        exec.defer_context(user_message("deferred"))
        controller.abort()
        return "late"

    stage.host.on("tools/execute", wrapper)
    stage.tool("g", body)
    assert (await stage.one("g")).code == "ABORTED"
    assert stage.said == ["go", "deferred"]


@staged()
async def test_a_success_that_a_wrapper_authored_is_rendered_by_the_tool(stage: Stage) -> None:
    authored = ToolResult(is_error=False, value="cached", content=[{"type": "text", "text": "ignored content"}])
    answers("tools/execute", authored)(stage)
    stage.tool("g")
    assert (await stage.one("g")).text == "cached"


@staged()
async def test_post_execute_sees_the_abort_of_a_success_that_a_wrapper_held_back(stage: Stage) -> None:
    seen: list[bool] = []

    async def wrapper(exec: Any, next: Any) -> Any:
        result = await next()
        stage.agent.cancel()
        return result

    async def post(exec: Any, result: Any, next: Any) -> Any:
        seen.append(result.is_error)
        return await next()

    stage.host.on("tools/execute", wrapper)
    stage.host.on("tools/post-execute", post)
    stage.tool("g", lambda args, exec: exec.defer_context(user_message("deferred")) or "ran")
    await stage.turn(calls(call("g")))
    assert (seen, stage.results[0].code) == ([True], "ABORTED")
    assert [message["content"][0]["text"] for message in stage.agent.inbox.next_step] == ["deferred"]


@staged()
async def test_a_failure_authored_by_a_wrapper_stands_as_it_is(stage: Stage) -> None:
    failure = ToolResult.failure("m", [{"type": "text", "text": "custom failure"}], {"name": "N", "code": "C"})
    answers("tools/execute", failure)(stage)
    stage.tool("g")
    result = await stage.one("g")
    assert (result.text, result.event.data["error"]) == ("custom failure", {"name": "N", "code": "C"})


@staged()
async def test_a_direct_call_meets_the_whole_pipeline_and_leaves_no_log(stage: Stage) -> None:
    stage.observe()
    stage.tool("g", lambda args, exec: args)
    result = await stage.host.tools.execute("d1", "g", {"a": 1}, agent=stage.agent)
    assert (result.is_error, result.value, result.content) == (False, {"a": 1}, [{"type": "text", "text": '{"a": 1}'}])
    assert stage.stages("d1") == "pre guard exec post emit"
    assert stage.agent.session.events == []


@staged()
async def test_a_direct_call_with_an_aborted_signal_only_tells_the_result(stage: Stage) -> None:
    stage.observe()
    stage.tool("g")
    controller = AbortController()
    controller.abort()
    result = await stage.host.tools.execute("d2", "g", {}, signal=controller.signal)
    assert result.error is not None
    assert result.error.info == {"name": "AbortError", "code": "ABORTED_BEFORE_DISPATCH"}
    assert stage.stages("d2") == "emit"


@staged()
async def test_a_direct_call_needs_arguments(stage: Stage) -> None:
    stage.tool("g")
    result = await stage.host.tools.execute("d3", "g", UNDEFINED)
    assert result.content[0]["text"] == "Error: tool execution arguments must be losslessly JSON-serializable"


@staged()
async def test_a_call_without_an_agent_meets_only_untagged_listeners(stage: Stage) -> None:
    heard: list[str] = []
    stage.host.on("tools/result", lambda exec, result: heard.append(f"all:{exec.agent}"))
    stage.host.on("tools/result", lambda exec, result: heard.append("agent"), scope=stage.agent.scope)
    stage.tool("g")
    await stage.host.tools.execute("x", "g", {})
    await stage.host.tools.execute("y", "g", {}, agent=stage.agent)
    assert heard == ["all:None", "all:Agent('a1')", "agent"]


@staged()
async def test_foreign_fields_of_a_definition_change_nothing(stage: Stage) -> None:
    with pytest.raises(TypeError):
        tool("g", prepare_arguments=lambda args: {})
    stage.tool("g")
    results = await stage.turn(calls(call("g", id="1"), call("g", id="2")), OK)
    assert [result.text for result in results] == ["ran", "ran"]
