"""The kinds of vector rows, in one table: what a row of each kind must and may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COMMON = frozenset({"case", "on", "why"})
"""Keys every row may hold: its slug, its side where the rule differs from Pi, and a remark for readers."""


@dataclass(frozen=True, slots=True)
class VectorKind:
    """``required`` keys hold the input and its right answer; ``optional`` ones narrow the input."""

    meaning: str
    required: frozenset[str]
    optional: frozenset[str] = frozenset()


VECTOR_KINDS: Mapping[str, VectorKind] = {
    "coercion": VectorKind(
        "a call's argument text against a tool's schema, and what the tool runs with or the error the model reads",
        frozenset({"schema", "arguments", "answer"}),
        frozenset({"prepare"}),
    ),
    "schema": VectorKind(
        "one keyword of a registered schema that must reach the model unchanged or be announced as lost",
        frozenset({"schema", "keyword", "path"}),
    ),
    "content": VectorKind(
        "a result as a package's tool gives it, and the content the model and the log must show",
        frozenset({"result", "answer"}),
        frozenset({"services"}),
    ),
    "batch": VectorKind(
        "the kinds of the calls of one message, in order, and whether the loop stops after them",
        frozenset({"batch", "stops"}),
        frozenset({"parallel"}),
    ),
}
