"""The real Pi behind its adapter: a handful of sentences that show that both ends of the protocol mean the same."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.drivers.capabilities import unknown
from conformance.drivers.driver import Unsupported
from conformance.drivers.pi import DEFAULT, make_driver, versions
from conformance.drivers.protocol import (
    AgentCreate,
    AgentDispose,
    AgentPrompt,
    ApiCall,
    HandlerSpec,
    InitializeResult,
    ModelAnswer,
    NativeAnswer,
    NativeSpec,
    Op,
    OperatorBash,
    PackageReload,
    PackageSpec,
    PolicySet,
    PolicySpec,
    Reply,
    Services,
    SignalAbort,
    SignalCreate,
    ToolCall,
    ToolSpec,
)
from conformance.drivers.stdio import StdioDriver
from conformance.plan import PackagePlan
from conformance.scripts import (
    AbortSignal,
    Behaviour,
    CallCtx,
    CallPi,
    Cancel,
    Hold,
    Match,
    NativeBehaviour,
    Say,
    Update,
)
from conformance.stage import Stage
from conformance.trace import text_of

UNDEFINED = {"$": "undefined"}
NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


@dataclass(frozen=True)
class Spec:
    version: str | None
    label: str = "pi"
    mount: str | None = None


@dataclass(frozen=True)
class Pi:
    runner: asyncio.Runner
    driver: StdioDriver
    hello: InitializeResult


def start(version: str | None) -> Iterator[Pi]:
    driver = make_driver(Spec(version))
    with asyncio.Runner() as runner:
        try:
            yield Pi(runner, driver, runner.run(driver.start()))
        finally:
            runner.run(driver.close())
    assert driver.left_behind == []


@pytest.fixture(scope="module")
def pi() -> Iterator[Pi]:
    yield from start(None)


@pytest.fixture
def stage(pi: Pi) -> Iterator[Stage]:
    stage = Stage(pi.runner, pi.driver, pi.hello)
    yield stage
    stage.close()
    assert stage.trace.of("crash") == []


def alpha(
    stage: Stage, *events: str, tool: str = "echo", parameters: Any = None, package: str = "alpha"
) -> PackagePlan:
    """Put a package on the stage that registers one tool and listens to events."""
    plan = stage.plan.package(package)
    schema = parameters or {"type": "object", "properties": {}}
    plan.tools.append(ToolSpec(name=tool, label=tool, description=f"the tool {tool}", parameters=schema))
    for event in events:
        plan.listen(event)
    return plan


def says(stage: Stage, *calls: tuple[str, str], agent: str = "main") -> None:
    """Let the model make these calls, (tool, argument text), in one message."""
    numbered = [ToolCall(id=f"c{at}", name=name, arguments=text) for at, (name, text) in enumerate(calls, 1)]
    stage.plan.script(agent).append(ModelAnswer(calls=numbered))


def handled(stage: Stage, event: str, agent: str = "main") -> list[Any]:
    return [entry["payload"] for entry in stage.trace.of("handler.enter", event=event, agent=agent)]


def kinds(stage: Stage, *wanted: str) -> list[str]:
    return [event.kind for event in stage.trace.of(*wanted)]


def notices(stage: Stage, channel: str) -> list[str]:
    return [str(event["text"]) for event in stage.trace.of("notice", channel=channel)]


def holding(*acts: Any, reply: Reply | None = None) -> Behaviour:
    return Behaviour(acts=list(acts), reply=reply or Reply())


class TestHandshake:
    def test_it_is_the_pinned_pi_with_all_its_packages(self, pi: Pi) -> None:
        assert (pi.hello.name, pi.hello.role, pi.hello.version) == ("pi", "pi", DEFAULT)
        assert {pi.hello.versions[name] for name in ("pi-agent-core", "pi-ai")} == {DEFAULT}
        assert pi.hello.settle.mode == "exact"

    def test_it_declares_only_capabilities_that_exist(self, pi: Pi) -> None:
        assert unknown(pi.hello.capabilities) == []
        assert "native-tools" in pi.hello.capabilities


class TestCalls:
    def test_a_tool_runs_and_its_result_reaches_log_and_model(self, stage: Stage) -> None:
        alpha(stage, "tool_call", "tool_result")
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert [text_of(result["content"]) for result in stage.results()] == ["echo ok"]
        assert stage.requests()[1]["messages"][-1]["role"] == "tool"
        wanted = ("log.call", "handler.enter", "tool.enter", "tool.exit", "log.result", "step.end", "turn.end")
        order = ["log.call", "handler.enter", "tool.enter", "tool.exit", "handler.enter", "log.result"]
        assert kinds(stage, *wanted) == [*order, "step.end", "step.end", "turn.end"]

    def test_a_block_keeps_the_tool_from_running(self, stage: Stage) -> None:
        plan = alpha(stage, "tool_call")
        plan.handles("tool_call", holding(reply=Reply(returns={"block": True, "reason": "because"})))
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert stage.trace.of("tool.enter") == []
        assert [(text_of(r["content"]), r["isError"]) for r in stage.results()] == [("because", True)]

    def test_arguments_are_coerced_for_the_tool_and_raw_in_the_log(self, stage: Stage) -> None:
        alpha(stage, parameters=NUMBER)
        says(stage, ("echo", '{"n": "7"}'))
        stage.prompt()
        assert [event["params"] for event in stage.trace.of("tool.enter")] == [{"n": 7}]
        assert [event["arguments"] for event in stage.trace.of("log.call")] == ['{"n":"7"}']

    def test_argument_text_that_is_not_json_is_read_as_pi_s_own_providers_read_it(self, stage: Stage) -> None:
        alpha(stage)
        says(stage, ("echo", '{"n": 7, "s": "cut o'), ("echo", "not json"), ("echo", ""))
        stage.prompt()
        entered = [event["params"] for event in stage.trace.of("tool.enter")]
        assert entered == [{"n": 7, "s": "cut o"}, {}, {}]

    def test_prepared_arguments_come_from_data(self, stage: Stage) -> None:
        plan = stage.plan.package("alpha")
        prepare = Reply(ops=[Op(op="set", path=["n"], value=5)])
        plan.tools.append(ToolSpec(name="echo", label="e", description="d", parameters=NUMBER, prepare=prepare))
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert [event["params"] for event in stage.trace.of("tool.enter")] == [{"n": 5}]

    def test_values_json_lacks_pass_through_pi(self, stage: Stage) -> None:
        plan = alpha(stage, "tool_result")
        odd = {"big": {"$": "bigint", "digits": "12"}, "not": {"$": "NaN"}, "loop": {"$": "cycle"}, "gone": UNDEFINED}
        plan.executes("echo", holding(reply=Reply(returns={"content": [], "details": odd})))
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert handled(stage, "tool_result")[0]["details"] == odd

    def test_what_a_tool_throws_is_its_result(self, stage: Stage) -> None:
        plan = alpha(stage)
        boom = {"$": "error", "name": "TypeError", "message": "boom"}
        plan.executes("echo", holding(reply=Reply(throws=boom)))
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert [(text_of(r["content"]), r["isError"]) for r in stage.results()] == [("boom", True)]
        assert [event["threw"] for event in stage.trace.of("tool.exit")] == [boom]

    def test_a_message_cut_by_length_is_not_run(self, stage: Stage) -> None:
        alpha(stage)
        call = ToolCall(id="c1", name="echo", arguments="{}")
        stage.plan.script().append(ModelAnswer(calls=[call], finish="length"))
        stage.prompt()
        assert stage.trace.of("tool.enter") == []
        assert [r["isError"] for r in stage.results()] == [True]

    def test_a_model_that_fails_ends_the_turn(self, stage: Stage) -> None:
        stage.plan.script().append(ModelAnswer(finish="error"))
        stage.prompt()
        assert [event["reason"] for event in stage.trace.of("turn.end")] == ["error"]


class TestHandlers:
    def test_a_synchronous_handler_changes_the_event_in_place(self, stage: Stage) -> None:
        plan = alpha(stage, "tool_result")
        more = Op(op="append", path=["content"], value={"type": "text", "text": " and more"}, at="enter")
        plan.make_sync("tool_result", Reply(ops=[more]))
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert [text_of(r["content"]) for r in stage.results()] == ["echo ok and more"]
        assert kinds(stage, "handler.enter", "handler.exit") == ["handler.enter", "handler.exit"]

    def test_a_change_after_the_return_comes_too_late(self, stage: Stage) -> None:
        plan = alpha(stage, "tool_call", parameters=NUMBER)
        late = Op(op="set", path=["input", "n"], value=9, at="after-return")
        plan.handles("tool_call", holding(reply=Reply(ops=[late])))
        says(stage, ("echo", '{"n": 1}'))
        stage.prompt()
        assert [event["params"] for event in stage.trace.of("tool.enter")] == [{"n": 1}]

    def test_what_a_handler_throws_is_reported_with_its_instance(self, stage: Stage) -> None:
        plan = alpha(stage, "tool_result")
        plan.handles("tool_result", holding(reply=Reply(throws={"$": "error", "name": "Error", "message": "oops"})))
        says(stage, ("echo", "{}"))
        stage.prompt()
        reported = stage.trace.of("notice", channel="onError")
        assert [event["text"] for event in reported] == ["tool_result: oops"]
        assert [event["instance"] for event in reported] == [stage.instance("alpha")]

    def test_a_handler_calls_its_pi_and_its_context(self, stage: Stage) -> None:
        plan = alpha(stage, "tool_call")
        plan.handles("tool_call", holding(CallPi(call="getActiveTools"), CallCtx(call="isIdle"), CallCtx(call="cwd")))
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert [outcome.returned for outcome in stage.returned("getActiveTools")] == [["echo"]]
        assert [outcome.returned for outcome in stage.returned("isIdle")] == [False]
        assert isinstance(stage.returned("cwd")[0].returned, str)
        assert kinds(stage, "api.call", "api.return")[-2:] == ["api.call", "api.return"]

    def test_something_that_is_no_function_can_be_subscribed(self, stage: Stage) -> None:
        plan = alpha(stage)
        plan.handlers.append(HandlerSpec(id="odd", event="tool_call", callable=False))
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert [text_of(r["content"]) for r in stage.results()] == ["handler is not a function"]

    def test_updates_reach_handlers_until_the_tool_returned(self, stage: Stage) -> None:
        plan = alpha(stage, "tool_execution_update")
        update = {"content": [{"type": "text", "text": "half"}]}
        plan.executes("echo", holding(Update(update), reply=Reply(returns={"content": []}, late_updates=[update])))
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert [payload["partialResult"] for payload in handled(stage, "tool_execution_update")] == [update]

    def test_a_handler_is_awaited_while_it_holds(self, stage: Stage) -> None:
        plan = alpha(stage, "tool_execution_end")
        plan.handles("tool_execution_end", holding(Hold(kinds=["log.result", "model.request"])))
        says(stage, ("echo", "{}"))
        stage.prompt()
        order = kinds(stage, "handler.exit", "log.result", "model.request")
        assert order == ["model.request", "handler.exit", "log.result", "model.request"]


class TestPackages:
    def test_a_factory_s_calls_are_told_with_the_instance(self, stage: Stage) -> None:
        plan = alpha(stage, "tool_call")
        plan.calls.append(ApiCall(call="getActiveTools"))
        plan.calls.append(ApiCall(call="unregisterTool", args=["echo"]))
        stage.open()
        created = stage.trace.of("instance.created")[0]
        assert [row["call"] for row in created["calls"]] == ["registerTool", "on", "getActiveTools", "unregisterTool"]
        outcomes = [row["outcome"] for row in created["calls"]]
        assert outcomes[:2] == [{"returned": UNDEFINED}, {"returned": UNDEFINED}]
        assert "not initialized" in outcomes[2]["threw"]["message"]
        assert outcomes[3]["threw"] == {
            "$": "error",
            "name": "TypeError",
            "message": "pi.unregisterTool is not a function",
        }

    def test_a_factory_that_throws_harms_only_itself(self, stage: Stage) -> None:
        broken = alpha(stage, tool="never", package="broken")
        broken.throws = {"$": "error", "name": "Error", "message": "no luck"}
        alpha(stage)
        stage.prompt()
        assert [tool["name"] for tool in stage.requests()[0]["tools"]] == ["echo"]
        assert any("no luck" in text for text in notices(stage, "loader"))

    def test_each_agent_has_an_instance_of_its_own(self, stage: Stage) -> None:
        stage.plan.agents = ["main", "other"]
        alpha(stage, "tool_call")
        says(stage, ("echo", "{}"), agent="other")
        stage.open()
        stage.prompt(agent="other")
        assert len({stage.instance("alpha", agent) for agent in ("main", "other")}) == 2
        assert [event.agent for event in stage.trace.of("model.request")] == ["other", "other"]
        assert [event["instance"] for event in stage.trace.of("handler.enter")] == [stage.instance("alpha", "other")]

    def test_a_reload_runs_the_factories_again(self, stage: Stage) -> None:
        alpha(stage)
        stage.open()
        before = stage.instance("alpha")
        stage.call_pi("alpha", "registerTool", [{"name": "kept", "label": "k", "description": "d", "parameters": {}}])
        fresh = ToolSpec(name="fresh", label="f", description="d", parameters={"type": "object"})
        stage.ask(PackageReload(package="alpha", replacement=PackageSpec(name="alpha", tools=[fresh])))
        assert stage.instance("alpha") != before
        assert [event["instance"] for event in stage.trace.of("instance.disposed")] == [before]
        stage.prompt()
        assert [tool["name"] for tool in stage.requests()[0]["tools"]] == ["fresh"]

    def test_a_package_comes_too_late_once_there_is_an_agent(self, stage: Stage) -> None:
        alpha(stage)
        stage.open()
        alpha(stage, package="beta")
        with pytest.raises(Unsupported) as caught:
            stage.load("beta")
        assert caught.value.capability == "late-load"


class TestNatives:
    def test_a_native_runs_when_the_model_calls_it(self, stage: Stage) -> None:
        stage.plan.natives.append(NativeSpec(name="look", description="looks"))
        stage.plan.native_bodies["look"] = [NativeBehaviour(answer=NativeAnswer(text="seen"))]
        alpha(stage, "tool_result")
        says(stage, ("look", '{"at": "it"}'))
        stage.prompt()
        assert [event["arguments"] for event in stage.trace.of("native.enter")] == [{"at": "it"}]
        assert [text_of(r["content"]) for r in stage.results()] == ["seen"]
        assert [payload["toolName"] for payload in handled(stage, "tool_result")] == ["look"]

    def test_a_package_s_tool_of_a_native_s_name_wins_and_pi_says_so(self, stage: Stage) -> None:
        stage.plan.natives.append(NativeSpec(name="read"))
        alpha(stage, tool="read")
        says(stage, ("read", "{}"))
        stage.prompt()
        assert kinds(stage, "native.enter", "tool.enter") == ["tool.enter"]
        assert any('Tool "read" conflicts' in text for text in notices(stage, "loader"))

    def test_pi_s_own_tools_stay_away(self, stage: Stage) -> None:
        alpha(stage)
        stage.open()
        everything = stage.call_pi("alpha", "getAllTools", [], agent="main").returned
        assert [row["name"] for row in everything] == ["echo"]

    def test_natives_run_one_after_another_unless_they_are_parallel(self, stage: Stage) -> None:
        stage.plan.natives += [NativeSpec(name="one"), NativeSpec(name="two", parallel=True)]
        says(stage, ("one", "{}"), ("one", "{}"))
        says(stage, ("two", "{}"), ("two", "{}"))
        hold = NativeBehaviour(Match(call="c1"), [Hold(kinds=["native.enter"])])
        stage.plan.native_bodies = {"one": [hold], "two": [hold]}
        stage.prompt()
        enter, leave = "native.enter", "native.exit"
        assert kinds(stage, enter, leave)[:4] == [enter, leave, enter, leave]
        assert kinds(stage, enter, leave)[4:6] == [enter, enter]

    @pytest.mark.parametrize(
        ("native", "capability"),
        [
            pytest.param(NativeSpec(name="x", reserved=True), "reserved-natives", id="reserved"),
            pytest.param(NativeSpec(name="x", timeout_ms=5), "host-seams", id="time-limit"),
        ],
    )
    def test_natives_pi_has_no_counterpart_for_are_unsupported(
        self, stage: Stage, native: NativeSpec, capability: str
    ) -> None:
        stage.plan.natives.append(native)
        with pytest.raises(Unsupported) as caught:
            stage.open()
        assert caught.value.capability == capability
        stage._open = False


class TestOperator:
    def test_the_command_surface_fires_user_bash_and_a_prompt_text_does_not(self, stage: Stage) -> None:
        plan = alpha(stage, "user_bash")
        result = {"output": "from the package", "exitCode": 0, "cancelled": False, "truncated": False}
        plan.handles("user_bash", holding(reply=Reply(returns={"result": result})))
        stage.open()
        outcome = stage.ask(OperatorBash(agent="main", command="ls", exclude=False))
        assert outcome.returned == result
        assert [payload["command"] for payload in handled(stage, "user_bash")] == ["ls"]
        stage.prompt("!ls")
        assert len(handled(stage, "user_bash")) == 1
        assert "from the package" in text_of(stage.requests()[0]["messages"][0]["content"])

    def test_a_command_nobody_takes_runs_in_a_shell(self, stage: Stage) -> None:
        alpha(stage)
        stage.open()
        outcome = stage.ask(OperatorBash(agent="main", command="echo hello", exclude=True))
        assert outcome.returned["output"].strip() == "hello"
        assert stage.trace.of("spawn")

    def test_cancelling_reaches_the_running_tool_s_signal(self, stage: Stage) -> None:
        plan = alpha(stage)
        plan.executes("echo", holding(Cancel(), Hold(kinds=["tool.aborted"])))
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert len(stage.trace.of("tool.aborted")) == 1
        assert len(stage.requests()) == 1
        assert len(stage.trace.of("turn.end")) == 1

    def test_steering_reaches_the_next_request(self, stage: Stage) -> None:
        plan = alpha(stage)
        plan.executes("echo", holding(Say(how="steer", text="left"), Say(how="follow_up", text="then right")))
        says(stage, ("echo", "{}"))
        stage.prompt()
        assert [text_of(request["messages"][-1]["content"]) for request in stage.requests()[1:]] == [
            "left",
            "then right",
        ]
        assert [event["text"] for event in stage.trace.of("log.user")] == ["go", "left", "then right"]

    def test_a_prompt_to_a_busy_agent_is_refused(self, stage: Stage, pi: Pi) -> None:
        plan = alpha(stage)
        plan.executes("echo", holding(Hold(kinds=["notice"])))
        says(stage, ("echo", "{}"))
        stage.prompt(settle=False)
        assert stage.wait_for(lambda trace: trace.first("tool.enter") is not None)
        refused = stage.ask(AgentPrompt(agent="main", text="again"))
        assert "already processing" in refused.threw["message"]
        stage.settle()
        assert [event["text"] for event in stage.trace.of("log.user")] == ["go"]

    def test_an_agent_can_be_ended(self, stage: Stage) -> None:
        alpha(stage)
        stage.open()
        instance = stage.instance("alpha")
        stage.ask(AgentDispose(agent="main"))
        assert [event["instance"] for event in stage.trace.of("instance.disposed")] == [instance]
        assert kinds(stage, "agent.created", "agent.disposed") == ["agent.created", "agent.disposed"]

    def test_a_child_agent_is_unsupported(self, stage: Stage) -> None:
        stage.open()
        with pytest.raises(Unsupported) as caught:
            stage.ask(AgentCreate(agent="kid", parent="main"))
        assert caught.value.capability == "child-agents"

    def test_host_policy_is_unsupported(self, stage: Stage) -> None:
        stage.open()
        with pytest.raises(Unsupported) as caught:
            stage.ask(PolicySet(policy=PolicySpec(id="p")))
        assert caught.value.capability == "host-policy"

    @pytest.mark.parametrize(
        ("services", "capability"),
        [
            pytest.param(Services(attachments=False), "attachments-optional", id="attachments"),
            pytest.param(Services(subprocess="scripted"), "subprocess-scripted", id="scripted"),
            pytest.param(Services(subprocess="none"), "subprocess-optional", id="no-subprocess"),
            pytest.param(Services(approval="rejected"), "host-ask", id="approval"),
        ],
    )
    def test_services_pi_does_not_have_are_unsupported(self, stage: Stage, services: Services, capability: str) -> None:
        stage.plan.services = services
        with pytest.raises(Unsupported) as caught:
            stage.open()
        assert caught.value.capability == capability
        stage._open = False


class TestPrograms:
    def run(self, stage: Stage, args: list[Any]) -> Any:
        alpha(stage)
        stage.open()
        return stage.call_pi("alpha", "exec", args, agent="main").returned

    def test_exec_starts_a_child_that_is_noted(self, stage: Stage, tmp_path: Path) -> None:
        code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
        answer = self.run(stage, [sys.executable, ["-c", code], {"cwd": str(tmp_path)}])
        assert answer == {"stdout": "out\n", "stderr": "err\n", "code": 3, "killed": False}
        spawned = stage.trace.of("spawn")
        assert [(event["argv"], event["cwd"], event["via"]) for event in spawned] == [
            ([sys.executable, "-c", code], str(tmp_path), "observed")
        ]

    def test_a_signal_of_the_suite_ends_the_child(self, stage: Stage) -> None:
        plan = alpha(stage, "tool_call")
        sleep = [sys.executable, ["-c", "import time; time.sleep(30)"], {"signal": {"$": "signal", "id": "s"}}]
        plan.handles("tool_call", holding(Hold(kinds=["spawn"]), AbortSignal(signal="s")))
        plan.executes("echo", holding())
        says(stage, ("echo", "{}"))
        stage.open()
        stage.ask(SignalCreate(signal="s"))
        stage.prompt(settle=False)
        assert stage.call_pi("alpha", "exec", sleep, agent="main").returned["killed"] is True
        stage.settle()

    def test_a_child_that_outlives_its_stage_is_ended(self, stage: Stage, pi: Pi) -> None:
        alpha(stage, "tool_call")
        stage.plan.package("alpha").handles(
            "tool_call", holding(CallPi(call="exec", args=[sys.executable, ["-c", "import time; time.sleep(30)"]]))
        )
        says(stage, ("echo", "{}"))
        stage.prompt(settle=False)
        assert stage.wait_for(lambda trace: trace.first("spawn") is not None)
        stage.close()
        assert gone(stage.trace.of("spawn")[0]["pid"])


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Wait for the end of a process that is no child of ours; say whether it came."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], seconds)[0])
    finally:
        os.close(process)


class TestStages:
    def test_nothing_of_a_stage_that_was_left_open_reaches_the_next(self, pi: Pi, stage: Stage) -> None:
        first = Stage(pi.runner, pi.driver, pi.hello)
        alpha(first, "tool_call").handles("tool_call", holding(Hold(kinds=["notice"]), Hold(kinds=["notice"])))
        says(first, ("echo", "{}"))
        first.prompt(settle=False)
        assert first.wait_for(lambda trace: trace.first("handler.enter") is not None)
        first.close()
        alpha(stage, tool="other")
        says(stage, ("other", "{}"))
        stage.prompt()
        assert [event["tool"] for event in stage.trace.of("tool.enter")] == ["other"]
        assert [result["isError"] for result in stage.results()] == [False]
        assert {event.agent for event in stage.trace} <= {"main", None}

    def test_an_unknown_signal_is_a_fault_of_the_suite(self, stage: Stage) -> None:
        stage.open()
        with pytest.raises(Exception, match="no signal"):
            stage.ask(SignalAbort(signal="nobody"))


@pytest.mark.parametrize("version", versions()[1:])
class TestOtherVersions:
    @pytest.fixture
    def stage(self, version: str) -> Iterator[Stage]:
        running = start(version)
        pi = next(running)
        stage = Stage(pi.runner, pi.driver, pi.hello)
        yield stage
        stage.close()
        assert list(running) == []

    def test_two_agents_are_prompted(self, stage: Stage, version: str) -> None:
        assert stage.hello.version == version
        stage.plan.agents = ["main", "other"]
        alpha(stage, "tool_call", "tool_result", parameters=NUMBER)
        check: Callable[[str], list[Any]] = lambda agent: [  # noqa: E731
            event["params"] for event in stage.trace.of("tool.enter", agent=agent)
        ]
        for agent, text in (("main", '{"n": "1"}'), ("other", '{"n": "2"}')):
            says(stage, ("echo", text), agent=agent)
        for agent, number in (("main", 1), ("other", 2)):
            stage.prompt(agent=agent)
            assert check(agent) == [{"n": number}]
            assert [result["isError"] for result in stage.results(agent)] == [False]
