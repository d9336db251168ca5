"""Runs the text of a scenario on a stage, step by step, as pytest-bdd would: by the suite's own phrases."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import lru_cache
from typing import Any

from gherkin.parser import Parser
from gherkin.pickles.compiler import Compiler
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

from conformance import steps
from conformance.programs.run import Connection
from conformance.stage import Stage


class UnknownPhrase(Exception):
    """No step says this, or several do."""


def perform(stage: Stage, text: str) -> None:
    """Carry out the one scenario in ``text`` on a stage. Raises what its steps raise."""
    for kind, step, document, table in parsed(text):
        context = _context(kind, step)
        arguments: dict[str, Any] = dict(context.parser.parse_arguments(step) or {})
        wanted = inspect.signature(context.step_func).parameters
        for name, value in (("docstring", document), ("datatable", table)):
            if name in wanted:
                arguments[name] = value
        context.step_func(stage, **arguments)


def parsed(text: str) -> list[tuple[str, str, str | None, list[list[str]] | None]]:
    """Return keyword type, text, doc string and table of each step."""
    document: Any = Parser().parse(f"Feature: one\n\n{text}")
    document["uri"] = "one.feature"
    (pickle,) = Compiler().compile(document)
    kinds = {"Context": "given", "Action": "when", "Outcome": "then"}
    found = []
    for step in pickle["steps"]:
        argument = step.get("argument", {})
        table = argument.get("dataTable")
        cells = [[cell["value"] for cell in row["cells"]] for row in table["rows"]] if table else None
        found.append((kinds[step["type"]], step["text"], argument.get("docString", {}).get("content"), cells))
    return found


def _context(kind: str, text: str) -> StepFunctionContext:
    found = [context for context in _contexts() if context.type == kind and context.parser.is_matching(text)]
    if len(found) != 1:
        raise UnknownPhrase(f"{len(found)} steps say {kind} {text!r}")
    return found[0]


@lru_cache(maxsize=1)
def _contexts() -> list[StepFunctionContext]:
    for module in pkgutil.iter_modules(steps.__path__):
        importlib.import_module(f"{steps.__name__}.{module.name}")
    return [
        context
        for context in step_function_context_registry.values()
        if context.step_func.__module__.startswith(f"{steps.__name__}.")
    ]


def performed(connection: Connection, text: str) -> Stage:
    """The stage on which the steps of a scenario were carried out. Raises what they raise."""
    stage = Stage(connection.runner, connection.driver, connection.hello, connection.mount)
    try:
        perform(stage, text)
    finally:
        stage.close()
    return stage
