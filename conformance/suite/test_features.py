"""Every scenario as a test that is named after the rule it proves."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_bdd import scenario

from conformance.catalogue import Pickle
from conformance.plugin import current_plan


@pytest.fixture
def _pytest_bdd_example(request: pytest.FixtureRequest) -> dict[str, str]:
    """The cells of the outline's row that the test stands for."""
    return dict(request.function.pickle.values)


def _bound(pickle: Pickle) -> Any:
    bind = scenario(str(pickle.path), pickle.scenario, features_base_dir=str(pickle.path.parent))
    test: Any = bind(lambda: None)
    # pytest-bdd would make one test with a parameter for each row; ours are tests of their own.
    test.pytestmark = [mark for mark in getattr(test, "pytestmark", []) if mark.name != "parametrize"]
    test.pickle = pickle
    return test


made = set(current_plan().items_of("scenario"))
globals().update({each.item: _bound(each) for each in current_plan().features.pickles if each.item in made})
