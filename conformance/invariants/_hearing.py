"""Invariants of who is asked and told: of those who listen nobody is left out, and nobody is asked twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._story import Call, Story, Subscription
from conformance.trace import Event


@invariant("tool_call.every-call-is-judged")
def nothing_runs_unjudged(story: Story, context: Context) -> Answers:
    for call, each in _listeners(story, context, "tool_call"):
        gates = call.handled("tool_call")
        if len(call.bodies) == 1 and not any(_ends_the_round(story, gate) for gate in gates):
            unasked = (each.instance, each.handler) not in _heard(gates)
            yield f"{call.label}: its body ran, and {each.handler} had not been asked" if unasked else None


def _ends_the_round(story: Story, gate: Event) -> bool:
    """Whether nobody needs to be asked after a judge: it blocked or threw, and the host overruled it."""
    returned = story.reply(gate).get("returns")
    return story.threw(gate) or (isinstance(returned, dict) and returned.get("block") not in (None, False, 0, ""))


@invariant("tool_result.payload")
def every_result_is_shown(story: Story, context: Context) -> Answers:
    return _shown(story, context, "tool.enter")


@invariant("tool_result.native-results-are-patched-too")
def every_native_result_is_shown(story: Story, context: Context) -> Answers:
    return _shown(story, context, "native.enter")


def _shown(story: Story, context: Context, body: str) -> Answers:
    for call, each in _listeners(story, context, "tool_result"):
        if len(call.of(body)) == 1 and _is_told(story, call.of(body)[0]):
            unasked = (each.instance, each.handler) not in _heard(call.handled("tool_result"))
            yield f"{call.label}: it ran, and {each.handler} was not shown its result" if unasked else None


@invariant("tool_result.fires-for-cancelled-tools")
def every_cancelled_result_is_shown(story: Story, context: Context) -> Answers:
    """Of calls whose body was at work when the user cancelled, and where nothing else went."""
    acts = any(story.acts[act] for act in ("dispose", "unload", "reload", "listen"))
    cancels = story.acts["cancel"]
    for call in story.calls if cancels and not acts and context.settled and not story.listened else ():
        done = story.exit_of(call.bodies[0]) if len(call.bodies) == 1 else None
        if not call.clear or call.result is None or done is None or call.batch.finish not in (None, "calls"):
            continue
        if call.agent in context.child_agents:
            continue
        if not _is_told(story, call.bodies[0]):
            continue  # Pi shows nobody what is no result.
        begin, end = story.number(call.bodies[0]), story.number(done)
        if call.host_broke or not any(
            begin < story.number(event) < end for event in cancels if event.agent == call.agent
        ):
            continue
        heard = {event["instance"] for event in call.handled("tool_result")}
        for instance in story.listening(story.number(call.batch.request), len(story.events), "tool_result"):
            if story.serves(instance, call.agent) and story.instances[instance]["error"] is None:
                told = f"{call.label}: the user cancelled while it ran, and {instance} was not shown its result"
                yield told if instance not in heard else None


def _is_told(story: Story, body: Event) -> bool:
    """Whether a body is done, and gave something of which the rules say that handlers are shown it."""
    reply = story.reply(body)
    content = (reply.get("returns") or {}).get("content") if isinstance(reply.get("returns"), dict) else None
    plain = body.kind == "native.enter" or "throws" in reply or isinstance(content, list)
    return plain and story.exit_of(body) is not None


@invariant("tool_execution_update.every-package-is-told")
def every_package_is_told_of_updates(story: Story, context: Context) -> Answers:
    for call, each in _listeners(story, context, "tool_execution_update"):
        told = call.handled("tool_execution_update")
        if told:
            untold = (each.instance, each.handler) not in _heard(told)
            yield f"{call.label}: its update was told, and {each.handler} did not hear it" if untold else None


def _heard(events: list[Event]) -> set[tuple[str, str]]:
    return {(event["instance"], event["handler"]) for event in events}


def _listeners(story: Story, context: Context, name: str) -> Iterator[tuple[Call, Subscription]]:
    """Yield every call that ended of itself, with each handler that listened to an event all the while."""
    subscribed = [each for each in story.subscriptions if each.event == name]
    for call in story.calls if subscribed and context.settled and not story.listened else ():
        batch, end = call.batch, call.batch.end
        if not call.clear or batch.cut or end is None or call.result is None or call.agent in context.child_agents:
            continue
        if call.host_broke or batch.finish not in (None, "calls"):
            continue
        begin = story.number(batch.request)
        for each in subscribed:
            made = story.instances.get(each.instance)
            there = made is not None and made["error"] is None and each.since < begin
            if (
                there
                and story.gone.get(each.instance, len(story.events)) > end
                and story.serves(each.instance, call.agent)
            ):
                yield call, each


@invariant("tool_execution_end.every-agents-calls-start-and-end")
def who_serves_one_agent_hears_of_it_alone(story: Story, context: Context) -> Answers:
    for event in story.kinds["handler.enter"]:
        made = story.instances.get(event["instance"])
        if made is None or event.agent is None or event.agent in context.child_agents:
            continue
        wrong = made["role"] == "agent" and event.agent != made.agent
        told = f"{event['instance']}, which serves {made.agent}, was told {event['event']} of {event.agent}"
        yield f"{told} (event {event.seq})" if wrong else None


@invariant("tool_call.the-rest-of-the-chain-decides", roles="bridge")
def the_rest_of_the_chain_is_asked_once(story: Story, context: Context) -> Answers:
    made = [story.number(event) for event in story.acts["policy"]]
    for call in story.calls if story.kinds["policy"] and not story.listened else ():
        entered = [event for event in call.of("policy") if event["phase"] == "enter"]
        if not entered or not call.clear:
            continue
        # One that another takes the place of meanwhile is asked, and so is the other.
        if not any(call.batch.begin < number < story.number(entered[-1]) for number in made):
            again = [name for name, times in Counter(event["id"] for event in entered).items() if times > 1]
            yield f"{call.label}: the host's listener {again[0]} was asked twice" if again else None
