"""A Hypothesis strategy of programs: 1 to 12 operations, about 5 on average, small names and odd values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import count
from random import Random

from hypothesis import strategies as st

from conformance.programs.drawing import Draw, Drawing
from conformance.programs.makers import EVERYTHING, Maker
from conformance.programs.operations import AnyOperation
from conformance.programs.subjects import DRAWN, THEMES

_Makers = Mapping[str, Maker]


def programs(capabilities: Collection[str] = EVERYTHING, waits: bool = True) -> st.SearchStrategy[list[AnyOperation]]:
    """Return a strategy of programs that ask only for these capabilities of whoever runs them.

    Without ``waits`` nobody in them takes a second over an answer: on a clock that does not jump, that second is real.
    """
    return _programs(_makers(frozenset(capabilities), waits))


_BYTES = st.binary(min_size=64, max_size=64)


@st.composite
def _programs(draw: Callable[[st.SearchStrategy[bytes]], bytes], makers: _Makers) -> list[AnyOperation]:
    """Pick by bytes that Hypothesis draws many at a time: a draw for each pick was dearer than carrying it all out.

    A smaller byte picks something further to the front.
    """
    picks = (byte for _ in count() for byte in draw(_BYTES))
    return _program(lambda options: options[next(picks) * len(options) >> 8], makers)


def random_programs(examples: int, number: int, capabilities: Collection[str] = EVERYTHING) -> list[list[AnyOperation]]:
    """Return so many programs of plain random numbers, the same ones for the same ``number``.

    Unlike what Hypothesis generates no program is a neighbour of the one before it, so that few of them reach much.
    """
    random, makers = Random(number), _makers(frozenset(capabilities))
    return [_program(random.choice, makers) for _ in range(examples)]


def _program(draw: Draw, makers: _Makers) -> list[AnyOperation]:
    return Drawing(draw, makers[draw(DRAWN)]).make()


def _makers(capabilities: frozenset[str], waits: bool = True) -> _Makers:
    return {name: Maker(capabilities, theme if waits else theme.hurried()) for name, theme in THEMES.items()}
