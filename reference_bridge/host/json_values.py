"""JavaScript's JSON values in Python: parsing, lossless copies, frozen copies.

The harness is a JavaScript program, and what may enter its log is decided by JavaScript's `JSON`. So `-0` and `1e999`
are values here (and refused as lossy), integers beyond 2**53 lose precision, integer-like keys come first, and
`UNDEFINED` is not `None`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, Final, NoReturn, TypeAlias

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys. Checked by `freeze`, not by types."""


class Undefined(Enum):
    """The type of `UNDEFINED`."""

    UNDEFINED = "undefined"


UNDEFINED: Final = Undefined.UNDEFINED
"""JavaScript's `undefined`, where it differs from null: absent arguments, a body or listener without a return value.

Python's `None` is null. JSON cannot carry this value.
"""

_LARGEST_EXACT_INT: Final = 2**53
_LARGEST_INDEX: Final = 2**32 - 2
_INDEX_KEY: Final = re.compile(r"0|[1-9][0-9]{0,9}")


class NotLosslessError(ValueError):
    """A value that JSON cannot carry without loss: `-0`, NaN, an infinity, UNDEFINED, a cycle, a non-JSON object."""


class FrozenDict(dict[str, Any]):
    """A JSON object nobody can change: every write raises `TypeError`. Its deep copy is free again."""

    __slots__ = ()

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        key = args[0] if args else ""
        raise TypeError(f"Cannot assign to read only property {js_string(key)!r} of object '#<Object>'")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: dict[int, object]) -> dict[str, Any]:
        copied: dict[str, Any] = clone(self)
        return copied


class FrozenList(list[Any]):
    """A JSON array nobody can change: every write raises `TypeError`. Its deep copy is free again."""

    __slots__ = ()

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("Cannot change a frozen array, object is not extensible")

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __deepcopy__(self, memo: dict[int, object]) -> list[Any]:
        copied: list[Any] = clone(self)
        return copied


_OBJECTS: Final = (dict, FrozenDict)
_ARRAYS: Final = (list, FrozenList, tuple)
_PLAIN: Final = frozenset({str, bool, type(None)})


def parse_json(text: str) -> Json:
    """`JSON.parse(text)`; raises `ValueError` where JavaScript throws. Any depth of nesting is accepted."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        return _parse_nested(text)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _number(text: str) -> int | float:
    """The double JavaScript reads from a JSON number; `int` where that is exact, `-0.0` for every negative zero."""
    return _js_number(float(text))


def _js_number(double: float) -> int | float:
    exact = abs(double) <= _LARGEST_EXACT_INT and double.is_integer()
    return int(double) if exact and not _is_negative_zero(double) else double


def _is_negative_zero(double: float) -> bool:
    return double == 0 and math.copysign(1, double) < 0


def _ordered(pairs: Iterable[tuple[str, Json]] | dict[str, Json]) -> dict[str, Json]:
    """An object in JavaScript's key order: integer-like keys ascending, then the others as written; last value wins."""
    members = dict(pairs)
    indexes = [key for key in members if key.isdecimal() and _INDEX_KEY.fullmatch(key) and int(key) <= _LARGEST_INDEX]
    if not indexes:
        return members
    indexes.sort(key=int)
    return {key: members[key] for key in indexes} | members


_DECODER: Final = json.JSONDecoder(
    parse_int=_number, parse_float=_number, parse_constant=_refuse_constant, object_pairs_hook=_ordered
)


def _parse_nested(text: str) -> Json:
    """`parse_json` for a text nested deeper than the C scanner's recursion allows.

    Brackets are kept on a list of our own; everything between them is a scalar the scanner can read.
    """
    token = re.compile(r'[\t\n\r ]*([\[\]{},:]|"(?:[^"\\\x00-\x1f]|\\.)*"|[^\[\]{},:"\t\n\r ]+)[\t\n\r ]*')
    root: list[Json] = []
    stack: list[tuple[str, list[Json]]] = [("", root)]
    expect_value, at = True, 0
    while at < len(text):
        found = token.match(text, at)
        if found is None:
            raise ValueError(f"unexpected text at {at}")
        word, at = found[1], found.end()
        kind, items = stack[-1]
        if word in "[{":
            if not expect_value:
                raise ValueError(f"unexpected {word} at {at}")
            stack.append((word, []))
            expect_value = True
        elif word in "]}":
            closes = (kind + word) in ("[]", "{}")
            if not closes or (expect_value and items):
                raise ValueError(f"unexpected {word} at {at}")
            stack.pop()
            stack[-1][1].append(items if word == "]" else _paired(items))
            expect_value = False
        elif word in ",:":
            wanted = ":" if kind == "{" and len(items) % 2 else ","
            if expect_value or word != wanted or not kind:
                raise ValueError(f"unexpected {word} at {at}")
            expect_value = True
        else:
            if not expect_value:
                raise ValueError(f"unexpected {word} at {at}")
            items.append(_DECODER.decode(word))
            expect_value = False
    if len(stack) > 1 or len(root) != 1:
        raise ValueError("unexpected end of JSON")
    return root[0]


def _paired(items: Sequence[Json]) -> dict[str, Json]:
    if len(items) % 2 or any(type(key) is not str for key in items[::2]):
        raise ValueError("an object needs a string key and a value for each member")
    return _ordered(zip(items[::2], items[1::2], strict=True))


def freeze(value: Json) -> Json:
    """A lossless, deeply frozen copy of `value`; raises `NotLosslessError`. Frozen parts are shared, not copied."""
    if type(value) is FrozenDict or type(value) is FrozenList:
        return value
    return _copy(value, FrozenDict, FrozenList)


def clone(value: Json) -> Json:
    """A lossless, deep copy of `value` that may be changed; raises `NotLosslessError`."""
    return _copy(value, dict, list)


def is_lossless(value: Json) -> bool:
    """Whether JSON can carry `value` and give it back unchanged."""
    try:
        freeze(value)
    except NotLosslessError:
        return False
    return True


def _copy(value: Json, object_type: type[dict[str, Json]], array_type: type[list[Json]]) -> Json:
    try:
        return _copied(value, object_type, array_type)
    except RecursionError:
        # Arguments nested thousands deep are legal and must not meet Python's stack limit; a cycle ends here, too.
        return _copied_flat(value, object_type, array_type)


def _copied(value: Json, object_type: type[dict[str, Json]], array_type: type[list[Json]]) -> Json:
    kind = type(value)
    if kind in _PLAIN or (kind is int and -_LARGEST_EXACT_INT <= value <= _LARGEST_EXACT_INT):
        return value
    if kind is FrozenDict is object_type or kind is FrozenList is array_type:
        return value
    if kind in _OBJECTS:
        members = _in_order(value).items()
        return object_type(
            {key: item if type(item) in _PLAIN else _copied(item, object_type, array_type) for key, item in members}
        )
    if kind in _ARRAYS:
        return array_type([item if type(item) in _PLAIN else _copied(item, object_type, array_type) for item in value])
    if kind is int or kind is float:
        return _lossless_number(value)
    raise NotLosslessError(f"{kind.__name__} is not a JSON value")


def _copied_flat(value: Json, object_type: type[dict[str, Json]], array_type: type[list[Json]]) -> Json:
    """`_copied` without recursion.

    A container is first copied as it stands and waits in `pending`; its turn replaces what it holds by copies.
    """
    root: list[Json] = [value]
    pending: list[tuple[int, Json] | None] = [(0, root)]
    path: list[int] = []
    on_path: set[int] = set()
    while pending:
        entry = pending.pop()
        if entry is None:
            on_path.discard(path.pop())
            continue
        source, target = entry
        if source in on_path:
            raise NotLosslessError("a cycle is not JSON")
        on_path.add(source)
        path.append(source)
        pending.append(None)
        is_object = isinstance(target, dict)
        assign: Callable[..., None] = dict.__setitem__ if is_object else list.__setitem__
        for key, item in target.items() if is_object else enumerate(target):
            if type(item) in (*_OBJECTS, *_ARRAYS):
                if type(item) is FrozenDict is object_type or type(item) is FrozenList is array_type:
                    continue
                copied = object_type(_in_order(item)) if type(item) in _OBJECTS else array_type(item)
                pending.append((id(item), copied))
            else:
                copied = _copied(item, object_type, array_type)
            assign(target, key, copied)
    return root[0]


def _in_order(source: dict[str, Json]) -> dict[str, Json]:
    try:
        has_indexes = any(map(str.isdecimal, source))
    except TypeError:
        raise NotLosslessError("an object key is not a string") from None
    return _ordered(source) if has_indexes else source


def _lossless_number(value: float) -> int | float:
    try:
        double = float(value)
    except OverflowError:
        raise NotLosslessError(f"{value} overflows") from None
    if not math.isfinite(double) or _is_negative_zero(double):
        raise NotLosslessError(f"{double} is not JSON")
    return _js_number(double)


def js_string(value: object) -> str:
    """`String(value)` as JavaScript writes it: `null`, `7`, `[object Object]`, a list joined by commas."""
    if value is None:
        return "null"
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _js_number_text(float(value))
    if isinstance(value, list | tuple):
        return ",".join("" if item is None or item is UNDEFINED else js_string(item) for item in value)
    if isinstance(value, dict):
        return "[object Object]"
    return str(value)


def _js_number_text(double: float) -> str:
    if math.isnan(double):
        return "NaN"
    if math.isinf(double):
        return "Infinity" if double > 0 else "-Infinity"
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    digits, _, exponent = repr(abs(double)).partition("e")
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{point - 1:+d}"


def member(value: object, name: str) -> Json:
    """`value.name`: `UNDEFINED` where there is none; null and undefined raise the `TypeError` JavaScript throws."""
    if value is None or value is UNDEFINED:
        raise TypeError(f"Cannot read properties of {js_string(value)} (reading '{name}')")
    return value.get(name, UNDEFINED) if isinstance(value, dict) else UNDEFINED


def code_units(text: str) -> bytes:
    """A sort key that orders strings by UTF-16 code unit, as JavaScript does."""
    return text.encode("utf-16-be", "surrogatepass")
