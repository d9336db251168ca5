"""The reference driven through a stage, end to end: one path of each kind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.drivers.backend import InProcessDriver
from conformance.drivers.protocol import HandlerSpec, ModelAnswer, NativeSpec, Op, Reply, ToolCall, ToolSpec
from conformance.drivers.reference import make_backend
from conformance.peer import text_result
from conformance.scripts import Behaviour, CallPi
from conformance.stage import Stage
from conformance.trace import text_of

PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}}


@pytest.fixture(params=["root", "engine"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    with asyncio.Runner() as runner:
        driver = InProcessDriver("reference", lambda suite: make_backend(suite, request.param))
        hello = runner.run(driver.start())
        stage = Stage(runner, driver, hello, request.param)
        yield stage
        stage.close()
        runner.run(driver.close())
        assert runner.run(tasks_left()) == []


async def tasks_left() -> list[Any]:
    return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


def says(stage: Stage, *calls: tuple[str, dict[str, Any]]) -> None:
    made = [ToolCall(id=str(i), name=name, arguments=json.dumps(args)) for i, (name, args) in enumerate(calls, 1)]
    stage.plan.script().append(ModelAnswer(calls=made))


def package(stage: Stage, *tools: str) -> None:
    stage.plan.package("p").tools += [ToolSpec(name=tool, description=tool, parameters=PARAMETERS) for tool in tools]


def answers(stage: Stage, event: str, reply: Reply, **acts: Any) -> None:
    plan = stage.plan.package("p")
    plan.handles(plan.listen(event), Behaviour(reply=reply, **acts))


def order(stage: Stage, call: str = "1") -> list[str]:
    kinds = ("handler.enter", "tool.enter", "native.enter", "log.call", "log.result")
    return [event["event"] or event.kind for event in stage.trace if event.kind in kinds and event.call_id == call]


def test_a_call_passes_start_gate_body_result_and_end_in_this_order(stage: Stage) -> None:
    package(stage, "greet")
    for event in ("tool_execution_start", "tool_call", "tool_result", "tool_execution_end"):
        answers(stage, event, Reply())
    says(stage, ("greet", {"text": "hi"}))
    stage.prompt()
    assert order(stage) == [
        "log.call",
        "tool_execution_start",
        "tool_call",
        "tool.enter",
        "tool_result",
        "tool_execution_end",
        "log.result",
    ]
    assert text_of(stage.results()[0]["content"]) == "greet ok"
    assert len(stage.requests()) == 2


def test_a_blocked_call_does_not_run_and_the_model_reads_the_reason(stage: Stage) -> None:
    package(stage, "greet")
    answers(stage, "tool_call", Reply(returns={"block": True, "reason": "not today"}))
    answers(stage, "tool_execution_end", Reply())
    answers(stage, "tool_result", Reply())
    says(stage, ("greet", {}))
    stage.prompt()
    assert order(stage) == ["log.call", "tool_call", "tool_execution_end", "log.result"]
    assert "not today" in text_of(stage.results()[0]["content"])
    assert stage.results()[0]["isError"] is True


def test_changed_arguments_of_a_native_tool_are_refused(stage: Stage) -> None:
    stage.plan.natives.append(NativeSpec(name="bash"))
    answers(stage, "tool_call", Reply(ops=[Op(op="set", path=["input", "command"], value="rm")]))
    answers(stage, "tool_execution_end", Reply())
    says(stage, ("bash", {"command": "ls"}))
    stage.prompt()
    assert order(stage) == ["log.call", "tool_call", "tool_execution_end", "log.result"]
    text = text_of(stage.results()[0]["content"])
    assert "bash" in text
    assert "may not be changed" in text
    assert stage.trace.of("log.call")[0]["arguments"] == '{"command": "ls"}'


def test_the_loop_stops_only_if_every_call_of_the_batch_asked_to(stage: Stage) -> None:
    package(stage, "stop", "go_on")
    plan = stage.plan.package("p")
    plan.executes("stop", Behaviour(reply=Reply(returns=text_result("bye", terminate=True))))
    says(stage, ("stop", {}), ("go_on", {}))
    says(stage, ("stop", {}), ("stop", {}))
    stage.prompt()
    assert len(stage.requests()) == 2
    stage.prompt("again")
    assert len(stage.requests()) == 3


def test_a_tool_that_cannot_be_switched_off_is_named_in_one_notice(stage: Stage) -> None:
    own = NativeSpec(name="own_native_tool", agent="main")
    stage.plan.natives += [NativeSpec(name="restrictable_native_tool"), own]
    package(stage, "switch")
    wish = CallPi(call="setActiveTools", args=[["switch"]])
    stage.plan.package("p").executes("switch", Behaviour(acts=[wish, wish]))
    says(stage, ("switch", {}))
    stage.prompt()
    named = [event for event in stage.trace.of("notice") if "own_native_tool" in event["text"]]
    assert len(named) == 1
    assert "restrictable_native_tool" not in named[0]["text"]
    tools = {tool["name"] for tool in stage.requests()[1]["tools"]}
    assert tools == {"switch", "own_native_tool"}


def test_user_bash_is_accepted_and_never_fires(stage: Stage) -> None:
    package(stage, "bash")
    answers(stage, "user_bash", Reply())
    says(stage, ("bash", {}))
    stage.prompt("!ls")
    assert stage.trace.of("handler.enter", event="user_bash") == []
    assert stage.trace.first("log.user")["text"] == "!ls"  # type: ignore[index]
    created = stage.trace.first("instance.created")
    assert created is not None
    assert all("threw" not in row["outcome"] for row in created["calls"])


def test_a_synchronous_handler_is_entered_and_left_without_being_asked(stage: Stage) -> None:
    package(stage, "greet")
    stage.plan.package("p").handlers.append(
        HandlerSpec(id="gate", event="tool_call", sync=Reply(returns={"block": True, "reason": "no"}))
    )
    says(stage, ("greet", {}))
    stage.prompt()
    assert [event.kind for event in stage.trace if event["handler"] == "gate"] == ["handler.enter", "handler.exit"]
    assert "no" in text_of(stage.results()[0]["content"])
