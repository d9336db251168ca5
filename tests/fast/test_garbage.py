"""The garbage collector during a run, and after it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from conformance.garbage import YOUNG, spared


@pytest.fixture(autouse=True)
def plain() -> Iterator[None]:
    """Begin with nothing frozen, whatever the run this test belongs to does, and give that back."""
    threshold, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*threshold)
    if frozen:
        gc.freeze()


def test_what_is_there_is_left_alone_while_the_run_lasts() -> None:
    kept: list[object] = [[]]
    with spared():
        assert not any(each is kept for each in gc.get_objects())
        assert gc.get_threshold() == (YOUNG, 10, 10)
    assert any(each is kept for each in gc.get_objects())
    assert gc.get_threshold() == (700, 10, 10)


def test_what_a_run_leaves_is_still_collected() -> None:
    with spared():
        cycle: list[object] = []
        cycle.append(cycle)
        before = len(gc.get_objects())
        del cycle
        gc.collect()
        assert len(gc.get_objects()) < before


def test_the_collector_is_given_back_when_the_run_breaks() -> None:
    with pytest.raises(ZeroDivisionError), spared():
        raise ZeroDivisionError
    assert (gc.get_threshold(), gc.get_freeze_count()) == ((700, 10, 10), 0)


def test_what_somebody_else_froze_stays_frozen() -> None:
    gc.freeze()
    with spared():
        pass
    assert gc.get_freeze_count() > 0
    gc.unfreeze()


def test_a_process_that_ends_leaves_what_there_is_to_the_system() -> None:
    with spared(ending=True):
        kept: list[object] = [[]]
    assert not any(each is kept for each in gc.get_objects())
    gc.unfreeze()


def test_a_collector_that_was_switched_off_stays_off() -> None:
    gc.set_threshold(0, 10, 10)
    with spared():
        assert gc.get_threshold()[0] == 0
