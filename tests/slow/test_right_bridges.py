"""Bridges that are right and unlike the reference are accused of nothing.

This asks of each of them a few of the rules that speak where it differs, and a few random programs; everything is asked
by ``python -m tests.right_bridges``, which takes an hour.
"""

from __future__ import annotations

from tests.right_bridges.table import RIGHT_BRIDGES, load_right_bridges
from tests.right_bridges.trial import Accusation, Programs, first_of_each, scenarios

EXAMPLES = 6
"""Random programs for each bridge."""


def told(found: list[Accusation]) -> str:
    """The accusations, each with the bridge, the rule and the message."""
    return "\n".join(map(str, first_of_each(found)))


def test_no_rule_accuses_a_right_bridge() -> None:
    bridges = list(load_right_bridges().values())

    found = list(scenarios(bridges, ask="few"))

    assert not found, told(found)


def test_no_random_program_accuses_a_right_bridge() -> None:
    load_right_bridges()
    programs = Programs(EXAMPLES, seed=1)

    found = [each for bridge in RIGHT_BRIDGES.values() for each in programs.accusations(bridge)]

    assert not found, told(found)
