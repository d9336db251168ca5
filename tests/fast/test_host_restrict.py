"""Masks: what they may name, what they hide, and how they compose."""

from __future__ import annotations

import pytest

from reference_bridge.host import Scope
from tests.fast.small_host import OK, Stage, call, calls, staged, tool


async def furnished(stage: Stage) -> None:
    stage.tool("g1")
    stage.tool("g2")
    stage.host.tools.register(tool("own"), stage.agent.scope)


REFUSALS = [
    ({"deny": ["nope"]}, 'tools.restrict() names unknown global tool "nope"; known global tools: g1, g2'),
    (
        {"deny": ["g1", "nope", "nah"]},
        'tools.restrict() names unknown global tools "nope", "nah"; known global tools: g1, g2',
    ),
    ({"deny": ["own"]}, 'tools.restrict() names unknown global tool "own"; known global tools: g1, g2'),
    ({"allow": ["g1", "own"]}, 'tools.restrict() names unknown global tool "own"; known global tools: g1, g2'),
    (
        {"deny": ["nope", "nope"]},
        'tools.restrict() names unknown global tools "nope", "nope"; known global tools: g1, g2',
    ),
    ({"deny": "g1"}, 'tools.restrict() names unknown global tools "g", "1"; known global tools: g1, g2'),
    (
        {"deny": ["nope", "run_code"]},
        'tools.restrict() cannot name reserved Code Mode presentation transport "run_code"; '
        "restrict end-capability tools instead",
    ),
    (
        {},
        "tools.restrict({}) is a no-op: pass `allow` and/or `deny` "
        "(an empty filter is almost always a materialized-empty-config bug)",
    ),
]


@pytest.mark.parametrize(("filter", "text"), REFUSALS)
@staged()
async def test_one_bad_name_fails_the_whole_call(stage: Stage, filter: dict[str, list[str]], text: str) -> None:
    await furnished(stage)
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole text is compared below
        stage.host.tools.restrict(stage.agent.scope, **filter)
    assert str(refused.value) == text
    assert stage.names() == ["g1", "g2", "own"]


@staged()
async def test_an_empty_registry_knows_no_name(stage: Stage) -> None:
    with pytest.raises(ValueError, match=r'"x"; known global tools: \(none\)$'):
        stage.host.tools.restrict(stage.agent.scope, deny=["x"])


@staged()
async def test_a_mask_needs_a_scope(stage: Stage) -> None:
    with pytest.raises(ValueError, match=r"^tools.restrict\(\) requires a scoped context \(agent.ctx\): a context-"):
        stage.host.tools.restrict(None, deny=[])


@staged()
async def test_an_empty_allow_list_hides_all_that_is_inherited(stage: Stage) -> None:
    await furnished(stage)
    lift = stage.host.tools.restrict(stage.agent.scope, allow=[])
    assert stage.names() == ["own"]
    lift()
    stage.host.tools.restrict(stage.agent.scope, deny=[])
    assert stage.names() == ["g1", "g2", "own"]
    stage.host.tools.restrict(stage.agent.scope, allow=["g1", "g2"], deny=["g2"])
    assert stage.names() == ["g1", "own"]


@staged()
async def test_masks_intersect_and_each_lift_removes_its_own(stage: Stage) -> None:
    for name in ("g1", "g2", "g3"):
        stage.tool(name)
    scope, restrict = stage.agent.scope, stage.host.tools.restrict
    first = restrict(scope, allow=["g1", "g2"])
    second = restrict(scope, allow=["g2", "g3"])
    assert stage.names() == ["g2"]
    third = restrict(scope, deny=["g2"])
    assert stage.names() == []
    restrict(scope, deny=["g1"])()
    first()
    assert stage.names() == ["g3"]
    third()
    assert stage.names() == ["g2", "g3"]
    second()
    assert stage.names() == ["g1", "g2", "g3"]


@staged()
async def test_an_allow_mask_hides_what_comes_later_and_a_deny_mask_admits_it(stage: Stage) -> None:
    stage.tool("g1")
    names = ["g1"]
    lift = stage.host.tools.restrict(stage.agent.scope, allow=names)
    names.append("late")
    stage.tool("late")
    assert stage.names() == ["g1"]
    lift()
    stage.host.tools.restrict(stage.agent.scope, deny=["g1"])
    stage.tool("later")
    assert stage.names() == ["late", "later"]


@staged()
async def test_a_mask_is_by_name_and_outlives_what_it_names(stage: Stage) -> None:
    undo = stage.host.tools.register(tool("temp"))
    stage.host.tools.restrict(stage.agent.scope, deny=["temp"])
    undo()
    stage.tool("temp")
    assert stage.names() == []


@staged()
async def test_an_own_tool_of_a_masked_name_stays_visible_and_callable(stage: Stage) -> None:
    stage.tool("dup", "global")
    stage.tool("g")
    stage.host.tools.register(tool("dup", "scoped"), stage.agent.scope)
    stage.host.tools.restrict(stage.agent.scope, deny=["dup"])
    assert stage.names() == ["g", "dup"]
    assert (await stage.one("dup")).text == "scoped"


@staged()
async def test_a_child_scope_may_mask_what_its_ancestor_registered_and_the_ancestor_may_not(stage: Stage) -> None:
    tools, parent = stage.host.tools, Scope("parent")
    child = Scope("child", parent)
    stage.tool("g")
    tools.register(tool("anc"), parent)
    tools.register(tool("own"), child)

    def names(scope: Scope) -> list[str]:
        return [schema["name"] for schema in tools.schemas(scope)]

    assert (names(child), names(parent)) == (["g", "anc", "own"], ["g", "anc"])
    tools.restrict(child, deny=["anc"])
    assert names(child) == ["g", "own"]
    with pytest.raises(ValueError, match=r'names unknown global tool "anc"; known global tools: g$'):
        tools.restrict(parent, deny=["anc"])
    lift = tools.restrict(parent, deny=["g"])
    assert (names(child), names(parent)) == (["own"], ["anc"])
    lift()


@staged()
async def test_a_masked_tool_that_is_called_anyway_is_unknown_but_meets_all_policy(stage: Stage) -> None:
    stage.observe()
    stage.tool("g1")
    stage.host.tools.restrict(stage.agent.scope, deny=["g1"])
    result = await stage.one("g1")
    assert (result.text, result.code) == ('Error: unknown tool "g1"', "UNKNOWN_TOOL")
    assert stage.stages("c1") == "call pre guard exec post emit result"


@staged()
async def test_a_mask_made_by_one_call_hits_the_next_call_and_the_next_request(stage: Stage) -> None:
    def body(args: object, exec: object) -> str:
        stage.host.tools.restrict(stage.agent.scope, deny=["g2"])
        return "restricted"

    stage.tool("g2")
    stage.tool("g1", body)
    _, second = await stage.turn(calls(call("g1", id="1"), call("g2", id="2")), OK)
    assert second.code == "UNKNOWN_TOOL"
    assert [[t["name"] for t in request.tools] for request in stage.model.requests] == [["g1", "g2"], ["g1"]]
