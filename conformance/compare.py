"""Compares what was seen with what a rule wants, and says the difference in one sentence."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from conformance.verdicts import RuleFailed

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_HALF_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


UNDEFINED = {"$": "undefined"}
"""The value of a member that is missing, as it travels."""


def show(value: Any) -> str:
    """Return a value as one line of JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    # Most of a long text is not shown, and looking at each letter of it takes a while.
    shown = _visible(text[:401])
    return shown if len(shown) <= 400 else f"{shown[:380]}… ({len(text)} characters)"


def _visible(text: str) -> str:
    """``text`` with an escape for each character that a reader cannot see, or cannot tell from another."""
    if text.isascii():
        return text  # None of those is.
    return "".join(f"\\u{ord(letter):04x}" if _is_hidden(letter) else letter for letter in text)


def _is_hidden(letter: str) -> bool:
    """Whether it is a mark on the letter before it, a formatting character, an odd blank, or half a pair."""
    return letter != " " and unicodedata.category(letter) in ("Mn", "Cf", "Cs", "Zl", "Zp", "Zs")


def check(holds: bool, expected: str, got: str) -> None:
    """Raise :class:`RuleFailed` unless it holds."""
    if not holds:
        raise RuleFailed(f"expected: {expected}; got: {got}", expected=expected, got=got)


def same(found: Any, wanted: Any) -> bool:
    """Say whether two JSON values are equal; 1 and True are not, 7 and 7.0 are."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(same(a, b) for a, b in zip(found, wanted, strict=True))
    return bool(found == wanted)


def written_out(value: Any) -> Any:
    """Return a value with the text in place of each ``repeat`` tag in it; ``tail``, if given, is the text's end."""
    if isinstance(value, dict) and value.get("$") == "repeat":
        return value["text"] * value["times"] + value.get("tail", "")
    if isinstance(value, dict):
        return {key: written_out(each) for key, each in value.items()}
    return [written_out(each) for each in value] if isinstance(value, list) else value


def parsed(text: str) -> Any:
    """Return the value of a JSON text as an implementation tells it, half a surrogate pair as an ``escaped`` tag.

    Raises ``ValueError`` for what is no JSON.
    """
    value = json.loads(text)
    return _tagged(value) if _HALF_ESCAPED.search(text) else value


def echoed(text: str) -> Any:
    """Return the JSON value that a text begins with, whatever lines follow it; the text where it begins with none."""
    text = text.strip()
    try:
        end = json.JSONDecoder().raw_decode(text)[1]
        return parsed(text[:end]) if text[end:].partition("\n")[0].strip() == "" else text
    except ValueError:
        return text


def _tagged(value: Any) -> Any:
    if isinstance(value, str) and _HALF_A_PAIR.search(value):
        escaped = json.dumps(value, ensure_ascii=False)[1:-1]
        return {"$": "escaped", "text": _HALF_A_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", escaped)}
    if isinstance(value, dict):
        return {_HALF_A_PAIR.sub("\ufffd", key): _tagged(each) for key, each in value.items()}
    return [_tagged(each) for each in value] if isinstance(value, list) else value


def holds(found: Any, wanted: Any) -> bool:
    """Say whether ``found`` has everything ``wanted`` has; objects may have more, lists may not.

    A member that is wanted undefined may be missing. What travels as a tag holds no members but its own.
    """
    if isinstance(found, dict) and isinstance(wanted, dict) and ("$" not in found or "$" in wanted):
        return all(holds(found.get(key, UNDEFINED), wanted[key]) for key in wanted)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(holds(a, b) for a, b in zip(found, wanted, strict=True))
    return same(found, wanted)
