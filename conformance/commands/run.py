"""Runs the suite by pytest, with an ini of its own and short names for the options."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

INI = Path(__file__).with_name("pytest.ini")
REPEATED = {
    "bridge": ("[LABEL=]SPEC", "implementation to judge: a name (reference, pi, …), stdio:COMMAND, py:MODULE:FACTORY"),
    "rule": ("ID", "only these rules; may hold *, and may end in --EXAMPLE for one test of a rule"),
    "surface": ("NAME", "only the rules of these surfaces; may hold *"),
    "level": ("LEVEL", "only the rules of this level: must, should or may"),
    "deviations": ("[LABEL=]FILE", "ledger of known deviations"),
    "env": ("NAME", "environment variable that adapters may see"),
}
SINGLE = {
    "timeout": ("SECONDS", "request deadline: the longest silence allowed (5)"),
    "report": ("DIR", "where the report goes (./reports); none for nowhere"),
    "against": ("SPEC", "whose answers random programs are judged by, as reference; or the label of a --bridge"),
    "examples": ("N", "random programs a property tries"),
    "seed": ("N", "seed of the random programs"),
    "record": ("DIR", "keep the wire and the trace of every test there, for --bridge=replay:DIR"),
}


def parser() -> argparse.ArgumentParser:
    """The command line of ``bridge-conformance run``."""
    made = argparse.ArgumentParser(
        prog="bridge-conformance run",
        description="Judge one implementation or several by the rules.",
        epilog="Exit status: 0 conformant in what was selected, 1 not conformant, 2 interrupted, 3 the harness broke, "
        "4 wrong use, 5 nothing ran. What follows -- goes to pytest, as in `run --bridge=pi -- -n 2 -x`.",
        allow_abbrev=False,
    )
    for name, (metavar, text) in REPEATED.items():
        made.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar=metavar,
            required=name == "bridge",
            help=f"{text}; repeatable",
        )
    for name, (metavar, text) in SINGLE.items():
        made.add_argument(f"--{name}", metavar=metavar, help=text)
    made.add_argument("-q", "--quiet", action="count", default=0, help="print less; repeatable")
    made.add_argument("-v", "--verbose", action="count", default=0, help="print more; repeatable")
    made.add_argument("rest", nargs="*", metavar="-- PYTEST-ARGUMENTS", help=argparse.SUPPRESS)
    return made


def pytest_arguments(argv: list[str]) -> list[str]:
    """What pytest is called with. Raises SystemExit with status 4 on wrong use."""
    own, _, rest = (argv, "", []) if "--" not in argv else (argv[: argv.index("--")], "", argv[argv.index("--") + 1 :])
    parsing = parser()
    try:
        given = parsing.parse_args(own)
    except SystemExit as stop:
        raise SystemExit(4 if stop.code else 0) from None
    if given.rest:
        print(f"{given.rest[0]}: not an option of run; what is meant for pytest follows --", file=sys.stderr)
        raise SystemExit(4)
    arguments = [
        f"-c{INI}",
        f"--rootdir={Path.cwd()}",
        "-p",
        "bridge_conformance_pytest",
        "--pyargs",
        "conformance.suite",
    ]
    for name in REPEATED:
        option = "--bridge" if name == "bridge" else f"--bridge-{name}"
        arguments += [f"{option}={value}" for value in getattr(given, name)]
    for name in SINGLE:
        value = getattr(given, name)
        if name == "report" and value is None:
            value = "reports"
        if value is not None:
            arguments.append(f"--bridge-{name}={value}")
    return [*arguments, *["-q"] * given.quiet, *["-v"] * given.verbose, *rest]


def main(argv: list[str]) -> int:
    """Run the suite and return its exit status."""
    arguments = pytest_arguments(argv)
    # Options that a user keeps for their own tests have no say here.
    os.environ.pop("PYTEST_ADDOPTS", None)
    import pytest

    return int(pytest.main(arguments))
