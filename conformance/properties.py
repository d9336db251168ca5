"""The properties there are, by the names of their tests, and how the budget of programs is shared among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

SHARDS = 4
"""Tests among which the programs of a run are shared: one process runs one at a time."""
EXAMPLES = 200
"""Programs of a run that states no number."""
MOST_AT_ONCE = 5_000
"""Programs of one Hypothesis test: what it remembers of them grows."""
SEED = 20_250_101
"""Seed of a run that states none."""

_RULES = (
    "tool_execution_end.one-end-for-every-start",
    "tool_result.one-durable-result-a-call",
    "tool_call.the-loop-stops-only-when-every-call-asked",
)
PROPERTIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {f"test_random_programs_{shard}": _RULES for shard in range(1, SHARDS + 1)}
)
"""Each property and the rules it decides by itself: those that every program is about.

What a program breaks beside them is the finding of an invariant, and lands on that invariant's rules.
"""


def shares(shard: int, examples: int, seed: int) -> Iterator[tuple[int, int]]:
    """Yield (number of programs, seed) for each Hypothesis test of a shard, counted from 1.

    Each has a seed of its own: with equal ones they would run the same programs.
    """
    mine = examples // SHARDS + (shard <= examples % SHARDS)
    for part in range(-(-mine // MOST_AT_ONCE)):
        yield min(MOST_AT_ONCE, mine - part * MOST_AT_ONCE), seed * 1_000 + part * SHARDS + shard
