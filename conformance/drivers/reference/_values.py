"""Values between the suite's JSON with its tags and the reference's Python."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from typing import Any

import msgspec

from conformance.drivers.protocol import Outcome
from reference_bridge.host import UNDEFINED, AbortSignal, Thrown, error_message

LONG_TEXT = 1024 * 1024
"""Characters above which a string travels by digest."""

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")

_CONTAINERS = (dict, list, tuple)

Signals = Callable[[str], AbortSignal]


class PackageError(Exception):
    """An error a package throws; ``fields`` are what else it carries."""

    def __init__(self, name: str, message: str, fields: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.name = name
        self.fields = fields or {}


class BigInt(int):
    """A bigint: a number that JSON cannot carry."""


class Symbol:
    """A symbol, or any other object that JSON cannot carry."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


def decode(value: Any, signals: Signals | None = None) -> Any:
    """Return the Python value that ``value`` stands for; a fresh one every time."""
    if isinstance(value, dict):
        if "$" in value:
            return _decode_tag(value, signals)
        return {key: decode(item, signals) for key, item in value.items()}
    if isinstance(value, list):
        return [decode(item, signals) for item in value]
    return UNDEFINED if value is msgspec.UNSET else value


def _decode_tag(value: dict[str, Any], signals: Signals | None) -> Any:
    tag = value["$"]
    if tag in _CONSTANTS:
        return _CONSTANTS[tag]
    if tag == "bigint":
        return BigInt(value.get("digits", "1"))
    if tag == "cycle":
        cycle: dict[str, Any] = {}
        cycle["self"] = cycle
        return cycle
    if tag == "function":
        return lambda *_: UNDEFINED
    if tag == "error":
        fields = {key: decode(each, signals) for key, each in value.items() if key not in ("$", "name", "message")}
        return PackageError(value.get("name", "Error"), value.get("message", ""), fields)
    if tag == "repeat":
        return value["text"] * value["times"]
    if tag == "escaped":
        return json.loads(f'"{value["text"]}"')
    if tag == "signal" and signals is not None:
        return signals(value["id"])
    if tag in ("symbol", "date", "signal"):
        return Symbol(tag)
    return {key: decode(item, signals) for key, item in value.items()}


_CONSTANTS = {"undefined": UNDEFINED, "NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}


def encode(value: Any, above: tuple[Any, ...] = ()) -> Any:
    """Return ``value`` as JSON with tags."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() and len(value) <= LONG_TEXT else _encode_text(value)
    if value is None or kind is bool or kind is int:
        return value
    if isinstance(value, _CONTAINERS):
        for container in above:
            if container is value:
                return {"$": "cycle"}
        above = (*above, value)
        if isinstance(value, dict):
            return {
                key if type(key) is str and key.isascii() else well_formed(str(key)): encode(item, above)
                for key, item in value.items()
            }
        return [encode(item, above) for item in value]
    if isinstance(value, float):
        return _encode_float(value)
    if value is UNDEFINED:
        return {"$": "undefined"}
    if isinstance(value, BigInt):
        return {"$": "bigint", "digits": str(int(value))}
    if isinstance(value, BaseException):
        return encode_error(value)
    return {"$": "function"} if callable(value) else {"$": "symbol"}


def encode_error(error: BaseException) -> Any:
    """Return what was thrown: an error by name and message, any other value as itself."""
    if isinstance(error, Thrown):
        return encode(error.value)
    name = error.name if isinstance(error, PackageError) else type(error).__name__
    return {"$": "error", "name": well_formed(name), "message": well_formed(error_message(error))}


def exception(value: Any) -> Exception:
    """Return what to raise so that ``value`` (decoded) is thrown."""
    return value if isinstance(value, Exception) else Thrown(value)


def returned(value: Any = UNDEFINED) -> Outcome:
    """Return the outcome of a call that answered with ``value``."""
    return Outcome(returned=encode(value))


def threw(error: BaseException) -> Outcome:
    """Return the outcome of a call that threw."""
    return Outcome(threw=encode_error(error))


def well_formed(text: str) -> str:
    """Return ``text`` with the replacement character for each half of a surrogate pair, which UTF-8 cannot carry."""
    return text if text.isascii() else _HALF_A_PAIR.sub("\ufffd", text)


def _encode_text(text: str) -> Any:
    if len(text) > LONG_TEXT:
        return _digest(text)
    if text.isascii() or not _HALF_A_PAIR.search(text):
        return text
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    return {"$": "escaped", "text": _HALF_A_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", escaped)}


def _encode_float(value: float) -> Any:
    if math.isnan(value):
        return {"$": "NaN"}
    if math.isinf(value):
        return {"$": "Infinity" if value > 0 else "-Infinity"}
    return {"$": "-0"} if value == 0 and math.copysign(1, value) < 0 else value


def _digest(text: str) -> dict[str, Any]:
    data = text.encode("utf-8", "surrogatepass")
    return {
        "$": "text",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "head": well_formed(text[:100]),
        "tail": well_formed(text[-100:]),
    }
