"""Which proofs of a rule are likely to catch a defect: those whose names share words with what is said of it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping

STEM = 5
"""Letters of a word that count: *changes*, *changed* and *changing* are one."""


class Likeness:
    """The proofs of one rule, in the order they are written in: ``titles`` says of each what it is called."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._words = {proof: _words(f"{proof} {title}") for proof, title in titles.items()}
        held = Counter(word for words in self._words.values() for word in words)
        self._weight = {word: math.log(1 + len(titles) / count) for word, count in held.items()}

    def places(self, defect: str) -> dict[str, int]:
        """Return each proof's place, from 0: the more words it shares with ``defect``, and the rarer, the earlier.

        Those that share as much come from both ends in turn: at the head of a table stands what most defects meet, at
        its end what was thought of later, for one of them.
        """
        wanted, last = _words(defect), len(self._words) - 1
        ranked = sorted(
            (-sum(self._weight[word] for word in sorted(wanted & words)), min(2 * at, 2 * (last - at) + 1), proof)
            for at, (proof, words) in enumerate(self._words.items())
        )
        return {proof: place for place, (*_, proof) in enumerate(ranked)}


def _words(text: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in re.findall(r"[a-z]{3,}", text.lower()))
