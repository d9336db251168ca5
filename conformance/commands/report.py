"""Makes one HTML page of Allure results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.drivers.driver import HarnessError
from conformance.progress import Progress
from conformance.reporting.allure_report import ResultsError, make
from conformance.reporting.files import shown

DEFAULT = Path("reports/allure.html")


def main(argv: list[str]) -> int:
    """Write the page and return 0; 4 for results that are none, 3 where what makes the page is not to be had."""
    parsing = argparse.ArgumentParser(
        prog="bridge-conformance report",
        description="Make one HTML page of Allure results: it opens from disk, and asks nobody for anything.",
        epilog="Exit status: 0 made, 3 Node or Allure are not to be had, 4 wrong use. "
        "Make results with: pytest --pyargs conformance --bridge=reference --alluredir=reports/allure-results. "
        "Runs of several bridges may share a folder, or be given one each.",
    )
    parsing.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="folder of --alluredir; repeatable")
    parsing.add_argument("--output", type=Path, default=DEFAULT, metavar="FILE", help=f"the page ({DEFAULT})")
    given = parsing.parse_args(argv)
    try:
        with Progress("report") as progress:
            made = make(given.results, given.output, progress.say)
    except ResultsError as error:
        print(error, file=sys.stderr)
        return 4
    except HarnessError as error:
        print(error, file=sys.stderr)
        return 3
    except OSError as error:
        print(f"the page cannot be written: {error}\nMend: name another place with --output.", file=sys.stderr)
        return 4
    print(f"{shown(made.path.absolute())}: {made.results} results of {', '.join(made.bridges) or 'no bridge'}")
    return 0
