"""Makes small reports, as a run writes them, of rules and implementations that a test names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from conformance import __version__
from conformance._pytest.tally import summary
from conformance.reporting.model import (
    FORMAT,
    BridgeReport,
    Implementation,
    Named,
    ProofReport,
    Report,
    RuleReport,
    SpecReport,
    SurfaceReport,
)
from conformance.reporting.read import Read
from conformance.verdicts import Verdict, standing


def proof(rule: str, verdict: Verdict = Verdict.PASS, *, slug: str = "", **rest: Any) -> ProofReport:
    """One scenario of a rule."""
    item = f"test_{rule}--{slug}" if slug else f"test_{rule}"
    return msgspec.structs.replace(
        ProofReport(item=item, kind="scenario", where=f"{rule}.feature:3", verdict=verdict, duration=0.01), **rest
    )


def rule(name: str, verdict: Verdict = Verdict.PASS, **rest: Any) -> RuleReport:
    """A must that is the same on Pi, with one proof of its verdict."""
    proofs = [] if verdict is Verdict.NOT_APPLICABLE else [proof(name, verdict)]
    made = RuleReport(
        id=name,
        surface=name.partition(".")[0],
        level="must",
        relation="same",
        verdict=verdict,
        text=f"The sentence of {name}.",
        source="tools#there",
        proofs=proofs,
    )
    return msgspec.structs.replace(made, **rest)


def bridge(label: str, *rules: RuleReport, role: str = "bridge", version: str = "1.0", **rest: Any) -> BridgeReport:
    """An implementation that got these verdicts in a whole run."""
    who = Implementation(
        name=rest.pop("name", label),
        version=version,
        role=role,  # type: ignore[arg-type]
        protocol=1,
        versions={},
        mounts=[],
        capabilities=[],
        issues_url=rest.pop("issues_url", ""),
    )
    made = BridgeReport(
        label=label,
        spec=label,
        mount=None,
        implementation=who,
        probed={},
        standing=str(standing([(each.level, each.verdict) for each in rules], complete=True)),
        summary=summary(rules),
        rules=list(rules),
        deviations=[],
        stderr=[],
    )
    return msgspec.structs.replace(made, **rest)


def report(*bridges: BridgeReport, day: str = "2026-01-01", **rest: Any) -> Report:
    """A whole run of these; rules of one digest ask the same."""
    surfaces = dict.fromkeys(each.surface for one in bridges for each in one.rules)
    made = Report(
        format=FORMAT,
        suite=Named(name="pi-bridge-conformance", version=__version__),
        spec=SpecReport(version=rest.pop("version", 1), digest=rest.pop("digest", "a" * 64)),
        protocol=1,
        python="3.11",
        platform="there",
        started=f"{day}T00:00:00+00:00",
        duration=1.0,
        selection="complete",
        exit=0,
        bridges=list(bridges),
        notes=[],
        surfaces=[SurfaceReport(name=name, kind="api", summary=f"About {name}.") for name in surfaces],
    )
    return msgspec.structs.replace(made, **rest)


def read(one: Report, path: str = "conformance.json") -> Read:
    """The report as if it had been read from a file."""
    return Read(Path(path), one)


def saved(folder: Path, one: Report) -> Path:
    """The report, written where a run would."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "conformance.json"
    path.write_bytes(msgspec.json.encode(one))
    return path
