"""Steps on agents: which there are, and what the user says to them."""

from __future__ import annotations

from pytest_bdd import given, when

from conformance.stage import Stage
from conformance.steps._phrase import phrase


@given(phrase('an agent "{agent}"'))
def an_agent(stage: Stage, agent: str) -> None:
    stage.plan.agents.append(agent)


@given(phrase('an agent "{agent}" in the folder "{folder}"'))
def an_agent_in(stage: Stage, agent: str, folder: str) -> None:
    stage.plan.agents.append(agent)
    stage.plan.folders[agent] = folder


@when(phrase('the user says "{text}"'))
def user_says(stage: Stage, text: str) -> None:
    stage.prompt(text)


@when(phrase('an agent "{agent}" is created'))
def agent_is_created(stage: Stage, agent: str) -> None:
    stage.open()
    stage.create_agent(agent)
