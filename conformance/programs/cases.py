"""A finding as a file: the program that shows it, what it shows, and the same as a scenario."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from conformance import __version__
from conformance.drivers.driver import HarnessError
from conformance.invariants import Broken
from conformance.programs.gherkin import Unspeakable, scenario
from conformance.programs.operations import AnyOperation, Program
from conformance.reporting.files import safe, write_atomically

FORMAT = 1
"""Version of the form; it rises when a reader of the old form would go wrong."""
SCHEMA_FILE = Path(__file__).parent / "schema" / "case.schema.json"
"""The published copy of :func:`schema`."""


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """A part of a case."""


class Finding(Part, frozen=True, kw_only=True):
    """What a program showed: a broken invariant, or a difference from another implementation, by ``name``.

    ``rule`` is the rule it speaks of; ``then`` are steps that say what is right. ``against`` is whose answer that is.
    """

    kind: Literal["invariant", "difference"]
    name: str
    rule: str
    sentence: str
    then: list[str]
    against: str | None = None


class Case(Part, frozen=True, kw_only=True):
    """A program and what it showed on ``bridge`` (a value of ``--bridge``)."""

    case: int = msgspec.field(default=FORMAT)
    name: str
    suite: str = __version__
    bridge: str
    mount: str | None = None
    finding: Finding
    operations: list[AnyOperation]

    @property
    def gherkin(self) -> str:
        """The case as a scenario. Raises :class:`~conformance.programs.gherkin.Unspeakable`."""
        text = scenario(self.operations, self.finding.rule, self.title, self.finding.then)
        if self.finding.then:
            return text
        return f"{text}    # no step says what is right, so that this passes: {self.finding.sentence.splitlines()[0]}\n"

    @property
    def title(self) -> str:
        """The name of the scenario: what is right."""
        return f"{self.finding.name.replace('-', ' ')}, as in {self.name}"


@dataclass(frozen=True)
class Kept:
    """Where a case lies (``None``: nowhere), and its text as a scenario (or why it has none)."""

    path: Path | None
    gherkin: str


def finding_of(broken: Broken, **more: Any) -> Finding:
    """Return a broken invariant as a finding."""
    return Finding(
        kind="invariant",
        name=broken.invariant,
        rule=broken.rules[0],
        sentence=broken.sentence,
        then=[f'the invariant "{broken.invariant}" holds'],
        **more,
    )


def keep(
    folder: Path | None, name: str, program: Program, finding: Finding, *, bridge: str, mount: str | None = None
) -> Kept:
    """Write a case into ``folder``, if there is one, and return where it lies and what to paste into a feature."""
    case = Case(name=name, bridge=bridge, mount=mount, finding=finding, operations=list(program))
    path = None if folder is None else folder / f"{safe(name)}.json"
    if path is not None:
        write_case(path, case)
    try:
        return Kept(path, case.gherkin)
    except Unspeakable as error:
        return Kept(path, f"  # no steps say this program: {error}\n")


def write_case(path: Path, case: Case) -> None:
    """Write a case file."""
    # The version is written even though it is the default one: a reader looks at it first.
    data = {"case": case.case, "suite": case.suite, **msgspec.to_builtins(case)}
    ordered = {
        key: data[key] for key in ("case", "name", "suite", "bridge", "mount", "finding", "operations") if key in data
    }
    write_atomically(path, json.dumps(ordered, indent=1, ensure_ascii=False).encode() + b"\n")


def read_case(path: Path) -> Case:
    """Read a case file. Raises ``HarnessError``: what is wrong with it, and the mend."""
    again = "write it anew with the suite that found it, or mend it by conformance/programs/schema/case.schema.json"
    try:
        value = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise HarnessError(f"the case {path} cannot be read: {error.strerror}", "name a file that is there") from None
    except msgspec.DecodeError as error:
        raise HarnessError(f"the case {path} is no JSON: {error}", again) from None
    form = value.get("case") if isinstance(value, dict) else None
    if form != FORMAT:
        what = f"has version {form!r} of the form" if form is not None else "does not say its version of the form"
        mend = "replay it with the release of pi-bridge-conformance that wrote it"
        raise HarnessError(f"the case {path} {what}, and this suite reads version {FORMAT}", mend)
    try:
        return msgspec.convert(value, Case)
    except msgspec.ValidationError as error:
        raise HarnessError(f"the case {path} is damaged: {error}", again) from None


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a case file."""
    made = msgspec.json.schema(Case)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Case of pi-bridge-conformance", **made}


def published() -> str:
    """The text of the published schema, as it has to be."""
    return json.dumps(schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def feature(cases: Sequence[Case], name: str = "cases") -> str:
    """Return a feature file of cases."""
    return f"Feature: {name}\n\n" + "\n".join(case.gherkin for case in cases)


if __name__ == "__main__":
    SCHEMA_FILE.parent.mkdir(exist_ok=True)
    SCHEMA_FILE.write_text(published(), encoding="utf-8")
