"""Keeps the generated files of the spec fresh: the table of rules and the fingerprints of rules and proofs."""

from __future__ import annotations

import argparse
import sys

from conformance._pytest.registries import registered, sources
from conformance.catalogue import Catalogue, CatalogueError, Features, Problem, check, compile_features, load_catalogue
from conformance.catalogue.coverage import FILE as COVERAGE
from conformance.catalogue.coverage import coverage, write_coverage
from conformance.catalogue.fingerprint import FILE as FINGERPRINTS
from conformance.catalogue.fingerprint import (
    check_current,
    check_fingerprints,
    fingerprints,
    load_fingerprints,
    refresh,
    spec_digest,
)
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
    commands.add_parser(
        "check", help="load the rules, join them with their proofs and look at what is generated; print what is wrong"
    )
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
            if stale := outdated(catalogue, features):
                raise CatalogueError(stale)
            print(f"{len(catalogue.rules)} rules, {len(features.pickles)} scenarios: nothing is wrong")
        elif given.command == "digest":
            print(spec_digest(catalogue, features))
        elif given.command == "release":
            changed = release(catalogue)
            version = f"{catalogue.version}.{catalogue.revision}"
            print(f"{version} is {'noted' if changed else 'noted already'} in spec/{RELEASED}")
        else:
            if given.command == "coverage":
                name, changed = COVERAGE, write_coverage(catalogue, features, **known)
            else:
                name, changed = FINGERPRINTS, refresh(catalogue, features, **known, sources=sources())
            print(f"spec/{name} {'written' if changed else 'was fresh'}")
    except CatalogueError as error:
        print(error, file=sys.stderr)
        return 4
    return 0


def outdated(catalogue: Catalogue, features: Features) -> list[Problem]:
    """Return rules that changed without their proof; where there are none, generated files that are not up to date."""
    known = registered()
    now = fingerprints(catalogue, features, **known, sources=sources())
    stored = load_fingerprints(catalogue.root / FINGERPRINTS)
    if unproven := check_fingerprints(catalogue, now, stored):
        return unproven
    found = check_current(now, stored)
    table = catalogue.root / COVERAGE
    if not table.is_file() or table.read_text(encoding="utf-8") != coverage(catalogue, features, **known):
        mend = "run bridge-conformance spec coverage and commit the file"
        found.append(Problem(f"spec/{COVERAGE}", 1, "the table is not that of the rules", mend))
    return found
