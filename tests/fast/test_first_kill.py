"""What the kill gate asks of whom, and when it stops asking: never before a rule has caught whom it names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from conformance._pytest.first_kill import BLANKET_RULES, BLANKET_SURFACES, FirstKill
from conformance._pytest.judge import Judged
from conformance._pytest.worker import JUDGED, RUN
from conformance.mutants import registry
from conformance.mutants.registry import Mutant
from conformance.verdicts import WRONG, Verdict

MUTANTS = [
    Mutant("deaf-to-whispers", "Hears nothing that is whispered."),
    Mutant("stuck", "Never answers.", hangs=True),
    Mutant("everywhere", "Is wrong wherever one looks.", blanket=True),
]


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "load_mutants", lambda: {mutant.name: mutant for mutant in MUTANTS})


class Item:
    """A proof of one rule, asked of one bridge, as far as its place and its being asked are concerned."""

    def __init__(self, label: str, rule: str, case: str = "", *, slow: bool = False, spec: str | None = None) -> None:
        self.name = f"test_{rule}--{case}"
        tags = [SimpleNamespace(name="slow")] if slow else []
        self.function = SimpleNamespace(pickle=SimpleNamespace(name=case, tags=tags, steps=[]))
        self.torn: list[object] = []
        self.session = SimpleNamespace(_setupstate=SimpleNamespace(teardown_exact=self.torn.append))
        of: Any = SimpleNamespace(id=rule, surface=rule.partition(".")[0], deadline=None)
        task = SimpleNamespace(item=self.name, kind="scenario", rule=of, rules=(of,))
        bridge = SimpleNamespace(label=label, spec=f"mutant:{label}" if spec is None else spec)
        self.stash = pytest.Stash()
        self.stash[RUN] = SimpleNamespace(task=task, bridge=bridge)  # type: ignore[assignment]


def order(*items: Item, plugin: FirstKill | None = None) -> list[tuple[str, str]]:
    """Label and case of each, in the order in which they are asked."""
    made: list[Any] = list(items)
    (plugin or FirstKill()).pytest_collection_modifyitems(made)
    return [(item.stash[RUN].bridge.label, item.name.partition("--")[2]) for item in made]


def hear(plugin: FirstKill, label: str, rule: str, verdict: Verdict) -> None:
    judged = Judged(label, "test", rule, verdict, verdict)
    report: Any = SimpleNamespace(user_properties=[(JUDGED, msgspec.json.encode(judged).decode())])
    plugin.pytest_runtest_logreport(report)


def is_asked(plugin: FirstKill, item: Any) -> bool:
    return plugin.pytest_runtest_protocol(item, None) is None


# --- in which order


def test_what_sounds_like_the_defect_is_asked_first() -> None:
    asked = order(*(Item("deaf-to-whispers", "ears.hear", case) for case in ("shouted", "sung", "whispered", "said")))

    assert [case for _, case in asked] == ["whispered", "shouted", "said", "sung"]


def test_what_a_bridge_is_called_does_not_make_its_proofs_alike() -> None:
    asked = order(*(Item("x", "ears.hear", case, spec="mutant:deaf-to-whispers?mount=m") for case in ("a", "whispers")))

    assert [case for _, case in asked] == ["whispers", "a"]


def test_long_proofs_are_asked_last() -> None:
    asked = order(Item("deaf-to-whispers", "ears.hear", "whispered", slow=True), Item("deaf-to-whispers", "ears.hear"))

    assert [case for _, case in asked] == ["", "whispered"]


def test_mutants_that_only_a_long_proof_can_catch_come_before_the_others() -> None:
    asked = order(
        Item("deaf-to-whispers", "ears.hear", "short"),
        Item("deaf-to-whispers", "ears.hear", "long", slow=True),
        Item("stuck", "ears.hear", "short"),
        Item("stuck", "mouth.speak", "long", slow=True),
    )

    assert asked == [
        ("stuck", "short"),
        ("stuck", "long"),
        ("deaf-to-whispers", "short"),
        ("deaf-to-whispers", "long"),
    ]


def test_a_defect_that_is_everywhere_is_asked_of_surface_after_surface() -> None:
    asked = order(*(Item("everywhere", rule, rule) for rule in ("ears.a", "ears.b", "ears.c", "mouth.a", "mouth.b")))

    assert [case for _, case in asked] == ["ears.a", "mouth.a", "ears.b", "mouth.b", "ears.c"]


def test_bridges_that_are_no_mutants_keep_their_order() -> None:
    asked = order(*(Item("mine", "ears.hear", case, spec="reference") for case in ("b", "a", "c")))

    assert asked == [("mine", "b"), ("mine", "a"), ("mine", "c")]


# --- how long


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_a_wrong_answer_ends_the_questions_about_a_rule(verdict: Verdict) -> None:
    plugin, item = FirstKill(), Item("deaf-to-whispers", "ears.hear")
    order(item, plugin=plugin)
    hear(plugin, "deaf-to-whispers", "ears.hear", verdict)

    assert is_asked(plugin, item) is (verdict not in WRONG)
    assert item.torn == ([None] if verdict in WRONG else [])


@pytest.mark.parametrize("verdict", list(Verdict))
def test_silence_ends_them_for_a_mutant_that_hangs(verdict: Verdict) -> None:
    plugin, item = FirstKill(), Item("stuck", "ears.hear")
    order(item, plugin=plugin)
    hear(plugin, "stuck", "ears.hear", verdict)

    assert is_asked(plugin, item) is (verdict not in {*WRONG, Verdict.INCONCLUSIVE})


def test_a_kill_says_nothing_of_another_rule_or_another_mutant() -> None:
    plugin = FirstKill()
    other_rule, other_mutant = Item("stuck", "mouth.speak"), Item("deaf-to-whispers", "ears.hear")
    order(other_rule, other_mutant, plugin=plugin)
    hear(plugin, "stuck", "ears.hear", Verdict.FAIL)

    assert is_asked(plugin, other_rule)
    assert is_asked(plugin, other_mutant)


def test_a_bridge_that_is_no_mutant_is_asked_everything() -> None:
    plugin, item = FirstKill(), Item("mine", "ears.hear", spec="reference")
    order(item, plugin=plugin)
    hear(plugin, "mine", "ears.hear", Verdict.FAIL)

    assert is_asked(plugin, item)


@pytest.mark.parametrize(
    ("rules", "surfaces", "asked"),
    [
        (BLANKET_RULES, BLANKET_SURFACES, False),
        (BLANKET_RULES - 1, BLANKET_SURFACES, True),
        (BLANKET_RULES, BLANKET_SURFACES - 1, True),
    ],
)
def test_a_defect_that_is_everywhere_is_asked_until_enough_caught_it(rules: int, surfaces: int, asked: bool) -> None:
    plugin, item = FirstKill(), Item("everywhere", "ears.hear")
    order(item, plugin=plugin)
    for at in range(rules):
        hear(plugin, "everywhere", f"surface{at % surfaces}.rule{at}", Verdict.FAIL)

    assert is_asked(plugin, item) is asked
