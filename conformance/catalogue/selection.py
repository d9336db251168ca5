"""Turns what a user asks for (rules, surfaces, levels, each with ``*``) into the rules meant, or says what is near."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from conformance.catalogue.model import LEVELS, Catalogue, Rule
from conformance.catalogue.problems import UnknownNameError


def select(
    catalogue: Catalogue,
    *,
    rules: Iterable[str] = (),
    surfaces: Iterable[str] = (),
    levels: Iterable[str] = (),
) -> tuple[Rule, ...]:
    """The rules that match, in the catalogue's order.

    Several selectors of one kind add up, different kinds narrow each other, and none at all selects every rule. A
    selector may hold ``*``, ``?`` and ``[…]``, and case counts. Raises UnknownNameError for one that matches nothing:
    a misspelt selector must not look like a bridge with nothing to prove. Selectors that exclude each other select
    nothing, which is the caller's to report.
    """
    chosen: list[Callable[[Rule], bool]] = [
        _matching("rule", list(rules), catalogue.by_id, lambda rule: rule.id),
        _matching(
            "surface", list(surfaces), [surface.name for surface in catalogue.surfaces], lambda rule: rule.surface
        ),
        _matching("level", list(levels), LEVELS, lambda rule: rule.level),
    ]
    return tuple(rule for rule in catalogue.rules if all(matches(rule) for matches in chosen))


def _matching(
    kind: str, patterns: list[str], known: Iterable[str], name_of: Callable[[Rule], str]
) -> Callable[[Rule], bool]:
    names = list(known)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UnknownNameError(kind, pattern, names)
    return lambda rule: not patterns or any(fnmatchcase(name_of(rule), pattern) for pattern in patterns)
