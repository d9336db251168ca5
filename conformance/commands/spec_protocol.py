"""Describes the protocol: as a page, or as JSON Schemas."""

from __future__ import annotations

import argparse
import sys

from conformance import resources
from conformance.drivers.description import as_json, as_markdown
from conformance.reporting.files import shown, write_atomically


def main(argv: list[str]) -> int:
    """Print the description, or write the page of the checkout; 4 on wrong use."""
    parsing = argparse.ArgumentParser(
        prog="bridge-conformance spec protocol",
        description="Describe every message between the suite and an implementation, from the messages themselves.",
    )
    parsing.add_argument("--json", action="store_true", help="print the JSON Schemas instead of the page")
    parsing.add_argument("--write", action="store_true", help="write docs/protocol.md of the checkout")
    try:
        given = parsing.parse_args(argv)
    except SystemExit as stop:
        raise SystemExit(4 if stop.code else 0) from None
    if not given.write:
        print(as_json() if given.json else as_markdown(), end="")
        return 0
    found = resources.resources()
    if not found.is_checkout:
        print("there is no checkout to write into. Mend: leave --write out, and the page is printed.", file=sys.stderr)
        return 4
    page = found.spec.parent / "docs" / "protocol.md"
    write_atomically(page, as_markdown().encode())
    print(f"{shown(page)} written")
    return 0
