"""On several processes each begins with its part of what takes seconds, and all else stays in its order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance._pytest.long_first import LongFirst
from conformance._pytest.worker import RUN


class Item:
    """A test of the suite, as far as its place is concerned; without a task it is somebody else's."""

    def __init__(
        self, name: str, *tags: str, kind: str | None = "scenario", deadline: object = None, step: str | None = None
    ) -> None:
        self.name = name
        marks = [SimpleNamespace(name=tag) for tag in tags]
        self.function = SimpleNamespace(pickle=SimpleNamespace(tags=marks, steps=[SimpleNamespace(docstring=step)]))
        self.stash = pytest.Stash()
        if kind is not None:
            task: Any = SimpleNamespace(kind=kind, rule=SimpleNamespace(deadline=deadline))
            self.stash[RUN] = SimpleNamespace(task=task)  # type: ignore[assignment]


def order(*items: Item, processes: int = 1) -> list[str]:
    made: list[Any] = list(items)
    LongFirst(processes).pytest_collection_modifyitems(made)
    return [item.name for item in made]


def test_what_is_tagged_slow_asks_for_time_or_draws_programs_goes_first() -> None:
    assert order(
        Item("first"),
        Item("waits", "slow"),
        Item("vector", kind="vector"),
        Item("asks", deadline=object()),
        Item("programs", kind="property"),
        Item("last", "case:slow"),
    ) == ["waits", "asks", "programs", "first", "vector", "last"]


def test_a_scenario_in_which_an_answer_takes_a_second_goes_first() -> None:
    assert order(
        Item("brief", step="returns: {ok: true}\ndelayMs: 999"),
        Item("says so", step="returns: {text: 'delayMs: 5000'}"),
        Item("long", step="  - returns: {ok: true}\n    delayMs: 1000"),
    ) == ["long", "brief", "says so"]


def test_each_process_begins_with_its_part_of_what_takes_seconds() -> None:
    brief = [Item(f"brief {number}") for number in range(13)]
    long = [Item(f"long {number}", "slow") for number in range(3)]

    # xdist begins with a quarter of each process's half.
    assert order(*brief, *long, processes=2) == ["long 0", "long 2", "long 1", *[item.name for item in brief]]


def test_what_takes_seconds_and_is_too_much_to_begin_with_comes_next() -> None:
    long = [Item(f"long {number}", "slow") for number in range(6)]

    ordered = order(Item("brief"), *long, processes=2)

    assert ordered == ["long 0", "long 2", "long 1", "long 3", "long 4", "long 5", "brief"]


@pytest.mark.parametrize("processes", [1, 2, 3, 7])
def test_every_test_is_run_once_on_however_many_processes(processes: int) -> None:
    items = [Item(f"{number}", *(["slow"] if number % 3 == 0 else [])) for number in range(40)]

    assert sorted(order(*items, processes=processes)) == sorted(item.name for item in items)


def test_a_test_of_somebody_else_stays_in_its_place() -> None:
    assert order(Item("theirs", "slow", kind=None), Item("ours"), Item("ours too")) == ["theirs", "ours", "ours too"]
