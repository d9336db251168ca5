"""Prints a rule whole, or every rule in a line."""

from __future__ import annotations

import argparse
import sys

from conformance._pytest.registries import registered
from conformance.catalogue import CatalogueError, UnknownNameError, load_catalogue
from conformance.catalogue.explain import explain
from conformance.catalogue.selection import select


def main(argv: list[str]) -> int:
    """Print the rules that are named, or list all of them."""
    parsing = argparse.ArgumentParser(
        prog="bridge-conformance explain",
        description="Print a rule whole: its sentence, where it comes from, on whom it runs and what proves it.",
    )
    parsing.add_argument("rule", nargs="*", help="a rule's id; without one, every rule in a line; may hold *")
    given = parsing.parse_args(argv)
    try:
        catalogue = load_catalogue()
        if not given.rule:
            for rule in catalogue.rules:
                print(f"{rule.id:<70} {rule.level:<7} {rule.relation}")
            return 0
        chosen = select(catalogue, rules=given.rule)
        print("\n".join(explain(rule.id, catalogue, **registered()) for rule in chosen), end="")
    except (CatalogueError, UnknownNameError) as error:
        print(error, file=sys.stderr)
        return 4
    return 0
