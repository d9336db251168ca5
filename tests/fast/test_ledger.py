"""A ledger is refused with file, line and mend, and what it says of a test follows from its entries alone."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from conformance.ledger import Ledger, LedgerError, example_of, load_ledger

DAYS = "added: 2026-01-01, expires: 2026-12-31"


def ledger(folder: Path, *entries: str) -> Ledger:
    return load_ledger(write(folder, *entries))


def write(folder: Path, *entries: str) -> Path:
    path = folder / "ledger.yaml"
    lines = [f"  - {{{entry}}}" for entry in entries]
    path.write_text("\n".join(["bridge: mine", "deviations:" if lines else "deviations: []", *lines, ""]))
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(LedgerError) as caught:
        load_ledger(path)
    return [str(problem).removeprefix(str(path.parent) + "/") for problem in caught.value.problems]


def test_an_entry_keeps_what_it_says(tmp_path: Path) -> None:
    entry = f"rule: a.b, example: twice, mount: engine, reason: It is so., link: 'https://example.org/1', {DAYS}"

    found = ledger(tmp_path, entry).deviations[0]

    assert (found.rule, found.example, found.mount, found.reason) == ("a.b", "twice", "engine", "It is so.")
    assert (found.added, found.expires) == (date(2026, 1, 1), date(2026, 12, 31))
    assert found.link == "https://example.org/1"
    assert found.where.endswith("ledger.yaml:3")


def test_a_label_on_the_command_line_wins(tmp_path: Path) -> None:
    assert load_ledger(write(tmp_path)).label == "mine"
    assert load_ledger(write(tmp_path), "other").label == "other"


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (f"reason: x, {DAYS}", "ledger.yaml:3: `rule` is missing"),
        (f"rule: a.b, {DAYS}", "ledger.yaml:3: `reason` is missing"),
        ("rule: a.b, reason: x, added: 2026-01-01", "ledger.yaml:3: `expires` is missing"),
        (f"rule: a.b, reson: x, {DAYS}", "ledger.yaml:3: `reson` is not a field of entry 1"),
        (f"rule: a.b, reason: x, link: there, {DAYS}", 'ledger.yaml:3: `link` is "there"'),
        ("rule: a.b, reason: x, added: 2026-02-30, expires: 2026-12-31", "`added` is 2026-02-30, which is no day"),
        ("rule: a.b, reason: x, added: 2026-12-31, expires: 2026-01-01", "expires before it was added"),
    ],
)
def test_a_wrong_entry_is_refused_with_a_mend(tmp_path: Path, entry: str, problem: str) -> None:
    found = problems(write(tmp_path, entry))

    assert any(problem.replace(" of entry 1", "") in each for each in found), found
    assert all("Mend: " in each for each in found)


def test_an_entry_that_stands_twice_is_refused(tmp_path: Path) -> None:
    entry = f"rule: a.b, reason: x, {DAYS}"

    assert "a.b stands here twice, first at line 3" in problems(write(tmp_path, entry, entry))[0]


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert "cannot be read" in problems(tmp_path / "nothing.yaml")[0]


def test_the_entry_that_names_the_example_comes_first(tmp_path: Path) -> None:
    found = ledger(tmp_path, f"rule: a.b, reason: all, {DAYS}", f"rule: a.b, example: '2', reason: one, {DAYS}")

    assert [found.find("a.b", example, None).reason for example in ("1", "2")] == ["all", "one"]  # type: ignore[union-attr]
    assert found.find("a.c", "1", None) is None


def test_an_entry_for_one_mount_is_silent_under_another(tmp_path: Path) -> None:
    found = ledger(tmp_path, f"rule: a.b, mount: engine, reason: x, {DAYS}")

    assert found.find("a.b", "1", "engine") is not None
    assert found.find("a.b", "1", "root") is None


def test_an_entry_holds_on_its_last_day(tmp_path: Path) -> None:
    found = ledger(tmp_path, f"rule: a.b, reason: x, {DAYS}").deviations[0]

    assert not found.expired(date(2026, 12, 31))
    assert found.expired(date(2027, 1, 1))


def test_entries_that_speak_of_nothing_are_named_with_the_reason(tmp_path: Path) -> None:
    found = ledger(
        tmp_path,
        f"rule: a.b, reason: x, {DAYS}",
        f"rule: a.bee, reason: x, {DAYS}",
        f"rule: a.host, reason: x, {DAYS}",
        f"rule: a.b, example: nine, reason: x, {DAYS}",
    )

    why = [reason for _, reason in found.unknown(["a.b", "a.host"], [("a.b", "1"), ("a.b", "two")])]

    assert why == [
        "no rule is called 'a.bee'; did you mean a.b?",
        "the rule a.host is not asked of mine",
        "a.b has no example 'nine' here; it has 1, two",
    ]


def test_several_examples_may_share_an_entry(tmp_path: Path) -> None:
    found = ledger(tmp_path, f"rule: a.b, examples: ['2', three], reason: x, {DAYS}")

    assert [each.example for each in found.deviations] == ["2", "three"]
    assert found.find("a.b", "three", None) is not None
    assert found.find("a.b", "1", None) is None


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("rule: a.b, examples: [], reason: x", "`examples` holds too little"),
        ("rule: a.b, examples: [1], reason: x", "`examples` is 1"),
        ("rule: a.b, example: one, examples: [two], reason: x", "a.b has `example` and `examples`"),
    ],
)
def test_wrong_examples_are_refused(tmp_path: Path, entry: str, problem: str) -> None:
    assert problem in problems(write(tmp_path, f"{entry}, {DAYS}"))[0]


def test_an_example_that_stands_in_two_entries_is_refused(tmp_path: Path) -> None:
    twice = write(tmp_path, *(f"rule: a.b, examples: [{each}], reason: x, {DAYS}" for each in ("one, two", "two")))

    assert "a.b--two stands here twice, first at line 3" in problems(twice)[0]


def test_an_entry_for_another_mount_need_not_speak_of_anything_here(tmp_path: Path) -> None:
    found = ledger(
        tmp_path, f"rule: a.b, mount: root, reason: x, {DAYS}", f"rule: a.bee, mount: root, reason: x, {DAYS}"
    )

    why = [reason for _, reason in found.unknown(["a.b"], [], "engine")]

    assert why == ["no rule is called 'a.bee'; did you mean a.b?"]
    assert len(list(found.unknown(["a.b"], [], "root"))) == 2


def test_the_test_named_after_the_rule_alone_is_its_first_example() -> None:
    assert example_of("test_a.b", "a.b") == "1"
    assert example_of("test_a.b--pi-2", "a.b") == "pi-2"
