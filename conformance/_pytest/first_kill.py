"""Ends the questions to a mutant about a rule at the first answer that gave it away: the rest could add nothing."""

from __future__ import annotations

import msgspec
import pytest

from conformance._pytest.judge import Judged, NotRun
from conformance._pytest.plan import MUTANT
from conformance._pytest.worker import JUDGED, RUN
from conformance.verdicts import WRONG, Verdict


class FirstKill:
    """The plugin of a session that asks of mutants only the rules that say they kill them."""

    def __init__(self) -> None:
        self._fallen: set[tuple[str, str]] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note which rule caught whom."""
        text = dict(report.user_properties).get(JUDGED)
        if isinstance(text, str):
            judged = msgspec.json.decode(text, type=Judged)
            if judged.verdict in WRONG:
                self._fallen.add((judged.label, judged.rule))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Leave out what another proof of the same rule has decided."""
        run = item.stash.get(RUN, None)
        if run is None or not run.bridge.spec.startswith(MUTANT):
            return
        if all((run.bridge.label, rule.id) in self._fallen for rule in run.task.rules):
            raise NotRun(Verdict.NOT_RUN, "another proof of the rule has caught this mutant")
