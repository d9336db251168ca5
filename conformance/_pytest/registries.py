"""What proves rules besides scenarios and vectors, and what the gate knows of steps."""

from __future__ import annotations

import inspect
from typing import TypedDict

import pytest
from pytest_bdd.steps import step_function_context_registry

from conformance.catalogue.join import RuleIds
from conformance.invariants import INVARIANTS
from conformance.properties import PROPERTIES


class Registered(TypedDict):
    """Names to the ids of the rules they speak of."""

    properties: RuleIds
    invariants: RuleIds


def registered() -> Registered:
    """Everything that proves rules and is neither a scenario nor a vector."""
    return Registered(properties=PROPERTIES, invariants={name: known.rules for name, known in INVARIANTS.items()})


def sources() -> dict[str, str]:
    """The program text of what proves rules and is neither a scenario nor a vector, as far as it is one function."""
    return {name: inspect.getsource(known.judge) for name, known in INVARIANTS.items()}


def refuse_async_steps() -> None:
    """Raise a usage error for an async step of a loaded plugin: pytest-bdd never awaits it and calls it passed."""
    for function in list(step_function_context_registry):
        step = inspect.unwrap(step_function_context_registry[function].step_func)
        if inspect.iscoroutinefunction(step) or inspect.isasyncgenfunction(step):
            where = f"{inspect.getsourcefile(step)}:{step.__code__.co_firstlineno}"
            raise pytest.UsageError(
                f"{where}: the step {step.__qualname__} is an async function, which is never awaited and would pass.\n"
                "Mend: make it a plain function; stage.do runs a coroutine."
            )
