"""Known deviations of one implementation: a reviewed file, each entry with a reason and an end date."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from conformance.catalogue._schema import Checker, load_schema
from conformance.catalogue._yaml import Text, read
from conformance.catalogue.problems import Problem, did_you_mean, near

_FOLDER = Path(__file__).parent / "reporting"
FIRST = "1"
"""The example of the test that is named after its rule alone."""


class LedgerError(Exception):
    """A ledger is not one; ``problems`` holds every fault with file, line and mend."""

    def __init__(self, problems: Collection[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(["the deviation ledger is broken:", *(f"  {each}" for each in self.problems)]))


@dataclass(frozen=True, slots=True)
class Deviation:
    """One known departure from one rule; without ``example`` of all its tests, without ``mount`` under every mount."""

    rule: str
    reason: str
    added: date
    expires: date
    file: str
    line: int
    example: str | None = None
    mount: str | None = None
    link: str | None = None

    @property
    def where(self) -> str:
        """File and line of the entry."""
        return f"{self.file}:{self.line}"

    def expired(self, today: date) -> bool:
        """Whether the last day of the entry is over."""
        return today > self.expires


@dataclass(frozen=True, slots=True)
class Ledger:
    """The known deviations of the implementation that runs under ``label``."""

    label: str
    file: str
    deviations: tuple[Deviation, ...] = ()

    def find(self, rule: str, example: str, mount: str | None) -> Deviation | None:
        """The entry that speaks of this test of this rule; one that names the example comes first."""
        found = [
            each
            for each in self.deviations
            if each.rule == rule and each.example in (None, example) and each.mount in (None, mount)
        ]
        return max(found, key=lambda each: (each.example is not None, each.mount is not None), default=None)

    def unknown(
        self, known: Collection[str], items: Collection[tuple[str, str]], mount: str | None = None
    ) -> Iterator[tuple[Deviation, str]]:
        """Entries that speak of nothing, with the reason: ``known`` are rule ids, ``items`` rule and example here.

        Whether an entry for another mount than ``mount`` speaks of something is not known here.
        """
        rules = {rule for rule, _ in items}
        for each in self.deviations:
            if each.rule not in known:
                yield each, f"no rule is called {each.rule!r}{did_you_mean(near(each.rule, known))}"
            elif mount is not None and each.mount not in (None, mount):
                continue
            elif each.rule not in rules:
                yield each, f"the rule {each.rule} is not asked of {self.label}"
            elif each.example is not None and (each.rule, each.example) not in items:
                there = ", ".join(sorted(example for rule, example in items if rule == each.rule))
                yield each, f"{each.rule} has no example {each.example!r} here; it has {there}"


def example_of(item: str, rule: str) -> str:
    """The example a test stands for, by its name: what follows ``--``, else ``1``."""
    return item.removeprefix(f"test_{rule}").removeprefix("--") or FIRST


def load_ledger(path: Path, label: str | None = None) -> Ledger:
    """Read a ledger; ``label`` overrides the one it names. Raises :class:`LedgerError` with every fault in it."""
    text, problems = read(path, str(path))
    if text is not None:
        problems = Checker(load_schema(_FOLDER, "ledger")).problems(text)
    if text is None or problems:
        raise LedgerError(problems)
    entries = text.value["deviations"]
    deviations = tuple(each for index, entry in enumerate(entries) for each in _entry(text, index, entry, problems))
    seen: dict[tuple[str, str | None, str | None], Deviation] = {}
    for each in deviations:
        first = seen.setdefault((each.rule, each.example, each.mount), each)
        if first is not each:
            example = "" if each.example is None else f"--{each.example}"
            what = f"{each.rule}{example} stands here twice, first at line {first.line}"
            problems.append(Problem(each.file, each.line, what, "keep one of the two"))
    if problems:
        raise LedgerError(problems)
    return Ledger(label or text.value["bridge"], text.file, deviations)


def _entry(text: Text, index: int, entry: dict[str, Any], problems: list[Problem]) -> list[Deviation]:
    """One deviation for each example that an entry names, else one for all of them."""
    days: dict[str, date] = {}
    for key in ("added", "expires"):
        try:
            days[key] = date.fromisoformat(entry[key])
        except ValueError:
            what = f"`{key}` is {entry[key]}, which is no day of the calendar"
            problems.append(Problem(text.file, text.line(["deviations", index, key]), what, "write one as 2026-01-31"))
    if len(days) < 2:
        return []
    line = text.line(["deviations", index])
    if days["expires"] < days["added"]:
        what = f"the entry for {entry['rule']} expires before it was added"
        problems.append(Problem(text.file, line, what, "correct one of the two days"))
    if "example" in entry and "examples" in entry:
        what = f"the entry for {entry['rule']} has `example` and `examples`"
        problems.append(Problem(text.file, line, what, "put them into one list `examples`"))
    return [
        Deviation(
            rule=entry["rule"],
            reason=entry["reason"],
            added=days["added"],
            expires=days["expires"],
            file=text.file,
            line=line,
            example=example,
            mount=entry.get("mount"),
            link=entry.get("link"),
        )
        for example in entry.get("examples", [entry.get("example")])
    ]
