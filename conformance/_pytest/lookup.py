"""Finds the definition of a step among the suite's own, where pytest-bdd asks every fixture of the session each time.

That search was a third of a run's processor time. It answers the same: a test of the suite sees the same definitions at
every step, because all of them are plugins' and none is a module's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from pytest_bdd.compat import get_fixture_names, getfixturedefs
from pytest_bdd.steps import step_function_context_registry

scenario = import_module("pytest_bdd.scenario")  # the package has a function of that name


class Lookup:
    """Stands in for pytest-bdd's search where ``ours`` says that a node is a test of the suite."""

    def __init__(self, ours: Callable[[pytest.Item], bool]) -> None:
        self._ours = ours
        self._search: Callable[..., Iterable[Any]] = scenario.find_fixturedefs_for_step
        self._patch = pytest.MonkeyPatch()
        self._definitions: list[tuple[Any, Any]] | None = None
        self._found: dict[tuple[str, str], tuple[Any, ...]] = {}

    def install(self) -> None:
        """Take the search over until :meth:`remove`, and ask once what arguments a definition takes."""
        self._patch.setattr(scenario, "find_fixturedefs_for_step", self.find)
        for name in ("signature", "get_required_args"):
            if hasattr(scenario, name):  # It only saves time: a release without it works as well.
                self._patch.setattr(scenario, name, cache(getattr(scenario, name)))

    def remove(self) -> None:
        """Give the search back."""
        self._patch.undo()

    def find(self, step: Any, fixturemanager: Any, node: Any) -> Iterable[Any]:
        """Return the fixtures of the definitions that can parse ``step``.

        Many scenarios share their steps, and each mutant is asked the same scenarios: a text is looked up once.
        """
        if not self._ours(node):
            return self._search(step, fixturemanager, node)
        if self._definitions is None:
            self._definitions = [
                (definition, step_function_context_registry[definition.func])
                for name in get_fixture_names(fixturemanager)
                for definition in getfixturedefs(fixturemanager, name, node) or ()
                if definition.func in step_function_context_registry
            ]
        text = step.type, step.name
        if text not in self._found:
            self._found[text] = tuple(
                definition
                for definition, context in self._definitions
                if context.type in (None, step.type) and context.parser.is_matching(step.name)
            )
        return self._found[text]
