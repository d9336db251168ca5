"""Writes tiny spec and features folders for the catalogue's tests: a valid whole, which a test breaks in one place."""

from __future__ import annotations

from pathlib import Path

INDEX = """\
version: 2
documents:
  tools:
    title: A table
    anchors: [demo-api, other-event]
surfaces:
  - tools/demo.yaml
seams: []
"""

DEMO = """\
surface: demo
kind: api
status: mapped
summary: A package does a thing.
carried_by: the demo waterfall
source: {document: tools, anchor: demo-api}
rules:
  - id: demo.works
    level: must
    relation: same
    text: The thing works as it does on Pi.
    needs: []
    kills: [broken]
    evidence: [{on: pi 0.84.1, how: observed}]
    since: 1
  - id: demo.differs
    level: should
    relation: differs
    text: The thing is refused with a reason.
    on_pi: The thing is done.
    because: The host does not let it be done.
    expects: {refusal: says why}
    needs: [native-tools]
    mounts: [engine]
    kills: []
    evidence: [{on: pi 0.84.1, how: observed}, {on: dsh 0.1.0-rc.8, how: read, note: in its documentation}]
    since: 2
"""

SEAM = """\
surface: waterfalls
kind: seam
summary: Listeners are asked in order.
carried_by: the waterfalls of the host
source: {document: tools, anchor: demo-api}
rules:
  - id: waterfalls.ask-in-order
    level: must
    relation: host
    text: Listeners are asked in the order of their registration.
    needs: []
    kills: []
    evidence: [{on: dsh 0.1.0-rc.8, how: observed}]
    since: 1
"""

FEATURE = """\
Feature: demo

  Background:
    Given a package

  @rule:demo.works
  Scenario: it works
    When the thing is done
    Then it is done

  @rule:demo.differs @on:bridge
  Scenario: a bridge refuses
    When the thing is done
    Then it is refused

  @rule:demo.differs @on:pi
  Scenario: Pi does it
    When the thing is done
    Then it is done
"""


def write_spec(folder: Path, **files: str) -> Path:
    """``spec`` under ``folder``; keys name files with ``__`` for ``/`` (``tools__demo``), ``.yaml`` is added."""
    root = folder / "spec"
    for name, text in {"index": INDEX, "tools__demo": DEMO, **files}.items():
        path = root / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def write_features(folder: Path, **files: str) -> Path:
    """``features`` under ``folder``, named as in ``write_spec``."""
    root = folder / "features"
    for name, text in (files or {"tools__demo": FEATURE}).items():
        path = root / f"{name.replace('__', '/')}.feature"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def changed(text: str, old: str, new: str) -> str:
    """``text`` with its one ``old`` replaced; a test that changes nothing would prove nothing."""
    assert text.count(old) == 1, f"{old!r} stands there {text.count(old)} times"
    return text.replace(old, new)
