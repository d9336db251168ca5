"""Invariants of what comes and goes: registering works, taking back tells the truth, a removed package is silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conformance.compare import show
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._story import PLAIN, Story, is_plain
from conformance.trace import Event


def named(event: Event) -> str | None:
    """Return the name that an API call registers or takes back."""
    about = (event["args"] or [None])[0]
    name = about.get("name") if isinstance(about, dict) else about
    return name if isinstance(name, str) else None


def _answered(story: Story, call: str) -> Iterator[tuple[Event, dict[str, Any]]]:
    """Yield the calls of one method by instances that were there, with how each was answered."""
    for event in story.methods[call]:
        if not story.outcomes.get(event["api"]):
            continue
        gone = story.gone.get(event["instance"] or "", len(story.events))
        made = story.instances.get(event["instance"] or "")
        if made is not None and made["error"] is None and story.number(event) < gone:
            yield event, story.outcomes[event["api"]]


@invariant(
    "registerTool.in-the-catalogue-beside-natives",
    "registerTool.registered-in-a-handler",
    "registerTool.registered-between-prompts",
)
def a_plain_tool_may_be_registered(story: Story, context: Context) -> Answers:
    """Where one package alone has the name, and no native tool, registering it does not throw."""
    for event, outcome in _answered(story, "registerTool"):
        name = named(event)
        if name in story.plain:
            told = f"registerTool of {name} by {story.package_of(event)} threw"
            yield f"{told} {show(outcome['threw'])} (event {event.seq})" if "threw" in outcome else None


@invariant("registerTool.in-the-catalogue-beside-natives", "registerTool.registered-between-prompts")
def a_registered_tool_is_listed(story: Story, context: Context) -> Answers:
    """In the requests of steps that begin later, where nobody sets lists and there is one agent."""
    return _listed(story, lambda rows: not story.methods["setActiveTools"])


@invariant("setActiveTools.a-tool-registered-later-joins")
def a_tool_registered_after_a_list_is_listed(story: Story, context: Context) -> Answers:
    """Where the list was set first, and nobody had registered the name before."""
    lists = [story.number(event) for event in story.methods["setActiveTools"]]
    loading = any(number < story.number(agent) for number in lists for agent in story.kinds["agent.created"])
    return _listed(story, lambda rows: bool(lists) and not loading and story.number(rows[0]) > lists[-1])


def _listed(story: Story, fits: Callable[[list[Event]], bool]) -> Answers:
    if story.listened or len(story.kinds["agent.created"]) != 1:
        return
    taken = {named(event) for event in story.methods["unregisterTool"]}
    answered = {event["api"]: event for event, outcome in _answered(story, "registerTool") if "returned" in outcome}
    fitting = [
        (name, rows)
        for name, rows in story.registrations.items()
        if name in story.plain and name not in taken and fits(rows)
    ]
    for request in story.kinds["model.request"] if fitting else ():
        begun = story.prepared(request.agent or "", story.number(request)) or 0
        names = {row["name"] for row in request["tools"]}
        for name, rows in fitting:
            here = [each for each in rows if each["api"] in answered and story.answered[each["api"]] < begun]
            if here and story.gone.get(here[-1]["instance"], len(story.events)) > story.number(request):
                told = f"request {request['request']} of {request.agent} lacks {name}, which"
                told = f"{told} {story.package_of(rows[0])} registered"
                yield told if name not in names else None


@invariant("unregisterTool.an-unknown-name-is-false", roles="bridge")
def taking_back_an_unknown_name_is_false(story: Story, context: Context) -> Answers:
    natives, made = story.natives, story.registrations
    return _not_taken(story, lambda event, name: name not in natives and name not in made)


@invariant("unregisterTool.a-native-tool-stays", roles="bridge")
def taking_back_a_native_tool_is_false(story: Story, context: Context) -> Answers:
    natives, made = story.natives, story.registrations
    return _not_taken(story, lambda event, name: name in natives and name not in made)


@invariant("unregisterTool.another-packages-tool-stays", roles="bridge")
def taking_back_another_packages_tool_is_false(story: Story, context: Context) -> Answers:
    made = story.registrations
    return _not_taken(
        story,
        lambda event, name: (
            name in made and all(story.package_of(each) != story.package_of(event) for each in made[name])
        ),
    )


def _not_taken(story: Story, fits: Callable[[Event, str], bool]) -> Answers:
    for event, outcome in _answered(story, "unregisterTool"):
        name = named(event)
        if name is not None and fits(event, name):
            wrong = outcome.get("returned") is not False
            told = f"unregisterTool of {name} by {story.package_of(event)} (event {event.seq}) answered {show(outcome)}"
            yield told if wrong else None


@invariant("unregisterTool.the-own-tool-goes", roles="bridge")
def taking_back_the_own_tool_is_true(story: Story, context: Context) -> Answers:
    """The first time, where one instance alone has registered the name and nothing of it threw."""
    natives, made = story.natives, story.registrations
    threw = {api for api, outcome in story.outcomes.items() if "threw" in outcome}
    seen: set[str] = set()
    for event, outcome in _answered(story, "unregisterTool"):
        name = named(event)
        if name is None or name in natives or name in seen or PLAIN.fullmatch(name) is None:
            continue
        before = [each for each in made.get(name, ()) if story.number(each) < story.number(event)]
        own = {each["instance"] for each in made.get(name, ())} == {event["instance"]}
        if own and before and not any(each["api"] in threw or not is_plain(each["args"][0]) for each in before):
            seen.add(name)
            wrong = outcome.get("returned") is not True
            told = f"unregisterTool of the own {name} by {story.package_of(event)} (event {event.seq}) answered"
            yield f"{told} {show(outcome)}" if wrong else None


@invariant(
    "unregisterTool.what-was-shadowed-comes-back",
    "unregisterTool.what-was-shadowed-comes-back-for-every-agent",
    roles="bridge",
)
def natives_come_back_when_their_name_is_given_up(story: Story, context: Context) -> Answers:
    """In steps that begin later; where one package alone had the name, nobody set a list, and no native tool went."""
    if story.methods["setActiveTools"] or story.listened or any(story.acts[act] for act in ("drop-native", "reload")):
        return
    for name, places in story.natives.items():
        rows = story.registrations.get(name, [])
        own = {each["instance"] for each in rows}
        taken = [
            event
            for event, outcome in _answered(story, "unregisterTool")
            if named(event) == name and outcome.get("returned") is True and {event["instance"]} == own
        ]
        if not taken or len(places) != 1 or places[0] > story.number(rows[0]):
            continue
        last = max(story.answered[event["api"]] for event in taken)
        ours = {str(each["args"][0].get("description")) for each in rows}
        for request in story.kinds["model.request"] if story.number(rows[-1]) < last else ():
            begun = story.prepared(request.agent or "", story.number(request)) or 0
            if begun > last and request.agent not in context.child_agents:
                listed = [str(row["description"]) for row in request["tools"] if row["name"] == name]
                told = f"request {request['request']} of {request.agent}: {story.package_of(rows[0])} gave {name} up"
                lost = not listed or listed[0] in ours
                yield f"{told}, and the native tool is not listed" if lost else None


@invariant("unregisterTool.a-second-call-is-false", roles="bridge")
def taking_back_twice_is_false(story: Story, context: Context) -> Answers:
    gone: set[tuple[str, str]] = set()
    answered = {event["api"]: outcome for event, outcome in _answered(story, "unregisterTool")}
    for event in story.kinds["api.call"]:
        name = named(event)
        key = (str(event["instance"]), name or "")
        if event["call"] == "registerTool":
            gone.discard(key)
        elif event["call"] == "unregisterTool" and event["api"] in answered:
            returned = answered[event["api"]].get("returned")
            if key in gone:
                told = f"unregisterTool of {name} by {story.package_of(event)} (event {event.seq}) answered"
                yield f"{told} {show(answered[event['api']])} again" if returned is not False else None
            elif returned is True:
                gone.add(key)


@invariant("unregisterTool.the-own-tool-goes", roles="bridge")
def what_was_taken_back_is_gone(story: Story, context: Context) -> Answers:
    """From requests of steps that begin later, where one package had the name and does not register it again."""
    if story.listened or len(story.kinds["agent.created"]) != 1:
        return
    natives, made = story.natives, story.registrations
    for event, outcome in _answered(story, "unregisterTool"):
        name = named(event)
        rows = made.get(name or "", [])
        own = story.owners.get(name or "") == frozenset({story.package_of(event)})
        if not own or name in natives or outcome.get("returned") is not True:
            continue
        at = story.number(event)
        if all(story.number(each) < at for each in rows):
            for request in story.kinds["model.request"]:
                if (story.prepared(request.agent or "", story.number(request)) or 0) > at:
                    there = any(row["name"] == name for row in request["tools"])
                    told = f"request {request['request']} of {request.agent} lists {name}, which was taken back"
                    yield told if there else None


@invariant("setActiveTools.returns-nothing")
def setting_a_list_returns_nothing(story: Story, context: Context) -> Answers:
    for event, outcome in _answered(story, "setActiveTools"):
        if "returned" in outcome:
            wrong = outcome["returned"] != {"$": "undefined"}
            yield f"setActiveTools (event {event.seq}) returned {show(outcome['returned'])}" if wrong else None


@invariant("unregisterTool.odd-values-are-false", roles="bridge")
def taking_back_what_is_no_name_is_false(story: Story, context: Context) -> Answers:
    for event, outcome in _answered(story, "unregisterTool"):
        if event["args"] and not isinstance(event["args"][0], str):
            wrong = outcome.get("returned") is not False
            yield f"unregisterTool (event {event.seq}) answered {show(outcome)}" if wrong else None


@invariant("tool_call.a-package-that-failed-to-load-is-not-asked")
def a_package_that_failed_to_load_is_not_asked(story: Story, context: Context) -> Answers:
    failed = {name for name, made in story.instances.items() if made["error"] is not None}
    for event in story.kinds["handler.enter"] if failed else ():
        if event["event"] == "tool_call":
            wrong = event["instance"] in failed
            yield f"{event['package']} failed to load, and was asked (event {event.seq})" if wrong else None


@invariant("registerTool.a-factory-that-throws-leaves-nothing")
def a_factory_that_throws_is_reported(story: Story, context: Context) -> Answers:
    if "notices" not in context.capabilities:
        return
    for made in story.instances.values():
        if made["error"] is not None:
            error = made["error"]
            said = error.get("message") if isinstance(error, dict) else error
            words = [made["package"], *([said] if isinstance(said, str) and said else [])]
            silent = not any(
                event["instance"] == made["instance"] or any(word in str(event["text"]) for word in words)
                for event in story.kinds["notice"]
            )
            yield f"{made['package']} failed to load, and no notice says so" if silent else None


@invariant("registerTool.tools-go-with-their-package", roles="bridge")
def tools_of_a_removed_package_are_gone(story: Story, context: Context) -> Answers:
    natives, made = story.natives, story.registrations
    removed = {event["instance"]: story.number(event) for event in story.kinds["instance.disposed"]}
    if not removed or story.listened:
        return
    for event in story.kinds["model.request"]:
        since = story.prepared(event.agent or "", story.number(event)) or 0
        for row in event["tools"]:
            rows = made.get(row["name"], ())
            if rows and row["name"] not in natives:
                gone = all(removed.get(each["instance"], since) < since for each in rows)
                told = f"request {event['request']} of {event.agent} lists {row['name']}, whose package is gone"
                yield told if gone else None


@invariant("tool_call.a-removed-package-is-not-asked", roles="bridge")
def a_removed_package_is_not_asked(story: Story, context: Context) -> Answers:
    return _silent(story, "tool_call")


@invariant("tool_result.a-removed-package-patches-nothing", roles="bridge")
def a_removed_package_patches_nothing(story: Story, context: Context) -> Answers:
    return _silent(story, "tool_result")


@invariant("tool_execution_end.a-removed-package-hears-nothing-more", roles="bridge")
def a_removed_package_hears_nothing_more(story: Story, context: Context) -> Answers:
    return _silent(story, "tool_execution_start", "tool_execution_update", "tool_execution_end")


def _silent(story: Story, *events: str) -> Answers:
    """Of calls that the model asked for after the package was gone, its handlers hear nothing."""
    removed = {event["instance"]: story.number(event) for event in story.kinds["instance.disposed"]}
    for instance, number in story.gone.items():
        # Between turns what the operator asked for is done before anything else is.
        if story.events[number].kind == "operator" and not _is_busy(story, number):
            removed.setdefault(instance, number)
    if not removed:
        return
    for call in story.calls:
        begin = story.number(call.batch.request)
        for event in events:
            for enter in call.handled(event) if call.clear else ():
                wrong = removed.get(enter["instance"], begin) < begin
                told = f"{call.label}: {enter['package']} was told {event} after it was removed (event {enter.seq})"
                yield told if wrong else None


def settled(story: Story, number: int) -> int:
    """Return where something that the operator did is done for sure: while agents are at work it may take a while."""
    if not _is_busy(story, number):
        return number
    idle = (story.number(event) for event in story.kinds["turn.end"])
    return next((end for end in idle if end > number and not _is_busy(story, end + 1)), len(story.events))


def _is_busy(story: Story, number: int) -> bool:
    """Whether a turn was open at a place, or began there with no end known."""
    begun = sum(story.number(event) < number for event in story.kinds["turn.start"])
    return begun != sum(story.number(event) < number for event in story.kinds["turn.end"])
