"""The kill gate: every mutant is asked the rules that name it, in one pytest session, and must be caught by each."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from conformance._pytest.first_kill import BLANKET_RULES, BLANKET_SURFACES
from conformance.catalogue import Catalogue, load_catalogue
from conformance.mutants.registry import Mutant, load_mutants
from conformance.reporting.model import RuleReport
from conformance.verdicts import WRONG, Verdict

AT_ONCE = 20
"""Mutants of one session when each is asked everything: more would fill the memory with tests."""


@dataclass
class Matrix:
    """What the session said. ``verdicts`` holds a verdict for each mutant and rule that was asked."""

    verdicts: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    messages: dict[tuple[str, str], str] = field(default_factory=dict)

    def killed(self, mutant: Mutant, rule: str) -> bool:
        """Whether the rule caught the mutant. A harness error never does."""
        verdict = self.verdicts[mutant.name].get(rule, "not run")
        return verdict in WRONG or (mutant.hangs and verdict == "inconclusive")


def kills(catalogue: Catalogue) -> dict[str, list[str]]:
    """Return, for each mutant that a rule names, the rules that name it."""
    named: dict[str, list[str]] = defaultdict(list)
    for rule in catalogue.rules:
        for name in rule.kills:
            named[name].append(rule.id)
    return named


class Heard:
    """The plugin that takes from a session what its report would say; thousands of traces are not worth a file each."""

    def __init__(self) -> None:
        self.rules: dict[str, list[RuleReport]] = {}

    def pytest_sessionfinish(self, session: Any) -> None:
        """Take the rules of every bridge; none where nothing ran."""
        controller = session.config.pluginmanager.get_plugin("bridge_conformance_controller")
        if controller is not None and controller.tally.seen:
            self.rules = {bridge.label: controller.tally.rules(bridge) for bridge in controller.plan.bridges}


def read(reports: Mapping[str, Iterable[RuleReport]]) -> Matrix:
    """Return what the reports on rules say, by the label of the bridge."""
    matrix = Matrix()
    for label, rules in reports.items():
        for rule in rules:
            if not rule.proofs:
                continue
            telling = min(rule.proofs, key=lambda proof: _telling(proof.verdict))
            if telling.verdict is not Verdict.NOT_RUN:
                matrix.verdicts[label][rule.id] = str(telling.verdict)
                matrix.messages[label, rule.id] = telling.message
    return matrix


def _telling(verdict: Verdict) -> int:
    """Which of a rule's proofs decides: one that broke, one that caught, one that did not; last one left out."""
    order = (Verdict.HARNESS_ERROR, *sorted(WRONG), Verdict.INCONCLUSIVE, *Verdict)
    left_out = (Verdict.NOT_RUN, Verdict.NOT_APPLICABLE)
    return len(order) if verdict in left_out else order.index(verdict)


def problems(mutants: Iterable[Mutant], catalogue: Catalogue, matrix: Matrix) -> list[str]:
    """Return what keeps the gate shut, a sentence each."""
    named = kills(catalogue)
    found = []
    for mutant in mutants:
        verdicts = matrix.verdicts[mutant.name]
        asked = [] if mutant.blanket else named.get(mutant.name, [])
        errors = [rule for rule, verdict in verdicts.items() if verdict == "harness error" and rule not in asked]
        if errors:
            found.append(f"{mutant.name}: a harness error in {', '.join(errors)}")
        if mutant.blanket:
            caught = [rule for rule in verdicts if matrix.killed(mutant, rule)]
            surfaces = {rule.partition(".")[0] for rule in caught}
            if len(caught) < BLANKET_RULES or len(surfaces) < BLANKET_SURFACES:
                found.append(
                    f"{mutant.name}: caught by {len(caught)} rules of {len(surfaces)} surfaces, which is too few for a "
                    f"defect that is everywhere ({BLANKET_RULES} of {BLANKET_SURFACES} are asked for)"
                )
        for rule in asked:
            if not matrix.killed(mutant, rule):
                why = matrix.messages.get((mutant.name, rule), "")
                found.append(
                    f"{mutant.name} survives {rule}: the verdict is {verdicts.get(rule, 'not run')}"
                    f"{f' ({why[:160]})' if why else ''}"
                )
    return found


def joins(mutants: Mapping[str, Mutant], catalogue: Catalogue) -> list[str]:
    """Return what is wrong between the rules' ``kills`` and the mutants there are."""
    named = kills(catalogue)
    found = [
        f"{name}: no mutant is called so, and {', '.join(rules)} names it"
        for name, rules in named.items()
        if name not in mutants
    ]
    found += [
        f"{name}: no rule names it" for name, mutant in mutants.items() if name not in named and not mutant.blanket
    ]
    found += [
        f"{rule.id}: a must that kills no mutant" for rule in catalogue.rules if rule.level == "must" and not rule.kills
    ]
    return found


def main(argv: list[str]) -> int:
    """Run the gate and return 0 when every mutant was caught by every rule that names it, else 1."""
    if "--programs" in argv:
        from conformance.mutants import sweep

        return sweep.main([argument for argument in argv if argument != "--programs"])
    parser = argparse.ArgumentParser(
        prog="bridge-conformance mutants",
        description="Prove that the proofs can fail: the reference with one defect at a time must be caught by each "
        "rule that names the defect.",
        epilog="Exit status: 0 all caught, 1 survivors or a must that kills nothing, 3 the session broke, 4 wrong use.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these mutants; may hold *")
    parser.add_argument("--full", action="store_true", help="ask every rule of every mutant: which others fell?")
    parser.add_argument("--list", action="store_true", help="print the mutants, their defect and their rules, and stop")
    parser.add_argument("--programs", action="store_true", help="ask random programs, and no rule's own proofs")
    parser.add_argument("-n", type=int, default=2, metavar="N", help="processes (2; 0 for this one alone)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the matrix as JSON there")
    given = parser.parse_args(argv)
    catalogue, mutants = load_catalogue(), load_mutants()
    named = kills(catalogue)
    chosen = [
        mutant
        for mutant in mutants.values()
        if not given.names or any(fnmatchcase(mutant.name, pattern) for pattern in given.names)
    ]
    strange = [name for name in given.names if not any(fnmatchcase(mutant, name) for mutant in mutants)]
    if strange:
        print(f"no mutant is called {', '.join(strange)}; --list tells the names", file=sys.stderr)
        return 4
    if given.list:
        for mutant in chosen:
            rules = ", ".join(named.get(mutant.name, ["many" if mutant.blanket else "none"]))
            print(f"{mutant.name}\n  {mutant.defect}\n  killed by: {rules}")
        return 0
    started = time.monotonic()
    asked = [mutant for mutant in chosen if given.full or mutant.blanket or mutant.name in named]
    size = AT_ONCE if given.full else len(asked) or 1
    matrix = Matrix()
    for part in (asked[at : at + size] for at in range(0, len(asked), size)):
        found_of_part = _session(part, given.full, given.n)
        if found_of_part is None:
            print("the session of the mutants broke; what pytest printed says why", file=sys.stderr)
            return 3
        matrix.verdicts.update(found_of_part.verdicts)
        matrix.messages.update(found_of_part.messages)
    found = problems(asked, catalogue, matrix)
    if not given.names:
        found = joins(mutants, catalogue) + found
    _print(asked, named, matrix, given.full)
    if given.report:
        given.report.write_text(json.dumps(matrix.verdicts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    pairs = sum(len(named.get(mutant.name, ())) for mutant in asked)
    print(f"{len(asked)} mutants, {pairs} pairs of mutant and rule, {time.monotonic() - started:.0f} s")
    lazy = idle(asked, catalogue, matrix, given.full)
    if lazy and not given.names:
        print(f"{len(lazy)} rules kill nothing: {', '.join(lazy)}")
    for problem in found:
        print(f"  {problem}")
    print("every mutant is caught" if not found else f"{len(found)} problems")
    return 1 if found else 0


def _session(mutants: list[Mutant], whole: bool, processes: int) -> Matrix | None:
    import pytest

    from conformance._pytest.watched import Watched
    from conformance.commands.run import INI

    arguments = [f"-c{INI}", f"--rootdir={Path.cwd()}", "-p", "bridge_conformance_pytest", "-p", "no:cacheprovider"]
    arguments += ["--pyargs", "conformance.suite", "--bridge-report=none", "-qq", "--no-header", "--no-summary"]
    arguments += ["--tb=no", "--bridge-timeout=2"] + ([] if whole else ["--bridge-kills"])
    # One process takes over what waits for another: a mutant that hangs must not hold up those behind it.
    arguments += ["-n", str(processes), "--dist=worksteal"] if processes else []
    arguments += [f"--bridge={mutant.name}=mutant:{mutant.name}" for mutant in mutants]
    os.environ.pop("PYTEST_ADDOPTS", None)
    heard = Heard()
    with io.StringIO() as said:
        with contextlib.redirect_stdout(said):
            status = int(pytest.main(arguments, plugins=[Watched("mutants"), heard]))
        if status in (2, 4) or not heard.rules:
            print(said.getvalue(), file=sys.stderr)
            return None
    return read(heard.rules)


def _print(mutants: list[Mutant], named: Mapping[str, list[str]], matrix: Matrix, full: bool) -> None:
    """Print a line for each mutant: which of the rules that name it caught it, and which others did as well."""
    width = max((len(mutant.name) for mutant in mutants), default=0)
    for mutant in mutants:
        verdicts = matrix.verdicts[mutant.name]
        rules = [] if mutant.blanket else named.get(mutant.name, [])
        fell = [rule for rule in verdicts if matrix.killed(mutant, rule)]
        others = [rule for rule in fell if rule not in rules]
        mark = "caught" if fell and all(rule in fell for rule in rules) else "SURVIVES"
        if mutant.blanket:
            said = f"by {len(fell)} of {len(verdicts)} rules asked"
        else:
            said = ", ".join(f"{rule} ({verdicts.get(rule, 'not run')})" for rule in rules)
        print(f"{mutant.name:<{width}}  {mark}  {said}")
        if full and others:
            print(f"{'':<{width}}  also fell: {', '.join(others)}")


def idle(mutants: Iterable[Mutant], catalogue: Catalogue, matrix: Matrix, full: bool) -> list[str]:
    """Return the rules that kill nothing: in the whole matrix those that caught nobody, else those that name nobody."""
    if not full:
        return [rule.id for rule in catalogue.rules if not rule.kills]
    caught = {rule for mutant in mutants for rule in matrix.verdicts[mutant.name] if matrix.killed(mutant, rule)}
    return [rule.id for rule in catalogue.rules if rule.id not in caught]
