"""The frame of a JSON-RPC 2.0 message, its error codes, and how a piece of one is quoted."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
INTERNAL = -32603

ABSENT = msgspec.Raw()
Integer = Annotated[int, msgspec.Meta(ge=1 - 2**53, le=2**53 - 1)]  # what every JSON library carries unharmed


class ErrorObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A JSON-RPC error."""

    code: Integer
    message: str
    data: Any = None


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Any message of either side; which one it is follows from the members that are there."""

    jsonrpc: Literal["2.0"]
    id: Integer | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: msgspec.Raw = ABSENT
    result: msgspec.Raw = ABSENT
    error: ErrorObject | UnsetType = UNSET
    seq: Integer | UnsetType = UNSET


def printable(text: str) -> str:
    """Return ``text`` with everything that moves a cursor, turns writing round or cannot be seen written as an escape.

    Line feeds stay.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def quote(data: bytes | str, limit: int = 120) -> str:
    """Return ``data`` as a short literal that is safe to print: control characters escaped, the middle left out."""
    size = len(data)
    if size > 4 * limit:
        data = data[: 2 * limit] + data[-limit:]  # type: ignore[operator]
    text = data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else data
    if size > limit:
        unit = "bytes" if isinstance(data, bytes) else "characters"
        return f"{text[: limit * 2 // 3]!r} … {text[-(limit // 3) :]!r} ({size} {unit})"
    return repr(text)
