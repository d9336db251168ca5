"""Calls that a model's program makes, and how the modes present the tools."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import Mapping
from typing import Any

import pytest

from reference_bridge.host import RUN_CODE, UNDEFINED, AbortSignal, CodeOutcome, accept, plugin_message, text_block
from reference_bridge.host.code_mode import Binding
from tests.fast.small_host import OK, Stage, call, calls, show, staged, tool


class PythonPrograms:
    """Runs programs in Python, as the body of `async def program(tools)`, with no isolation at all."""

    async def run(self, program: str, tools: Mapping[str, Binding], signal: AbortSignal) -> CodeOutcome:
        names: dict[str, Any] = {"asyncio": asyncio, "UNDEFINED": UNDEFINED}
        logs: list[str] = []
        exec(f"async def program(tools, print):\n{textwrap.indent(program, '  ')}", names)
        try:
            return CodeOutcome(await names["program"](tools, logs.append), logs)
        except Exception as error:
            return CodeOutcome(error=str(error), logs=logs)


def program(code: str, description: str = "d") -> Any:
    return call(RUN_CODE, {"code": code, "description": description}, id="rc")


def both(**more: Any) -> Any:
    return staged(mode="both", code_runtime=PythonPrograms(), **more)


def dispatches(stage: Stage) -> list[tuple[str, str]]:
    return [
        (event.type, event.data["subCallId"]) for event in stage.agent.session.events if "code-dispatch" in event.type
    ]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("return 'v'", "v"),
        ("return {'a': 1}", '{\n  "a": 1\n}'),
        ("return None", "null"),
        ("return UNDEFINED", "(run_code completed with no output)"),
        ("print('l1'); print('l2'); return 1", "l1\nl2\n1"),
        ("raise ValueError('pe')", "Error: code run failed (exception): pe"),
        ("print('l'); raise ValueError('pe')", "Error: code run failed (exception): pe\nCaptured output:\nl"),
        ("return await tools['g']({'v': [1]})", "[\n  1\n]"),
        ("return await tools['g']({'fail': 1})", "Error: code run failed (exception): gf"),
        (
            "return await tools['g']()",
            "Error: code run failed (exception): tool arguments must be lossless JSON "
            "(call the tool with an arguments object, e.g. `{}`)",
        ),
    ],
)
@both()
async def test_what_a_program_prints_and_returns_is_the_result(stage: Stage, code: str, text: str) -> None:
    def body(args: Any, exec: Any) -> Any:
        if "fail" in args:
            raise RuntimeError("gf")
        return args.get("v", "gr")

    stage.tool("g", body)
    (result,) = await stage.turn(program(code))
    assert result.text == text
    assert result.code == ("CODE_RUN_FAILED" if text.startswith("Error: ") else None)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({}, 'Error: invalid arguments: missing required property "code"; missing required property "description"'),
        ({"code": "", "description": " "}, "Error: invalid description: expected a non-empty string"),
    ],
)
@both()
async def test_a_program_needs_a_text_and_a_description(stage: Stage, args: Any, text: str) -> None:
    assert (await stage.one(RUN_CODE, args)).text == text


@both()
async def test_a_nested_call_meets_all_policy_and_has_events_of_its_own(stage: Stage) -> None:
    stage.observe()
    metas: list[Any] = []

    def body(args: Any, exec: Any) -> Any:
        stage.note(f"body#{exec.call_id}")
        return [exec.call_id, exec.root_call_id, exec.parent is not None]

    stage.tool("g", body, presentation_meta=lambda args, value: metas.append(value))
    (result,) = await stage.turn(program("return [await tools['g']({'x': 1}), await tools['g']({})]"))
    assert json.loads(result.text) == [["rc:code:1", "rc", True], ["rc:code:2", "rc", True]]
    assert stage.stages("rc:code:1") == ("tool/code-dispatch-start pre guard exec body post emit tool/code-dispatch")
    assert stage.stages("rc") == "call pre guard exec post emit result"
    assert metas == []
    first = next(event for event in stage.agent.session.events if event.type == "tool/code-dispatch")
    assert first.data == {
        "rootCallId": "rc",
        "parentCallId": "rc",
        "subCallId": "rc:code:1",
        "name": "g",
        "arguments": {"x": 1},
        "isError": False,
        "content": show(None, ["rc:code:1", "rc", True]),
    }


@both()
async def test_a_nested_denial_raises_in_the_program(stage: Stage) -> None:
    async def policy(exec: Any, next: Any) -> Any:
        return {"kind": "deny", "reason": "inner denied"} if exec.parent else await next()

    stage.tool("g")
    stage.host.on("tools/pre-execute", policy)
    code = "try:\n  await tools['g']({})\nexcept Exception as error:\n  return f'caught {error}'"
    assert (await stage.turn(program(code)))[0].text == "caught inner denied"


@both()
async def test_a_nested_conclusion_concludes_the_outer_call_and_its_contexts_join_the_step(stage: Stage) -> None:
    picture = {"type": "image", "attachment": {}}
    stage.tool("g", lambda args, exec: exec.conclude_turn() or "x", render=lambda args, value: [picture])
    stage.host.on(
        "tools/post-execute",
        lambda exec, result, next: accept(additional_contexts=[plugin_message("ctx", "p")] if exec.parent else []),
    )
    await stage.turn(calls(program("return await tools['g']({})")), OK)
    entered = [e.data["content"] for e in stage.agent.session.events if e.type == "user/message"]
    assert entered == [[text_block("go")], [picture], [text_block("ctx")]]
    assert stage.turn_ends == [{"kind": "completed"}]


@both()
async def test_safe_calls_of_a_program_overlap_and_others_do_not(stage: Stage) -> None:
    running: list[int] = [0, 0]

    async def body(args: Any, exec: Any) -> int:
        running[0] += 1
        running[1] = max(running)
        await asyncio.sleep(0)
        running[0] -= 1
        return 1

    code = "return await asyncio.gather(*(tools['{}']({{}}) for _ in range(3)))"
    stage.tool("safe", body, is_concurrency_safe=lambda args: True)
    stage.tool("alone", body)
    for name, most in (("alone", 1), ("safe", 3)):
        running[1] = 0
        await stage.turn(program(code.format(name)))
        assert (name, running[1]) == (name, most)
    ends = [sub for kind, sub in dispatches(stage) if kind == "tool/code-dispatch"]
    assert ends == ["rc:code:1", "rc:code:2", "rc:code:3"] * 2


@both()
async def test_an_exclusive_call_of_a_program_is_a_barrier_both_ways(stage: Stage) -> None:
    async def body(args: Any, exec: Any) -> int:
        stage.note(f"start{exec.call_id[-1]}")
        for _ in range(5):
            await asyncio.sleep(0)
        stage.note(f"end{exec.call_id[-1]}")
        return 1

    stage.tool("safe", body, is_concurrency_safe=lambda args: True)
    stage.tool("alone", body)
    await stage.turn(program("return await asyncio.gather(*(tools[n]({}) for n in ('safe', 'alone', 'safe')))"))
    assert stage.trace == ["start1", "end1", "start2", "end2", "start3", "end3"]


@both()
async def test_one_concluding_nested_call_ends_the_turn(stage: Stage) -> None:
    stage.tool("g", lambda args, exec: exec.conclude_turn() or "x")
    await stage.turn(calls(program("return await tools['g']({})")))
    assert (len(stage.model.requests), stage.turn_ends) == (1, [{"kind": "completed"}])


@both()
async def test_calls_that_a_program_does_not_wait_for_are_finished_or_abandoned(stage: Stage) -> None:
    async def body(args: Any, exec: Any) -> str:
        await exec.signal.wait()
        return "late"

    stage.tool("g", body)
    code = (
        "first, second = (asyncio.ensure_future(tools['g']({})) for _ in range(2))\n"
        "tools['keep'] = (first, second)\n"
        "for _ in range(9): await asyncio.sleep(0)\n"
        "return 'over'"
    )
    (result,) = await stage.turn(program(code))
    assert result.text == "over"
    assert dispatches(stage) == [("tool/code-dispatch-start", "rc:code:1"), ("tool/code-dispatch", "rc:code:1")]
    for _ in range(9):
        await asyncio.sleep(0)


@both()
async def test_mode_both_lists_each_tool_and_run_code_last(stage: Stage) -> None:
    stage.tool("g")
    assert stage.names() == ["g", RUN_CODE]
    assert stage.host.tools.view(stage.agent.scope).restrictable_names == {"g"}
    await stage.turn(call("g"))
    assert [t["name"] for t in stage.model.requests[0].tools] == ["g", RUN_CODE]
    stage.host.tools.restrict(stage.agent.scope, allow=[])
    assert stage.names() == [RUN_CODE]


@staged(mode="code", code_runtime=PythonPrograms())
async def test_mode_code_lets_only_run_code_be_called(stage: Stage) -> None:
    stage.observe()
    stage.tool("g", "g ran")
    direct, nested = await stage.turn(calls(call("g")), program("return await tools['g']({})"))
    assert direct.text == (
        'Error: unknown tool "g": only `run_code` is callable directly — '
        "call `g` from inside a `run_code` program instead"
    )
    assert (direct.code, stage.stages("c1")) == ("UNKNOWN_TOOL", "call emit result")
    assert nested.text == "g ran"
    assert [t["name"] for t in stage.model.requests[0].tools] == [RUN_CODE]


@staged(code_runtime=PythonPrograms())
async def test_mode_native_neither_shows_nor_runs_it_unless_a_scope_says_otherwise(stage: Stage) -> None:
    stage.tool("g")
    assert stage.names() == ["g"]
    assert (await stage.one(RUN_CODE, {"code": "return 1", "description": "d"})).code == "UNKNOWN_TOOL"
    undo = stage.host.tools.present_as("both", stage.agent.scope)
    assert stage.names() == ["g", RUN_CODE]
    with pytest.raises(ValueError, match=r'conflicts with "both" already declared for this scope'):
        stage.host.tools.present_as("code", stage.agent.scope)
    with pytest.raises(ValueError, match=r"^tools.presentAs\(\) requires a scoped context"):
        stage.host.tools.present_as("code", None)
    undo()
    assert stage.names() == ["g"]


@staged(mode="both")
async def test_a_mode_that_runs_code_needs_something_to_run_it(stage: Stage) -> None:
    stage.host.tools.register(tool("g"))
    await stage.turn()
    assert stage.turn_ends[0]["error"]["message"] == (
        'mode "both" requires a code runtime: give the host one or set the mode to "native"'
    )
