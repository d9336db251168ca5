"""Which tools a package finds, and which it can switch off for one agent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reference_bridge.bridge.values import UNDEFINED
from reference_bridge.host import Agent
from tests.fast.small_bridge import Bridged, bridged, pi_tool, result
from tests.fast.small_host import OK, call, calls, tool


async def prompt(stage: Bridged, agent: Agent, *replies: Any) -> None:
    stage.model.replies += replies or [OK]
    agent.followup("go")
    await agent.when_idle()


@bridged()
async def test_the_named_tools_are_what_the_next_request_lists(stage: Bridged) -> None:
    for name in ("one", "two", "three"):
        stage.tool(name)
    (pi,) = await stage.load("p")
    pi.set_active_tools(["two", "zzz", "ONE", " one", 7, "two"])
    assert pi.get_active_tools() == ["two"]
    first = await stage.one("one")
    assert (stage.listed(), first.code, stage.notices) == (["two"], "UNKNOWN_TOOL", [])
    pi.set_active_tools(["one", "three"])
    await stage.turn(OK)
    assert stage.listed() == ["one", "three"]


@bridged()
async def test_the_last_wish_counts_whichever_package_it_is_of(stage: Bridged) -> None:
    for name in ("one", "two"):
        stage.tool(name)
    (first,) = await stage.load("a")
    (second,) = await stage.load("b")
    first.set_active_tools(["one"])
    second.set_active_tools(["one", "two"])
    assert first.get_active_tools() == second.get_active_tools() == ["one", "two"]


@bridged()
async def test_an_empty_list_switches_off_what_can_be_and_naming_brings_it_back(stage: Bridged) -> None:
    stage.tool("one")
    (pi,) = await stage.load("p")
    pi.set_active_tools([])
    assert pi.get_active_tools() == []
    pi.set_active_tools(["one"])
    assert pi.get_active_tools() == ["one"]


@bridged("root")
async def test_tools_of_packages_are_narrowed_like_natives(stage: Bridged) -> None:
    (pi,) = await stage.load("p", pi_tool("a"), pi_tool("b"))
    pi.set_active_tools(["a"])
    assert (await stage.one("b")).code == "UNKNOWN_TOOL"
    assert (stage.listed(), stage.notices) == (["a"], [])


@bridged("engine")
async def test_tools_of_the_agents_own_scope_stay_and_are_named_in_one_notice(stage: Bridged) -> None:
    stage.tool("restrictable_native")
    (pi,) = await stage.load("p", pi_tool("own_first"), pi_tool("own_second"), pi_tool("wanted"))
    pi.set_active_tools(["wanted"])
    assert set(pi.get_active_tools()) == {"own_first", "own_second", "wanted"}
    assert len(stage.notices) == 1
    notice = stage.notices[0]
    assert all(name in notice for name in ("own_first", "own_second"))
    assert not any(name in notice for name in ("restrictable_native", "wanted"))


@bridged()
async def test_the_same_wish_again_is_not_reported_again_and_another_one_is(stage: Bridged) -> None:
    stage.host.tools.register(tool("own"), stage.agent.scope)
    stage.tool("one")
    (pi,) = await stage.load("p")
    for wanted, notices in ((["one"], 1), (["one"], 1), ([], 2), (["own"], 2), ([], 3)):
        pi.set_active_tools(wanted)
        assert len(stage.notices) == notices


@bridged(mode="both")
async def test_the_reserved_name_cannot_be_switched_off_and_is_reported(stage: Bridged) -> None:
    stage.host.tools.transport = tool("run_code")
    (pi,) = await stage.load("p")
    pi.set_active_tools([])
    assert pi.get_active_tools() == ["run_code"]
    assert ["run_code" in notice for notice in stage.notices] == [True]


@bridged()
async def test_setting_what_is_active_changes_nothing(stage: Bridged) -> None:
    stage.host.tools.register(tool("own"), stage.agent.scope)
    stage.tool("one")
    (pi,) = await stage.load("p", pi_tool("t"))
    before = pi.get_active_tools()
    pi.set_active_tools(before)
    assert (pi.get_active_tools(), stage.notices) == (before, [])


@bridged()
async def test_tools_registered_later_join_the_active_ones(stage: Bridged) -> None:
    stage.tool("one")
    (pi,) = await stage.load("p")
    pi.set_active_tools([])
    pi.register_tool(pi_tool("late"))
    stage.tool("native_late")
    await stage.turn(OK)
    assert stage.listed() == ["late", "native_late"]


@bridged("root")
async def test_a_name_registered_again_stays_switched_off(stage: Bridged) -> None:
    (pi,) = await stage.load("p", pi_tool("a"))
    pi.set_active_tools([])
    pi.register_tool(pi_tool("a"))
    assert pi.get_active_tools() == []


@pytest.mark.parametrize("names", [None, UNDEFINED, 7, {}, True])
@bridged()
async def test_what_is_no_list_is_refused_and_changes_nothing(stage: Bridged, names: Any) -> None:
    stage.tool("one")
    (pi,) = await stage.load("p")
    with pytest.raises(TypeError):
        pi.set_active_tools(names)
    assert pi.get_active_tools() == ["one"]


@bridged()
async def test_a_text_is_taken_as_its_letters(stage: Bridged) -> None:
    for name in "abc":
        stage.tool(name)
    (pi,) = await stage.load("p")
    pi.set_active_tools("ab")
    assert pi.get_active_tools() == ["a", "b"]


@bridged()
async def test_rows_equal_the_catalogue_and_invent_nothing(stage: Bridged) -> None:
    stage.tool("native")
    (pi,) = await stage.load("p", pi_tool("t", promptGuidelines=["x"]))
    rows = pi.get_all_tools()
    await stage.turn(OK)
    listed = {row["name"]: row for row in stage.model.requests[0].tools}
    assert {row["name"]: {key: row[key] for key in listed["t"]} for row in rows} == listed
    assert all(set(row) == {"name", "description", "parameters", "sourceInfo"} for row in rows)
    rows[0]["parameters"]["spoiled"] = True
    assert "spoiled" not in pi.get_all_tools()[0]["parameters"]


@bridged()
async def test_a_change_in_a_tool_is_in_the_next_request(stage: Bridged) -> None:
    stage.tool("one")
    (pi,) = await stage.load("p", pi_tool("t", lambda *_: pi.set_active_tools(["t"]) or result("ok")))
    await stage.one("t")
    assert [stage.listed(0), stage.listed(1)] == [["one", "t"], ["t"]]


@bridged()
async def test_a_change_before_the_agent_starts_is_in_the_first_request(stage: Bridged) -> None:
    stage.tool("one")
    (pi,) = await stage.load("p", before_agent_start=lambda event, ctx: pi.set_active_tools([]))
    await stage.turn(OK)
    assert stage.listed() == []


@bridged()
async def test_agents_are_apart_also_from_a_task_that_one_left_running(stage: Bridged) -> None:
    for name in ("one", "two"):
        stage.tool(name)
    tasks: list[asyncio.Task[None]] = []
    go = asyncio.Event()

    async def later(pi: Any) -> None:
        await go.wait()
        pi.set_active_tools(["one"])

    def body(id: str, params: Any, signal: Any, on_update: Any, ctx: Any) -> Any:
        pi = next(each for each in pis if each.agent is None or each.agent.id == ctx.agent_id)
        tasks.append(asyncio.create_task(later(pi)))
        return result("ok")

    pis = await stage.load("p", pi_tool("t", body))
    other = await stage.host.agents.create("a2", stage.model)
    await stage.one("t")
    go.set()
    await asyncio.gather(*tasks)
    await prompt(stage, other)
    assert stage.listed() == ["one", "t", "two"]
    await stage.turn(OK)
    assert "two" not in stage.listed()


@bridged("root")
async def test_a_handlers_wish_is_for_the_agent_whose_call_it_judges(stage: Bridged) -> None:
    stage.tool("one")
    (pi,) = await stage.load("p", tool_call=lambda event, ctx: pi.set_active_tools([]))
    other = await stage.host.agents.create("a2", stage.model)
    await stage.one("one")
    await prompt(stage, other)
    assert [stage.listed(1), stage.listed(2)] == [[], ["one"]]


@bridged("root", agent=False)
async def test_a_wish_from_before_any_agent_is_the_first_agents_alone(stage: Bridged) -> None:
    for name in ("one", "two"):
        stage.tool(name)
    await stage.load("p", factory=lambda pi: pi.set_active_tools(["one"]))
    first = await stage.host.agents.create("a1", stage.model)
    stage.host.tools.register(tool("own_native"), first.scope)
    second = await stage.host.agents.create("a2", stage.model)
    await prompt(stage, first)
    assert stage.listed() == ["one", "own_native"]
    assert ["own_native" in notice for notice in stage.notices] == [True]
    await prompt(stage, second)
    assert stage.listed() == ["one", "two"]


@bridged("engine", agent=False)
async def test_a_wish_from_loading_is_in_force_at_each_agents_first_request(stage: Bridged) -> None:
    for name in ("one", "two"):
        stage.tool(name)
    await stage.load("p", factory=lambda pi: pi.set_active_tools(["one"]))
    for id in ("a1", "a2"):
        await prompt(stage, await stage.host.agents.create(id, stage.model))
        assert stage.listed() == ["one"]


@bridged("root", agent=False)
async def test_without_an_agent_the_global_tools_are_listed(stage: Bridged) -> None:
    stage.tool("one")
    (pi,) = await stage.load("p", pi_tool("t"))
    assert pi.get_active_tools() == [row["name"] for row in pi.get_all_tools()] == ["one", "t"]


@bridged("root")
async def test_a_wish_under_an_agent_replaces_one_that_still_waits(stage: Bridged) -> None:
    for name in ("one", "two"):
        stage.tool(name)
    (pi,) = await stage.load("p", pi_tool("t", lambda *_: pi.set_active_tools(["t", "one"]) or result("ok")))
    other = await stage.host.agents.create("a2", stage.model)
    pi.set_active_tools(["t", "two"])
    await prompt(stage, other, calls(call("t")), OK)
    await prompt(stage, stage.agent)
    assert [stage.listed(0), stage.listed(1), stage.listed(2)] == [["t", "two"], ["one", "t"], ["one", "t", "two"]]
