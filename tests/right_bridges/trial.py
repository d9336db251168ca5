"""Asks the suite about right bridges: whatever it says against one of them is a fault of the suite's own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import pytest

from conformance.catalogue import load_catalogue
from conformance.commands.run import INI
from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import HarnessError
from conformance.invariants import judge
from conformance.programs.differential import differ
from conformance.programs.operations import AnyOperation, encode
from conformance.programs.run import Connection, Ran, run_program
from conformance.programs.search import own_connection
from conformance.programs.strategy import random_programs
from conformance.verdicts import Finding
from tests.right_bridges.table import RightBridge

ROOT = Path(__file__).parents[2]
ACCUSED = frozenset({"fail", "absent", "inconclusive", "harness error", "stale deviation", "departs"})
"""Verdicts on a rule that a right bridge must not get; the last of them but for the shoulds that it says it departs."""
LEVELS = ("must", "should")
FEW = 2
"""Rules that a bridge is asked where there is little time, and tests of each of them."""
Ask = Literal["few", "near", "whole"]
ASK = "RIGHT_BRIDGES_ASK"
"""The variable that tells the processes of a session which rules are asked."""


@dataclass(frozen=True)
class Accusation:
    """What was said against a right bridge: by which rule or invariant, and in which words."""

    bridge: str
    rule: str
    verdict: str
    message: str

    def __str__(self) -> str:
        return f"{self.bridge}: {self.verdict}: {self.rule}: {self.message}"


def rules_for(bridge: RightBridge, rules: Iterable[str], most: int | None = None) -> list[str]:
    """The rules that speak where a bridge differs, those first that its first patterns fit: ``most`` of them."""
    known = list(rules)
    fitting = (rule for pattern in bridge.asked for rule in known if fnmatchcase(rule, pattern))
    return list(dict.fromkeys(fitting))[:most]


def scenarios(
    bridges: Sequence[RightBridge], rules: Sequence[str] = (), *, ask: Ask = "whole", processes: int = 2
) -> Iterator[Accusation]:
    """Put bridges on the stages and to the vectors of all rules, of those that are ``near``, or of a ``few`` of these.

    With ``rules``, which may hold ``*``, only of these. Raises :class:`RuntimeError` when the session broke.
    """
    hosts = {rule.id for rule in load_catalogue().rules if rule.relation == "host"}
    for verdict, rule, message, bridge in _verdicts(bridges, rules, ask, processes):
        if rule in hosts and bridge.has_a_host_of_its_own:
            continue
        if verdict in ACCUSED and not (verdict == "departs" and rule in bridge.departs):
            yield Accusation(bridge.name, rule, verdict, message)


def _verdicts(
    bridges: Sequence[RightBridge], rules: Sequence[str], ask: Ask, processes: int
) -> Iterator[tuple[str, str, str, RightBridge]]:
    names = {bridge.name: bridge for bridge in bridges}
    with tempfile.TemporaryDirectory(prefix="right-bridges-") as folder:
        arguments = [f"-c{INI}", f"--rootdir={ROOT}", "-p", "bridge_conformance_pytest", "-p", "no:cacheprovider"]
        arguments += ["--pyargs", "conformance.suite", f"--bridge-report={folder}", "-qq", "--no-header", "--tb=short"]
        arguments += ["-p", "tests.right_bridges.choice"]
        arguments += ["-n", str(processes)] if processes else []
        arguments += [f"--bridge-rule={rule}" for rule in rules]
        arguments += [f"--bridge={each.name}=py:tests.right_bridges.backends:{each.factory}" for each in bridges]
        with io.StringIO() as said, _surroundings(ask):
            with contextlib.redirect_stdout(said):
                status = int(pytest.main(arguments))
            path = Path(folder) / "conformance.json"
            if status in (2, 4) or not path.is_file():
                raise RuntimeError(f"the session of the right bridges broke:\n{said.getvalue()}")
        report = json.loads(path.read_text(encoding="utf-8"))
    for told in report["bridges"]:
        for rule in told["rules"]:
            telling = [each for each in rule["proofs"] if each["verdict"] == rule["verdict"]]
            message = next((each["message"] for each in telling if each.get("message")), "")
            yield rule["verdict"], rule["id"], message, names[told["label"]]


@contextlib.contextmanager
def _surroundings(ask: Ask) -> Iterator[None]:
    """Let the workers of a session, and nobody after it, find this package and know what to ask."""
    found = os.environ.get("PYTHONPATH")
    wanted = {"PYTHONPATH": os.pathsep.join([str(ROOT), *([found] if found else [])]), ASK: ask}
    before = {name: os.environ.get(name) for name in (*wanted, "PYTEST_ADDOPTS")}
    path = list(sys.path)
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ.update(wanted)
    sys.path.insert(0, str(ROOT))
    try:
        yield
    finally:
        sys.path[:] = path
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


class Programs:
    """Random programs with what the reference makes of them, to put right bridges to."""

    def __init__(self, examples: int, seed: int) -> None:
        self.programs = random_programs(examples, seed)
        self._right: dict[str | None, list[Ran]] = {}

    def accusations(self, bridge: RightBridge) -> Iterator[Accusation]:
        """What invariants say of a bridge, and where it differs from the reference in what a rule speaks about."""
        right = self._of_the_reference(bridge.mount)
        at = _connection(bridge.name, bridge)
        try:
            for program, reference in zip(self.programs, right, strict=True):
                yield from self._of_one(bridge, at, program, reference)
        finally:
            _close(at)

    def _of_one(
        self, bridge: RightBridge, at: Connection, program: Sequence[AnyOperation], reference: Ran
    ) -> Iterator[Accusation]:
        shown = encode(program).decode()
        try:
            ran = run_program(at, program)
        except (HarnessError, Finding) as error:
            yield Accusation(bridge.name, "every program ends", type(error).__name__, f"{error} in {shown}")
            return
        for broken in judge(ran.trace, ran.context):
            if not set(broken.rules) <= bridge.departs:
                yield Accusation(bridge.name, broken.invariant, "invariant", f"{broken.sentence} in {shown}")
        difference = differ(program, reference, ran, LEVELS)
        if difference is not None and difference.rule not in bridge.departs:
            yield Accusation(bridge.name, difference.rule, "difference", f"{difference} in {shown}")

    def _of_the_reference(self, mount: str | None) -> list[Ran]:
        if mount not in self._right:
            at = _connection("reference", None, mount)
            self._right[mount] = [run_program(at, program) for program in self.programs]
            _close(at)
        return self._right[mount]


def _connection(label: str, bridge: RightBridge | None, mount: str | None = None) -> Connection:
    from conformance.drivers.reference import make_backend

    if bridge is None:
        return own_connection(InProcessDriver(label, lambda suite: make_backend(suite, mount)))
    return own_connection(InProcessDriver(label, bridge.make_backend))


def _close(at: Connection) -> None:
    at.runner.run(at.driver.close())
    at.runner.close()


def first_of_each(accusations: Iterable[Accusation]) -> list[Accusation]:
    """One accusation for each bridge and rule."""
    found: dict[tuple[str, str], Accusation] = {}
    for each in accusations:
        found.setdefault((each.bridge, each.rule), each)
    return list(found.values())
