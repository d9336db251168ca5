"""JavaScript regular expressions on Python's `re`: the same matches, and V8's words for a pattern it refuses.

Covered is what schemas write: alternatives, groups (named too), classes, quantifiers, look-around of fixed width
behind, back references, escapes and general categories (`\\p{L}`). The rest is refused with a reason of its own.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

_SYNTAX: Final = "^$\\.*+?()[]{}|/"
_CONTROL: Final = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_QUANTIFIER: Final = re.compile(r"\{(\d+)(?:(,)(\d*))?\}", re.ASCII)
_GROUP_NAME: Final = re.compile(r"<([^\W\d][\w$]*|\$[\w$]*)>")
_MODIFIERS: Final = re.compile(r"\?(i|-i):")
_OTHER_MODIFIERS: Final = re.compile(r"\?(?=[ims-]+:)(?!-?:)i?m?s?(?:-i?m?s?)?:")
_UNCOVERED: Final = re.compile(
    r"(?:Script|sc|Script_Extensions|scx)=\w+|Alpha(?:betic)?|Emoji\w*|ID[CS]?|ID_\w+|XID\w+|Lower(?:case)?|Upper(?:case)?"
    r"|White_Space|space|Dash|Hex_Digit|AHex|ASCII_Hex_Digit|Assigned"
)
_CAPTURE: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|(\((?!\?)|\(\?<(?![=!]))", re.DOTALL)

_Ranges = tuple[tuple[int, int], ...]


class PatternError(ValueError):
    """A pattern JavaScript refuses (or that is not covered here); the message is what Pi would answer."""


class Pattern(NamedTuple):
    """A compiled JavaScript pattern."""

    source: str
    compiled: re.Pattern[str]

    def test(self, text: str) -> bool:
        """Whether the pattern is found anywhere in `text`."""
        return self.compiled.search(text) is not None


@lru_cache(maxsize=512)
def compile_pattern(source: str, *, unicode: bool = True) -> Pattern:
    """Compile `new RegExp(source, "u")`, or without the flag.

    Raises `PatternError` with V8's sentence, as in ``Invalid regular expression: /(/u: Unterminated group``.
    """
    translation = _Translation(source, unicode)
    try:
        return Pattern(source, re.compile(translation.run(), re.ASCII))
    except (re.error, OverflowError, RecursionError) as error:
        raise translation.refuse(f"not covered by this program: {error}") from error


def _complement(ranges: _Ranges) -> _Ranges:
    result, start = [], 0
    for low, high in ranges:
        if low > start:
            result.append((start, low - 1))
        start = high + 1
    if start <= sys.maxunicode:
        result.append((start, sys.maxunicode))
    return tuple(result)


_DIGIT: Final[_Ranges] = ((0x30, 0x39),)
_WORD: Final[_Ranges] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Final[_Ranges] = (
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
_LINE_END: Final[_Ranges] = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_CLASSES: Final = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_LONG_NAMES: Final = {
    "Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Mark": "M", "Number": "N",
    "Decimal_Number": "Nd", "Punctuation": "P", "Symbol": "S", "Separator": "Z", "Other": "C",
}  # fmt: skip
_MINORS: Final = {"L": "ultmo", "M": "nce", "N": "dlo", "P": "cdseifo", "S": "mcko", "Z": "slp", "C": "cfson"}
_CATEGORIES: Final = frozenset(major + minor for major, minors in _MINORS.items() for minor in ("", *minors))


@lru_cache(maxsize=32)
def _property(name: str) -> _Ranges | None:
    """The code points of a general category, `Any` or `ASCII`; None for any other name."""
    if name in ("Any", "ASCII"):
        return ((0, 0x7F if name == "ASCII" else sys.maxunicode),)
    name = name.removeprefix("General_Category=").removeprefix("gc=")
    wanted = _LONG_NAMES.get(name, name)
    if wanted not in _CATEGORIES:
        return None
    member = [unicodedata.category(char).startswith(wanted) for char in map(chr, range(sys.maxunicode + 1))]
    ranges, start = [], 0
    for is_member, group in groupby(member):
        end = start + sum(1 for _ in group)
        if is_member:
            ranges.append((start, end - 1))
        start = end
    return tuple(ranges)


def _set(ranges: Iterable[tuple[int, int]], *, negated: bool = False) -> str:
    body = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)
    if not body:
        return "[\\s\\S]" if negated else "(?!)"
    return f"[{'^' if negated else ''}{body}]"


class _Translation:
    """One pass over a JavaScript pattern that writes the Python pattern of the same meaning."""

    def __init__(self, source: str, unicode: bool) -> None:
        self._source = source
        self._unicode = unicode
        self._at = 0
        self._groups = 0
        self._closed: set[int] = set()
        self._captures = sum(1 for found in _CAPTURE.finditer(source) if found[1])
        self._names: dict[str, int] = {}
        self._referenced: list[str] = []
        self._has_twins = False

    def refuse(self, why: str) -> PatternError:
        flag = "u" if self._unicode else ""
        return PatternError(f"Invalid regular expression: /{self._source}/{flag}: {why}")

    def run(self) -> str:
        result = self._alternatives()
        if self._at < len(self._source):
            raise self.refuse("Unmatched ')'")
        if self._has_twins:
            raise self.refuse("Duplicate capture group name")
        if any(name not in self._names for name in self._referenced):
            raise self.refuse("Invalid named capture referenced")
        return result

    def _peek(self) -> str:
        return self._source[self._at : self._at + 1]

    def _take(self) -> str:
        char = self._peek()
        self._at += 1
        return char

    def _skip(self, text: str) -> bool:
        if not self._source.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _alternatives(self) -> str:
        parts: list[str] = []
        while (char := self._peek()) and char != ")":
            parts.append(self._term())
        return "".join(parts)

    def _term(self) -> str:
        char = self._take()
        if char == "|":
            return "|"
        if char == "^":
            return "^"
        if char == "$":
            return r"\Z"
        if char in "*+?":
            raise self.refuse("Nothing to repeat")
        if char == "{" and _QUANTIFIER.match(self._source, self._at - 1):
            raise self.refuse("Nothing to repeat")
        if char in "{}]" and self._unicode:
            raise self.refuse("Lone quantifier brackets")
        if char == "(":
            atom, repeatable = self._group()
        elif char == "\\" and self._peek() in ("b", "B"):
            # Python's own \B does not match in an empty text.
            return r"\b" if self._take() == "b" else r"(?!\b)"
        else:
            atom, repeatable = self._atom(char), True
        quantifier = self._quantifier()
        if quantifier and not repeatable:
            raise self.refuse("Invalid quantifier" if self._unicode else "Nothing to repeat")
        return atom + quantifier

    def _atom(self, char: str) -> str:
        if char == ".":
            return _set(_LINE_END, negated=True)
        if char == "[":
            return self._class()
        if char != "\\":
            return re.escape(char)
        escaped = self._peek()
        if escaped and escaped in "123456789":
            digits = re.compile(r"\d+", re.ASCII).match(self._source, self._at)
            assert digits is not None
            if int(digits[0]) <= self._captures:
                self._at = digits.end()
                return self._back_reference(int(digits[0]))
            if self._unicode:
                raise self.refuse("Invalid escape")
        if escaped == "k" and (self._unicode or "(?<" in self._source):
            self._at += 1
            return self._named_reference()
        return _set(self._escape(in_class=False))

    def _back_reference(self, group: int) -> str:
        # In JavaScript a group that took no part, or is not over yet, matches the empty text.
        return f"(?({group})(?:\\{group}))" if group in self._closed else "(?:)"

    def _named_reference(self) -> str:
        if self._peek() != "<":
            raise self.refuse("Invalid named reference")
        name = self._group_name()
        self._referenced.append(name)
        return self._back_reference(self._names[name]) if name in self._names else "(?:)"

    def _group_name(self) -> str:
        found = _GROUP_NAME.match(self._source, self._at)
        if not found:
            raise self.refuse("Invalid capture group name")
        self._at = found.end()
        return found[1]

    def _group(self) -> tuple[str, bool]:
        repeatable = True
        if not self._skip("?"):
            opening = "("
            self._groups += 1
        elif self._skip(":"):
            opening = "(?:"
        elif self._skip("=") or self._skip("!"):
            opening = "(?" + self._source[self._at - 1]
            repeatable = not self._unicode
        elif self._skip("<=") or self._skip("<!"):
            opening = "(?<" + self._source[self._at - 1]
            repeatable = False
        elif self._peek() == "<":
            name = self._group_name()
            self._groups += 1
            self._has_twins = self._has_twins or name in self._names
            self._names[name] = self._groups
            opening = "("
        elif modifiers := _MODIFIERS.match(self._source, self._at - 1):
            self._at = modifiers.end()
            opening = f"(?{modifiers[1]}:"
        elif _OTHER_MODIFIERS.match(self._source, self._at - 1):
            raise self.refuse("not covered by this program: modifiers other than i")
        else:
            raise self.refuse("Invalid group")
        number = self._groups
        inner = self._alternatives()
        if not self._skip(")"):
            raise self.refuse("Unterminated group")
        if opening == "(":
            self._closed.add(number)
        return f"{opening}{inner})", repeatable

    def _quantifier(self) -> str:
        char = self._peek()
        if char and char in "*+?":
            self._at += 1
            text = char
        elif char == "{":
            found = _QUANTIFIER.match(self._source, self._at)
            if not found:
                if self._unicode:
                    raise self.refuse("Incomplete quantifier")
                return ""
            if found[3] and int(found[3]) < int(found[1]):
                raise self.refuse("numbers out of order in {} quantifier")
            self._at = found.end()
            text = found[0]
        else:
            return ""
        return text + "?" if self._skip("?") else text

    def _class(self) -> str:
        negated = self._skip("^")
        ranges: list[tuple[int, int]] = []
        while not self._skip("]"):
            low = self._class_atom()
            if self._peek() != "-" or self._source[self._at + 1 : self._at + 2] in ("]", ""):
                ranges.extend(low)
                continue
            self._at += 1
            high = self._class_atom()
            if _is_point(low) and _is_point(high):
                if low[0][0] > high[0][0]:
                    raise self.refuse("Range out of order in character class")
                ranges.append((low[0][0], high[0][0]))
            elif self._unicode:
                raise self.refuse("Invalid character class")
            else:
                ranges.extend((*low, (0x2D, 0x2D), *high))
        return _set(ranges, negated=negated)

    def _class_atom(self) -> _Ranges:
        char = self._take()
        if not char:
            raise self.refuse("Unterminated character class")
        return self._escape(in_class=True) if char == "\\" else ((ord(char), ord(char)),)

    def _escape(self, *, in_class: bool) -> _Ranges:
        """The code points an escape stands for; the backslash is taken already."""
        char = self._take()
        if not char:
            raise self.refuse("\\ at end of pattern")
        if char in "dwsDWS":
            ranges = _CLASSES[char.lower()]
            return ranges if char.islower() else _complement(ranges)
        if char in "pP" and self._unicode:
            return self._property(negated=char == "P", in_class=in_class)
        point = self._escaped_point(char, in_class=in_class)
        return ((point, point),)

    def _property(self, *, negated: bool, in_class: bool) -> _Ranges:
        found = re.compile(r"\{([A-Za-z0-9_=]+)\}").match(self._source, self._at)
        ranges = _property(found[1]) if found else None
        if found is None or ranges is None:
            if found and _UNCOVERED.fullmatch(found[1]):
                raise self.refuse(f"not covered by this program: the property {found[1]}")
            raise self.refuse("Invalid property name" + (" in character class" if in_class else ""))
        self._at = found.end()
        return _complement(ranges) if negated else ranges

    def _escaped_point(self, char: str, *, in_class: bool) -> int:
        if char in _CONTROL:
            return _CONTROL[char]
        if char == "b" and in_class:
            return 0x08
        if char == "0" and not self._peek().isdigit():
            return 0
        if char == "x" and (digits := self._hex(2)) is not None:
            return digits
        if char == "u" and (point := self._unicode_escape()) is not None:
            return point
        if char == "c" and self._peek().isascii() and self._peek().isalpha():
            return ord(self._take()) % 32
        if not self._unicode or char in _SYNTAX or (char == "-" and in_class):
            return ord(char)
        if char in "0123456789":
            raise self.refuse("Invalid decimal escape")
        raise self.refuse("Invalid Unicode escape" if char in "uc" else "Invalid escape")

    def _hex(self, length: int) -> int | None:
        digits = self._source[self._at : self._at + length]
        if len(digits) != length or not re.fullmatch("[0-9A-Fa-f]+", digits):
            return None
        self._at += length
        return int(digits, 16)

    def _unicode_escape(self) -> int | None:
        if self._unicode and (found := re.compile(r"\{([0-9A-Fa-f]+)\}").match(self._source, self._at)):
            point = int(found[1], 16)
            if point > sys.maxunicode:
                return None
            self._at = found.end()
            return point
        point_or_none = self._hex(4)
        if point_or_none is None or not 0xD800 <= point_or_none < 0xDC00 or not self._unicode:
            return point_or_none
        back = self._at
        low = self._hex(4) if self._skip("\\u") else None
        if low is not None and 0xDC00 <= low < 0xE000:
            return 0x10000 + ((point_or_none - 0xD800) << 10) + (low - 0xDC00)
        self._at = back
        return point_or_none


def _is_point(ranges: _Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]
