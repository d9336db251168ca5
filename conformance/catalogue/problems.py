"""What is wrong with the rules, said the same way everywhere: file, line, cause and mend."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that must be mended before the rules can be used.

    ``file`` is relative to the folder that holds ``spec/`` and ``features/``; something without a file (a registered
    property, say) is named in words and has ``line`` 0. ``what`` and ``mend`` are sentences without the final stop.
    """

    file: str
    line: int
    what: str
    mend: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.what}. Mend: {self.mend}."


class CatalogueError(Exception):
    """The rules, or their join with the proofs, are broken; ``problems`` holds every one that was found, in order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        count = len(self.problems)
        heading = "1 problem in the rules:" if count == 1 else f"{count} problems in the rules:"
        super().__init__("\n".join([heading, *(f"  {problem}" for problem in self.problems)]))


class UnknownNameError(LookupError):
    """A user named a rule, surface or level that is not there; the message lists near names."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.near = tuple(near(name, known))
        super().__init__(f"no {kind} is called {name!r}{did_you_mean(self.near)}")


def near(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Up to ``limit`` of ``known`` that look like ``name``, nearest first; a part of a longer name counts."""
    names = sorted(set(known))
    folded = {candidate.lower(): candidate for candidate in names}
    found = [folded[hit] for hit in difflib.get_close_matches(name.lower(), folded, n=limit, cutoff=0.7)]
    wanted = name.lower().strip("*")
    if wanted:
        found += [candidate for candidate in names if wanted in candidate.lower() and candidate not in found]
    return found[:limit]


def did_you_mean(names: Iterable[str]) -> str:
    """The tail of a message about an unknown name; empty where nothing is near."""
    listed = ", ".join(names)
    return f"; did you mean {listed}?" if listed else ""


def either(names: Iterable[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}" if listed else "nothing"
