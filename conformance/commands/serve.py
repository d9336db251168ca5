"""Serves an in-process bridge as an adapter, so that the suite can judge it from another process."""

from __future__ import annotations

import argparse
import sys

from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import HarnessError
from conformance.drivers.specs import SpecError, make_driver, parse


def main(argv: list[str]) -> int:
    """Serve until the end of input."""
    parsing = argparse.ArgumentParser(
        prog="bridge-conformance serve",
        description="Speak the protocol of the suite over standard input and output, for an in-process bridge.",
        epilog="Try it: bridge-conformance run --bridge='stdio:bridge-conformance serve --bridge=reference'",
    )
    parsing.add_argument(
        "--bridge",
        required=True,
        metavar="SPEC",
        help="reference, mutant:NAME or py:MODULE:FACTORY, each with ?mount=… where it has several",
    )
    given = parsing.parse_args(argv)
    try:
        driver = make_driver(parse(given.bridge))
    except (SpecError, HarnessError) as error:
        print(error, file=sys.stderr)
        return 4
    if not isinstance(driver, InProcessDriver):
        print(f"{given.bridge} is a program of its own already; name it to --bridge as it is", file=sys.stderr)
        return 4
    from conformance.drivers.serve import serve

    return serve(driver.factory)
