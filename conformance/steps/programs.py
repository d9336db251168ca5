"""Steps for what random programs do and scenarios seldom need: several agents at once, and the operator's changes."""

from __future__ import annotations

from typing import Any

import msgspec
from pytest_bdd import given, then, when

from conformance.compare import check
from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import (
    AgentCancel,
    AgentDispose,
    AgentFollowUp,
    AgentPrompt,
    AgentSteer,
    NativeRegister,
    NativeSpec,
    NativeUnregister,
    PackageReload,
    PolicySet,
    PolicySpec,
)
from conformance.invariants import INVARIANTS, Context, judge
from conformance.scripts import Timed
from conformance.stage import Stage
from conformance.steps._phrase import document, phrase
from conformance.steps.calls import say_table


@given(phrase('the model of agent "{agent}" first calls in one message'))
def first_calls_batch(stage: Stage, agent: str, datatable: list[list[str]]) -> None:
    say_table(stage, datatable, agent)


@given(phrase("meanwhile"))
def meanwhile(stage: Stage, docstring: str) -> None:
    """A list of what happens at moments of the turns that follow; it takes the place of what was said so before."""
    stage.plan.forgotten += stage.plan.timed
    stage.plan.timed = msgspec.convert(document(docstring), list[Timed])


@given(phrase("the host has the policy"))
@when(phrase("the host's policy becomes"))
def host_has_policy(stage: Stage, docstring: str) -> None:
    """A policy listener, field by field; one of a known id takes its place."""
    policy = msgspec.convert(document(docstring), PolicySpec)
    if stage.is_open:
        stage.ask(PolicySet(policy=policy))
    else:
        stage.plan.policies = [known for known in stage.plan.policies if known.id != policy.id]
        stage.plan.policies.append(policy)


@when(phrase('the user says "{text}" to {agents:json}'))
def user_says_to(stage: Stage, text: str, agents: list[str]) -> None:
    """The agents work at the same time."""
    stage.open()
    for agent in agents:
        stage.ask(AgentPrompt(agent=agent, text=text))
    for agent in agents:
        stage.settle(agent)


@when(phrase('the user says "{text}" to agent "{agent}" as a {how:word}'))
def user_says_idle(stage: Stage, text: str, agent: str, how: str) -> None:
    """``steer`` or ``follow_up``, while the agent has nothing to do."""
    stage.open()
    kind = {"steer": AgentSteer, "follow_up": AgentFollowUp}[how]
    stage.outcomes.append((how, stage.ask(kind(agent=agent, text=text))))
    stage.settle(agent)


@when(phrase('the user cancels the turn of agent "{agent}"'))
def user_cancels(stage: Stage, agent: str) -> None:
    stage.open()
    stage.ask(AgentCancel(agent=agent))
    stage.settle(agent)


@when(phrase('agent "{agent}" is ended'))
def agent_is_ended(stage: Stage, agent: str) -> None:
    stage.open()
    stage.outcomes.append((f"drop agent {agent}", stage.ask(AgentDispose(agent=agent))))


@when(phrase('agent "{agent}" is created from the session of "{ended}"'))
def agent_resumes(stage: Stage, agent: str, ended: str) -> None:
    """``ended`` has been ended before."""
    stage.open()
    stage.create_agent(agent, resumes=ended)


@when(phrase('the native tool "{tool}" is registered with'))
def native_is_registered(stage: Stage, tool: str, docstring: str) -> None:
    stage.open()
    native = msgspec.convert({"name": tool, **document(docstring)}, NativeSpec)
    stage.outcomes.append((f"native {tool}", stage.ask(NativeRegister(native=native))))


@when(phrase('the native tool "{tool}" is removed'))
def native_is_removed(stage: Stage, tool: str) -> None:
    stage.open()
    stage.outcomes.append((f"drop native {tool}", stage.ask(NativeUnregister(name=tool))))


@when(phrase('package "{package}" is {changed:word}'))
def package_is_changed(stage: Stage, package: str, changed: str) -> None:
    """``loaded``, ``unloaded`` or ``reloaded``, by the operator."""
    stage.open()
    if changed == "loaded":
        # Opening loads whatever was planned and is not there yet.
        if stage.is_removed(package):
            stage.load(package)
    elif changed == "unloaded":
        stage.unload(package)
    elif changed == "reloaded":
        stage.outcomes.append((f"reloaded {package}", stage.ask(PackageReload(package=package))))
    else:
        raise HarnessError(f"a package cannot be {changed}", "write loaded, unloaded or reloaded")


@when(phrase('package "{package}" calls {call:method} with {args:json} for agent "{agent}"'))
def calls_for_agent(stage: Stage, package: str, call: str, args: list[Any], agent: str) -> None:
    stage.call_pi(package, call, args, agent=agent)


@then(phrase('the invariant "{name}" holds'))
def invariant_holds(stage: Stage, name: str) -> None:
    """Nothing on the stage so far breaks it; every invariant is judged after every scenario, this one here too."""
    if name not in INVARIANTS:
        raise HarnessError(f"no invariant is called {name!r}", f"known are {', '.join(INVARIANTS)}")
    capabilities = frozenset(stage.hello.capabilities)
    context = Context(stage.role, stage.plan.mount, capabilities, settled=True)
    broken = [each.sentence for each in judge(stage.trace, context) if each.invariant == name]
    check(not broken, f"the invariant {name} holds", "; ".join(broken[:3]))
