"""Where a run's files lie: the report, traces of what did not pass, and what adapters wrote to their standard error."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from conformance import resources
from conformance.reporting.model import Report

NAME = "conformance.json"
NOWHERE = "none"


def folder(asked: str | None) -> Path | None:
    """Where a run writes: what was asked for, else ``reports/`` of the checkout, else nowhere."""
    if asked == NOWHERE:
        return None
    if asked is not None:
        path = Path(asked)
        return path.parent if path.suffix == ".json" else path
    found = resources.resources()
    return found.spec.parent / "reports" if found.is_checkout else None


def shown(path: Path) -> str:
    """A path as people read it: from here where that is shorter."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def safe(label: str) -> str:
    """A label as a part of a file name; what had to change keeps a digest, so that no two labels meet."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", label)[:80].lstrip(".")
    return plain if plain == label else f"{plain}-{hashlib.sha256(label.encode()).hexdigest()[:8]}"


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file in one move: a reader sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write(where: Path, report: Report, traces: Mapping[tuple[str, str], str], stderr: Mapping[str, list[str]]) -> Path:
    """Write everything of a run and return the report's path; files of the report it replaces are removed."""
    target = where / NAME
    for old in _named_by(target):
        old.unlink(missing_ok=True)
    bridges = []
    for bridge in report.bridges:
        kept: dict[str, str] = {}
        for (label, item), text in traces.items():
            if label == bridge.label:
                kept[item] = f"traces/{safe(label)}--{item.removeprefix('test_')}.jsonl"
                write_atomically(where / kept[item], text.encode())
        rules = [
            msgspec.structs.replace(
                rule,
                proofs=[msgspec.structs.replace(proof, trace=kept.get(proof.item)) for proof in rule.proofs],
            )
            for rule in bridge.rules
        ]
        said = "".join(stderr.get(bridge.label, []))
        names = [f"stderr/{safe(bridge.label)}.txt"] if said else []
        for name in names:
            write_atomically(where / name, said.encode())
        bridges.append(msgspec.structs.replace(bridge, rules=rules, stderr=names))
    whole = msgspec.structs.replace(report, bridges=bridges)
    write_atomically(target, msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n")
    return target


def _named_by(report: Path) -> list[Path]:
    """The files that an earlier report in the same place names; a report that cannot be read names none."""
    try:
        old = msgspec.json.decode(report.read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError):
        return []
    names = {name for bridge in old.bridges for name in bridge.stderr}
    names |= {proof.trace for bridge in old.bridges for rule in bridge.rules for proof in rule.proofs if proof.trace}
    return [
        report.parent / name
        for name in names
        if re.fullmatch(r"(traces|stderr)/[A-Za-z0-9._-]+", name) and ".." not in name
    ]
