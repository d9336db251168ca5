"""Which tools of packages stand in the host's registry."""

from __future__ import annotations

from typing import Any

import pytest

from reference_bridge.bridge.packages import Package
from reference_bridge.bridge.values import UNDEFINED
from tests.fast.small_bridge import Bridged, bridged, pi_tool, result, text
from tests.fast.small_host import OK, call, calls, tool

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 1, "x-own": [1]}},
    "anyOf": [{"required": ["n"]}],
    "$defs": {"unused": {}},
    "additionalProperties": False,
}


def texts(stage: Bridged) -> list[str]:
    return [each.text for each in stage.results]


@bridged()
async def test_the_schema_is_forwarded_whole_and_calls_are_checked_against_it(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t", parameters=SCHEMA))
    first, second = await stage.turn(calls(call("t", {"n": 0}), call("t", {"n": 1}, id="c2")), OK)
    assert stage.model.requests[0].tools == [{"name": "t", "description": "t of Pi", "parameters": SCHEMA}]
    assert (first.is_error, second.text) == (True, "t ran")


@bridged()
async def test_registering_again_replaces_behaviour_schema_and_description(stage: Bridged) -> None:
    def again(pi: Any) -> None:
        pi.register_tool(
            pi_tool("t", lambda id, params, *_: result(f"new {params}"), description="new", parameters=SCHEMA)
        )

    (pi,) = await stage.load("p", pi_tool("t", lambda *_: again(pi) or result("old")))
    await stage.turn(call("t"))
    await stage.turn(call("t", {"n": 5}))
    assert texts(stage) == ["old", "new {'n': 5}"]
    assert stage.model.requests[1].tools == [{"name": "t", "description": "new", "parameters": SCHEMA}]


@bridged()
async def test_of_two_packages_the_one_loaded_first_keeps_the_name(stage: Bridged) -> None:
    await stage.load("a", pi_tool("dup", result("a")))
    (pi,) = await stage.load("b", pi_tool("dup", result("b")), pi_tool("extra"))
    await stage.turn(calls(call("dup"), call("extra", id="c2")), OK)
    assert texts(stage) == ["a", "extra ran"]
    assert [("dup" in notice, "'a'" in notice, "'b'" in notice) for notice in stage.notices] == [(True, True, True)]
    assert pi.unregister_tool("dup") is False
    assert stage.listed() == ["dup", "extra"]


@bridged()
async def test_the_one_loaded_first_wins_also_if_it_registers_later(stage: Bridged) -> None:
    (first,) = await stage.load("a")
    await stage.load("b", pi_tool("dup", result("b")))
    first.register_tool(pi_tool("dup", result("a")))
    assert (await stage.one("dup")).text == "a"
    assert len(stage.notices) == 1


@bridged()
async def test_a_tool_of_a_natives_name_takes_its_place_and_gives_it_back(stage: Bridged) -> None:
    stage.tool("bash", "native")
    (pi,) = await stage.load("p", pi_tool("bash", result("pi")), pi_tool("other"))
    assert (await stage.one("bash")).text == "pi"
    assert stage.listed() == ["bash", "other"]
    assert pi.unregister_tool("bash") is True
    assert (await stage.one("bash")).text == "native"
    assert stage.notices == []


@bridged("root")
async def test_a_tool_of_a_natives_name_takes_its_place_for_agents_made_later(stage: Bridged) -> None:
    stage.tool("bash", "native")
    (pi,) = await stage.load("p", pi_tool("bash", result("pi")))
    other = await stage.host.agents.create("a2", stage.model)
    stage.model.replies += [calls(call("bash")), OK]
    other.followup("go")
    await other.when_idle()
    assert other.session.messages()[2]["content"][0]["content"] == [text("pi")]
    await other.dispose()
    assert pi.unregister_tool("bash") is True


@bridged("engine")
async def test_a_tool_an_agent_has_of_its_own_keeps_its_name_and_the_refusal_is_reported(stage: Bridged) -> None:
    stage.host.tools.register(tool("bash", "own"), stage.agent.scope)
    await stage.load("p", pi_tool("bash"), pi_tool("other"))
    assert (await stage.one("bash")).text == "own"
    assert ["bash" in notice for notice in stage.notices] == [True]
    assert stage.listed() == ["bash", "other"]


@pytest.mark.parametrize("definition", [{}, {"name": None}, {"name": 7}, None, {"name": "run_code"}])
@bridged()
async def test_a_tool_that_cannot_stand_is_reported_and_harms_nobody(stage: Bridged, definition: Any) -> None:
    (pi,) = await stage.load("p", factory=lambda pi: pi.register_tool(definition))
    pi.register_tool(pi_tool("fine"))
    assert (await stage.one("fine")).text == "fine ran"
    assert len(stage.notices) == 1
    assert pi.get_active_tools() == ["fine"]


@pytest.mark.parametrize("parameters", [UNDEFINED, None, True])
@bridged()
async def test_a_tool_without_a_schema_is_listed_and_its_calls_fail(stage: Bridged, parameters: Any) -> None:
    await stage.load("p", pi_tool("odd", parameters=parameters), pi_tool("fine"))
    first, second = await stage.turn(calls(call("odd"), call("fine", id="c2")), OK)
    assert (first.is_error, second.text) == (True, "fine ran")
    assert stage.listed() == ["fine", "odd"]


@bridged()
async def test_a_schema_that_is_no_json_is_refused_and_the_catalogue_lives(stage: Bridged) -> None:
    cycle: dict[str, Any] = {"type": "object"}
    cycle["self"] = cycle
    await stage.load(
        "p", pi_tool("bad", parameters=cycle), pi_tool("fine", parameters={"type": "object", "a": UNDEFINED})
    )
    await stage.one("fine")
    assert stage.listed() == ["fine"]
    assert len(stage.notices) == 1


@pytest.mark.parametrize("name", ["", "has space", "päö/.."])
@bridged()
async def test_any_text_is_a_name(stage: Bridged, name: str) -> None:
    await stage.load("p", pi_tool(name))
    assert (await stage.one(name)).text == f"{name} ran"


@bridged()
async def test_unregistering_answers_whether_an_own_tool_was_taken_away(stage: Bridged) -> None:
    stage.tool("native")
    await stage.load("other", pi_tool("theirs"))
    (pi,) = await stage.load("p", pi_tool("b"))
    answers = [pi.unregister_tool(name) for name in ("b", "b", "nope", "native", "theirs", None)]  # type: ignore[arg-type]
    assert answers == [True, False, False, False, False, False]
    assert pi.get_active_tools() == ["native", "theirs"]
    assert "b" in (await stage.one("b")).text
    pi.register_tool(pi_tool("b", result("back")))
    assert (await stage.one("b")).text == "back"


@bridged()
async def test_a_tool_that_unregisters_itself_still_answers(stage: Bridged) -> None:
    (pi,) = await stage.load("p", pi_tool("x", lambda *_: result(str(pi.unregister_tool("x")))), watch=True)
    assert (await stage.one("x")).text == "True"
    assert stage.order() == ["start", "call", "result", "end"]


@bridged()
async def test_a_tool_registered_by_a_running_one_is_in_the_next_request(stage: Bridged) -> None:
    (pi,) = await stage.load("p", pi_tool("loader", lambda *_: pi.register_tool(pi_tool("fresh")) or result("ok")))
    await stage.turn(calls(call("loader")), calls(call("fresh", id="c2")), OK)
    assert stage.listed(1) == ["fresh", "loader"]
    assert texts(stage) == ["ok", "fresh ran"]


@bridged()
async def test_a_factory_that_throws_leaves_nothing_and_is_reported(stage: Bridged) -> None:
    def broken(pi: Any) -> None:
        pi.register_tool(pi_tool("ghost"))
        pi.on("tool_call", stage.keep("broken"))
        raise RuntimeError("no luck")

    with pytest.raises(RuntimeError, match="no luck"):
        await stage.bridge.load(Package("broken", broken))
    await stage.load("p", pi_tool("t"))
    await stage.one("t")
    assert (stage.listed(), stage.seen) == (["t"], [])
    assert ["no luck" in notice for notice in stage.notices] == [True]


@bridged()
async def test_a_package_is_loaded_once(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t"))
    with pytest.raises(ValueError, match="loaded already"):
        await stage.load("p", pi_tool("other"))
    await stage.one("t")
    assert stage.listed() == ["t"]


@bridged("engine", agent=False)
async def test_a_factory_that_throws_for_one_agent_is_reported_and_the_others_serve(stage: Bridged) -> None:
    def broken(pi: Any) -> None:
        pi.register_tool(pi_tool("ghost"))
        pi.on("tool_call", stage.keep("broken"))
        raise RuntimeError("no luck")

    await stage.bridge.load(Package("broken", broken))
    await stage.load("p", pi_tool("t"))
    stage.agent = await stage.host.agents.create("a1", stage.model)
    assert (await stage.one("t")).text == "t ran"
    assert (stage.listed(), stage.seen) == (["t"], [])
    assert ["no luck" in notice for notice in stage.notices] == [True]


@bridged("engine", agent=False)
async def test_a_prompt_that_races_the_factories_is_served_whole(stage: Bridged) -> None:
    import asyncio

    async def slow(pi: Any) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    await stage.load("p", factory=slow)
    await stage.load("q", pi_tool("t"), watch=True)
    stage.agent = await stage.host.agents.create("a1", stage.model)
    await stage.one("t")
    assert stage.listed(0) == ["t"]
    assert stage.order() == ["start", "call", "result", "end"]


@bridged()
async def test_unloading_takes_away_tools_handlers_and_masks(stage: Bridged) -> None:
    stage.tool("bash", "native")
    stage.tool("masked")
    (pi,) = await stage.load("p", pi_tool("bash", result("pi")), watch=True)
    pi.set_active_tools(["bash"])
    stage.bridge.unload("p")
    assert (await stage.one("bash")).text == "native"
    assert stage.listed() == ["bash", "masked"]
    assert (stage.seen, pi.unregister_tool("bash"), pi.active) == ([], False, False)
    with pytest.raises(Exception, match="gone"):
        pi.get_active_tools()
    with pytest.raises(LookupError):
        stage.bridge.unload("p")


@bridged()
async def test_unloading_during_a_call_lets_the_body_answer(stage: Bridged) -> None:
    await stage.load("p", pi_tool("t", lambda *_: stage.bridge.unload("p") or result("last words")), watch=True)
    assert (await stage.one("t")).text == "last words"


@bridged()
async def test_reloading_keeps_the_place_in_the_load_order(stage: Bridged) -> None:
    await stage.load("a", pi_tool("t"), tool_call=stage.keep("a1"))
    await stage.load("b", tool_call=stage.keep("b"))

    def second(pi: Any) -> None:
        pi.register_tool(pi_tool("t", result("a2")))
        pi.on("tool_call", stage.keep("a2"))

    await stage.bridge.reload("a", Package("a", second))
    assert (await stage.one("t")).text == "a2"
    assert [name for name, _, _ in stage.seen] == ["a2", "b"]


@bridged()
async def test_what_a_tool_says_in_the_prompt_follows_its_activity(stage: Bridged) -> None:
    speaking = {"promptSnippet": "does \n things", "promptGuidelines": ["use it", " ", "use it"]}
    stage.tool("native")
    (pi,) = await stage.load("p", pi_tool("t", **speaking), pi_tool("silent", promptSnippet=" "))
    await stage.turn(OK)
    assert stage.model.requests[0].system == "Available tools:\n- t: does things\n\nGuidelines:\n- use it"
    pi.unregister_tool("t")
    await stage.turn(OK)
    assert stage.model.requests[1].system == ""
