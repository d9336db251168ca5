"""Asks of a mutant what is likely to give it away first, and ends the questions about a rule at the first answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec
import pytest

from conformance._pytest.judge import Judged
from conformance._pytest.likeness import Likeness
from conformance._pytest.long_first import is_long
from conformance._pytest.plan import mutant_of
from conformance._pytest.worker import JUDGED, RUN, Run
from conformance.verdicts import WRONG, Verdict

BLANKET_RULES, BLANKET_SURFACES = 20, 6
"""How many rules, of how many surfaces, must catch a mutant that is wrong nearly everywhere."""


class FirstKill:
    """The plugin of a session that asks of mutants only the rules that say they kill them.

    Each process of several ends its questions by what it has heard itself, so that together they never hear too little.
    """

    def __init__(self) -> None:
        self._fallen: dict[str, set[str]] = defaultdict(set)
        self._blanket: frozenset[str] = frozenset()
        self._hanging: frozenset[str] = frozenset()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put first of each mutant's proofs what is likely to catch it, and last what takes seconds.

        One that is wrong everywhere is asked of surface after surface. The mutants stay in their order, but for those
        that only a long proof can catch: at the end of the session other processes would have nothing to do beside it.
        """
        from conformance.mutants.registry import load_mutants

        mutants = load_mutants()
        self._blanket = frozenset(name for name, mutant in mutants.items() if mutant.blanket)
        runs = {item: run for item in items if (run := item.stash.get(RUN, None)) is not None}
        hanging = {name for name, mutant in mutants.items() if mutant.hangs}
        self._hanging = frozenset(run.bridge.label for run in runs.values() if mutant_of(run.bridge) in hanging)
        likeness = _likeness(runs.items())
        long = frozenset(item for item in runs if is_long(item))
        waiting = _waiting(runs, long)
        groups: dict[str, int] = {}
        met: Counter[tuple[str, str]] = Counter()
        places: dict[tuple[str, str], dict[str, int]] = {}
        keys: dict[pytest.Item, tuple[bool, int, bool, int]] = {}
        for item in items:
            run = runs.get(item)
            name = mutant_of(run.bridge) if run is not None else ""
            rank = 0
            if run is not None and name in self._blanket:
                surface = name, run.task.rule.surface
                rank = met[surface]
                met[surface] += 1
            elif run is not None and name in mutants:
                pair = name, run.task.rule.id
                if pair not in places:
                    places[pair] = likeness[run.task.rule.id].places(f"{name} {mutants[name].defect}")
                rank = places[pair][run.task.item]
            label = run.bridge.label if run is not None else ""
            keys[item] = label not in waiting, groups.setdefault(label, len(groups)), item in long, rank
        items.sort(key=keys.__getitem__)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note which rule caught whom."""
        text = dict(report.user_properties).get(JUDGED)
        if isinstance(text, str):
            judged = msgspec.json.decode(text, type=Judged)
            hangs = judged.label in self._hanging and judged.verdict is Verdict.INCONCLUSIVE
            if judged.verdict in WRONG or hangs:
                self._fallen[judged.label].add(judged.rule)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Leave out what another proof of the same rule has decided: the rest could add nothing."""
        run = item.stash.get(RUN, None)
        if run is None or not self._is_decided(run):
            return None
        # What ran before was torn down as far as this test needs it; the next one may need less.
        item.session._setupstate.teardown_exact(nextitem)
        return True

    def _is_decided(self, run: Run) -> bool:
        name, fallen = mutant_of(run.bridge), self._fallen[run.bridge.label]
        if not name:
            return False
        if name in self._blanket:
            surfaces = {rule.partition(".")[0] for rule in fallen}
            return len(fallen) >= BLANKET_RULES and len(surfaces) >= BLANKET_SURFACES
        return all(rule.id in fallen for rule in run.task.rules)


def _waiting(runs: Mapping[pytest.Item, Run], long: Collection[pytest.Item]) -> frozenset[str]:
    """Who is asked of some rule nothing but long proofs."""
    pairs = {(run.bridge.label, run.task.rule.id) for run in runs.values()}
    short = {(run.bridge.label, run.task.rule.id) for item, run in runs.items() if item not in long}
    return frozenset(label for label, _ in pairs - short)


def _likeness(runs: Iterable[tuple[pytest.Item, Run]]) -> dict[str, Likeness]:
    """The proofs of each rule that is asked of anybody."""
    titles: dict[str, dict[str, str]] = defaultdict(dict)
    for item, run in runs:
        pickle: Any = getattr(getattr(item, "function", None), "pickle", None)
        titles[run.task.rule.id][run.task.item] = pickle.name if pickle is not None else ""
    return {rule: Likeness(proofs) for rule, proofs in titles.items()}
