"""Writes the matrix as JUnit XML, by the table of verdicts: a harness error is an error, an unproven must a failure."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree as Xml

from msgspec import UNSET

from conformance.reporting.merge import Column, Matrix, Row, version_of
from conformance.reporting.model import ProofReport
from conformance.verdicts import TABLE, Verdict

PROVEN = "every must is proven"
"""The case of each suite that fails while a must is unproven: a test that did not run is no case, and must not hide."""


def matrix_junit(matrix: Matrix) -> str:
    """The document: a suite for each implementation, a case for each proof that ran."""
    root = Xml.Element("testsuites", name="bridge conformance")
    for column in matrix.columns:
        root.append(_suite(column, matrix))
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    Xml.indent(root, " ")
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(column: Column, matrix: Matrix) -> Xml.Element:
    who = column.bridge.implementation
    at = matrix.columns.index(column)
    cases = [
        case for row in matrix.rows for proof in row.cells[at].proofs if (case := _case(column, row, proof)) is not None
    ]
    cases.append(_proven(column))
    suite = Xml.Element(
        "testsuite",
        name=_text(column.bridge.label),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        time=f"{sum(float(case.get('time', '0')) for case in cases):.3f}",
        timestamp=_text(column.sources[-1].report.started.removesuffix("+00:00")),
    )
    known = {
        "implementation": f"{who.name} {who.version}",
        "role": who.role,
        "mount": column.bridge.mount or "",
        "standing": column.standing,
        "rules": f"version {version_of(matrix.newest)}, digest {matrix.newest.report.spec.digest}",
        **who.versions,
    }
    properties = Xml.SubElement(suite, "properties")
    for name, value in known.items():
        Xml.SubElement(properties, "property", name=_text(name), value=_text(value))
    suite.extend(cases)
    return suite


def _case(column: Column, row: Row, proof: ProofReport) -> Xml.Element | None:
    word = TABLE[proof.verdict].junit
    if word == "none":
        return None
    case = Xml.Element(
        "testcase",
        classname=_text(f"{column.bridge.label}.{row.rule.surface}"),
        name=_text(_name(proof.item, row.rule.id)),
        time=f"{proof.duration:.3f}",
    )
    if word != "passed":
        first = (proof.message.splitlines() or [str(proof.verdict)])[0]
        said = Xml.SubElement(case, word, message=_text(f"{proof.verdict}: {first}"))
        if word != "skipped":
            said.set("type", str(proof.verdict))
        said.text = _text("\n".join(_lines(row, proof)))
    elif proof.verdict is not Verdict.PASS:
        Xml.SubElement(case, "system-out").text = _text("\n".join([str(proof.verdict), *_lines(row, proof)]))
    return case


def _name(item: str, rule_id: str) -> str:
    """The name of a case; what proves several rules is a case of each, and names are told apart by it."""
    name = item.removeprefix("test_")
    return name if name.startswith(rule_id) else f"{rule_id} by {name}"


def _proven(column: Column) -> Xml.Element:
    case = Xml.Element("testcase", classname=_text(column.bridge.label), name=PROVEN, time="0.000")
    if column.unproven:
        count = len(column.unproven)
        said = Xml.SubElement(case, "failure", message=f"{count} unproven", type="unproven")
        said.text = _text("\n".join(f"{rule}: {column.cells[rule].verdict}" for rule in column.unproven))
    return case


def _lines(row: Row, proof: ProofReport) -> list[str]:
    pairs = [
        ("rule", f"{row.rule.id} ({row.rule.level}): {row.rule.text}"),
        ("proof", proof.where),
        ("step", proof.step),
        ("expected", _shown(proof.expected)),
        ("got", _shown(proof.got)),
        ("why", proof.message),
        *(("invariant", f"{each.invariant}: {each.sentence}") for each in proof.broken),
    ]
    return [f"{name}: {value}" for name, value in pairs if value]


def _shown(value: Any) -> str:
    return "" if value is UNSET else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(text: str) -> str:
    """The text with what XML 1.0 cannot hold made visible."""
    return "".join(
        character
        if character in "\t\n\r"
        or 0x20 <= ord(character) <= 0xD7FF
        or 0xE000 <= ord(character) <= 0xFFFD
        or 0x10000 <= ord(character) <= 0x10FFFF
        else f"\\u{{{ord(character):x}}}"
        for character in text
    )
