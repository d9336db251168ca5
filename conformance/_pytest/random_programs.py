"""Runs a shard of random programs as one test of the suite, and tells at the end what they reached."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict

import pytest

from conformance._pytest.bridges import Bridge
from conformance._pytest.judge import InvariantBroken, NotRun
from conformance._pytest.long_tests import progress_of
from conformance._pytest.worker import RUN, Worker
from conformance.deadlines import REQUEST_SECONDS, Deadlines
from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import HarnessError
from conformance.invariants import Story
from conformance.properties import EXAMPLES, SEED, shares
from conformance.reporting.model import Broken
from conformance.transcripts.replaying import ReplayDriver
from conformance.verdicts import Verdict

PROPERTY = "bridge_conformance_programs"
"""The user property that carries what a shard reached."""


class Reached:
    """The plugin that tells at the end what random programs reached; of the process that the user started."""

    def __init__(self) -> None:
        self._programs: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        self._situations: dict[str, Counter[str]] = defaultdict(Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what one shard reached."""
        for name, value in report.user_properties if report.when == "call" else ():
            if name == PROPERTY and isinstance(value, dict):
                label = value["label"]
                self._programs[label] += value["programs"]
                self._calls[label] += value["calls"]
                self._situations[label].update(value["situations"])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say it, a line for each bridge; with ``-v`` each situation."""
        for label, programs in self._programs.items():
            situations = self._situations[label]
            reached = f"{programs} programs, {self._calls[label]} calls, {len(situations)} situations"
            terminalreporter.write_line(f"random programs on {label}: {reached}")
            if terminalreporter.config.get_verbosity() > 0:
                for words, count in sorted(situations.items()):
                    terminalreporter.write_line(f"  {count:>6}  {words}")


def run_shard(worker: Worker, item: pytest.Item, bridge: Bridge, shard: int) -> None:
    """Run this shard's share of random programs on a bridge.

    Raises :class:`~conformance._pytest.judge.InvariantBroken` with the smallest program that breaks something.
    """
    from conformance._pytest.findings import Findings
    from conformance.programs.run import Connection
    from conformance.programs.search import Statistics, own_connection, search

    config = worker.config
    examples, number = config.getoption("--bridge-examples"), config.getoption("--bridge-seed")
    deadlines = Deadlines(config.getoption("--bridge-timeout") or REQUEST_SECONDS)
    run = item.stash[RUN]
    parts = list(shares(shard, EXAMPLES if examples is None else examples, SEED if number is None else number))

    class Counted(Statistics):
        """Says how many programs of this shard have been run."""

        def add(self, story: Story) -> set[str]:
            found = super().add(story)
            progress.count(self.programs, sum(count for count, _ in parts))
            return found

    progress = progress_of(config, "random programs")
    statistics = Counted()
    run.driver = own = worker.pool.fresh(bridge)
    if isinstance(own, ReplayDriver):
        raise NotRun(Verdict.NOT_RUN, "a recording holds no random programs")
    at: Connection | None = None
    try:
        if isinstance(own, InProcessDriver):
            at = own_connection(own, bridge.mount)
        else:
            run.driver = worker.pool.driver(bridge)
            at = Connection(worker.pool.runner, run.driver, bridge.hello, bridge.mount)
        with Findings(worker, bridge, item) as findings:
            for count, seed in parts:
                found = search(findings.narrowed(at), count, seed, statistics, [findings.judge], deadlines)
                if found is not None:
                    run.trace = found.ran.trace
                    run.broken = [
                        Broken(invariant=each.invariant, rules=list(each.rules), sentence=each.sentence)
                        for each in findings.kept(found)
                    ]
                    first = run.broken[0]
                    raise InvariantBroken(f"the invariant {first.invariant} does not hold: {first.sentence}")
    except HarnessError:
        worker.pool.discard(bridge)
        raise
    finally:
        progress.clear()
        run.witnessed = statistics.programs > 0
        reached = {**asdict(statistics), "situations": dict(statistics.situations)}
        item.user_properties.append((PROPERTY, {"label": bridge.label, **reached}))
        if at is not None and at.driver is own:
            at.runner.run(own.close())
            at.runner.close()
