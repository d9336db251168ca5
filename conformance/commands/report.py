"""Makes one HTML page of Allure results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.drivers.driver import HarnessError
from conformance.progress import Progress
from conformance.reporting.allure_report import make
from conformance.reporting.files import shown

DEFAULT = Path("reports/allure.html")


def main(argv: list[str]) -> int:
    """Write the page and return 0, or 4 where it cannot be made."""
    parsing = argparse.ArgumentParser(
        prog="bridge-conformance report",
        description="Make one HTML page of Allure results: it opens from disk, and asks nobody for anything.",
        epilog="Make results with: pytest --pyargs conformance --bridge=reference --alluredir=reports/allure-results. "
        "Runs of several bridges may share a folder, or be given one each.",
    )
    parsing.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="folder of --alluredir; repeatable")
    parsing.add_argument("--output", type=Path, default=DEFAULT, metavar="FILE", help=f"the page ({DEFAULT})")
    given = parsing.parse_args(argv)
    try:
        with Progress("report") as progress:
            made = make(given.results, given.output, progress.say)
    except HarnessError as error:
        print(error, file=sys.stderr)
        return 4
    except OSError as error:
        print(f"the page cannot be written: {error}\nMend: name another place with --output.", file=sys.stderr)
        return 4
    print(f"{shown(made.path.absolute())}: {made.results} results of {', '.join(made.bridges) or 'no bridge'}")
    return 0
