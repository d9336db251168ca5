"""How long a whole run of the suite takes, and what its scenarios cost beside as many with as many empty steps."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from conformance.catalogue import compile_features

MODULE = """
from pathlib import Path
from pytest_bdd import given, scenarios

@given("nothing")
def nothing():
    pass

scenarios(str(Path(__file__).with_name("empty.feature")))
"""
PLUGIN = """
import time
import pytest

spent = {}

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    began = time.process_time()
    result = yield
    kind = {"test_empty.py": "empty", "test_features.py": "full"}.get(item.path.name, "other")
    count, seconds = spent.get(kind, (0, 0.0))
    spent[kind] = count + 1, seconds + time.process_time() - began
    return result

def pytest_unconfigure():
    for kind, (count, seconds) in spent.items():
        print("\\nSPENT", kind, count, seconds)
"""


def run(bridge: str, processes: int) -> None:
    """Run everything on one bridge, and print how long it took. Raises SystemExit where the run ends badly."""
    began = time.perf_counter()
    said = _session([f"--bridge={bridge}", "-n", str(processes), "--pyargs", "conformance.suite"])
    wall = time.perf_counter() - began
    passed = re.search(r"(\d+) passed", said)
    print(f"a whole run on {bridge}: {passed[1] if passed else 'no'} tests, {wall:.0f} s in {processes} processes")


def beside_empty_steps(bridge: str) -> None:
    """Run every scenario and as many with as many empty steps in one session, and print what each costs."""
    with tempfile.TemporaryDirectory(prefix="bridge-conformance-bench-") as folder:
        lines = ["Feature: empty"]
        for number, pickle in enumerate(compile_features().pickles):
            lines += [f"  Scenario: Nothing happens, number {number}", *["    Given nothing"] * len(pickle.steps)]
        Path(folder, "empty.feature").write_text("\n".join(lines) + "\n", encoding="utf-8")
        Path(folder, "test_empty.py").write_text(MODULE, encoding="utf-8")
        Path(folder, "spent_by_kind.py").write_text(PLUGIN, encoding="utf-8")
        said = _session(
            [f"--bridge={bridge}", "-s", "-p", "spent_by_kind", "--pyargs", "conformance.suite", folder],
            folder,
        )
    spent = {
        kind: (int(n), float(s)) for kind, n, s in re.findall(r"^SPENT (\w+) (\d+) ([\d.e-]+)$", said, re.MULTILINE)
    }
    full, empty = (seconds / count * 1000 for count, seconds in (spent["full"], spent["empty"]))
    print(
        f"the scenarios of a whole run on {bridge}: {spent['full'][0]}, {full:.2f} ms of processor time each; "
        f"with as many empty steps {empty:.2f} ms; ratio {full / empty:.2f}"
    )


def _session(arguments: list[str], path: str = "") -> str:
    """Run pytest and return what it printed."""
    code = f"import sys; sys.path.insert(0, {path!r}); import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    shared = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "bridge_conformance_pytest",
        "-c",
        "/dev/null",
        "--bridge-report=none",
    ]
    with tempfile.TemporaryDirectory(prefix="bridge-conformance-bench-") as folder:
        done = subprocess.run(
            [sys.executable, "-c", code, *shared, "--rootdir", folder, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
    if done.returncode:
        raise SystemExit(f"the session of the benchmark broke:\n{done.stdout}\n{done.stderr}")
    return done.stdout
