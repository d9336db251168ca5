"""What is said of a request: which tools it lists, how it describes them, and what the system prompt says of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.compare import same
from conformance.invariants import Story
from conformance.plan import MAIN
from conformance.programs.statements import Pair
from conformance.trace import Event

LISTING = {
    "setActiveTools": ("setActiveTools.narrows-the-next-request",) * 2,
    "registerTool": ("registerTool.registered-in-a-handler", "registerTool.registered-between-prompts"),
    "unregisterTool": ("unregisterTool.the-own-tool-goes",) * 2,
}


def compare_requests(pair: Pair, right: Event, found: Event, left_out: set[str], own: set[str]) -> bool:
    """Say everything of one request of both sides; return whether they list the same tools.

    ``left_out`` are names of which nothing is compared, ``own`` those of packages' tools.
    """
    request, agent = right["request"], right.agent or ""
    names = [{str(row["name"]) for row in event["tools"]} - left_out for event in (right, found)]
    for name in sorted(names[0] ^ names[1]):
        there = name in names[0]
        whose = f' of agent "{agent}"' if agent != MAIN else ""
        word = "lists" if there else "does not list"
        then = (f'request {request}{whose} {word} "{name}"',) if there or agent == MAIN else ()
        rule = _listing_rule(pair.right, right, name)
        if not pair.say(rule, "catalogue", f"request {request} of {agent} {word} {name}", there, not there, then=then):
            return False
    rows = [{str(row["name"]): row for row in event["tools"]} for event in (right, found)]
    for name in sorted(names[0] & own):
        _compare_rows(pair, right, found, [side[name] for side in rows], list(_specs(pair.right, right, name)))
    _compare_prompts(pair, right, found, names[0], own)
    return True


def _specs(story: Story, request: Event, name: str) -> Iterator[tuple[Event, dict[str, Any]]]:
    """Yield the registrations of a name before a request, with what registered it."""
    for event in story.kinds["api.call"]:
        if story.number(event) > story.number(request):
            return
        spec = (event["args"] or [None])[0]
        if event["call"] == "registerTool" and isinstance(spec, dict) and spec.get("name") == name:
            yield event, spec


def _listing_rule(story: Story, request: Event, name: str) -> str:
    before = story.events[: story.number(request)]
    calls = [event for event in before if event.kind == "api.call" and event["call"] in LISTING]
    lists = [event for event in calls if event["call"] == "setActiveTools"]
    for event in reversed(calls):
        spec = (event["args"] or [None])[0]
        about = spec.get("name") if isinstance(spec, dict) else spec
        if event["call"] == "setActiveTools":
            loading = not event["invocation"] and not _idle(story, event)
            return "setActiveTools.while-loading" if loading else _list_rule(story, lists, event)
        if about == name:
            loading = event["call"] == "registerTool" and not event["invocation"] and not _idle(story, event)
            if loading:
                return "setActiveTools.narrows-the-next-request" if lists else _BESIDE
            if lists and event["call"] == "registerTool":
                return "setActiveTools.a-tool-registered-later-joins"
            return LISTING[event["call"]][0 if event["invocation"] is not None else 1]
    return _BESIDE


_BESIDE = "registerTool.in-the-catalogue-beside-natives"


def _idle(story: Story, event: Event) -> bool:
    created = story.kinds["agent.created"]
    return bool(created) and story.number(event) > story.number(created[0])


def _list_rule(story: Story, lists: list[Event], last: Event) -> str:
    """Return the rule that speaks of a list: what is special about it, or the ones before it."""
    enters = [story.enters.get(event["invocation"] or "") for event in lists]
    agents = {enter.agent for enter in enters if enter is not None}
    if len(agents) > 1:
        return "setActiveTools.agents-are-apart"
    names = (last["args"] or [None])[0]
    if isinstance(names, list) and len(set(map(str, names))) < len(names):
        return "setActiveTools.duplicates-do-not-matter"
    if names == [] and len(lists) > 1:
        return "setActiveTools.an-empty-list-and-back"
    if len(lists) > 1:
        packages = {story.instances[e["instance"]]["package"] for e in lists if e["instance"] in story.instances}
        return (
            "setActiveTools.replaces-across-packages"
            if len(packages) > 1
            else "setActiveTools.replaces-the-list-before"
        )
    return "setActiveTools.narrows-the-next-request"


def _compare_rows(
    pair: Pair, right: Event, found: Event, rows: list[dict[str, Any]], specs: list[tuple[Event, dict[str, Any]]]
) -> None:
    if not specs:
        return
    name = rows[0]["name"]
    where = f"request {right['request']} of {right.agent}: {name}"
    rule = _moved_rule(pair.right, right, name, [spec for _, spec in specs])
    described = [row.get("description") for row in rows]
    told_rule = rule or "registerTool.described-as-registered"
    given = any(isinstance(spec.get("description"), str) for _, spec in specs)
    if given and not pair.say(told_rule, "description", f"{where} is described", *described):
        return
    schema, shown = (row.get("parameters") for row in rows)
    told = [event["text"] for event in pair.found.kinds["notice"]]
    if _only_more(schema, shown, [spec for _, spec in specs[:-1]]):
        rule = "registerTool.indistinguishable-in-the-catalogue"
        pair.say(rule, "schema", f"{where} has the parameters", schema, shown)
    elif rule is not None and not any(name in str(text) for text in told):
        pair.say(rule, "schema", f"{where} has the parameters", schema, shown)


def _moved_rule(story: Story, request: Event, name: str, specs: list[dict[str, Any]]) -> str | None:
    """Return the rule on a tool that was registered more than once; ``None`` where all definitions are one."""
    if all(same(spec, specs[0]) for spec in specs):
        return None
    gone = any(
        event["call"] == "unregisterTool" and (event["args"] or [None])[0] == name
        for event in story.kinds["api.call"]
        if story.number(event) < story.number(request)
    )
    if gone:
        return "unregisterTool.registering-again-is-a-fresh-entry"
    return "registerTool.registering-again-moves-everything"


def _only_more(right: Any, found: Any, before: list[dict[str, Any]]) -> bool:
    """Whether a schema has all of another one, and more that is of no registration before the last."""
    if not _keeps(found, right) or same(found, right):
        return False
    left = [spec.get("parameters") for spec in before]
    more = {key: value for key, value in found.items() if key not in right} if isinstance(found, dict) else {}
    return not any(
        key in each and same(each[key], more[key]) for each in left if isinstance(each, dict) for key in more
    )


def _keeps(found: Any, wanted: Any) -> bool:
    """Whether a schema has everything that another one has, at any depth; it may have more."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and _keeps(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(_keeps, found, wanted))
    return same(found, wanted)


def _compare_prompts(pair: Pair, right: Event, found: Event, names: set[str], own: set[str]) -> None:
    """Say of each tool whether the system prompt has what it gave for it."""
    for name in sorted(own):
        specs = [spec for _, spec in _specs(pair.right, right, name)]
        for text in _prompts(specs[-1]) if specs else ():
            listed = name in names
            rule = (
                "registerTool.prompt-snippet-while-active"
                if listed
                else "registerTool.no-prompt-snippet-while-inactive"
            )
            inside = [text in str(event["system"] or "") for event in (right, found)]
            where = f"request {right['request']} of {right.agent}: the system prompt and {text!r} of {name}"
            if not pair.say(rule, "system prompt", where, *inside):
                return


def _prompts(spec: dict[str, Any]) -> list[str]:
    rows = [spec.get("promptSnippet"), *(spec.get("promptGuidelines") or [])]
    return [text for text in rows if isinstance(text, str) and text.strip() == text and text]
