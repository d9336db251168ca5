"""Asks of a mutant what is likely to give it away first, and ends the questions about a rule at the first answer."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import pytest

from conformance._pytest.judge import Judged
from conformance._pytest.plan import MUTANT
from conformance._pytest.worker import JUDGED, RUN, Run
from conformance.verdicts import WRONG

BLANKET_RULES, BLANKET_SURFACES = 20, 6
"""How many rules, of how many surfaces, must catch a mutant that is wrong nearly everywhere."""
ENOUGH = 2
"""So many times more are asked for before the rest is left out: each process of several counts for itself."""
STEM = 5
"""Letters of a word that count: *changes*, *changed* and *changing* are one."""


class FirstKill:
    """The plugin of a session that asks of mutants only the rules that say they kill them."""

    def __init__(self) -> None:
        self._fallen: set[tuple[str, str]] = set()
        self._blanket: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put those proofs of each mutant first that share the most words with its name and its defect.

        One that is wrong everywhere is asked of surface after surface.
        """
        from conformance.mutants.registry import load_mutants

        self._blanket = {name for name, mutant in load_mutants().items() if mutant.blanket}
        words = {name: _words(f"{name} {mutant.defect}") for name, mutant in load_mutants().items()}
        places: dict[str, int] = {}
        met: Counter[tuple[str, str]] = Counter()
        keys: dict[pytest.Item, tuple[int, int]] = {}
        for place, item in enumerate(items):
            run = item.stash.get(RUN, None)
            label = run.bridge.label if run is not None else ""
            if run is not None and label in self._blanket:
                surface = label, run.task.rules[0].surface
                rank = met[surface]
                met[surface] += 1
            else:
                rank = -len(words.get(label, set()) & _words(f"{item.name} {_title(item)}"))
            keys[item] = places.setdefault(label, place), rank
        items.sort(key=keys.__getitem__)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note which rule caught whom."""
        text = dict(report.user_properties).get(JUDGED)
        if isinstance(text, str):
            judged = msgspec.json.decode(text, type=Judged)
            if judged.verdict in WRONG:
                self._fallen.add((judged.label, judged.rule))

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
        label = run.bridge.label
        if not run.bridge.spec.startswith(MUTANT):
            return False
        if label in self._blanket:
            caught = [rule for name, rule in self._fallen if name == label]
            surfaces = {rule.partition(".")[0] for rule in caught}
            return len(caught) >= ENOUGH * BLANKET_RULES and len(surfaces) >= BLANKET_SURFACES
        return all((label, rule.id) in self._fallen for rule in run.task.rules)


def _title(item: pytest.Item) -> str:
    scenario = getattr(getattr(item, "function", None), "__scenario__", None)
    return str(getattr(scenario, "name", ""))


def _words(text: str) -> set[str]:
    return {word[:STEM] for word in re.findall(r"[a-z]{3,}", text.lower())}
