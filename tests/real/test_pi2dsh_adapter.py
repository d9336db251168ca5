"""The real bridge behind its adapter: a few sentences that show that both ends of the protocol mean the same.

Skipped where the bridge is not installed: it is in no registry, so nothing here can fetch it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conformance.drivers.capabilities import unknown
from conformance.drivers.driver import HarnessError, Unsupported
from conformance.drivers.pi2dsh import MOUNTS, OPTION, find, make_driver
from conformance.drivers.protocol import (
    HandlerSpec,
    InitializeResult,
    ModelAnswer,
    NativeSpec,
    PackageUnload,
    PolicySpec,
    ProcessAnswer,
    Reply,
    Services,
    ToolCall,
    ToolSpec,
)
from conformance.drivers.stdio import StdioDriver
from conformance.plan import MAIN
from conformance.scripts import Behaviour, CallPi, Match
from conformance.stage import Stage
from conformance.trace import text_of

try:
    ROOT = find()
except HarnessError as error:
    pytest.skip(error.cause, allow_module_level=True)


@dataclass(frozen=True)
class Spec:
    mount: str | None = None
    version: str | None = None
    label: str = "pi2dsh"
    options: dict[str, str] = field(default_factory=lambda: {OPTION: str(ROOT)})


@dataclass(frozen=True)
class Bridge:
    runner: asyncio.Runner
    driver: StdioDriver
    hello: InitializeResult

    def stage(self) -> Stage:
        """A stage with one package, one tool and one native tool."""
        stage = Stage(self.runner, self.driver, self.hello)
        stage.plan.natives.append(NativeSpec(name="look"))
        notes = stage.plan.package("notes")
        notes.tools.append(ToolSpec(name="read", label="read", description="reads", parameters={"type": "object"}))
        return stage


@pytest.fixture(scope="module", params=MOUNTS)
def bridge(request: pytest.FixtureRequest) -> Iterator[Bridge]:
    driver = make_driver(Spec(mount=request.param))
    with asyncio.Runner() as runner:
        try:
            yield Bridge(runner, driver, runner.run(driver.start()))
        finally:
            runner.run(driver.close())


@pytest.fixture
def stage(bridge: Bridge) -> Iterator[Stage]:
    stage = bridge.stage()
    yield stage
    stage.close()


@pytest.fixture
def is_root(bridge: Bridge) -> bool:
    return "late-load" in bridge.hello.capabilities


Ask = Callable[..., str]


@pytest.fixture
def ask(stage: Stage) -> Ask:
    def ask(name: str = "read", agent: str = MAIN) -> str:
        stage.plan.script(agent).append(ModelAnswer(calls=[ToolCall(id="1", name=name, arguments="{}")]))
        stage.prompt(agent=agent)
        return text_of(stage.results(agent)[-1]["content"])

    return ask


def test_the_handshake_names_the_bridge_the_harness_and_the_mounts(bridge: Bridge) -> None:
    hello = bridge.hello
    assert (hello.name, hello.role, tuple(hello.mounts)) == ("pi2dsh", "bridge", MOUNTS)
    assert {"cordis", "dsh-tools", "node"} <= set(hello.versions)
    assert unknown(hello.capabilities) == []


def test_a_call_runs_between_its_durable_call_and_result(stage: Stage, ask: Ask) -> None:
    assert ask() == "read ok"
    kinds = [event.kind for event in stage.trace if event.call_id == "1"]
    assert kinds == ["log.call", "tool.enter", "tool.exit", "log.result"]
    assert sorted(row["name"] for row in stage.requests()[0]["tools"]) == ["look", "read"]


def test_an_instance_serves_an_agent_or_all_of_them(stage: Stage, ask: Ask, is_root: bool) -> None:
    stage.plan.package("notes").listen("tool_call")
    stage.plan.agents.extend([MAIN, "second"])
    for agent in (MAIN, "second"):
        ask("look", agent)
    made = [(event.agent, event["role"]) for event in stage.trace.of("instance.created")]
    apart = [(None, "anchor"), (MAIN, "agent"), ("second", "agent")]
    assert made == ([(None, "shared")] if is_root else apart)
    told = stage.trace.of("handler.enter")
    assert [event.agent for event in told] == [MAIN, "second"]
    assert len({event["instance"] for event in told}) == (1 if is_root else 2)


def test_a_slow_handler_that_the_loop_does_not_await_is_waited_for(stage: Stage, ask: Ask) -> None:
    notes = stage.plan.package("notes")
    notes.handles(notes.listen("tool_execution_start"), Behaviour(reply=Reply(delay_ms=120)))
    ask()
    kinds = [event.kind for event in stage.trace]
    assert "handler.exit" in kinds


def test_a_policy_stands_before_or_after_the_bridge(stage: Stage, ask: Ask) -> None:
    notes = stage.plan.package("notes")
    block = Behaviour(Match(), [], Reply(returns={"block": True, "reason": "closed"}))
    notes.handles(notes.listen("tool_call"), block)
    stage.plan.policies.extend([PolicySpec(id="outer"), PolicySpec(id="inner", place="after")])
    assert ask() == "Error: closed"
    seen = [(event["id"], event["phase"]) for event in stage.trace.of("policy")]
    assert seen == [("outer", "enter"), ("outer", "exit")]


def test_a_policy_after_the_bridge_is_asked_when_the_bridge_lets_pass(stage: Stage, ask: Ask) -> None:
    stage.plan.package("notes").listen("tool_call")
    stage.plan.policies.append(PolicySpec(id="inner", place="after", answer="deny", reason="the host says no"))
    assert ask() == "Error: the host says no"
    order = [event.kind for event in stage.trace.of("handler.exit", "policy")]
    assert order == ["handler.exit", "policy", "policy"]


def test_what_the_bridge_reports_is_noted_with_its_level(stage: Stage, ask: Ask) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 3}}}
    stage.plan.package("notes").tools.append(ToolSpec(name="odd", label="odd", description="odd", parameters=schema))
    ask()
    losses = [event for event in stage.trace.of("notice") if "minLength" in event["text"]]
    assert {(event["channel"], event["level"]) for event in losses} >= {("logger", "warn")}
    assert [event["level"] for event in stage.trace.of("notice") if "loaded notes" in event["text"]][:1] == ["info"]


def test_a_child_of_exec_is_the_providers_and_noted_once(stage: Stage, ask: Ask) -> None:
    exec_ = Behaviour(Match(), [CallPi(call="exec", args=["echo", ["hello"]])], Reply(returns={"content": []}))
    stage.plan.package("notes").executes("read", exec_)
    ask()
    assert [event["via"] for event in stage.trace.of("spawn")] == ["provider"]
    assert stage.trace.of("spawn")[0]["pid"] > 0
    assert [outcome.returned["stdout"] for outcome in stage.returned("exec")] == ["hello\n"]


def test_a_scripted_provider_answers_exec(stage: Stage, ask: Ask) -> None:
    stage.plan.services = Services(subprocess="scripted")
    stage.peer.scripted_processes.append(ProcessAnswer(stdout="from the script", exit_code=3))
    exec_ = Behaviour(Match(), [CallPi(call="exec", args=["nothing", []])], Reply(returns={"content": []}))
    stage.plan.package("notes").executes("read", exec_)
    ask()
    answer = stage.returned("exec")[0].returned
    assert (answer["stdout"], answer["code"]) == ("from the script", 3)


def test_a_package_goes_with_its_tools_where_the_mount_lets_it(stage: Stage, ask: Ask, is_root: bool) -> None:
    ask()
    if not is_root:
        with pytest.raises(Unsupported):
            stage.ask(PackageUnload(package="notes"))
        return
    stage.ask(PackageUnload(package="notes"))
    assert len(stage.trace.of("instance.disposed")) == 1
    assert ask() == 'Error: unknown tool "read"'


def test_a_package_that_is_loaded_late_is_unsupported_where_the_mount_reads_a_profile(
    stage: Stage, ask: Ask, is_root: bool
) -> None:
    ask()
    for event in ("tool_execution_start", "tool_call"):
        stage.plan.package("late").handlers.append(HandlerSpec(id=event, event=event))
    if is_root:
        stage.load("late")
        ask()
        assert [event.agent for event in stage.trace.of("handler.enter", package="late")] == [MAIN, MAIN]
    else:
        with pytest.raises(Unsupported):
            stage.load("late")


def test_nothing_of_a_stage_survives_into_the_next(bridge: Bridge) -> None:
    for _ in range(2):
        stage = bridge.stage()
        stage.prompt()
        assert {event["package"] for event in stage.trace.of("instance.created")} == {"notes"}
        assert [row["name"] for row in stage.requests()[0]["tools"]] == ["look", "read"]
        stage.close()


def test_an_installation_without_the_harness_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "pi2dsh").symlink_to(ROOT / "node_modules" / "pi2dsh")
    driver = make_driver(Spec(options={OPTION: str(tmp_path)}))

    async def start() -> None:
        try:
            await driver.start()
        finally:
            await driver.close()

    with pytest.raises(HarnessError, match=r"no @deepseek-ai/cordis, .*install them there"):
        asyncio.run(start())
