"""Looks for the capabilities a test needs just before it runs: each once a bridge and worker, and none in vain."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from conformance._pytest.bridges import Bridge, Pool
from conformance._pytest.plan import MUTANT
from conformance._pytest.worker import RUN
from conformance.deadlines import REQUEST_SECONDS, Deadlines
from conformance.drivers.driver import HarnessError
from conformance.probes import PROBES, Found, look
from conformance.stage import Stage
from conformance.transcripts.replaying import ReplayDriver

BROKEN = 2
"""Connections of a bridge that may break under probes before it is not probed any more."""


class Prober:
    """The plugin beside :class:`~conformance._pytest.worker.Worker` that fills in what was found."""

    def __init__(self, pool: Pool, request_seconds: float | None) -> None:
        self._pool = pool
        self._deadlines = Deadlines(min(request_seconds or REQUEST_SECONDS, REQUEST_SECONDS))
        self._found: dict[tuple[str, str], bool | None] = {}
        self._broken: Counter[str] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Probe what the test needs, and say in its task what is lacking, absent or undeclared."""
        run = item.stash.get(RUN, None)
        if run is not None and run.task.needs:
            driver = self._pool.driver(run.bridge)
            told = driver.probed(run.task.item) if isinstance(driver, ReplayDriver) else None
            run.task = replace(run.task, probed=self.probed(run.bridge, run.task.needs) if told is None else told)

    def probed(self, bridge: Bridge, names: tuple[str, ...]) -> dict[str, bool]:
        """Return for each name whether it is there; a name of which nothing is known is left out.

        Raises :class:`HarnessError` when the bridge does not start.
        """
        answers = {name: self._look(bridge, name) for name in names}
        return {name: found for name, found in answers.items() if found is not None}

    def _look(self, bridge: Bridge, name: str) -> bool | None:
        key = bridge.label, name
        if key not in self._found:
            self._found[key] = self._probe(bridge, name)
        return self._found[key]

    def _probe(self, bridge: Bridge, name: str) -> bool | None:
        # A mutant has what the reference has; its defect is for the rules to name.
        if name not in PROBES or bridge.spec.startswith(MUTANT) or self._broken[bridge.label] >= BROKEN:
            return None
        driver = self._pool.driver(bridge)

        def new_stage() -> Stage:
            return Stage(self._pool.runner, driver, bridge.hello, bridge.mount, self._deadlines)

        try:
            found = look(name, new_stage)
        except HarnessError:
            # It breaks on what it may not even have; the rules will say so where it declares it.
            self._broken[bridge.label] += 1
            self._pool.discard(bridge)
            return None
        return {Found.THERE: True, Found.LACKING: False}.get(found)
