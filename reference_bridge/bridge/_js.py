"""The JavaScript value semantics that Pi's argument gate shows to the outside, on Python's JSON values.

Values are what JSON has (`None`, `bool`, `int`, `float`, `str`, `list`, `dict`) and `UNDEFINED`. JavaScript has one
number type: an `int` and a `float` of the same value are the same number here, `True` and `1` are not.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from decimal import Decimal
from typing import Final, NoReturn, TypeGuard

from reference_bridge.host.json_values import UNDEFINED as UNDEFINED
from reference_bridge.host.json_values import Undefined as Undefined

_WHITESPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_RADIX: Final = re.compile(r"0(?:x([0-9a-f]+)|o([0-7]+)|b([01]+))", re.ASCII | re.IGNORECASE)
_LARGEST_EXACT: Final = 2**53
_LARGEST_INDEX: Final = 2**32 - 2
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class NotCloneableError(ValueError):
    """A value that a structured clone refuses; its message is Pi's."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether JavaScript would call `value` a number (NaN and the infinities are, booleans are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: object) -> TypeGuard[int | float]:
    """Whether `value` is a number other than NaN and the infinities."""
    return is_number(value) and math.isfinite(value)


def is_integer(value: object) -> TypeGuard[int | float]:
    """Whether `value` is a finite number without a fraction; 7.0 is one."""
    return is_finite(value) and value == math.floor(value)


def number(value: int | float) -> int | float:
    """The double that JavaScript would hold, as `int` where a double is exact for integers, else as `float`."""
    try:
        double = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    negative_zero = double == 0 and math.copysign(1, double) < 0
    return int(double) if double.is_integer() and abs(double) <= _LARGEST_EXACT and not negative_zero else double


def parse_json(text: str) -> object:
    """`JSON.parse(text)`: JavaScript's numbers (`7.0` is 7, `1e400` is infinite) and its order of keys.

    Raises `ValueError` where the text is not JSON; the wording is not V8's.
    """

    def refuse(word: str) -> NoReturn:
        raise ValueError(f"{word} is not JSON")

    return clone(json.loads(text, parse_int=float, parse_constant=refuse))


def clone(value: object) -> object:
    """A deep copy in JavaScript's form: one number type, array-index keys first and ascending.

    Raises `NotCloneableError` for what is neither a JSON value nor `UNDEFINED`, as a structured clone does.
    """
    if value is None or isinstance(value, bool | str | Undefined):
        return value
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, list | tuple):
        return [clone(item) for item in value]
    if isinstance(value, dict):
        return {key: clone(value[key]) for key in _key_order(value)}
    kind = "Promise" if inspect.isawaitable(value) else type(value).__name__
    raise NotCloneableError(f"#<{kind}> could not be cloned.")


def _key_order(value: dict[str, object]) -> list[str]:
    # Only ASCII digits without a leading zero make an array index ("²".isdigit() is true, hence the ASCII check).
    indexes = [
        key
        for key in value
        if key.isascii() and key.isdigit() and (key == "0" or key[0] != "0") and int(key) <= _LARGEST_INDEX
    ]
    if not indexes:
        return list(value)
    first = set(indexes)
    return sorted(indexes, key=int) + [key for key in value if key not in first]


def trim(text: str) -> str:
    """`text.trim()`: JavaScript's white space, which has U+FEFF and lacks U+001C to U+001F and U+0085."""
    return text.strip(_WHITESPACE)


def number_from_string(text: str) -> int | float:
    """`Number(text)`; NaN where the text is not a number, 0 where it is blank."""
    text = trim(text)
    if not text:
        return 0
    if _RADIX.fullmatch(text):
        base = {"x": 16, "o": 8, "b": 2}[text[1].lower()]
        return number(int(text[2:], base))
    if _DECIMAL.fullmatch(text):
        return number(float(text))
    return {"Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}.get(text, math.nan)


def number_to_string(value: int | float) -> str:
    """`String(value)` of a number: the shortest digits, an exponent only below 1e-6 and from 1e21 on."""
    double = float(number(value))
    if math.isnan(double):
        return "NaN"
    if math.isinf(double):
        return "Infinity" if double > 0 else "-Infinity"
    if double == 0:
        return "0"
    # repr() finds the same shortest digits as JavaScript, only its notation differs.
    sign, all_digits, exponent = Decimal(repr(double)).as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, all_digits)).rstrip("0")
    point = exponent + len(all_digits)
    minus = "-" if sign else ""
    if not -6 < point <= 21:
        mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        return f"{minus}{mantissa}e{point - 1:+d}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    if len(digits) <= point:
        return f"{minus}{digits}{'0' * (point - len(digits))}"
    return f"{minus}{digits[:point]}.{digits[point:]}"


def to_string(value: object) -> str:
    """`String(value)`."""
    if value is UNDEFINED:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_number(value):
        return number_to_string(value)
    if isinstance(value, list):
        return ",".join("" if item is None or item is UNDEFINED else to_string(item) for item in value)
    return value if isinstance(value, str) else "[object Object]"


def is_truthy(value: object) -> bool:
    """`Boolean(value)`: empty lists and objects are true, NaN is false."""
    if isinstance(value, list | dict):
        return True
    if value is UNDEFINED or (isinstance(value, float) and math.isnan(value)):
        return False
    return bool(value)


def strict_equal(left: object, right: object) -> bool:
    """`left === right` for values, and equality of structure for lists and objects (a `const` compares so)."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(strict_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(key in right and strict_equal(left[key], right[key]) for key in left)
    if is_number(left) or is_number(right):
        return is_number(left) and is_number(right) and left == right
    return type(left) is type(right) and left == right


def stringify(value: object) -> str:
    """`JSON.stringify(value, null, 2)`, and the word `undefined` where that is undefined."""
    return "undefined" if value is UNDEFINED else _stringify(value, "\n")


def _stringify(value: object, newline: str) -> str:
    inner = newline + "  "
    if isinstance(value, dict):
        rows = [f"{_quote(key)}: {_stringify(item, inner)}" for key, item in value.items() if item is not UNDEFINED]
        return f"{{{inner}{f',{inner}'.join(rows)}{newline}}}" if rows else "{}"
    if isinstance(value, list):
        rows = [_stringify(None if item is UNDEFINED else item, inner) for item in value]
        return f"[{inner}{f',{inner}'.join(rows)}{newline}]" if rows else "[]"
    if isinstance(value, str):
        return _quote(value)
    if is_number(value) and not math.isfinite(value):
        return "null"
    return to_string(value)


def _quote(text: str) -> str:
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
