"""The real harness behind its adapter: a few sentences that show that both ends of the protocol mean the same."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from conformance.drivers.capabilities import unknown
from conformance.drivers.driver import HarnessError, Unsupported
from conformance.drivers.dsh import VERSION, make_driver
from conformance.drivers.protocol import (
    AgentCreate,
    AgentDispose,
    HostCall,
    HostDispose,
    HostListen,
    InitializeResult,
    ModelAnswer,
    NativeSpec,
    Op,
    Outcome,
    PolicySet,
    PolicySpec,
    Reply,
    Services,
    ToolCall,
)
from conformance.drivers.stdio import StdioDriver
from conformance.scripts import Cancel, NativeBehaviour
from conformance.stage import Stage
from conformance.trace import text_of


@dataclass(frozen=True)
class Spec:
    version: str | None = None
    mount: str | None = None
    label: str = "dsh"


@dataclass(frozen=True)
class Dsh:
    runner: asyncio.Runner
    driver: StdioDriver
    hello: InitializeResult


@pytest.fixture(scope="module")
def dsh() -> Iterator[Dsh]:
    driver = make_driver(Spec())
    with asyncio.Runner() as runner:
        try:
            yield Dsh(runner, driver, runner.run(driver.start()))
        finally:
            runner.run(driver.close())


@pytest.fixture
def stage(dsh: Dsh) -> Iterator[Stage]:
    stage = Stage(dsh.runner, dsh.driver, dsh.hello)
    stage.plan.natives.append(NativeSpec(name="look"))
    yield stage
    stage.close()


def ask(stage: Stage, target: Any, call: str, *args: Any, scope: str | None = "main") -> Outcome:
    stage.open()
    outcome: Outcome = stage.ask(HostCall(target=target, call=call, args=list(args), scope=scope))
    return outcome


def one(stage: Stage, name: str = "look", arguments: str = "{}") -> Any:
    stage.plan.script().append(ModelAnswer(calls=[ToolCall(id="1", name=name, arguments=arguments)]))
    stage.prompt()
    return stage.results()[-1]


def test_the_handshake_names_the_harness_and_its_packages(dsh: Dsh) -> None:
    assert (dsh.hello.name, dsh.hello.version, dsh.hello.role) == ("dsh", VERSION, "host")
    assert dsh.hello.versions["cordis"] == "4.0.1"
    assert unknown(dsh.hello.capabilities) == []
    assert "host-seams" in dsh.hello.capabilities


def test_another_version_and_a_mount_are_refused_before_anything_starts() -> None:
    with pytest.raises(HarnessError, match="not pinned"):
        make_driver(Spec(version="9.9.9"))
    with pytest.raises(HarnessError, match="no mount"):
        make_driver(Spec(mount="root"))


def test_a_call_runs_between_its_durable_call_and_result(stage: Stage) -> None:
    assert text_of(one(stage, arguments='{"a": 1}')["content"]) == "look ok"
    assert stage.trace.of("native.enter")[0]["arguments"] == {"a": 1}
    kinds = [event.kind for event in stage.trace if event.call_id == "1"]
    assert kinds == ["log.call", "native.enter", "native.exit", "log.result"]
    assert [row["name"] for row in stage.requests()[0]["tools"]] == ["look"]
    assert stage.requests()[1]["messages"][-1]["callId"] == "1"


def test_a_listener_answers_what_the_suite_says_until_it_is_disposed(stage: Stage) -> None:
    stage.open()
    stage.ask(HostListen(listener="l", event="tools/pre-execute"))
    stage.peer.host_replies["l"] = [Reply(returns={"kind": "deny", "reason": "closed"}), Reply(), Reply(throws="broke")]
    assert [text_of(one(stage)["content"]) for _ in range(3)] == ["Error: closed", "look ok", "Error: broke"]
    stage.ask(HostDispose(handle="l"))
    assert text_of(one(stage)["content"]) == "look ok"


def test_a_wrapper_may_answer_for_the_body(stage: Stage) -> None:
    stage.open()
    stage.ask(HostListen(listener="l", event="tools/execute"))
    stage.peer.host_replies["l"] = [Reply(returns={"isError": True, "message": "not today"})]
    assert text_of(one(stage)["content"]) == "Error: not today"
    assert stage.trace.of("native.enter") == []


def test_a_listener_can_replace_the_arguments_but_not_change_them(stage: Stage) -> None:
    stage.open()
    stage.ask(HostListen(listener="l", event="tools/pre-execute"))
    stage.peer.host_replies["l"] = [Reply(ops=[Op(op="assign", path=["arguments"], value={"b": 2})])]
    one(stage, arguments='{"a": 1}')
    assert stage.trace.of("native.enter")[-1]["arguments"] == {"b": 2}
    stage.peer.host_replies["l"] = [Reply(ops=[Op(op="set", path=["arguments", "a"], value=3)])]
    assert one(stage, arguments='{"a": 1}')["isError"] is True


def test_a_policy_that_is_set_again_answers_anew_in_its_place(stage: Stage) -> None:
    stage.plan.policies.append(PolicySpec(id="p", answer="deny", reason="closed"))
    assert text_of(one(stage)["content"]) == "Error: closed"
    stage.ask(PolicySet(policy=PolicySpec(id="p", answer="guard", reason="guarded")))
    assert text_of(one(stage)["content"]) == "Error: guarded"
    stage.ask(PolicySet(policy=PolicySpec(id="p")))
    assert text_of(one(stage)["content"]) == "look ok"
    assert [event["phase"] for event in stage.trace.of("policy")] == ["enter", "exit"] * 3


def test_a_cancel_inside_a_body_is_told_with_its_code(stage: Stage) -> None:
    stage.plan.native_bodies["look"] = [NativeBehaviour(acts=[Cancel()])]
    assert one(stage)["code"] == "ABORTED"
    assert [event["reason"] for event in stage.trace.of("turn.end")] == ["aborted"]


def test_agents_come_and_go_with_their_children(stage: Stage) -> None:
    stage.open()
    stage.ask(AgentCreate(agent="child", parent="main"))
    assert ask(stage, "agents", "list", scope=None).returned == ["main", "child"]
    stage.ask(AgentDispose(agent="main"))
    assert ask(stage, "agents", "list", scope=None).returned == []
    assert sorted(event.agent or "" for event in stage.trace.of("agent.disposed")) == ["child", "main"]


def test_a_service_that_is_left_out_is_unsupported(stage: Stage) -> None:
    stage.plan.services = Services(subprocess="none")
    with pytest.raises(Unsupported):
        ask(stage, "subprocess", "resolveExecutable", "sh")


def test_nothing_of_a_stage_survives_into_the_next(dsh: Dsh) -> None:
    for _ in range(2):
        stage = Stage(dsh.runner, dsh.driver, dsh.hello)
        assert ask(stage, "tools", "schemas").returned == []
        ask(stage, "tools", "register", {"name": "left"}, scope=None)
        stage.close()
