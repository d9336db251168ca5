"""What a tool, its policy and the log see of the arguments a model wrote."""

from __future__ import annotations

from typing import Any

import pytest

from reference_bridge.host import UNDEFINED, FrozenDict, FrozenList, define_tool, text_block
from tests.fast.small_host import OK, Stage, call, calls, staged


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ("{bad", "{bad"),
        ("  ", "  "),
        ("\ufeff{}", "\ufeff{}"),
        ('{"n":NaN}', '{"n":NaN}'),
        ("5", 5),
        ("null", None),
        ("true", True),
        ("[1]", [1]),
        ('"s"', "s"),
        ('{"a":1,"a":2}', {"a": 2}),
    ],
)
@staged()
async def test_the_log_has_the_text_and_the_body_what_it_stands_for(stage: Stage, text: str, arguments: object) -> None:
    got: list[object] = []
    stage.tool("g", lambda args, exec: got.append(args) or "x")
    await stage.one("g", raw=text)
    logged = [e.data["arguments"] for e in stage.agent.session.events if e.type == "tool/call"]
    assert (logged, got) == ([text], [arguments])


@pytest.mark.parametrize("text", ['{"n":-0}', '{"a":[{"b":-0.0}]}', '{"n":1e999}', '{"n":-1e-999}'])
@staged()
async def test_lossy_arguments_end_the_call_before_any_policy(stage: Stage, text: str) -> None:
    seen: list[object] = []
    stage.host.on("tools/result", lambda exec, result: seen.append(exec.arguments))
    stage.observe()
    stage.tool("g", lambda args, exec: stage.note(f"body#{exec.call_id}"))
    result = await stage.one("g", raw=text)
    assert result.text == "Error: tool execution arguments must be losslessly JSON-serializable"
    assert result.code is None
    assert stage.stages("c1") == "call emit result"
    assert seen == [UNDEFINED]


@staged()
async def test_very_deep_arguments_reach_the_body(stage: Stage) -> None:
    stage.tool("g", lambda args, exec: "ran")
    assert (await stage.one("g", raw="[" * 5000 + "]" * 5000)).text == "ran"


@staged()
async def test_arguments_are_deeply_frozen_for_everyone(stage: Stage) -> None:
    kinds: list[type] = []

    async def pre(exec: Any, next: Any) -> Any:
        kinds.extend((type(exec.arguments), type(exec.arguments["deep"]), type(exec.arguments["arr"])))
        with pytest.raises(TypeError, match="read only property 'x'"):
            exec.arguments["x"] = 9
        assert not exec.frozen
        return await next()

    stage.host.on("tools/pre-execute", pre)
    stage.host.on("tools/result", lambda exec, result: kinds.extend((exec.frozen, result.frozen)))
    ran: list[object] = []
    stage.tool("g", lambda args, exec: ran.append(args) or "x")
    await stage.one("g", {"x": 1, "deep": {"y": 1}, "arr": [1]})
    assert kinds == [FrozenDict, FrozenDict, FrozenList, True, True]
    assert ran == [{"x": 1, "deep": {"y": 1}, "arr": [1]}]


@staged()
async def test_a_listener_can_replace_the_arguments_and_the_log_keeps_the_models(stage: Stage) -> None:
    async def pre(exec: Any, next: Any) -> Any:
        exec.arguments = {"x": "replaced"}
        return await next()

    stage.host.on("tools/pre-execute", pre)
    ran: list[object] = []
    stage.tool("g", lambda args, exec: ran.append(args) or "x")
    await stage.one("g", {"x": 1})
    assert ran == [{"x": "replaced"}]
    assert next(e for e in stage.agent.session.events if e.type == "tool/call").data["arguments"] == '{"x": 1}'


@staged()
async def test_a_listener_can_rename_the_call_and_the_other_tool_runs(stage: Stage) -> None:
    async def pre(exec: Any, next: Any) -> Any:
        exec.name = "other"
        return await next()

    stage.host.on("tools/pre-execute", pre)
    stage.tool("g")
    stage.tool("other", "OTHER")
    assert (await stage.one("g")).text == "OTHER"


@staged()
async def test_one_call_is_one_object_at_every_stage(stage: Stage) -> None:
    seen: list[object] = []

    async def waterfall(exec: Any, *rest: Any) -> Any:
        seen.append(exec)
        return await rest[-1]()

    for event in ("tools/pre-execute", "tools/execute", "tools/post-execute"):
        stage.host.on(event, waterfall)
    stage.host.tools.guard(seen.append)
    stage.host.on("tools/result", lambda exec, result: seen.append(exec))
    stage.tool("g", lambda args, exec: seen.append(exec) or "x")
    await stage.one("g")
    assert len(seen) == 6
    assert all(each is seen[0] for each in seen)


D_PARAMETERS: dict[str, Any] = {
    "s": {"type": "string", "required": True},
    "n": {"type": "number"},
    "i": {"type": "integer"},
    "b": {"type": "boolean"},
    "e": {"type": "string", "enum": ["x", "y"]},
    "o": {
        "type": "object",
        "additionalProperties": False,
        "properties": {"k": {"type": "string", "required": True}},
    },
    "l": {"type": "array", "items": {"type": "number"}},
}


def typed_tool(body: Any) -> Any:
    return define_tool(
        name="d",
        description="d",
        parameters=D_PARAMETERS,
        output_schema={"type": "string"},
        render=lambda args, value: [text_block(value)],
        execute=body,
    )


@pytest.mark.parametrize(
    ("text", "violation"),
    [
        ("{}", 'missing required property "s"'),
        ('{"s":1}', '"s" must be a string'),
        ('{"s":"a","n":"7"}', '"n" must be a number'),
        ('{"s":"a","n":true}', '"n" must be a number'),
        ('{"s":"a","n":null}', '"n" must be a number'),
        ('{"s":"a","i":1.5}', '"i" must be an integer'),
        ('{"s":"a","b":1}', '"b" must be a boolean'),
        ('{"s":"a","e":"z"}', '"e" must be one of ["x","y"]'),
        ('{"s":"a","o":{}}', 'missing required property "o.k"'),
        (
            '{"s":"a","o":{"k":"v","extra":1}}',
            '"o.extra" is not a declared property (additionalProperties: false)',
        ),
        ('{"s":"a","l":[1,"x"]}', '"l[1]" must be a number'),
        ('{"n":"7"}', 'missing required property "s"; "n" must be a number'),
        ("[]", '"arguments" must be an object'),
        ("null", '"arguments" must be an object'),
        ("{oops", '"arguments" must be an object'),
    ],
)
@staged()
async def test_a_defined_tool_refuses_arguments_inside_its_body(stage: Stage, text: str, violation: str) -> None:
    stage.observe()
    stage.host.tools.register(typed_tool(lambda args, exec: stage.note(f"body#{exec.call_id}")))
    result = await stage.one("d", raw=text)
    assert result.text == f"Error: invalid arguments: {violation}"
    assert result.event.data["error"] == {"name": "ToolArgsError", "code": "INVALID_ARGS"}
    assert stage.stages("c1") == "call pre guard exec post emit result"


@staged()
async def test_a_defined_tool_coerces_nothing_and_lets_unknown_arguments_pass(stage: Stage) -> None:
    got: list[object] = []
    stage.host.tools.register(typed_tool(lambda args, exec: got.append(args) or "ok"))
    results = await stage.turn(
        calls(call("d", {"s": "a", "unknown": True}, id="1"), call("d", raw='{"s":"a","i":2.0}', id="2")), OK
    )
    assert [result.is_error for result in results] == [False, False]
    assert got == [{"s": "a", "unknown": True}, {"s": "a", "i": 2}]


@staged()
async def test_a_defined_tool_shows_the_model_plain_json_schema(stage: Stage) -> None:
    stage.host.tools.register(typed_tool(lambda args, exec: "ok"))
    assert stage.host.tools.schemas()[0]["parameters"] == {
        "type": "object",
        "properties": {
            "s": {"type": "string"},
            "n": {"type": "number"},
            "i": {"type": "integer"},
            "b": {"type": "boolean"},
            "e": {"type": "string", "enum": ["x", "y"]},
            "o": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"k": {"type": "string"}},
                "required": ["k"],
            },
            "l": {"type": "array", "items": {"type": "number"}},
        },
        "required": ["s"],
    }
