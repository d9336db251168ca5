"""Values of a trace as people read them: short, on one line, and harmless wherever they are printed."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

CLIP = 400
"""Characters of one text that are looked at."""
DEEP = 6
"""Levels of one value that are looked at."""


def spoken(value: Any, depth: int = 0) -> str:
    """A value in one line, much as JavaScript writes it; tags of the protocol become what they stand for."""
    if isinstance(value, str):
        return json.dumps(clean(value), ensure_ascii=False)
    if isinstance(value, list | dict) and depth >= DEEP:
        return "…"
    if isinstance(value, list):
        return f"[{_joined([spoken(each, depth + 1) for each in value[:20]], len(value))}]"
    if isinstance(value, dict):
        if "$" in value:
            return _tag(value)
        rows = [f"{clean(str(key))}: {spoken(each, depth + 1)}" for key, each in list(value.items())[:20]]
        return f"{{{_joined(rows, len(value))}}}"
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _joined(parts: list[str], count: int) -> str:
    return ", ".join([*parts, *(["…"] if count > len(parts) else [])])


def _tag(value: dict[str, Any]) -> str:
    match value["$"]:
        case "error":
            return failure(value)
        case "bigint":
            return f"{name_of(value.get('digits'))}n"
        case "text":
            return f"{spoken(name_of(value.get('head'))[:80])}… ({name_of(value.get('bytes'))} bytes)"
        case "escaped":
            return spoken(name_of(value.get("text")))
        case "repeat":
            return f"{spoken(name_of(value.get('text')))} × {name_of(value.get('times'))}"
        case name:
            return name_of(name)


def failure(value: Any) -> str:
    """What was thrown, as a person says it: ``Error: message``."""
    if isinstance(value, dict) and value.get("$") == "error":
        return clean(f"{value.get('name') or 'Error'}: {value.get('message', '')}")
    return spoken(value)


def name_of(value: Any) -> str:
    """A value that should be a name, as text, whatever it is."""
    return clean(value if isinstance(value, str) else spoken(value) if isinstance(value, list | dict) else str(value))


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none of what is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def clean(text: str) -> str:
    """A text on one line without what would change the picture: controls, lone surrogates, changes of direction."""
    cut = text if len(text) <= CLIP else f"{text[:CLIP]}…"
    return "".join(map(_visible, cut))


def _visible(character: str) -> str:
    if character == "\n":
        return "⏎"
    if character == "\t":
        return " "
    # Cc control, Cf format (marks of direction, joiners), Cs lone surrogate, Co and Cn without a known picture.
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"\\u{{{ord(character):x}}}"
    return character


def width(text: str) -> int:
    """Columns of a text in a fixed-width font."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def fitted(text: str, columns: int) -> str:
    """The text, its end left out where it is wider than ``columns``."""
    if width(text) <= columns:
        return text
    kept, room = [], columns - 1
    for character in text:
        room -= width(character)
        if room < 0:
            break
        kept.append(character)
    return f"{''.join(kept).rstrip()}…"
