"""Invariants of a package's beginning: who is loaded is there, for every agent, and is asked before a prompt."""

from __future__ import annotations

from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._story import Story


@invariant(
    "registerTool.a-factory-that-throws-leaves-nothing", "registerTool.a-package-loaded-again-serves-as-at-first"
)
def a_package_that_is_loaded_has_an_instance(story: Story, context: Context) -> Answers:
    """Whatever became of those before it; one for every agent comes with the agent."""
    agents = [story.number(event) for event in story.kinds["agent.created"]]
    went = [event for act in ("unload", "reload") for event in story.acts[act]]
    for load in story.acts["load"]:
        begin = story.number(load)
        asked = next((story.number(each) for each in story.kinds["model.request"] if story.number(each) > begin), None)
        if asked is None or not any(number < asked for number in agents):
            continue
        ends = [story.number(event) for event in went if event["package"] == load["package"]]
        if any(begin < number < asked for number in ends):
            continue
        since = max((number for number in ends if number < begin), default=-1)
        made = any(
            each["package"] == load["package"] and since < story.number(each) < asked
            for each in story.instances.values()
        )
        yield None if made else f"{load['package']} was loaded, and its factory did not run before the next request"


@invariant("registerTool.registered-in-before-agent-start", "setActiveTools.in-before-agent-start")
def who_listens_is_asked_before_a_prompt(story: Story, context: Context) -> Answers:
    """Before the first request of an agent that rests when the user prompts it."""
    for prompt in story.acts["prompt"] if not story.listened else ():
        agent, begin = prompt.agent or "", story.number(prompt)
        if agent in context.child_agents or _is_at_work(story, agent, begin):
            continue
        later = (story.number(each) for each in story.kinds["model.request"] if each.agent == agent)
        asked = next((number for number in later if number > begin), None)
        if asked is None:
            continue
        told = {
            each["instance"]
            for each in story.kinds["handler.enter"]
            if each["event"] == "before_agent_start" and each.agent == agent and begin < story.number(each) < asked
        }
        for instance in story.listening(begin, asked, "before_agent_start"):
            if story.serves(instance, agent):
                missing = f"{agent} was prompted and asked the model, and {instance} had not been asked before"
                yield missing if instance not in told else None


def _is_at_work(story: Story, agent: str, before: int) -> bool:
    """Whether a turn of an agent had begun before a place and was not over."""
    begun = [story.number(event) for event in story.kinds["turn.start"] if event.agent == agent]
    ended = [story.number(event) for event in story.kinds["turn.end"] if event.agent == agent]
    return sum(number < before for number in begun) > sum(number < before for number in ended)
