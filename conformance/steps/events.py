"""Steps on what packages saw: the events they were told of, with what, and in which order."""

from __future__ import annotations

import itertools
from typing import Any

from pytest_bdd import then

from conformance.compare import check, holds, same, show
from conformance.stage import Stage
from conformance.steps._phrase import phrase, rows
from conformance.steps._points import point
from conformance.steps.results import result
from conformance.trace import Event, plain, text_of
from conformance.verdicts import Inconclusive


def seen(stage: Stage, package: str, event: str, **wanted: Any) -> list[Event]:
    """Return the entries of a package's handlers of one event, on instances that serve an agent."""
    return stage.trace.of("handler.enter", package=package, event=event, **wanted)


@then(phrase('package "{package}" sees {event:event} {count:int} times'))
def sees_times(stage: Stage, package: str, event: str, count: int) -> None:
    found = len(seen(stage, package, event))
    check(found == count, f'package "{package}" sees {event} {count} time(s)', f"it saw it {found} time(s)")


@then(phrase('package "{package}" never sees {event:event}'))
def never_sees(stage: Stage, package: str, event: str) -> None:
    found = [show(event["payload"]) for event in seen(stage, package, event)]
    check(not found, f'package "{package}" never sees {event}', f"it saw {len(found)}: {'; '.join(found)}")


@then(phrase('package "{package}" sees {event:event} of call "{call}" with {value:json}'))
def sees_with(stage: Stage, package: str, event: str, call: str, value: Any) -> None:
    found = [entry["payload"] for entry in seen(stage, package, event, call_id=call)]
    check(
        any(holds(payload, value) for payload in found),
        f'package "{package}" sees {event} of call "{call}" with {show(value)}',
        f"it saw {'; '.join(show(payload) for payload in found) or 'none'}",
    )


@then(phrase('package "{package}" sees {event:event} of call "{call}" with a text that contains "{text}"'))
def sees_with_text(stage: Stage, package: str, event: str, call: str, text: str) -> None:
    found = [text_of(entry["payload"].get("content")) for entry in seen(stage, package, event, call_id=call)]
    check(any(text in each for each in found), f'package "{package}" sees a text with {text!r}', show(found))


@then(phrase('package "{package}" sees {event:event} with {value:json}'))
def sees_event_with(stage: Stage, package: str, event: str, value: Any) -> None:
    found = [entry["payload"] for entry in seen(stage, package, event)]
    check(
        any(holds(each, value) for each in found), f'package "{package}" sees {event} with {show(value)}', show(found)
    )


@then(phrase('package "{package}" sees, in this order'))
def sees_in_order(stage: Stage, package: str, datatable: list[list[str]]) -> None:
    wanted = [f'{row["event"]} of call "{row["call"]}"' for row in rows(datatable, "event", "call")]
    found = [
        f'{entry["event"]} of call "{entry.call_id}"' for entry in stage.trace.of("handler.enter", package=package)
    ]
    check(found == wanted, " → ".join(wanted), " → ".join(found) or "nothing")


@then(phrase('package "{package}" sees both start and end of call "{call}", or neither'))
def sees_both_or_neither(stage: Stage, package: str, call: str) -> None:
    starts, ends = (len(seen(stage, package, f"tool_execution_{side}", call_id=call)) for side in ("start", "end"))
    expected = f'package "{package}" sees one start and one end of call "{call}", or neither'
    check(starts == ends <= 1, expected, f"it saw {starts} start(s) and {ends} end(s)")


@then(phrase('package "{package}" sees the updates {texts:json} of call "{call}"'))
def sees_updates(stage: Stage, package: str, texts: list[str], call: str) -> None:
    entries = seen(stage, package, "tool_execution_update", call_id=call)
    partials = [entry["payload"].get("partialResult") for entry in entries]
    found = [text_of(partial.get("content")) if isinstance(partial, dict) else partial for partial in partials]
    check(same(found, texts), f'package "{package}" sees the updates {show(texts)}', f"it saw {show(found)}")


@then(phrase('the end of call "{call}" tells what the log keeps'))
def end_tells_the_result(stage: Stage, call: str) -> None:
    """Text and error flag; the host may have put ``Error: `` in front of either."""
    kept = result(stage, call)
    ends = stage.trace.of("handler.enter", event="tool_execution_end", call_id=call)
    check(bool(ends), f'the end of call "{call}" is told', "it was not")
    wanted = (plain(text_of(kept["content"])), kept["isError"])
    for entry in ends:
        told = entry["payload"].get("result")
        content = told.get("content") if isinstance(told, dict) else None
        found = (plain(text_of(content)), entry["payload"].get("isError"))
        check(found == wanted, f'the end of call "{call}" tells {show(wanted)}', f"it tells {show(found)}")


@then(phrase("this order holds"))
def order_holds(stage: Stage, docstring: str) -> None:
    names = [line.strip() for line in docstring.splitlines() if line.strip()]
    found = [(name, point(stage.trace, name)) for name in names]
    for name, event in found:
        check(event is not None, f"{name} happens", "it did not happen")
    for (before, one), (after, two) in itertools.pairwise(found):
        assert one is not None
        assert two is not None
        at = stage.trace.events.index
        check(at(one) < at(two), f"{before} comes before {after}", f"{after} came first")


@then(phrase('handler "{handler}" is {entered:word} for call "{call}"'))
def handler_is_entered(stage: Stage, handler: str, entered: str, call: str) -> None:
    found = bool(stage.trace.of("handler.enter", handler=handler, call_id=call))
    wanted = {"entered": True, "skipped": False}[entered]
    check(
        found is wanted,
        f'handler "{handler}" is {entered} for call "{call}"',
        f"it was {'' if found else 'not '}entered",
    )


@then(phrase('no handler of package "{package}" that serves agent "{agent}" is entered for call "{call}"'))
def no_handler_that_serves(stage: Stage, package: str, agent: str, call: str) -> None:
    serving = {
        made["instance"]
        for made in stage.trace.of("instance.created", package=package)
        if made["role"] == "shared" or made.agent == agent
    }
    found = [
        enter["event"]
        for enter in stage.trace.of("handler.enter", package=package, call_id=call)
        if enter["instance"] in serving
    ]
    expected = f'no handler of package "{package}" that serves agent "{agent}" is entered for call "{call}"'
    check(not found, expected, f"it was told of {', '.join(found)}")


@then(phrase('the turn ends before package "{package}" answers {event:event} of call "{call}"'))
def turn_ends_before(stage: Stage, package: str, event: str, call: str) -> None:
    asked = point(stage.trace, f'the {event} of call "{call}" in package "{package}"')
    check(asked is not None, f'package "{package}" is asked about call "{call}"', "it was not asked")
    answered = point(stage.trace, f'the return of {event} of call "{call}" in package "{package}"')
    ended = point(stage.trace, "the end of the turn")
    check(ended is not None, "the turn ends", "it did not end")
    assert ended is not None
    early = answered is None or ended.seq < answered.seq
    check(early, f'the turn ends before package "{package}" answers', "the answer came first")


@then(phrase('the bridge denies call "{call}" with a reason'))
def bridge_denies(stage: Stage, call: str) -> None:
    seen_decisions = [e["decision"] for e in stage.trace.of("policy", call_id=call, phase="exit")]
    if not seen_decisions:
        raise Inconclusive(f'no listener of the host saw a decision about call "{call}"')
    decision = seen_decisions[-1]
    reason = decision.get("reason") if isinstance(decision, dict) else None
    good = isinstance(decision, dict) and decision.get("kind") == "deny" and isinstance(reason, str) and bool(reason)
    check(good, "a denial with a reason that is a text and not empty", show(decision))


@then(phrase('the host\'s policy sees {value:json} for call "{call}"'))
def policy_sees(stage: Stage, value: Any, call: str) -> None:
    found = [event["arguments"] for event in stage.trace.of("policy", call_id=call)]
    check(bool(found) and same(found[0], value), f"the host's policy sees {show(value)}", f"it sees {show(found)}")
