"""Steps on what came of it: bodies that ran, results, requests, notices and what calls returned."""

from __future__ import annotations

import json
from typing import Any

from msgspec import UNSET
from pytest_bdd import then

from conformance.compare import check, holds, parsed, same, show, written_out
from conformance.drivers.protocol import Outcome
from conformance.plan import MAIN
from conformance.stage import Stage
from conformance.steps._phrase import document, phrase
from conformance.trace import Event, plain, text_of
from conformance.verdicts import Inconclusive, RuleFailed


def runs(stage: Stage, tool: str) -> list[Event]:
    """Return the entries into the body of a package's or native tool of that name."""
    return stage.trace.of("tool.enter", "native.enter", tool=tool)


def result(stage: Stage, call: str) -> Event:
    """Return the one durable result of a call. Raises ``RuleFailed`` when there is none or more than one."""
    found = stage.trace.of("log.result", call_id=call)
    check(len(found) == 1, f'one durable result of call "{call}"', f"{len(found)} results")
    return found[0]


# --- bodies -----------------------------------------------------------------------------------------------------------


@then(phrase('the tool "{tool}" does not run'))
def does_not_run(stage: Stage, tool: str) -> None:
    found = runs(stage, tool)
    given = [show(event["params"] if event.kind == "tool.enter" else event["arguments"]) for event in found]
    check(not found, f'the tool "{tool}" does not run', f"it ran {len(found)} time(s), with {', '.join(given)}")


@then(phrase('the tool "{tool}" runs {count:int} times'))
def runs_times(stage: Stage, tool: str, count: int) -> None:
    found = len(runs(stage, tool))
    check(found == count, f'the tool "{tool}" runs {count} time(s)', f"it ran {found} time(s)")


@then(phrase('the tool "{tool}" runs with {value:json}'))
def runs_with(stage: Stage, tool: str, value: Any) -> None:
    found = runs(stage, tool)
    check(len(found) == 1, f'the tool "{tool}" runs once, with {show(value)}', f"it ran {len(found)} time(s)")
    given = found[0]["params"] if found[0].kind == "tool.enter" else found[0]["arguments"]
    check(same(given, value), f'the tool "{tool}" runs with {show(value)}', f"it ran with {show(given)}")


@then(phrase('the tool "{tool}" is handed {value:json} beside its arguments'))
def is_handed(stage: Stage, tool: str, value: Any) -> None:
    found = [event["extras"] for event in stage.trace.of("tool.enter", tool=tool)]
    check(bool(found), f'the tool "{tool}" runs', "it did not run")
    wrong = [extras for extras in found if not holds(extras, value)]
    check(not wrong, f'the tool "{tool}" is handed {show(value)}', f"it was handed {show(wrong)}")


@then(phrase('the signal of call "{call}" is not aborted as its body begins'))
def begins_unaborted(stage: Stage, call: str) -> None:
    found = [event["aborted"] for event in stage.trace.of("tool.enter", call_id=call)]
    check(bool(found), f'call "{call}" runs', "it did not run")
    if None in found:
        raise Inconclusive("the adapter does not say whether the signal of a body is aborted")
    check(not any(found), f'the signal of call "{call}" is not aborted as its body begins', "it is aborted")


@then(phrase('either package "{package}" runs call "{call}", or its "{tool}" is visibly refused'))
def runs_or_is_refused(stage: Stage, package: str, call: str, tool: str) -> None:
    ran = stage.trace.of("tool.enter", package=package, call_id=call)
    expected = f'package "{package}" runs call "{call}", or its registration of "{tool}" threw or was reported'
    others = [
        event["package"] or "a native tool" for event in stage.trace.of("tool.enter", "native.enter", call_id=call)
    ]
    got = f"{' and '.join(others) or 'nobody'} ran it, and nothing was said of {show(tool)}"
    check(bool(ran) or is_refused(stage, package, tool), expected, got)


def is_refused(stage: Stage, package: str, tool: str) -> bool:
    """Say whether loading ``package`` or a registration of ``tool`` by it threw, or a notice speaks of either."""
    made = stage.trace.of("instance.created", package=package)
    tries = [row for event in made for row in event["calls"] or () if row["call"] == "registerTool"]
    threw = any("threw" in row["outcome"] and row["args"][0].get("name") == tool for row in tries)
    threw |= any(outcome.threw is not UNSET for outcome in stage.returned("registerTool"))
    threw |= any(outcome.threw is not UNSET for outcome in stage.returned(f"load {package}"))
    thrown = stage.plan.package(package).throws
    reported = isinstance(thrown, dict) and notices(stage, str(thrown.get("message"))) > 0
    return threw or reported or notices(stage, tool) > 0


@then(phrase('call "{call}" of "{tool}" runs with {value:json}'))
def call_runs_with(stage: Stage, call: str, tool: str, value: Any) -> None:
    found = stage.trace.of("tool.enter", "native.enter", tool=tool, call_id=call)
    given = [event["params"] if event.kind == "tool.enter" else event["arguments"] for event in found]
    expected = f'call "{call}" of "{tool}" runs once, with {show(value)}'
    check(len(given) == 1 and same(given[0], value), expected, f"it ran with {show(given)}")


# --- results ----------------------------------------------------------------------------------------------------------


@then(phrase('call "{call}" has one result'))
def has_one_result(stage: Stage, call: str) -> None:
    result(stage, call)


@then(phrase('call "{call}" succeeds'))
def succeeds(stage: Stage, call: str) -> None:
    found = result(stage, call)
    got = f"an error: {text_of(found['content'])!r}"
    check(found["isError"] is False, f'the durable result of call "{call}" is a success', got)


@then(phrase('call "{call}" succeeds with "{text}"'))
def succeeds_with(stage: Stage, call: str, text: str) -> None:
    succeeds(stage, call)
    found = text_of(result(stage, call)["content"])
    check(found == text, f'call "{call}" succeeds with the text {text!r}', f"the text {found!r}")


@then(phrase('call "{call}" fails'))
def fails(stage: Stage, call: str) -> None:
    found = result(stage, call)
    got = f"a success: {text_of(found['content'])!r}"
    check(found["isError"] is True, f'the durable result of call "{call}" is an error', got)


@then(phrase('call "{call}" fails and says "{text}"'))
def fails_saying(stage: Stage, call: str, text: str) -> None:
    fails(stage, call)
    found = plain(text_of(result(stage, call)["content"]))
    check(text in found, f'the error of call "{call}" says {text!r}', f"it says {found!r}")


@then(phrase('call "{call}" fails and says nothing of "{text}"'))
def fails_without_saying(stage: Stage, call: str, text: str) -> None:
    fails(stage, call)
    found = plain(text_of(result(stage, call)["content"]))
    wanted = f'the error of call "{call}" has a text without {text!r}'
    check(bool(found.strip()) and text not in found, wanted, f"it says {found!r}")


@then(phrase('call "{call}" fails with a text'))
def fails_with_a_text(stage: Stage, call: str) -> None:
    fails(stage, call)
    found = plain(text_of(result(stage, call)["content"]))
    check(bool(found.strip()), f'the error of call "{call}" has a text', f"it is {found!r}")


@then(phrase('the log keeps {value:json} as the arguments of call "{call}"'))
def log_keeps(stage: Stage, value: Any, call: str) -> None:
    logged = stage.trace.first("log.call", call_id=call)
    check(logged is not None, f'a durable record of call "{call}"', "there is none")
    assert logged is not None
    text = logged["arguments"]
    try:
        found = parsed(text)
    except (TypeError, ValueError):
        found = text
    check(same(found, value), f'the log keeps {show(value)} for call "{call}"', f"it keeps {show(found)}")


@then(phrase('the log keeps {value:json} as the result of call "{call}"'))
def log_keeps_result(stage: Stage, value: Any, call: str) -> None:
    found = result(stage, call).data
    shown = {key: found.get(key) for key in value}
    check(holds(found, value), f'the log keeps {show(value)} for call "{call}"', f"it keeps {show(shown)}")


@then(phrase('either the log keeps {value:json} as the result of call "{call}", or a notice names "{name}"'))
def log_keeps_or_notice(stage: Stage, value: Any, call: str, name: str) -> None:
    found = result(stage, call).data
    expected = f'the log keeps {show(value)} for call "{call}", or a notice names "{name}"'
    check(holds(found, value) or notices(stage, name) > 0, expected, f"it keeps {show(found)}, and no notice does")


@then(phrase('"{text}" is nowhere in the log'))
def nowhere_in_log(stage: Stage, text: str) -> None:
    for event in stage.trace.of("log.call", "log.result", "log.assistant", "log.user"):
        check(text not in json.dumps(event.data), f"{text!r} is nowhere in the durable log", f"it is in {event.kind}")


@then(phrase('request {number:int} shows the result of call "{call}" as the log keeps it'))
def request_shows_result(stage: Stage, number: int, call: str) -> None:
    catalogue(stage, number)
    wanted = result(stage, call)["content"]
    messages = stage.requests()[number - 1]["messages"]
    found = [message.get("content", []) for message in messages if message.get("callId") == call]
    check(len(found) == 1 and same(found[0], wanted), f"request {number} shows {show(wanted)}", show(found))


# --- requests ---------------------------------------------------------------------------------------------------------


@then(phrase("the model is asked {count:int} times"))
def asked_times(stage: Stage, count: int) -> None:
    found = len(stage.requests())
    check(found == count, f"the model is asked {count} time(s)", f"it was asked {found} time(s)")


def catalogue(stage: Stage, number: int, agent: str = MAIN) -> list[dict[str, Any]]:
    """Return the tool catalogue of the agent's request ``number``.

    Raises ``Inconclusive`` when it was never made, and ``RuleFailed`` when a turn ended without any request.
    """
    requests = stage.requests(agent)
    ended = stage.trace.last("turn.end", agent=agent)
    if not requests and ended is not None:
        why = ended["message"] or ended["reason"]
        raise RuleFailed(f"expected: the model is asked; got: the turn ended without a request ({why})")
    if len(requests) < number:
        raise Inconclusive(f"request {number} of agent {agent!r} was never made (there were {len(requests)})")
    tools: list[dict[str, Any]] = requests[number - 1]["tools"]
    return tools


@then(phrase('request {number:int} lists "{tool}"'))
def request_lists(stage: Stage, number: int, tool: str) -> None:
    names = [row["name"] for row in catalogue(stage, number)]
    check(tool in names, f"request {number} lists {show(tool)}", f"it lists {show(names)}")


@then(phrase('request {number:int} does not list "{tool}"'))
def request_does_not_list(stage: Stage, number: int, tool: str) -> None:
    names = [row["name"] for row in catalogue(stage, number)]
    check(tool not in names, f"request {number} does not list {show(tool)}", f"it lists {show(names)}")


@then(phrase('request {number:int} of agent "{agent}" lists "{tool}"'))
def agent_request_lists(stage: Stage, number: int, agent: str, tool: str) -> None:
    names = [row["name"] for row in catalogue(stage, number, agent)]
    check(tool in names, f'request {number} of agent "{agent}" lists "{tool}"', f"it lists {show(names)}")


@then(phrase('request {number:int} shows "{tool}" with'))
def request_shows(stage: Stage, number: int, tool: str, docstring: str) -> None:
    wanted = {key: written_out(value) for key, value in document(docstring).items()}
    rows = catalogue(stage, number)
    row = next((row for row in rows if row["name"] == tool), None)
    names = [row["name"] for row in rows]
    check(row is not None, f"request {number} lists {show(tool)}", f"it lists {show(names)}")
    found = {key: (row or {}).get(key) for key in wanted}
    if "properties" in wanted:
        # What a bridge says beside them at the root of a schema is not everybody's business.
        found["properties"] = ((row or {}).get("parameters") or {}).get("properties")
    check(same(found, wanted), f'request {number} shows "{tool}" with {show(wanted)}', f"it shows {show(found)}")


@then(phrase('request {number:int} lists "{tool}" {often:word}, as the tool that runs call "{call}"'))
def lists_what_runs(stage: Stage, number: int, tool: str, often: str, call: str) -> None:
    """``once``, or ``at-most-once``: what is not listed does not run."""
    found = [row for row in catalogue(stage, number) if row["name"] == tool]
    ran = stage.trace.first("tool.enter", "native.enter", call_id=call)
    if {"once": False, "at-most-once": True}[often] and not found:
        check(ran is None, f'call "{call}" of "{tool}" does not run, for request {number} does not list it', "it ran")
        return
    check(len(found) == 1, f'request {number} lists "{tool}" {often}', f"it lists it {len(found)} time(s)")
    check(ran is not None, f'call "{call}" runs', "it did not run")
    assert ran is not None
    wanted = registered(stage, ran)
    shown = found[0].get("description")
    check(
        shown in wanted, f'request {number} describes the "{tool}" that runs: {show(wanted)}', f"it says {show(shown)}"
    )


def registered(stage: Stage, ran: Event) -> list[Any]:
    """Return the descriptions under which the plan registers what was entered: a native, or one tag of a tool."""
    if ran.kind == "native.enter":
        return [native.description for native in stage.plan.natives if native.name == ran["tool"]]
    tools = stage.plan.package(ran["package"]).tools
    return [tool.description for tool in tools if tool.name == ran["tool"] and tool.tag == (ran["tag"] or "")]


@then(phrase('the system prompt of request {number:int} {has:word} "{text}"'))
def system_prompt(stage: Stage, number: int, has: str, text: str) -> None:
    """``has`` or ``lacks``."""
    catalogue(stage, number)
    found = stage.requests()[number - 1]["system"] or ""
    check((text in found) == (has == "has"), f"the system prompt of request {number} {has} {text!r}", repr(found))


@then(phrase('the system prompt of request {number:int} has "{text}" only if it lists "{tool}"'))
def system_prompt_as_listed(stage: Stage, number: int, text: str, tool: str) -> None:
    """Whether the tool could be switched off is another rule's; prompt and catalogue must agree."""
    lists = tool in [row["name"] for row in catalogue(stage, number)]
    system_prompt(stage, number, "has" if lists else "lacks", text)


@then(phrase("the system prompt of request {number:int} has as many lines as that of request {other:int}"))
def system_prompt_has_as_many_lines(stage: Stage, number: int, other: int) -> None:
    """What they say may differ: a host may tell the time in it."""
    catalogue(stage, max(number, other))
    found, wanted = ((stage.requests()[each - 1]["system"] or "").splitlines() for each in (number, other))
    expected = f"the system prompt of request {number} has as many lines as that of request {other}: {show(wanted)}"
    check(len(found) == len(wanted), expected, show(found))


@then(phrase('{number:request} carries the text "{text}"'))
def request_carries(stage: Stage, number: int, text: str) -> None:
    """The last request is asked for where how many there are is the host's business."""
    number = number or max(len(stage.requests()), 1)
    catalogue(stage, number)
    messages = stage.requests()[number - 1]["messages"]
    texts = [text_of(message.get("content")) for message in messages]
    check(any(text in found for found in texts), f"request {number} carries {text!r}", f"it carries {show(texts)}")


@then(phrase('request {number:int} carries nothing of "{text}"'))
def request_carries_nothing(stage: Stage, number: int, text: str) -> None:
    catalogue(stage, number)
    messages = stage.requests()[number - 1]["messages"]
    check(
        text not in json.dumps(messages),
        f"request {number} carries nothing of {text!r}",
        f"it carries {show(messages)}",
    )


# --- notices and outcomes ---------------------------------------------------------------------------------------------


def notices(stage: Stage, name: str) -> int:
    """Return how many notices name ``name``, counted per channel and instance: the maximum over channels."""
    counts: dict[tuple[str, Any], int] = {}
    for event in stage.trace.of("notice"):
        if name in str(event["text"]):
            key = (event["channel"], event["instance"])
            counts[key] = counts.get(key, 0) + 1
    return max(counts.values(), default=0)


@then(phrase('exactly one notice names "{name}"'))
def one_notice(stage: Stage, name: str) -> None:
    found = notices(stage, name)
    texts = [event["text"] for event in stage.trace.of("notice")]
    check(found == 1, f'exactly one notice names "{name}"', f"{found} do; all notices: {show(texts)}")


@then(phrase('{count:int} notices name "{name}"'))
def so_many_notices(stage: Stage, count: int, name: str) -> None:
    found = notices(stage, name)
    texts = [event["text"] for event in stage.trace.of("notice")]
    check(found == count, f'{count} notices name "{name}"', f"{found} do; all notices: {show(texts)}")


@then(phrase('{count:int} notices of all instances name "{name}"'))
def so_many_notices_in_all(stage: Stage, count: int, name: str) -> None:
    """The maximum over channels, as everywhere; here the instances of a package are counted together."""
    named = [event for event in stage.trace.of("notice") if name in str(event["text"])]
    channels = [event["channel"] for event in named]
    found = max((channels.count(channel) for channel in channels), default=0)
    texts = [event["text"] for event in named]
    check(found == count, f'{count} notices of all instances name "{name}"', f"{found} do: {show(texts)}")


@then(phrase('a notice names "{name}"'))
def some_notice(stage: Stage, name: str) -> None:
    texts = [event["text"] for event in stage.trace.of("notice")]
    check(notices(stage, name) > 0, f'a notice names "{name}"', f"none does; all notices: {show(texts)}")


@then(phrase('no notice names "{name}"'))
def no_notice(stage: Stage, name: str) -> None:
    found = [event["text"] for event in stage.trace.of("notice") if name in str(event["text"])]
    check(not found, f'no notice names "{name}"', f"{show(found)}")


def last_outcome(stage: Stage, call: str) -> Outcome:
    """Return the outcome of the last ``pi.<call>`` of the scenario. Raises ``Inconclusive`` when none was made."""
    found = stage.returned(call)
    if not found:
        raise Inconclusive(f"pi.{call} was never called: the handler or tool that calls it did not run")
    return found[-1]


@then(phrase("{call:method} returned {value:json}"))
def returned(stage: Stage, call: str, value: Any) -> None:
    outcome = last_outcome(stage, call)
    check(same(outcome.returned, value), f"{call} returns {show(value)}", f"it {describe(outcome)}")


@then(phrase('{call:method} returned a list with "{name}"'))
def returned_with(stage: Stage, call: str, name: str) -> None:
    names = listed(stage, call)
    check(name in names, f'{call} lists "{name}"', f"it lists {show(names)}")


@then(phrase('{call:method} returned a list without "{name}"'))
def returned_without(stage: Stage, call: str, name: str) -> None:
    names = listed(stage, call)
    check(name not in names, f'{call} does not list "{name}"', f"it lists {show(names)}")


def listed(stage: Stage, call: str) -> list[Any]:
    """Return the names in the last list that ``pi.<call>`` returned, of strings or of rows with a name."""
    outcome = last_outcome(stage, call)
    if not isinstance(outcome.returned, list):
        raise RuleFailed(f"{call} returned no list: it {describe(outcome)}")
    return [row.get("name") if isinstance(row, dict) else row for row in outcome.returned]


def describe(outcome: Outcome) -> str:
    """Say how a call ended."""
    if outcome.threw is not UNSET:
        return f"threw {show(outcome.threw)}"
    return "returned nothing" if outcome.returned is UNSET else f"returned {show(outcome.returned)}"
