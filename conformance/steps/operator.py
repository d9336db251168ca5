"""Steps on the operator: native tools, host policy, services and the operator's own command surface."""

from __future__ import annotations

from typing import Any

import msgspec
from pytest_bdd import given, then, when

from conformance.compare import check, holds, show
from conformance.drivers.protocol import NativeAnswer, NativeSpec, OperatorBash, Outcome, PolicySpec, Services
from conformance.plan import MAIN
from conformance.scripts import Match, NativeBehaviour
from conformance.stage import Stage
from conformance.steps._phrase import document, phrase
from conformance.verdicts import Inconclusive

POLICY_WORDS: dict[str, Any] = {"denies": "deny", "allows": "allow", "asks": "ask", "guards": "guard"}
"""What a policy listener of the host answers, by the verb of the step."""


@given(phrase('a native tool "{tool}"'))
def a_native(stage: Stage, tool: str) -> None:
    stage.plan.natives.append(NativeSpec(name=tool, description=f"the native tool {tool}"))


@given(phrase('a native tool "{tool}" with'))
def a_native_with(stage: Stage, tool: str, docstring: str) -> None:
    base: dict[str, Any] = {"name": tool, "description": f"the native tool {tool}"}
    stage.plan.natives.append(msgspec.convert({**base, **document(docstring)}, NativeSpec))


@given(phrase('a native tool "{tool}" in the agent\'s own scope'))
def a_scoped_native(stage: Stage, tool: str) -> None:
    stage.plan.natives.append(NativeSpec(name=tool, description=f"the native tool {tool}", agent=MAIN))


@given(phrase('the host\'s reserved transport tool "{tool}"'))
def a_reserved_native(stage: Stage, tool: str) -> None:
    stage.plan.natives.append(NativeSpec(name=tool, reserved=True))


@given(phrase('the native tool "{tool}" answers "{text}"'))
def native_answers(stage: Stage, tool: str, text: str) -> None:
    stage.plan.native_bodies.setdefault(tool, []).append(NativeBehaviour(Match(), [], NativeAnswer(text=text)))


@given(phrase('the host {answer:word} "{tool}" with the reason "{reason}"'))
def host_policy(stage: Stage, answer: str, tool: str, reason: str) -> None:
    policy = PolicySpec(id=f"{answer} {tool}", tools=[tool], answer=POLICY_WORDS[answer], reason=reason)
    stage.plan.policies.append(policy)


@given(phrase('the host, after the bridge, {answer:word} "{tool}" with the reason "{reason}"'))
def inner_host_policy(stage: Stage, answer: str, tool: str, reason: str) -> None:
    policy = PolicySpec(id=f"{answer} {tool}", tools=[tool], answer=POLICY_WORDS[answer], reason=reason, place="after")
    stage.plan.policies.append(policy)


@given(phrase('the host\'s {place:word} of "{tool}" throws "{message}"'))
def host_throws(stage: Stage, place: str, tool: str, message: str) -> None:
    """``guard``, or ``listener`` and ``inner-listener`` for one before and one after the bridge's own."""
    answer: Any = "guard-throw" if place == "guard" else "throw"
    where: Any = {"guard": "before", "listener": "before", "inner-listener": "after"}[place]
    stage.plan.policies.append(
        PolicySpec(id=f"{place} of {tool}", tools=[tool], answer=answer, reason=message, place=where)
    )


@given(phrase('the host watches the decision about "{tool}"'))
def host_watches(stage: Stage, tool: str) -> None:
    stage.plan.policies.append(PolicySpec(id=f"watch {tool}", tools=[tool]))


@given(phrase("the host's {service:word} service is {state:word}"))
def host_service(stage: Stage, service: str, state: str) -> None:
    """Say how a service answers (``scripted``, ``allowed-once``, …, as in ``Services``), or that it is ``missing``."""
    value = (state != "missing") if service == "attachments" else state.replace("missing", "none")
    changed = {**msgspec.to_builtins(stage.plan.services), service: value}
    stage.plan.services = msgspec.convert(changed, Services)


@when(phrase('the operator types "{line}"'))
def operator_types(stage: Stage, line: str) -> None:
    stage.open()
    exclude = line.startswith("!!")
    command = line.lstrip("!").strip()
    outcome: Outcome = stage.ask(OperatorBash(agent=MAIN, command=command, exclude=exclude))
    stage.outcomes.append(("operator.bash", outcome))


@then(phrase("the operator reads {value:json}"))
def operator_reads(stage: Stage, value: Any) -> None:
    """What the last command answered has at least this."""
    outcomes = stage.returned("operator.bash")
    if not outcomes:
        raise Inconclusive("the operator typed no command")
    found = outcomes[-1]
    check(holds(found.returned, value), f"the operator reads {show(value)}", f"it was {msgspec.to_builtins(found)}")
