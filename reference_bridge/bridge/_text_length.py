"""The length of a text as `minLength` and `maxLength` count it: in what a reader sees as one character.

A letter with its combining marks, pictures joined by U+200D and a flag made of two letters count as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_JOINER: Final = "\u200d"


def has_at_least(text: str, limit: float) -> bool:
    """Whether `text` has `limit` characters or more; an empty text has so only for a limit of exactly 0."""
    count = sum(1 for _ in _characters(text))
    return limit == 0 or (count > 0 and count >= limit)


def has_at_most(text: str, limit: float) -> bool:
    """Whether `text` has no more than `limit` characters; an empty text always has."""
    return text == "" or sum(1 for _ in _characters(text)) <= limit


def _characters(text: str) -> Iterator[int]:
    """The index at which each character ends."""
    at = 0
    while at < len(text):
        is_flag = _is_flag_letter(text[at])
        at = _after_marks(text, at + 1)
        while at < len(text) - 1 and text[at] == _JOINER:
            at = _after_marks(text, at + 2)
        if is_flag and at < len(text) and _is_flag_letter(text[at]):
            at += 1
        yield at


def _after_marks(text: str, at: int) -> int:
    while at < len(text) and _is_mark(text[at]):
        at += 1
    return at


def _is_mark(char: str) -> bool:
    return (
        "\u0300" <= char <= "\u036f"
        or "\u1ab0" <= char <= "\u1aff"
        or "\u1dc0" <= char <= "\u1dff"
        or "\ufe00" <= char <= "\ufe0f"
        or "\ufe20" <= char <= "\ufe2f"
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
