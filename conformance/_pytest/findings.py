"""What random programs find: judged by another implementation's answers where one is named, and kept as case files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from conformance._pytest.bridges import Bridge
from conformance._pytest.judge import DIFFERS
from conformance._pytest.worker import Worker
from conformance.drivers.specs import make_driver, parse
from conformance.invariants import Broken
from conformance.programs.cases import Finding, finding_of, keep
from conformance.programs.differential import differ, finding_of_difference
from conformance.programs.operations import AnyOperation
from conformance.programs.run import Connection, Ran, run_program
from conformance.programs.search import FoundBreach, own_connection
from conformance.reporting import files
from conformance.verdicts import Finding as Found


class Findings:
    """Judges the programs of one shard on one bridge, beside the invariants.

    ``--bridge-against`` names whose answers are right, by the label of a bridge of the run or by a specification. Its
    driver is made and closed here. Use it as a context.
    """

    def __init__(self, worker: Worker, bridge: Bridge, item: pytest.Item) -> None:
        config = worker.config
        self._bridge = bridge
        self._shard = item.name.partition("[")[0].rpartition("_")[2]
        self._folder = files.folder(config.getoption("--bridge-report"))
        self._against: str | None = config.getoption("--bridge-against")
        self._right: Connection | None = None
        if self._against is not None:
            known = worker.bridges.get(self._against)
            spec = parse(known.spec if known is not None else self._against, config.invocation_params.dir)
            self._spec = spec.text
            self._right = own_connection(make_driver(spec, config.getoption("--bridge-env")), spec.mount)

    def __enter__(self) -> Findings:
        return self

    def __exit__(self, *_: object) -> None:
        right, self._right = self._right, None
        if right is not None:
            right.runner.run(right.driver.close())
            right.runner.close()

    def narrowed(self, at: Connection) -> Connection:
        """Return the connection as one that only declares what both sides have, so that both can run each program."""
        if self._right is None:
            return at
        common = [name for name in at.hello.capabilities if name in self._right.hello.capabilities]
        return replace(at, hello=msgspec.structs.replace(at.hello, capabilities=common))

    def judge(self, program: Sequence[AnyOperation], ran: Ran) -> list[Broken]:
        """Return the first difference from the right answers as if it were a broken invariant."""
        finding = self._difference(program, ran)
        return [] if finding is None else [Broken(_name(finding), (finding.rule,), finding.sentence)]

    def kept(self, found: FoundBreach) -> list[Broken]:
        """Keep what was found beside the report, and return it with the place and the scenario behind each sentence."""
        findings = [finding_of(each) for each in found.broken if not each.invariant.startswith(DIFFERS)]
        difference = self._difference(found.program, found.ran)
        if difference is not None and difference.rule not in [each.rule for each in findings]:
            findings.append(difference)
        told: dict[str, Broken] = {}
        for finding in findings:
            if _name(finding) not in told:
                sentence = f"{finding.sentence}\n{self._keep(found.program, finding)}"
                told[_name(finding)] = Broken(_name(finding), _rules(finding, found.broken), sentence)
        return list(told.values())

    def _difference(self, program: Sequence[AnyOperation], ran: Ran) -> Finding | None:
        if self._right is None:
            return None
        try:
            right = run_program(self._right, program)
        except Found:
            return None  # Who does not answer in time himself has no right answer to give.
        difference = differ(program, right, ran)
        return None if difference is None else finding_of_difference(difference, self._spec)

    def _keep(self, program: Sequence[AnyOperation], finding: Finding) -> str:
        folder = self._folder / "cases" if self._folder is not None else None
        name = f"{finding.rule}--{self._bridge.label}--{self._shard}"
        kept = keep(folder, name, program, finding, bridge=self._bridge.spec, mount=self._bridge.mount)
        said = [f"the program has {len(program)} operation(s); as a scenario:", kept.gherkin.rstrip()]
        if kept.path is not None:
            command = f"bridge-conformance replay {files.shown(kept.path)} --bridge={self._bridge.given}"
            said = [f"kept as {files.shown(kept.path)}; on any bridge: {command}", *said]
        return "\n".join(said)


def _name(finding: Finding) -> str:
    return finding.name if finding.kind == "invariant" else f"{DIFFERS}{finding.against}:{finding.name}"


def _rules(finding: Finding, broken: Sequence[Broken]) -> tuple[str, ...]:
    return next((each.rules for each in broken if each.invariant == finding.name), (finding.rule,))
