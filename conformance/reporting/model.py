"""The report as values: what ``conformance.json`` holds, and where its published JSON Schema comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from conformance.verdicts import Verdict

FORMAT = 1
"""Version of the report's form; it rises when a reader of the old form would go wrong."""

Selection = Literal["complete", "partial", "interrupted"]


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of the report. A newer suite may add fields without a new format, so a reader leaves out what it lacks."""


class Broken(Record, frozen=True):
    """An invariant that did not hold in the run of an item, whatever the item was about."""

    invariant: str
    rules: list[str]
    sentence: str


class ProofReport(Record, frozen=True):
    """What one proof said.

    ``item`` is the test's name and ``node`` pytest's id of it, empty where it was not collected. ``duration`` is
    seconds. ``expected`` and ``got`` are there where the finding shows values. ``trace`` is a file beside the report.
    """

    item: str
    kind: Literal["scenario", "vector", "property", "invariant"]
    where: str
    verdict: Verdict
    node: str = ""
    duration: float = 0.0
    message: str = ""
    step: str = ""
    expected: Any | UnsetType = UNSET
    got: Any | UnsetType = UNSET
    trace: str | None = None
    broken: list[Broken] = []


class RuleReport(Record, frozen=True):
    """One rule's verdict on one implementation, and the proofs behind it.

    ``on_pi``, ``because`` and ``interpretation`` are the rule's own words, where it has them: what Pi does instead, why
    a bridge differs, and how a source that contradicts itself was read.
    """

    id: str
    surface: str
    level: Literal["must", "should", "may"]
    relation: Literal["same", "differs", "bridge", "host"]
    verdict: Verdict
    text: str
    source: str
    proofs: list[ProofReport]
    on_pi: str | None = None
    because: str | None = None
    interpretation: str | None = None


class SurfaceReport(Record, frozen=True):
    """What the rules of one surface are about. ``status`` is the coverage table's own word."""

    name: str
    kind: Literal["api", "event", "seam"] | None = None
    status: str | None = None
    summary: str = ""


class ExampleReport(Record, frozen=True):
    """What one test does, for readers: its title, and its steps or, of a vector, its values, a line each."""

    title: str
    lines: list[str]


class DeviationReport(Record, frozen=True):
    """One entry of the deviation ledger and what became of it; ``stale`` says why it must be mended."""

    rule: str
    reason: str
    added: str
    example: str | None = None
    mount: str | None = None
    link: str | None = None
    expires: str | None = None
    state: Literal["holds", "stale", "not run"] = "not run"
    stale: str = ""


class Implementation(Record, frozen=True):
    """Who answered the handshake."""

    name: str
    version: str
    role: Literal["bridge", "pi", "host"]
    protocol: int
    versions: dict[str, str]
    mounts: list[str]
    capabilities: list[str]
    issues_url: str


class Summary(Record, frozen=True):
    """Counts of rules by verdict, in all and by level; what is not applicable is in none of them.

    ``unproven`` names every must that nothing decided: it is never left out. ``absent_capabilities`` are declared and
    not there, ``undeclared_capabilities`` there and not declared, as far as rules that ran needed them.
    """

    rules: dict[str, int]
    by_level: dict[str, dict[str, int]]
    unproven: list[str]
    departures: list[str]
    deviations: list[str]
    undeclared: list[str]
    absent_capabilities: list[str] = []
    undeclared_capabilities: list[str] = []


class BridgeReport(Record, frozen=True):
    """Everything about one implementation. ``standing`` is the word for the whole."""

    label: str
    spec: str
    mount: str | None
    implementation: Implementation
    probed: dict[str, bool]
    standing: str
    summary: Summary
    rules: list[RuleReport]
    deviations: list[DeviationReport]
    stderr: list[str]


class Named(Record, frozen=True):
    """A program and its version."""

    name: str
    version: str


class SpecReport(Record, frozen=True):
    """Which rules these were: the spec's version and revision, and the digest over rules and proofs."""

    version: int
    digest: str
    revision: int = 0


class Report(Record, frozen=True):
    """One run. ``started`` is UTC, ``duration`` seconds, ``exit`` the exit status.

    ``surfaces`` are in the order of every table; ``examples`` are by the name of their test. Only a ``complete``
    selection makes a statement on the whole.
    """

    format: int
    suite: Named
    spec: SpecReport
    protocol: int
    python: str
    platform: str
    started: str
    duration: float
    selection: Selection
    exit: int
    bridges: list[BridgeReport]
    notes: list[str]
    surfaces: list[SurfaceReport] = []
    examples: dict[str, ExampleReport] = {}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of :class:`Report`."""
    made = msgspec.json.schema(Report)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of pi-bridge-conformance",
        **made,
    }


SCHEMA_FILE = Path(__file__).parent / "schema" / "conformance.schema.json"
"""The published copy of :func:`schema`."""


def published() -> str:
    """The text of the published schema, as it has to be."""
    return json.dumps(schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(published(), encoding="utf-8")
