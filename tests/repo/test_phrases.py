"""The phrases of the steps: each is used, none is said twice, and no text of a feature matches two."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

from conformance import steps
from conformance.catalogue import compile_features
from conformance.programs.gherkin import scenario
from tests.fast.every_operation import EVERY_OPERATION
from tests.fast.scenarios import parsed

MOST = 165
"""Each phrase costs every step a little time, and a reader more."""


def phrases() -> Iterator[tuple[str, StepFunctionContext]]:
    """Every phrase, with what pytest-bdd keeps of it."""
    for found in pkgutil.iter_modules(steps.__path__):
        importlib.import_module(f"{steps.__name__}.{found.name}")
    for context in list(step_function_context_registry.values()):
        if context.step_func.__module__.startswith(f"{steps.__name__}."):
            yield context.parser.name, context


@pytest.fixture(scope="module")
def known() -> list[tuple[str, StepFunctionContext]]:
    found = list(phrases())
    assert len(found) > 50
    return found


def test_there_are_not_too_many_phrases(known: list[tuple[str, StepFunctionContext]]) -> None:
    assert len(known) <= MOST, f"{len(known)} phrases; reuse one, or write a doc string"


def test_no_phrase_is_unused_and_no_text_matches_two(known: list[tuple[str, StepFunctionContext]]) -> None:
    used: set[str] = set()
    twice: set[str] = set()
    unmatched: set[str] = set()
    texts = {step.text for pickle in compile_features().pickles for step in pickle.steps}
    # Programs are said by steps of their own, too.
    texts |= {text for _, text, _, _ in parsed(scenario(EVERY_OPERATION, "x.y", "all", ['the invariant "x" holds']))}
    for text in texts:
        matching = {name for name, context in known if context.parser.is_matching(text)}
        used |= matching
        if len(matching) > 1:
            twice.add(f"{text!r}: {sorted(matching)}")
        if not matching:
            unmatched.add(text)
    assert not twice, f"texts that two phrases match; pytest-bdd takes one silently: {sorted(twice)}"
    assert not unmatched, f"texts that no phrase matches: {sorted(unmatched)}"
    unused = {name for name, _ in known} - used
    assert not unused, f"phrases that no feature and no program uses: {sorted(unused)}"
