"""Keeps the garbage collector from looking through what lives as long as a run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 5_000
"""Containers that are made before the collector looks at them. A stage leaves some thousand, all at once."""


@contextmanager
def spared(ending: bool = False) -> Iterator[None]:
    """Collect, and from then on leave alone what is there: rules, tests and plugins stay to the end anyway.

    The collector had a seventh of the time of a run. What it did before is what it does afterwards; but in a process
    that is ``ending`` it leaves alone whatever there is, since the system takes it all, and a great deal sooner.
    """
    threshold, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.collect()
    if not frozen:  # What somebody else froze cannot be told from ours when it is to be let go.
        gc.freeze()
    if threshold[0]:
        gc.set_threshold(max(YOUNG, threshold[0]), *threshold[1:])
    try:
        yield
    finally:
        gc.set_threshold(*threshold)
        if ending:
            gc.freeze()
        elif not frozen:
            gc.unfreeze()
