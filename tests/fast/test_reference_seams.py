"""The host's own seams, as the suite calls and listens on them through the reference's driver."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import HarnessError, Unsupported
from conformance.drivers.protocol import (
    HostCall,
    HostDispose,
    HostListen,
    ModelAnswer,
    NativeSpec,
    Op,
    Outcome,
    Reply,
    Services,
    ToolCall,
)
from conformance.drivers.reference import make_backend
from conformance.stage import Stage
from conformance.trace import text_of


@pytest.fixture
def stage() -> Iterator[Stage]:
    with asyncio.Runner() as runner:
        driver = InProcessDriver("reference", make_backend)
        stage = Stage(runner, driver, runner.run(driver.start()))
        stage.plan.natives.append(NativeSpec(name="g"))
        yield stage
        stage.close()
        runner.run(driver.close())


def ask(stage: Stage, target: Any, call: str, *args: Any, scope: str | None = "main") -> Outcome:
    stage.open()
    outcome: Outcome = stage.ask(HostCall(target=target, call=call, args=list(args), scope=scope))
    return outcome


def one(stage: Stage, name: str = "g", arguments: str = "{}") -> Any:
    stage.plan.script().append(ModelAnswer(calls=[ToolCall(id="1", name=name, arguments=arguments)]))
    stage.prompt()
    return stage.results()[-1]


def test_a_restriction_is_in_force_until_it_is_disposed(stage: Stage) -> None:
    handle = ask(stage, "tools", "restrict", {"deny": ["g"]}).returned["id"]
    assert ask(stage, "tools", "view").returned["visible"] == []
    stage.ask(HostDispose(handle=handle))
    assert ask(stage, "tools", "view").returned["visible"] == ["g"]


def test_what_the_host_throws_is_the_outcome(stage: Stage) -> None:
    threw = ask(stage, "tools", "restrict", {"deny": ["nope"]}).threw
    assert "nope" in threw["message"]
    with pytest.raises(HarnessError, match=r"no tools\.fly"):
        ask(stage, "tools", "fly")


def test_a_tool_registered_in_a_scope_runs_by_asking_the_suite(stage: Stage) -> None:
    ask(stage, "tools", "register", {"name": "own"})
    result = ask(stage, "tools", "execute", {"callId": "x", "name": "own", "arguments": {"a": 1}}).returned
    assert result["content"] == [{"type": "text", "text": "own ok"}]
    assert stage.trace.of("native.enter")[0]["arguments"] == {"a": 1}
    assert ask(stage, "tools", "view", scope=None).returned["visible"] == ["g"]


def test_a_child_scope_sees_what_its_parent_has(stage: Stage) -> None:
    ask(stage, "tools", "register", {"name": "own"})
    child = ask(stage, "scopes", "create", "child").returned["id"]
    assert ask(stage, "tools", "view", scope=child).returned["visible"] == ["g", "own"]


def test_a_listener_answers_what_the_suite_says(stage: Stage) -> None:
    stage.open()
    stage.ask(HostListen(listener="l", event="tools/pre-execute"))
    stage.peer.host_replies["l"] = [Reply(returns={"kind": "deny", "reason": "no"}), Reply(), Reply(throws="broke")]
    assert [text_of(one(stage)["content"]) for _ in range(3)] == ["Error: no", "g ok", "Error: broke"]
    seen = stage.trace.of("host.event")[0]
    assert (seen["event"], seen["exec"]["name"], seen["exec"]["arguments"]) == ("tools/pre-execute", "g", {})
    stage.ask(HostDispose(handle="l"))
    assert text_of(one(stage)["content"]) == "g ok"


def test_a_listener_can_replace_the_arguments_but_not_change_them(stage: Stage) -> None:
    stage.open()
    stage.ask(HostListen(listener="l", event="tools/pre-execute"))
    stage.peer.host_replies["l"] = [Reply(ops=[Op(op="assign", path=["arguments"], value={"b": 2})])]
    one(stage, arguments='{"a": 1}')
    assert stage.trace.of("native.enter")[-1]["arguments"] == {"b": 2}
    stage.peer.host_replies["l"] = [Reply(ops=[Op(op="set", path=["arguments", "a"], value=3)])]
    assert one(stage, arguments='{"a": 1}')["isError"] is True


def test_a_wrapper_may_answer_for_the_body(stage: Stage) -> None:
    stage.open()
    stage.ask(HostListen(listener="l", event="tools/execute"))
    stage.peer.host_replies["l"] = [Reply(returns={"isError": False, "value": [{"type": "text", "text": "mine"}]})]
    assert text_of(one(stage)["content"]) == "mine"
    assert stage.trace.of("native.enter") == []


def test_the_inbox_the_log_and_the_agent_can_be_looked_at(stage: Stage) -> None:
    ask(stage, "agent", "inject", "later")
    assert ask(stage, "inbox", "nextStep").returned == ["later"]
    assert ask(stage, "agent", "status").returned == "idle"
    assert [event["type"] for event in ask(stage, "session", "events").returned] == ["agent/inbox/spliced"]
    assert "requires a surfaceOp" in ask(stage, "session", "append", "user/message", {}).threw["message"]


def test_a_child_of_the_service_is_waited_for(stage: Stage) -> None:
    spec = {"argv": ["sh", "-c", "cat; exit 3"], "stdin": "in", "stdout": 1}
    ended = ask(stage, "subprocess", "spawn", spec).returned
    assert (ended["exitCode"], ended["stdout"]) == (3, {"text": "n", "nextOffset": 2, "lossy": True})
    assert "PATH" in ask(stage, "subprocess", "resolveExecutable", "no-such-program").threw["message"]


def test_a_service_that_is_left_out_is_unsupported(stage: Stage) -> None:
    stage.plan.services = Services(subprocess="none")
    with pytest.raises(Unsupported):
        ask(stage, "subprocess", "resolveExecutable", "sh")


def test_a_guard_that_is_listened_on_is_noted_and_passes(stage: Stage) -> None:
    stage.open()
    stage.ask(HostListen(listener="g", event="guard", scope="main"))
    assert text_of(one(stage)["content"]) == "g ok"
    assert [event["event"] for event in stage.trace.of("host.event")] == ["guard"]
