"""A step's text is looked up once, and another text, or another kind of step, is looked up for itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from conformance._pytest.lookup import Lookup


class Phrase:
    """A parser that counts how often it is asked."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked = 0

    def is_matching(self, name: str) -> bool:
        self.asked += 1
        return name == self.text


def lookup(*definitions: tuple[str, str | None, Phrase]) -> Lookup:
    made = Lookup(lambda node: True)
    made._definitions = [(name, SimpleNamespace(type=kind, parser=parser)) for name, kind, parser in definitions]
    return made


def find(lookup: Lookup, kind: str, name: str) -> list[Any]:
    return list(lookup.find(SimpleNamespace(type=kind, name=name), None, None))


def test_a_text_is_looked_up_once() -> None:
    runs = Phrase("the tool runs")
    made = lookup(("runs", "then", runs))

    assert [find(made, "then", "the tool runs") for _ in range(3)] == [["runs"]] * 3
    assert runs.asked == 1


def test_what_one_text_finds_is_not_what_another_finds() -> None:
    made = lookup(
        ("first", "then", Phrase("the tool runs")),
        ("either", None, Phrase("the tool runs")),
        ("second", "given", Phrase("the tool runs")),
        ("other", "then", Phrase("it ends")),
    )

    assert find(made, "then", "the tool runs") == ["first", "either"]
    assert find(made, "given", "the tool runs") == ["either", "second"]
    assert find(made, "then", "it ends") == ["other"]
    assert find(made, "then", "it begins") == []


def test_the_search_of_somebody_else_s_test_stays_pytest_bdd_s() -> None:
    made = Lookup(lambda node: False)
    made._search = lambda step, manager, node: ["theirs"]

    assert find(made, "then", "the tool runs") == ["theirs"]
