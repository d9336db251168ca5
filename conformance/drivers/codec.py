"""One message, once through bytes: the copy that makes every driver pass values and never references."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from conformance.drivers.protocol import Message, Record

R = TypeVar("R", bound=Record)

_encoder = msgspec.json.Encoder()
_decoders: dict[type[Record], msgspec.json.Decoder[Any]] = {}


def encode(record: Record) -> bytes:
    """Encode a message or result. Raises ``msgspec.EncodeError`` or ``TypeError`` on what JSON cannot carry."""
    return _encoder.encode(record)


def decode(data: bytes | bytearray | memoryview | msgspec.Raw, kind: type[R]) -> R:
    """Decode and check. Raises ``msgspec.DecodeError`` (its subclass ``ValidationError`` names the field)."""
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(kind)
    result: R = decoder.decode(data)
    return result


def copy(record: R) -> R:
    """Return an equal record that shares no object with ``record``."""
    return decode(_encoder.encode(record), type(record))


def result_type(message: Message) -> type[Record]:
    """Return the type of the answer to ``message``."""
    return type(message).Result
