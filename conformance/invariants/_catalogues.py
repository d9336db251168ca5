"""Invariants of the model's catalogue: what a row keeps of the registration, and one row for a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.compare import same, show
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._story import Story
from conformance.trace import Event


@dataclass
class _Registered:
    """What was registered under one name so far: the packages' definitions, and whether it is a native's name."""

    specs: list[dict[str, Any]] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    native: bool = False


def _requests(story: Story) -> Iterator[tuple[Event, dict[str, _Registered]]]:
    """Yield each request with what was registered before it; nothing where the host's own seams were used."""
    known: dict[str, _Registered] = {}
    if story.listened:
        return
    for event in story.events:
        if event.kind == "operator":
            for name in event["natives"] or ():
                known.setdefault(name, _Registered()).native = True
        elif event.kind == "api.call" and event["call"] == "registerTool":
            spec = (event["args"] or [None])[0]
            if isinstance(spec, dict) and isinstance(spec.get("name"), str):
                row = known.setdefault(spec["name"], _Registered())
                row.specs.append(spec)
                row.packages.add(story.package_of(event))
        elif event.kind == "model.request":
            yield event, known


def _is_object(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object"


@invariant("registerTool.each-keyword-reaches-the-model-or-is-announced")
def schemas_reach_the_model_or_a_notice_names_the_tool(story: Story, context: Context) -> Answers:
    if "notices" not in context.capabilities:
        return
    for request, known in _requests(story):
        for row in request["tools"]:
            made = known.get(row["name"])
            if made is None or made.native or not made.specs:
                continue
            given = [spec.get("parameters") for spec in made.specs]
            if not all(map(_is_object, given)):
                continue  # A root that is no object's has no rule that tells its row.
            lost = not any(_keeps(row.get("parameters"), schema) for schema in given)
            silent = lost and not any(
                row["name"] in str(event["text"])
                for event in story.kinds["notice"]
                if story.number(event) < story.number(request)
            )
            name = f"request {request['request']} of {request.agent}: {row['name']}"
            yield f"{name} has the parameters {show(row.get('parameters'))} of {show(given[-1])}" if silent else None


def _keeps(found: Any, wanted: Any) -> bool:
    """Whether each keyword of a schema is in another one unchanged; that one may have more."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and _keeps(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(_keeps, found, wanted))
    return same(found, wanted)


@invariant("registerTool.the-last-of-one-package-wins", roles="bridge")
def a_package_has_one_tool_of_a_name(story: Story, context: Context) -> Answers:
    return _listed_once(story, lambda made: len(made.specs) > 1 and len(made.packages) == 1 and not made.native)


@invariant("registerTool.a-name-of-another-package", roles="bridge")
def packages_have_one_tool_of_a_name(story: Story, context: Context) -> Answers:
    return _listed_once(story, lambda made: len(made.packages) > 1 and not made.native)


@invariant("registerTool.a-name-of-a-native-tool", roles="bridge")
def a_native_and_a_package_have_one_tool_of_a_name(story: Story, context: Context) -> Answers:
    return _listed_once(story, lambda made: made.native and bool(made.packages))


def _shared(story: Story) -> bool:
    """Whether some name was registered more than once, by a package at least once."""
    return any(len(rows) > 1 or name in story.natives for name, rows in story.registrations.items())


def _listed_once(story: Story, fits: Callable[[_Registered], bool]) -> Answers:
    if not _shared(story):
        return
    for event in story.methods["setActiveTools"]:
        names = (event["args"] or [None])[0]
        if not isinstance(names, list) or len(set(map(str, names))) < len(names):
            return  # Whether a name that is given twice is listed twice has no rule.
    for request, known in _requests(story):
        names = [row["name"] for row in request["tools"]]
        for name, made in known.items():
            if fits(made) and name in names:
                often = names.count(name)
                told = f"request {request['request']} of {request.agent} lists {name} {often} times"
                yield told if often > 1 else None


@invariant("registerTool.a-name-of-another-package")
def a_name_that_two_packages_register_is_told(story: Story, context: Context) -> Answers:
    """Of two packages that register one name while they are loaded, one has no effect: it threw or was reported."""
    for request, name, made, _ in _doubled(story, context):
        if len(made.packages) > 1:
            silent = not any(name in str(event["text"]) for event in story.kinds["notice"])
            told = f"request {request['request']} of {request.agent}: {name} is one of two registrations"
            yield f"{told}, and nothing tells of the other" if silent else None


@invariant("registerTool.the-first-loaded-package-wins")
def the_tool_of_the_first_loaded_package_is_listed(story: Story, context: Context) -> Answers:
    """Where two packages register one name while they are loaded, and describe it by different words."""
    order: dict[str, int] = {}
    for made in story.instances.values():
        order.setdefault(made["package"], len(order))
    for request, name, made_as, row in _doubled(story, context):
        if made_as.native or len(made_as.packages) < 2:
            continue
        first = min(made_as.packages, key=lambda package: order.get(package, 0))
        given: dict[bool, set[str]] = {True: set(), False: set()}
        for event in story.registrations[name]:
            given[story.package_of(event) == first].add(str(event["args"][0].get("description")))
        if not given[True] & given[False] and all(map(_is_object, (spec.get("parameters") for spec in made_as.specs))):
            told = f"request {request['request']} of {request.agent} lists another {name} than that of {first}"
            yield f"{told}, which was loaded first" if str(row.get("description")) in given[False] else None


@invariant("registerTool.a-name-of-a-native-tool")
def a_registration_that_a_native_tool_hides_is_told(story: Story, context: Context) -> Answers:
    for request, name, made, row in _doubled(story, context):
        given = [spec.get("description") for spec in made.specs]
        if made.native and made.specs and all(isinstance(each, str) for each in given):
            hidden = row.get("description") not in given
            silent = hidden and not any(name in str(event["text"]) for event in story.kinds["notice"])
            told = f"request {request['request']} of {request.agent}: {name} is the native tool"
            yield f"{told}, and nothing tells of the package's" if silent else None


def _doubled(story: Story, context: Context) -> Iterator[tuple[Event, str, _Registered, dict[str, Any]]]:
    """Yield the rows of names that were registered twice while packages were loaded, where nothing fails or changes."""
    created = story.kinds["agent.created"]
    if "notices" not in context.capabilities or len(created) != 1 or not _shared(story):
        return
    threw = {event["api"] for event in story.kinds["api.return"] if "threw" in (event["outcome"] or {})}
    changed = any(number > story.number(created[0]) for number in story.changes)
    failed = any(made["error"] is not None for made in story.instances.values())
    if changed or failed or story.methods["unregisterTool"]:
        return
    if any(event["api"] in threw for event in story.methods["registerTool"]):
        return
    for request, known in _requests(story):
        for row in request["tools"]:
            if row["name"] in known:
                yield request, row["name"], known[row["name"]], row
