"""Every right bridge says in what it differs from the reference, and what leaves it free to."""

from __future__ import annotations

import fnmatch
import re

import pytest

from conformance.catalogue import load_catalogue
from conformance.drivers.specs import make_driver, parse
from conformance.mutants import load_mutants
from tests.right_bridges.table import RightBridge, load_right_bridges
from tests.right_bridges.trial import Programs, first_of_each

RULES = {rule.id: rule for rule in load_catalogue().rules}
BRIDGES = list(load_right_bridges().values())


@pytest.mark.parametrize("bridge", BRIDGES, ids=lambda bridge: bridge.name)
def test_each_says_what_freedom_it_takes(bridge: RightBridge) -> None:
    named = [name for name in re.findall(r"`(\w+\.[\w-]+)`", bridge.freedom) if name.partition(".")[0] in SURFACES]

    assert len(bridge.difference.split()) > 4
    assert len(bridge.freedom.split()) > 3
    assert [name for name in named if name not in RULES] == []


SURFACES = {rule.surface for rule in RULES.values()}


@pytest.mark.parametrize("bridge", BRIDGES, ids=lambda bridge: bridge.name)
def test_none_departs_from_a_must(bridge: RightBridge) -> None:
    levels = {name: RULES[name].level for name in bridge.departs}

    assert set(levels.values()) <= {"should", "may"}
    assert all(name in bridge.freedom for name in bridge.departs)


@pytest.mark.parametrize("bridge", BRIDGES, ids=lambda bridge: bridge.name)
def test_each_is_asked_some_rule(bridge: RightBridge) -> None:
    assert bridge.asked
    assert [pattern for pattern in bridge.asked if not fnmatch.filter(RULES, pattern)] == []


def test_each_can_be_named_as_a_bridge() -> None:
    for bridge in BRIDGES:
        spec = parse(f"py:tests.right_bridges.backends:{bridge.factory}")

        assert make_driver(spec).label == spec.label


def test_one_that_is_wrong_is_accused_by_name_rule_and_message() -> None:
    wrong = load_mutants()["every-event-of-an-end-twice"]
    bridge = RightBridge("twice", "It is not right.", "None.", wrong.bridge_type, wrong.host_type)

    found = first_of_each(Programs(5, seed=1).accusations(bridge))

    assert "twice: invariant: one-end-for-every-start: " in "\n".join(map(str, found))
