"""Questions that several invariants ask of one story: each is answered once, and the answer kept with the story."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from conformance.invariants._story import Story

P = ParamSpec("P")
R = TypeVar("R")


def once(ask: Callable[Concatenate[Story, P], R]) -> Callable[Concatenate[Story, P], R]:
    """Keep the answer to a question about what can be hashed. Who asks may not change it."""

    @wraps(ask)
    def kept(story: Story, /, *about: P.args, **more: P.kwargs) -> R:
        question = (ask, about, tuple(more.items()))
        if question not in story.kept:
            story.kept[question] = ask(story, *about, **more)
        answer: R = story.kept[question]
        return answer

    return kept


def gathered(ask: Callable[Concatenate[Story, P], Iterator[R]]) -> Callable[Concatenate[Story, P], list[R]]:
    """Keep all that a question yields, as :func:`once`."""

    @wraps(ask)
    def whole(story: Story, /, *about: P.args, **more: P.kwargs) -> list[R]:
        return list(ask(story, *about, **more))

    return once(whole)
