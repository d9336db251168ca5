"""Keeps the generated files of the spec fresh: the table of rules and the fingerprints of rules and proofs."""

from __future__ import annotations

import argparse
import sys

from conformance._pytest.registries import registered
from conformance.catalogue import CatalogueError, check, compile_features, load_catalogue
from conformance.catalogue.coverage import write_coverage
from conformance.catalogue.fingerprint import refresh, spec_digest
from conformance.catalogue.released import FILE as RELEASED
from conformance.catalogue.released import release
from conformance.commands import spec_diff, spec_protocol


def main(argv: list[str]) -> int:
    """Run one of the sub-commands and return 0, or 4 where the rules do not hold together."""
    if argv[:1] == ["diff"]:
        return spec_diff.main(argv[1:])
    if argv[:1] == ["protocol"]:
        return spec_protocol.main(argv[1:])
    parser = argparse.ArgumentParser(
        prog="bridge-conformance spec",
        description="Look after the spec: check it, and write what is generated from it.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("check", help="load the rules and join them with their proofs; print what is wrong")
    commands.add_parser("digest", help="print the digest of everything that decides a verdict")
    commands.add_parser("coverage", help="write spec/COVERAGE.md, the table of rules and how each is proven")
    commands.add_parser("fingerprints", help="record the rules' sentences and their proofs as they are now")
    commands.add_parser("release", help="note in spec/released.txt that the rules as they are were released")
    commands.add_parser("protocol", help="describe the messages between suite and implementation", add_help=False)
    commands.add_parser("diff", help="compare two states of the rules, for their reviewers", add_help=False)
    given = parser.parse_args(argv)
    try:
        catalogue, features, known = load_catalogue(), compile_features(), registered()
        problems = check(catalogue, features, **known)
        if problems:
            raise CatalogueError(problems)
        if given.command == "check":
            print(f"{len(catalogue.rules)} rules, {len(features.pickles)} scenarios: nothing is wrong")
        elif given.command == "digest":
            print(spec_digest(catalogue, features))
        elif given.command == "release":
            changed = release(catalogue)
            version = f"{catalogue.version}.{catalogue.revision}"
            print(f"{version} is {'noted' if changed else 'noted already'} in spec/{RELEASED}")
        else:
            write = write_coverage if given.command == "coverage" else refresh
            name = "COVERAGE.md" if given.command == "coverage" else "fingerprints.json"
            changed = write(catalogue, features, **known)
            print(f"spec/{name} {'written' if changed else 'was fresh'}")
    except CatalogueError as error:
        print(error, file=sys.stderr)
        return 4
    return 0
