"""Measures what the suite costs, each figure as a ratio or a difference within one run: machines are noisy."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from conformance.commands._bench_programs import programs
from conformance.commands._bench_runs import beside_empty_steps, run

SCENARIO = """
  @rule:tool_call.a-block-keeps-the-tool-from-running @case:n{number}
  Scenario: A blocked tool does not run, number {number}
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" with the reason "notes are closed"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "notes are closed"
"""
EMPTY = """
  Scenario: Nothing happens, number {number}
    Given nothing
    And nothing
    When nothing
    Then nothing
    And nothing
"""
MODULE = """
from pathlib import Path
import pytest
from pytest_bdd import given, scenarios, then, when

{mark}

@given("nothing")
@when("nothing")
@then("nothing")
def nothing():
    pass

scenarios(str(Path(__file__).with_name("{kind}.feature")))
"""
CONFTEST = """
import time
import pytest

def pytest_collection_modifyitems(items):
    kinds = [[item for item in items if item.path.name == name] for name in ("test_full.py", "test_empty.py")]
    items[:] = [item for pair in zip(*kinds) for item in pair]

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    began = time.process_time()
    result = yield
    print("\\nCPU", item.path.stem.removeprefix("test_"), time.process_time() - began)
    return result
"""
ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


def main(argv: list[str]) -> int:
    """Measure and print; asserts nothing."""
    parser = argparse.ArgumentParser(
        prog="bridge-conformance bench",
        description="Measure what a scenario, a callback over stdio, the entry point and a random program cost; or how "
        "long whole runs take.",
    )
    parser.add_argument(
        "--whole", action="append", metavar="SPEC", help="time a whole run on this bridge instead; repeatable"
    )
    parser.add_argument(
        "--processes", type=int, default=4, metavar="N", help="processes of a whole run, most of which wait (4)"
    )
    parser.add_argument(
        "-n", type=int, default=200, metavar="N", help="scenarios, and round trips by the hundred (200)"
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds; the median counts (3)")
    given = parser.parse_args(argv)
    if given.whole:
        for bridge in given.whole:
            run(bridge, given.processes)
            beside_empty_steps(bridge)
        return 0
    _scenarios(given.n, given.rounds)
    _round_trips(given.n * 10, given.rounds)
    _entry_point(given.rounds)
    programs(given.n, given.rounds)
    return 0


def _scenarios(count: int, rounds: int) -> None:
    spent: dict[str, list[float]] = {"full": [], "empty": []}
    for _ in range(rounds):
        for kind, seconds in _session(count):
            spent[kind].append(seconds * 1000)
    full, empty = statistics.median(spent["full"]), statistics.median(spent["empty"])
    print(
        f"a scenario on the reference: {full:.2f} ms of processor time; with as many empty steps {empty:.2f} ms; "
        f"difference {full - empty:.2f} ms, ratio {full / empty:.2f}"
    )


def _session(count: int) -> Iterator[tuple[str, float]]:
    """Yield kind and processor seconds of each test of one session, in which the two kinds take turns."""
    with tempfile.TemporaryDirectory(prefix="bridge-conformance-bench-") as folder:
        for kind, template in (("full", SCENARIO), ("empty", EMPTY)):
            text = f"Feature: {kind}\n" + "".join(template.format(number=number) for number in range(count))
            Path(folder, f"{kind}.feature").write_text(text, encoding="utf-8")
            mark = 'pytestmark = pytest.mark.usefixtures("stage")' if kind == "full" else ""
            Path(folder, f"test_{kind}.py").write_text(MODULE.format(mark=mark, kind=kind), encoding="utf-8")
        Path(folder, "conftest.py").write_text(CONFTEST, encoding="utf-8")
        arguments = ["-q", "-s", "-p", "no:cacheprovider", "-p", "bridge_conformance_pytest", "-c", "/dev/null"]
        arguments += ["--rootdir", folder, "--bridge=reference", "--bridge-report=none", folder]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments], capture_output=True, text=True, check=False, cwd=folder
        )
        found = re.findall(r"^CPU (full|empty) ([\d.e-]+)$", done.stdout, re.MULTILINE)
        if len(found) != 2 * count:
            raise SystemExit(f"the session of the benchmark broke:\n{done.stdout}\n{done.stderr}")
        yield from ((kind, float(seconds)) for kind, seconds in found)


def _round_trips(count: int, rounds: int) -> None:
    bare, served = [], []
    for _ in range(rounds):
        bare.append(_bare(count))
        served.append(asyncio.run(_served(count)))
    line, ping = statistics.median(bare) * 1e6, statistics.median(served) * 1e6
    print(f"a round trip through serve: {ping:.0f} µs; a bare JSON line {line:.0f} µs; ratio {ping / line:.2f}")


def _bare(count: int) -> float:
    with subprocess.Popen([sys.executable, "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for at in range(count + 100):
            if at == 100:
                started = time.perf_counter()
            child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": at, "method": "ping", "params": {}}).encode() + b"\n")
            child.stdin.flush()
            json.loads(child.stdout.readline())
        spent = time.perf_counter() - started
        child.stdin.close()
    return spent / count


async def _served(count: int) -> float:
    from conformance.drivers.protocol import Ping
    from conformance.drivers.stdio import StdioDriver

    driver = StdioDriver("served", [sys.executable, "-m", "conformance.cli", "serve", "--bridge=reference"])
    await driver.start()
    try:
        for _ in range(100):
            await driver.request(Ping())
        started = time.perf_counter()
        for _ in range(count):
            await driver.request(Ping())
        return (time.perf_counter() - started) / count
    finally:
        await driver.close()


def _entry_point(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="bridge-conformance-bench-") as folder:
        Path(folder, "test_nothing.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
        code = (
            "import sys, time, pytest;"
            "status = pytest.main(sys.argv[1:]); print('CPU', time.process_time());"
            "print('LOADED', sum(name.split('.')[0] in ('conformance', 'reference_bridge') for name in sys.modules))"
        )
        base = [
            sys.executable,
            "-c",
            code,
            "-q",
            "-c",
            "/dev/null",
            "--rootdir",
            folder,
            "-p",
            "no:cacheprovider",
            folder,
        ]
        spent: dict[str, list[float]] = {"with": [], "without": []}
        loaded = 0
        for _ in range(rounds * 10):
            for kind, extra in (("with", []), ("without", ["-p", "no:bridge_conformance_pytest"])):
                done = subprocess.run([*base, *extra], capture_output=True, text=True, check=False)
                figures = dict(
                    line.split() for line in done.stdout.splitlines() if line.startswith(("CPU ", "LOADED "))
                )
                spent[kind].append(float(figures["CPU"]))
                loaded = max(loaded, int(figures["LOADED"]))
        # Neighbours in time meet the same machine: the difference of two is steadier than either.
        pairs = zip(spent["with"], spent["without"], strict=True)
        difference = statistics.median(one - other for one, other in pairs) * 1000
    print(f"the entry point in an unrelated run: {difference:+.1f} ms; modules of the suite it loads: {loaded}")
