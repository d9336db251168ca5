"""Which tools a scope sees, and how registrations come and go."""

from __future__ import annotations

import pytest

from reference_bridge.host import Host, HostOptions, InactiveScopeError, JsonSchemaError, Scope, ToolDefinition
from tests.fast.small_host import OK, Script, Stage, call, calls, show, staged, tool


@staged()
async def test_a_name_is_taken_once_in_each_layer(stage: Stage) -> None:
    stage.tool("a", "global")
    with pytest.raises(ValueError, match="is already registered \\(for a per-agent variant, register through that"):
        stage.tool("a")
    stage.host.tools.register(tool("a"), stage.agent.scope)
    with pytest.raises(ValueError, match=r'^tool "a" is already registered in this scope$'):
        stage.host.tools.register(tool("a"), stage.agent.scope)


@staged()
async def test_a_scoped_tool_shadows_a_global_one_for_its_agent_until_it_is_disposed(stage: Stage) -> None:
    stage.tool("a", "global")
    model = Script()
    other = await stage.host.agents.create("other", model)
    undo = stage.host.tools.register(tool("a", "scoped"), stage.agent.scope)

    assert (await stage.one("a")).text == "scoped"
    model.replies = [calls(call("a")), OK]
    other.followup("go")
    await other.when_idle()
    assert next(e for e in other.session.events if e.type == "tool/result").message["content"][0]["content"] == [
        {"type": "text", "text": "global"}
    ]

    undo()
    undo()
    assert (await stage.one("a")).text == "global"


@staged()
async def test_schemas_keep_the_inherited_order_and_put_own_names_last(stage: Stage) -> None:
    tools, scope = stage.host.tools, stage.agent.scope
    for name in ("zeta", "alpha", "mid"):
        stage.tool(name)
    tools.register(tool("alpha"), scope)
    tools.register(tool("own"), scope)

    assert stage.names() == ["zeta", "alpha", "mid", "own"]
    assert [schema["name"] for schema in tools.schemas()] == ["zeta", "alpha", "mid"]
    assert list(tools.schemas(scope)[0]) == ["name", "description", "parameters"]

    tools.restrict(scope, deny=["alpha"])
    assert stage.names() == ["zeta", "mid", "alpha", "own"]


@staged()
async def test_the_model_reads_the_catalogue_sorted_by_code_unit(stage: Stage) -> None:
    for name in ("b", "a", "B", "\U0001f600", "\uff5e"):
        stage.tool(name)
    await stage.turn(OK)
    listed = [schema["name"] for schema in stage.model.requests[0].tools]
    assert listed == ["B", "a", "b", "\U0001f600", "\uff5e"]
    assert list(stage.model.requests[0].tools[0]) == ["name", "description", "parameters"]


@staged()
async def test_schemas_are_detached_copies(stage: Stage) -> None:
    stage.tool("a")
    stage.host.tools.schemas()[0]["parameters"]["x"] = 1
    assert "x" not in stage.host.tools.schemas()[0]["parameters"]


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"render": None}, TypeError, r'^tool "v" must declare output \{ schema, render, presentationMeta\? \}$'),
        ({"output_schema": {"type": "object", "patternProperties": {}}}, JsonSchemaError, "patternProperties is not a"),
        ({"timeout_ms": 0}, TypeError, '^tool "v" timeoutMs must be a positive finite number$'),
        ({"timeout_ms": float("inf")}, TypeError, "timeoutMs"),
    ],
)
@staged()
async def test_a_definition_that_cannot_work_is_refused(
    stage: Stage, changes: dict[str, object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        stage.tool("v", **changes)
    assert stage.names() == []


@staged()
async def test_only_run_code_is_a_reserved_name(stage: Stage) -> None:
    with pytest.raises(ValueError, match="is reserved for the Code Mode presentation transport"):
        stage.tool("run_code")
    for name in ("", "a b", "__proto__", "toString", "ünï"):
        stage.tool(name)
    assert stage.names() == ["", "a b", "__proto__", "toString", "ünï"]


@pytest.mark.parametrize("parameters", [lambda: None, {"f": print}, {"n": float("nan")}])
@staged()
async def test_parameters_that_are_not_json_spoil_every_listing(stage: Stage, parameters: object) -> None:
    stage.host.tools.register(ToolDefinition("np", "d", parameters, lambda args, exec: "x", show))
    with pytest.raises(ValueError, match=r'^tool "np" parameters must be lossless JSON before schema projection$'):
        stage.host.tools.schemas()
    await stage.turn()
    assert stage.turn_ends[0]["kind"] == "error"


@staged()
async def test_names_are_exact(stage: Stage) -> None:
    stage.tool("g", "lower")
    stage.tool("G", "upper")
    results = await stage.turn(
        calls(call("G", id="1"), call(" g", id="2"), call("toString", id="3"), call("g", id="4")), OK
    )
    assert [result.text for result in results] == [
        "upper",
        'Error: unknown tool " g"',
        'Error: unknown tool "toString"',
        "lower",
    ]


@staged()
async def test_a_tool_can_unregister_itself_and_a_sibling_of_the_same_batch(stage: Stage) -> None:
    def body(args: object, exec: object) -> str:
        undo_a()
        undo_b()
        return "finished"

    undo_a = stage.host.tools.register(tool("a", body))
    undo_b = stage.host.tools.register(tool("b"))
    first, second = await stage.turn(calls(call("a", id="1"), call("b", id="2")), OK)
    assert (first.text, first.is_error) == ("finished", False)
    assert (second.code, second.event.data["error"]["name"]) == ("UNKNOWN_TOOL", "ToolNotFoundError")


@staged()
async def test_a_tool_registered_by_one_call_runs_for_the_next_call_of_the_batch(stage: Stage) -> None:
    def body(args: object, exec: object) -> str:
        stage.tool("late", "late ran")
        return "ok"

    stage.tool("a", body)
    _, late = await stage.turn(calls(call("a", id="1"), call("late", id="2")), OK)
    assert late.text == "late ran"
    assert [[t["name"] for t in request.tools] for request in stage.model.requests] == [["a"], ["a", "late"]]


@staged()
async def test_change_is_told_once_for_each_change_of_what_somebody_sees(stage: Stage) -> None:
    told: list[None] = []
    stage.host.on("tools/change", lambda: told.append(None))
    tools, scope = stage.host.tools, stage.agent.scope
    counts = []

    def counted(act: object) -> object:
        told.clear()
        outcome = act()  # type: ignore[operator]
        counts.append(len(told))
        return outcome

    undo = counted(lambda: tools.register(tool("a")))
    undo_scoped = counted(lambda: tools.register(tool("b"), scope))
    lift = counted(lambda: tools.restrict(scope, deny=["a"]))
    undo_guard = counted(lambda: tools.guard(lambda exec: None, scope))
    for disposer in (lift, lift, undo_guard, undo_scoped, undo):
        counted(disposer)
    with pytest.raises(ValueError, match="nope"):
        tools.restrict(scope, deny=["nope"])
    assert counts == [1, 1, 1, 0, 1, 0, 0, 1, 1]
    assert len(told) == 1


@staged()
async def test_nothing_is_registered_through_a_disposed_agent(stage: Stage) -> None:
    tools, scope = stage.host.tools, stage.agent.scope
    stage.tool("g")
    tools.register(tool("own"), scope)
    lift = tools.restrict(scope, deny=["g"])
    assert stage.names() == ["own"]

    await stage.agent.dispose()

    assert stage.names() == ["g"]
    for act in (
        lambda: tools.restrict(scope, deny=["g"]),
        lambda: tools.register(tool("o2"), scope),
        lambda: tools.guard(lambda exec: None, scope),
        lambda: stage.host.on("tools/result", print, scope=scope),
    ):
        with pytest.raises(InactiveScopeError, match=r"^cannot create effect on inactive context$"):
            act()
    lift()


@staged()
async def test_an_agent_made_by_another_inherits_nothing_but_ends_with_it(stage: Stage) -> None:
    stage.tool("g")
    stage.host.tools.register(tool("own"), stage.agent.scope)
    stage.host.tools.restrict(stage.agent.scope, deny=["g"])
    child = await stage.host.agents.create("child", Script(), owner=stage.agent)
    assert (stage.names(), stage.names(child)) == (["own"], ["g"])
    await stage.agent.dispose()
    assert stage.host.agents.get("child") is None


@staged()
async def test_the_nearest_scope_of_a_chain_wins(stage: Stage) -> None:
    tools = stage.host.tools
    parent = Scope("parent")
    child = Scope("child", parent)

    async def run(scope: Scope) -> str:
        return str((await tools.execute("q", "x", {}, scope=scope)).content[0]["text"])

    stage.tool("x", "global")
    assert [await run(parent), await run(child)] == ["global", "global"]
    tools.register(tool("x", "parent"), parent)
    assert [await run(parent), await run(child), await run(Scope())] == ["parent", "parent", "global"]
    undo = tools.register(tool("x", "child"), child)
    tools.restrict(child, deny=["x"])
    assert [await run(parent), await run(child)] == ["parent", "child"]
    undo()
    assert await run(child) == 'Error: unknown tool "x"'
    tools.register(tool("x", "again"), child)
    assert await run(child) == "again"
    child.dispose()
    assert await run(child) == "parent"


def test_a_scope_is_bound_to_a_parent_once() -> None:
    scope = Scope("s")
    scope.bind_parent(Scope("p"))
    with pytest.raises(RuntimeError, match="already bound to a parent"):
        scope.bind_parent(Scope("q"))


def test_a_scope_that_ends_takes_back_the_last_registration_first() -> None:
    scope, undone = Scope("s"), []
    for name in ("first", "second", "third"):
        scope.own(lambda name=name: undone.append(name))
    scope.dispose()
    assert undone == ["third", "second", "first"]


@staged()
async def test_a_listener_hears_of_its_own_scope_and_its_descendants(stage: Stage) -> None:
    parent = Scope("parent")
    child = Scope("child", parent)
    stage.tool("x")
    heard: list[str] = []

    def listen(name: str, scope: Scope | None) -> None:
        async def listener(exec: object, next: object) -> object:
            heard.append(name)
            return await next()  # type: ignore[operator]

        stage.host.on("tools/pre-execute", listener, scope=scope)

    listen("everywhere", None)
    listen("parent", parent)
    listen("child", child)
    for scope in (child, parent, None):
        await stage.host.tools.execute("q", "x", {}, scope=scope)
    assert heard == ["everywhere", "parent", "child", "everywhere", "parent", "everywhere"]


@staged()
async def test_guards_are_asked_from_the_farthest_layer_to_the_nearest(stage: Stage) -> None:
    parent = Scope("parent")
    child = Scope("child", parent)
    stage.tool("x")
    asked: list[str] = []
    for name, scope in (("child", child), ("global", None), ("parent", parent)):
        stage.host.tools.guard(lambda exec, name=name: asked.append(name), scope)
    await stage.host.tools.execute("q", "x", {}, scope=child)
    assert asked == ["global", "parent", "child"]


@staged()
async def test_the_view_of_a_scope_says_what_may_be_restricted(stage: Stage) -> None:
    stage.tool("g")
    stage.host.tools.register(tool("own"), stage.agent.scope)
    stage.host.tools.restrict(stage.agent.scope, deny=["g"])
    view = stage.host.tools.view(stage.agent.scope)
    assert (list(view.visible), view.known_names, view.restrictable_names) == (["own"], {"g", "own"}, {"g"})


def test_a_pool_needs_a_place() -> None:
    with pytest.raises(ValueError, match="maxParallelToolCalls expected number >= 1 but got 0"):
        Host(HostOptions(max_parallel_tool_calls=0))


@staged()
async def test_an_id_belongs_to_one_agent_at_a_time(stage: Stage) -> None:
    with pytest.raises(ValueError, match=r'^session "a1" already exists$'):
        await stage.host.agents.create("a1", Script())
    await stage.agent.dispose()
    await stage.host.agents.create("a1", Script())


@staged()
async def test_a_failed_setup_leaves_no_agent_behind(stage: Stage) -> None:
    def setup(agent: object) -> None:
        raise LookupError("no")

    with pytest.raises(LookupError):
        await stage.host.agents.create("b", Script(), setup=setup)
    assert stage.host.agents.get("b") is None
