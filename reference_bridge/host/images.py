"""What the bytes of a picture say about themselves: PNG, JPEG, WEBP and GIF."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Final

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers that start a frame; the three left out share their range and mean something else."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Media type and size in pixels."""

    media_type: str
    width: int
    height: int


def recognise(data: bytes) -> Picture | None:
    """What picture `data` holds; `None` for garbage, nothing, and what breaks off early.

    A PNG is checked to its last chunk, of the others what names their size, and that they have their end.
    """
    try:
        if data.startswith(_PNG):
            return _png(data)
        if data.startswith((b"GIF87a", b"GIF89a")) and data.endswith(b";"):
            return _sized("image/gif", *struct.unpack_from("<HH", data, 6))
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"\xff\xd8") and data.endswith(b"\xff\xd9"):
            return _jpeg(data)
    except (struct.error, zlib.error, IndexError):
        return None
    return None


def _sized(media_type: str, width: int, height: int) -> Picture | None:
    return Picture(media_type, width, height) if width and height else None


def _png(data: bytes) -> Picture | None:
    at, pixels = len(_PNG), zlib.decompressobj()
    kinds: list[bytes] = []
    width = height = 0
    while at < len(data) and kinds[-1:] != [b"IEND"]:
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        if checksum != zlib.crc32(kind + body):
            return None
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", body)
        elif kind == b"IDAT":
            pixels.decompress(body)
        kinds.append(kind)
        at += 12 + length
    whole = kinds[:1] == [b"IHDR"] and kinds[-1:] == [b"IEND"] and pixels.eof
    return _sized("image/png", width, height) if whole else None


def _jpeg(data: bytes) -> Picture | None:
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return _sized("image/jpeg", width, height)
        (length,) = struct.unpack_from(">H", data, at + 2)
        at += 2 + length
    return None


def _webp(data: bytes) -> Picture | None:
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        return _sized("image/webp", width, height) if len(data) >= 30 else None
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return _sized("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return _sized("image/webp", width & 0x3FFF, height & 0x3FFF)
    return None
