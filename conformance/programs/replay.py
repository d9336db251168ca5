"""The command that runs case files on any implementation: does it still show what the case was kept for?"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from conformance._pytest import block
from conformance._pytest.bridges import Bridge
from conformance._pytest.judge import Judged
from conformance._pytest.plan import Task
from conformance.catalogue import UnknownNameError, load_catalogue
from conformance.catalogue.model import Level
from conformance.drivers.driver import HarnessError
from conformance.drivers.specs import BridgeSpec, SpecError, make_driver, parse
from conformance.invariants import judge
from conformance.programs.cases import Case, Finding, finding_of, read_case
from conformance.programs.differential import differ, finding_of_difference
from conformance.programs.gherkin import Unspeakable
from conformance.programs.operations import Program
from conformance.programs.run import Connection, Ran, run_program
from conformance.trace import Trace
from conformance.verdicts import Exit, Inconclusive, RuleFailed, Verdict, exit_status, of_error


def main(argv: list[str]) -> int:
    """Run each case on the bridge; print a block for what it shows."""
    parser = argparse.ArgumentParser(
        prog="bridge-conformance replay",
        description="Run case files (programs that showed something) on an implementation, and say what they show.",
        epilog="Exit status: 0 nothing was shown, 1 something was, 3 the harness broke, 4 wrong use. A case that was "
        "found against another implementation is run on that one too; it is right by definition.",
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="case files, as reports/cases/*.json")
    parser.add_argument("--bridge", required=True, metavar="[LABEL=]SPEC", help="who runs them; as in `run --bridge`")
    parser.add_argument("--against", metavar="SPEC", help="whose answers are right (what the case says, else nobody's)")
    parser.add_argument("--gherkin", action="store_true", help="print each case as a scenario, and run nothing")
    parser.add_argument("--env", action="append", default=[], metavar="NAME", help="variable that adapters may see")
    try:
        given = parser.parse_args(argv)
    except SystemExit as stop:
        raise SystemExit(int(Exit.WRONG_USE) if stop.code else 0) from None
    try:
        cases = [(path, read_case(path)) for path in given.files]
        if given.gherkin:
            print("\n".join(case.gherkin for _, case in cases), end="")
            return Exit.CONFORMANT
        spec = parse(given.bridge, Path.cwd())
        others = {case.finding.against for _, case in cases} if given.against is None else {given.against}
        against = {text: parse(text, Path.cwd()) if text is not None else None for text in others}
    except Unspeakable as error:
        print(f"no steps say this program: {error}", file=sys.stderr)
        return Exit.WRONG_USE
    except (HarnessError, SpecError) as error:
        print(error, file=sys.stderr)
        return Exit.WRONG_USE
    with asyncio.Runner() as runner:
        connections = _Connections(runner, given.env)
        try:
            shown = [
                _run(path, case, spec, against.get(given.against or case.finding.against), connections)
                for path, case in cases
            ]
        except UnknownNameError as error:
            print(error, file=sys.stderr)
            return Exit.WRONG_USE
        except (HarnessError, SpecError) as error:
            print(error, file=sys.stderr)
            return Exit.HARNESS_ERROR
        finally:
            connections.close()
    return exit_status((pair for pairs in shown for pair in pairs), selected=True)


def findings(program: Program, ran: Ran, right: Ran | None = None, against: str = "reference") -> list[Finding]:
    """Return what a program shows: broken invariants, and the first difference from ``right``, if that is given."""
    found = [finding_of(broken) for broken in judge(ran.trace, ran.context)]
    difference = differ(program, right, ran) if right is not None else None
    return [*found, finding_of_difference(difference, against)] if difference is not None else found


class _Connections:
    """Connections by specification and mount, made when they are needed, and anew after they broke."""

    def __init__(self, runner: asyncio.Runner, env: list[str]) -> None:
        self._runner = runner
        self._env = env
        self._live: dict[str, Connection] = {}

    def to(self, spec: BridgeSpec, mount: str | None) -> Connection:
        """Return a started connection, on the mount of the specification, else on ``mount`` where there is one."""
        key = f"{spec.text} {mount}"
        if key not in self._live:
            at = self._start(spec)
            if spec.kind == "name" and spec.mount is None and mount != at.mount and mount in at.hello.mounts:
                self._runner.run(at.driver.close())
                at = self._start(replace(spec, mount=mount))
            self._live[key] = at
        return self._live[key]

    def _start(self, spec: BridgeSpec) -> Connection:
        driver = make_driver(spec, self._env)
        hello = self._runner.run(driver.start())
        chosen = spec.mount if spec.mount in hello.mounts else None
        return Connection(self._runner, driver, hello, chosen or (hello.mounts[0] if hello.mounts else None))

    def close(self) -> None:
        """Close them all."""
        for connection in self._live.values():
            self._runner.run(connection.driver.close())
        self._live.clear()


def _run(
    path: Path, case: Case, spec: BridgeSpec, right: BridgeSpec | None, connections: _Connections
) -> list[tuple[Level, Verdict]]:
    """Run one case, print what it shows, and return the level and verdict of each rule it speaks of."""
    rules = load_catalogue().by_id
    if case.finding.rule not in rules:
        raise UnknownNameError(f"rule of {path}", case.finding.rule, rules)
    connection = connections.to(spec, case.mount)
    bridge = Bridge(spec.label, spec.text, connection.hello, connection.mount)
    command = f"bridge-conformance replay {shlex.quote(str(path))} --bridge={bridge.given}"
    command += f" --against={shlex.quote(right.text)}" if right is not None else ""

    def show(finding: Finding, error: Exception, trace: Trace | None, why: str) -> tuple[Level, Verdict]:
        rule = rules[finding.rule]
        verdict = of_error(error, rule.level)
        task = Task(bridge, case.name, "property", f"{path}, {len(case.operations)} operations", (rule,))
        judged = Judged(bridge.label, case.name, rule.id, verdict, verdict, message=why)
        *lines, _ = block.lines(task, rules, judged, error, trace)
        print("\n".join([*lines, f"  again:    {command}"]))
        return rule.level, verdict

    try:
        ran = run_program(connection, case.operations)
        ours = run_program(connections.to(right, case.mount), case.operations) if right is not None else None
    except (HarnessError, Inconclusive, RuleFailed) as error:
        connections.close()
        return [show(case.finding, error, None, str(error))]
    found = [
        finding
        for finding in findings(case.operations, ran, ours, right.text if right is not None else "")
        if rules[finding.rule].applies_to(bridge.hello.role, bridge.mount, bridge.hello.capabilities)
    ]
    if not found:
        left_out = f"; left out: {'; '.join(ran.skipped)}" if ran.skipped else ""
        print(f"{case.name}: nothing is wrong on {bridge.title}{left_out}")
        return [(rules[case.finding.rule].level, Verdict.PASS)]
    return [
        show(finding, RuleFailed(f"{finding.kind} {finding.name}: {finding.sentence}"), ran.trace, finding.sentence)
        for finding in found
    ]
