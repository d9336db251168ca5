"""Invariants of the list in force for an agent: what it leaves out stays out, what it names is there."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._lifetimes import named, settled
from conformance.invariants._once import gathered
from conformance.invariants._story import Story
from conformance.trace import Event


@invariant("setActiveTools.what-cannot-be-switched-off-is-reported-once", roles="bridge")
def what_a_list_leaves_out_is_gone_or_told(story: Story, context: Context) -> Answers:
    """Of packages' tools, too; where no package came or went since."""
    return _left_out(story, context, frozenset())


@invariant("setActiveTools.another-packages-end-lifts-nothing", roles="bridge")
def a_list_survives_another_packages_end(story: Story, context: Context) -> Answers:
    return _left_out(story, context, frozenset({"unload"}))


def _left_out(story: Story, context: Context, acts: frozenset[str]) -> Answers:
    """Of what one package had before the list was set, or the host, and where just ``acts`` came since.

    A notice from before it will do. Of a name that both had, where neither gave it up.
    """
    if "notices" not in context.capabilities:
        return
    lists = in_force(story, context)
    if not lists:
        return
    rows = {name: list(numbers) for name, numbers in story.natives.items()}
    given_up = {named(event) for event in story.methods["unregisterTool"]}
    if story.acts["drop-native"]:
        given_up |= rows.keys()
    for name, events in story.registrations.items():
        shared = name in rows and (acts or name in given_up)
        last = len(story.events) if shared or len(story.owners[name]) > 1 else max(map(story.number, events))
        rows.setdefault(name, []).append(last)
    told = [str(event["text"]) for event in story.kinds["notice"]]
    for request, since, names in lists:
        if _comings(story, since, request) != acts:
            continue
        there = {row["name"] for row in request["tools"]}
        for name, numbers in rows.items():
            if name not in names and max(numbers) < since:
                has = f"request {request['request']} of {request.agent} has {name}, which its list leaves out"
                silent = name in there and not any(name in text for text in told)
                yield f"{has}, and no notice says so" if silent else None


def _comings(story: Story, since: int, request: Event) -> frozenset[str]:
    """Return which acts with packages there were between the setting of a list and a request."""
    end = story.number(request)
    return frozenset(
        act
        for act in ("load", "unload", "reload")
        if any(since < story.number(event) < end for event in story.acts[act])
    )


@invariant("setActiveTools.narrows-the-next-request")
def what_a_list_leaves_out_stays_out(story: Story, context: Context) -> Answers:
    """Of native tools that were there before, that no package has and that no notice names."""
    made, later = story.registrations, story.natives
    told = " ".join(str(event["text"]) for event in story.kinds["notice"])
    for request, since, names in in_force(story, context):
        if _comings(story, since, request):
            continue  # Whether a list survives that is another rule's.
        there = {row["name"] for row in request["tools"]}
        for name, numbers in later.items():
            if name not in names and name not in made and max(numbers) < since and name not in told:
                has = f"request {request['request']} of {request.agent} has {name}, which its list leaves out"
                yield has if name in there else None


@invariant("setActiveTools.replaces-the-list-before", "setActiveTools.narrows-the-next-request")
def what_a_list_names_is_there(story: Story, context: Context) -> Answers:
    """Where one package alone sets lists."""
    return _named(story, context, alone=True)


@invariant("setActiveTools.replaces-across-packages")
def what_another_packages_list_names_is_there(story: Story, context: Context) -> Answers:
    return _named(story, context, alone=False)


def _named(story: Story, context: Context, alone: bool) -> Answers:
    """Of native tools, and of tools that one package registered while it was loaded, and that nobody took away."""
    setters = {story.package_of(event) for event in story.methods["setActiveTools"]}
    if (len(setters) == 1) is not alone:
        return
    if any(story.acts[act] for act in ("drop-native", "unload", "reload")):
        return
    lists = in_force(story, context)
    if not lists:
        return
    natives, made = story.natives, story.registrations
    taken = {named(event) for event in story.methods["unregisterTool"]}
    threw = {api for api, outcome in story.outcomes.items() if "threw" in outcome}
    created = story.kinds["agent.created"]
    ready = story.number(created[0]) if created else 0
    steady = {name for name in natives if name not in made}
    for name, rows in made.items():
        failed = any(story.instances[each["instance"]]["error"] for each in rows if each["instance"] in story.instances)
        early = all(story.number(each) < ready and each["api"] not in threw for each in rows)
        if early and not failed and name in story.plain and name not in taken:
            steady.add(name)
    for request, since, names in lists:
        there = {row["name"] for row in request["tools"]}
        for name in names & steady:
            if min(natives.get(name, [0])) < since:
                lacks = f"request {request['request']} of {request.agent} lacks {name}, which its list names"
                yield lacks if name not in there else None


@invariant("registerTool.a-factory-that-throws-leaves-nothing", roles="bridge")
def a_failed_package_leaves_no_list(story: Story, context: Context) -> Answers:
    """Where no other package set one: then every native tool is there."""
    lists = story.methods["setActiveTools"]
    failed = [
        event
        for event in lists
        if event["instance"] in story.instances
        and story.instances[event["instance"]]["error"] is not None
        and story.number(event) < story.number(story.instances[event["instance"]])
    ]
    dropped = bool(story.acts["drop-native"])
    if not lists or len(failed) < len(lists) or dropped or story.listened:
        return
    made, natives = story.registrations, story.natives
    for request in story.kinds["model.request"]:
        since = story.prepared(request.agent or "", story.number(request))
        there = {row["name"] for row in request["tools"]}
        for name, numbers in natives.items():
            if since is not None and name not in made and min(numbers) < since:
                lacks = (
                    f"request {request['request']} of {request.agent} lacks {name}, and only failed packages set a list"
                )
                yield lacks if name not in there else None


@invariant("setActiveTools.agents-are-apart")
def without_a_list_every_native_is_there(story: Story, context: Context) -> Answers:
    return _untouched(story, context, later=False)


@invariant("setActiveTools.later-agents-are-untouched")
def for_a_later_agent_every_native_is_there(story: Story, context: Context) -> Answers:
    return _untouched(story, context, later=True)


def _untouched(story: Story, context: Context, later: bool) -> Answers:
    """For an agent in whose handlers nobody set a list, where none was set outside handlers either.

    It is a ``later`` one that began when a list had been set.
    """
    lists = story.methods["setActiveTools"]
    enters = [story.enters.get(event["invocation"] or "") for event in lists]
    dropped = bool(story.acts["drop-native"])
    if not lists or None in enters or dropped or story.listened:
        return
    narrowed = {enter.agent for enter in enters if enter is not None}
    if any(enter.kind == "native.enter" for enter in enters if enter is not None):
        return
    made = story.registrations
    natives = {name: min(settled(story, number) for number in numbers) for name, numbers in story.natives.items()}
    begun = {event.agent: story.number(event) > story.number(lists[0]) for event in story.kinds["agent.created"]}
    for request in story.kinds["model.request"]:
        agent = request.agent or ""
        if begun.get(agent) is not later:
            continue
        since = story.prepared(agent, story.number(request))
        if agent in narrowed or agent in context.child_agents or since is None:
            continue
        there = {row["name"] for row in request["tools"]}
        for name, number in natives.items():
            if name not in made and number < since:
                lacks = f"request {request['request']} of {agent} lacks {name}, and nobody set a list for that agent"
                yield lacks if name not in there else None


@gathered
def in_force(story: Story, context: Context) -> Iterator[tuple[Event, int, set[str]]]:
    """Yield the requests for which it is beyond doubt which list is in force: where it was set, and its names."""
    created = story.kinds["agent.created"]
    lists = story.methods["setActiveTools"]
    if not created or not lists or story.listened:
        return
    enters = [story.enters.get(event["invocation"] or "") for event in lists]
    idle = [event for event, enter in zip(lists, enters, strict=True) if enter is None]
    if len(created) > 1 and any(story.number(event) > story.number(created[0]) for event in idle):
        return  # Whose list it is has no rule.
    if len(created) > 1 and any(enter is not None and enter.kind == "native.enter" for enter in enters):
        return  # Nor whose it is when a package is at work in a native tool's body.
    began = min(map(story.number, story.kinds["turn.start"]), default=0)
    for request in story.kinds["model.request"]:
        agent, at = request.agent or "", story.number(request)
        prepared = story.prepared(agent, at)
        if prepared is None or agent in context.child_agents:
            continue
        mine = [
            event
            for event, enter in zip(lists, enters, strict=True)
            if story.number(event) < at and (enter is None or enter.agent == agent)
        ]
        born = max(
            (story.number(event) for event in created if event.agent == agent and story.number(event) < at), default=at
        )
        if not mine or not born < story.number(mine[-1]) <= prepared:
            continue  # Set meanwhile: in force or not. From loading: for one agent. Earlier: of another with that id.
        enter = story.enters.get(mine[-1]["invocation"] or "")
        if enter is None and story.number(mine[-1]) < began:
            continue  # Set before anything was at work: that it waits for its agent is another rule's.
        if enter is None and _came_late(story, mine[-1], created[0]):
            continue  # Nor is this: whom a package serves that came beside its agent shows in its handlers alone.
        names, end = (mine[-1]["args"] or [None])[0], story.gone.get(mine[-1]["instance"], len(story.events))
        done = "returned" in story.outcomes.get(mine[-1]["api"], {}) and end > at
        if done and isinstance(names, list) and (enter is None or enter.kind != "native.enter"):
            yield request, story.number(mine[-1]), set(map(str, names))


def _came_late(story: Story, event: Event, agent: Event) -> bool:
    """Whether the package of an API call was loaded after the agent was there."""
    package, there = story.package_of(event), story.number(agent)
    return any(load["package"] == package and story.number(load) > there for load in story.acts["load"])
