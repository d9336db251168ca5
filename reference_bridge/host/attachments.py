"""`ctx.attachments`: pictures are stored once by their bytes; blocks and log hold a reference, never the bytes."""

from __future__ import annotations

import hashlib
import struct
from pathlib import PurePosixPath
from typing import Any, Final, Protocol

from reference_bridge.host.errors import HarnessError

MAX_BYTES: Final = 3_670_016
MAX_SIDE: Final = 2000
MAX_PIXELS: Final = 40_000_000
_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")

Reference = dict[str, Any]
"""`{attachmentId, mediaType, bytes, width, height, name?}`, as it stands in an image block."""


class AttachmentStore(Protocol):
    """The service. A host has one or none."""

    async def save_image(self, data: bytes, media_type: str, name: str | None = None) -> Reference:
        """Store a picture and return its reference; the same bytes have the same id.

        Raises `HarnessError` with code `UNSUPPORTED_IMAGE_TYPE`, `INVALID_IMAGE`, `IMAGE_TYPE_MISMATCH`,
        `IMAGE_TOO_LARGE` or `IMAGE_DIMENSION_TOO_LARGE`.
        """
        ...

    async def load(self, reference: Reference) -> bytes:
        """The bytes behind a reference. Raises `HarnessError` with code `ATTACHMENT_NOT_FOUND` or
        `ATTACHMENT_CORRUPT`."""
        ...


class MemoryAttachments:
    """Keeps pictures as long as the host runs."""

    def __init__(self) -> None:
        self._stored: dict[str, bytes] = {}

    async def save_image(self, data: bytes, media_type: str, name: str | None = None) -> Reference:
        """Store a picture and return its reference."""
        if media_type not in _TYPES:
            raise HarnessError(f"image type {media_type!r} is not supported", "UNSUPPORTED_IMAGE_TYPE")
        found = sniff(data)
        if found is None:
            raise HarnessError("the data is no image", "INVALID_IMAGE")
        kind, width, height = found
        if kind != media_type:
            raise HarnessError(f"the image is {kind}, not {media_type}", "IMAGE_TYPE_MISMATCH")
        if len(data) > MAX_BYTES:
            raise HarnessError(f"the image has {len(data)} bytes, at most {MAX_BYTES} are kept", "IMAGE_TOO_LARGE")
        if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
            raise HarnessError(
                f"the image is {width}x{height}, at most {MAX_SIDE} pixels a side are kept", "IMAGE_DIMENSION_TOO_LARGE"
            )
        identity = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self._stored[identity] = data
        reference: Reference = {
            "attachmentId": identity,
            "mediaType": media_type,
            "bytes": len(data),
            "width": width,
            "height": height,
        }
        return reference if name is None else {**reference, "name": PurePosixPath(name).name}

    async def load(self, reference: Reference) -> bytes:
        """The bytes behind a reference."""
        data = self._stored.get(str(reference.get("attachmentId")))
        if data is None:
            raise HarnessError("there is no such attachment", "ATTACHMENT_NOT_FOUND")
        if reference.get("bytes") != len(data):
            raise HarnessError("the reference does not fit what is stored", "ATTACHMENT_CORRUPT")
        return data


def sniff(data: bytes) -> tuple[str, int, int] | None:
    """The media type, width and height that the bytes themselves tell, or `None` for what is no picture."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return ("image/png", *struct.unpack(">II", data[16:24]))
        if data.startswith((b"GIF87a", b"GIF89a")):
            return ("image/gif", *struct.unpack("<HH", data[6:10]))
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"\xff\xd8"):
            return _jpeg(data)
    except struct.error:
        return None
    return None


def _jpeg(data: bytes) -> tuple[str, int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return "image/jpeg", width, height
        at += 2 + length
    return None


def _webp(data: bytes) -> tuple[str, int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        return "image/webp", width, height
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return "image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return "image/webp", width & 0x3FFF, height & 0x3FFF
    return None
