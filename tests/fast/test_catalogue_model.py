"""On which kind of implementation a rule runs, and which of its sides."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from conformance.catalogue import Rule
from conformance.catalogue.model import Relation, Role, Side, Source


def rule(relation: Relation, needs: tuple[str, ...] = (), **named: Any) -> Rule:
    return Rule(
        id="demo.works",
        surface="demo",
        level="must",
        relation=relation,
        text="The thing works.",
        source=Source("tools", "demo-api"),
        evidence=(),
        needs=needs,
        kills=(),
        since=1,
        file="spec/tools/demo.yaml",
        line=1,
        **named,
    )


@pytest.mark.parametrize(
    ("relation", "roles"),
    [
        ("same", {"pi", "bridge"}),
        ("differs", {"pi", "bridge"}),
        ("bridge", {"bridge"}),
        ("host", {"bridge", "host"}),
    ],
)
def test_a_relation_decides_which_roles_are_asked(relation: Relation, roles: set[Role]) -> None:
    asked = {role for role in get_args(Role) if rule(relation).applies_to(role, capabilities={"host-seams"})}
    assert asked == roles


def test_a_bridge_without_host_seams_is_not_asked_about_its_host() -> None:
    assert not rule("host").applies_to("bridge", "engine")
    assert rule("host").applies_to("host")


def test_what_only_the_hosts_seams_can_bring_about_is_asked_only_where_they_are_offered() -> None:
    seams = rule("bridge", needs=("host-seams", "native-tools"))
    assert not seams.applies_to("bridge", "engine")
    assert seams.applies_to("bridge", "engine", {"host-seams"})
    assert rule("bridge", needs=("native-tools",)).applies_to("bridge", "engine")


def test_mounts_restrict_bridges_only() -> None:
    mounted = rule("same", mounts=("engine",))
    assert mounted.applies_to("bridge", "engine")
    assert not mounted.applies_to("bridge", "agent")
    assert not mounted.applies_to("bridge", None)
    assert mounted.applies_to("pi", None)
    assert rule("host", mounts=("engine",)).applies_to("host", None)


@pytest.mark.parametrize(
    ("relation", "role", "sides"),
    [
        ("differs", "pi", {"pi", None}),
        ("differs", "bridge", {"bridge", None}),
        ("same", "pi", {None}),
        ("bridge", "bridge", {None}),
        ("host", "host", {None}),
    ],
)
def test_a_difference_runs_the_side_of_the_role(relation: Relation, role: Role, sides: set[Side | None]) -> None:
    every: tuple[Side | None, ...] = ("pi", "bridge", None)
    assert {side for side in every if rule(relation).runs(side, role)} == sides
