"""Pictures are stored once, by their bytes; blocks and log hold a reference, never the bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Protocol, TypeAlias

from reference_bridge.host.images import recognise
from reference_bridge.host.json_values import Json

Reference: TypeAlias = dict[str, Json]
"""`{attachmentId, mediaType, width, height, bytes, name?}`, as it stands in an image block."""

MEDIA_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")


class AttachmentError(Exception):
    """A picture that is not admitted or not found; `code` says why. Leaves no identity on a tool result."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Image:
    """A picture on its way in. Of `name` only the last part of the path is kept."""

    data: bytes
    media_type: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What is admitted; the numbers are those of the harness 0.1.0-rc.8. Larger pictures are refused, not scaled."""

    image_bytes: int = 3_670_016
    image_side: int = 2000
    image_pixels: int = 40_000_000
    message_images: int = 20
    message_bytes: int = 104_857_600


class AttachmentStore(Protocol):
    """The service. A host has one or none."""

    async def save_image(self, data: bytes, media_type: str, name: str | None = None) -> Reference:
        """Store a picture; the same bytes have the same id, `sha256:…`.

        Raises `AttachmentError`: `INVALID_IMAGE`, `IMAGE_TYPE_MISMATCH`, `IMAGE_TOO_LARGE`, `IMAGE_TOO_MANY_PIXELS`
        or `IMAGE_DIMENSION_TOO_LARGE`.
        """
        ...

    async def load(self, reference: Reference) -> bytes:
        """The bytes behind a reference. Raises `AttachmentError`: `ATTACHMENT_NOT_FOUND`, `ATTACHMENT_CORRUPT`."""
        ...


class MemoryAttachments:
    """Keeps pictures as long as the store lives."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._stored: dict[str, bytes] = {}

    async def save_image(self, data: bytes, media_type: str, name: str | None = None) -> Reference:
        """Store a picture; the same bytes have the same id."""
        reference = self._described(data, media_type)
        self._stored[reference["attachmentId"]] = data
        return reference if name is None else {**reference, "name": PurePosixPath(name).name}

    async def save_images(self, images: Sequence[Image]) -> list[Reference]:
        """Store the pictures of one message: all of them or, where one is not admitted, none.

        Raises `AttachmentError` as `save_image` does, and `TOO_MANY_IMAGES`, `IMAGES_TOO_LARGE` or
        `UNSUPPORTED_IMAGE_TYPE` for the message as a whole.
        """
        if len(images) > self.limits.message_images:
            raise AttachmentError(f"at most {self.limits.message_images} images go into a message", "TOO_MANY_IMAGES")
        if sum(len(image.data) for image in images) > self.limits.message_bytes:
            raise AttachmentError(
                f"at most {self.limits.message_bytes} bytes of images go into a message", "IMAGES_TOO_LARGE"
            )
        for image in images:
            if image.media_type not in MEDIA_TYPES:
                raise AttachmentError(f"image type {image.media_type} is not accepted", "UNSUPPORTED_IMAGE_TYPE")
        for image in images:
            self._described(image.data, image.media_type)
        return [await self.save_image(image.data, image.media_type, image.name) for image in images]

    async def load(self, reference: Reference) -> bytes:
        """The bytes behind a reference."""
        data = self._stored.get(str(reference.get("attachmentId")))
        if data is None:
            raise AttachmentError("there is no such attachment", "ATTACHMENT_NOT_FOUND")
        described = self._described(data, str(reference.get("mediaType")))
        if any(reference.get(key) != value for key, value in described.items()):
            raise AttachmentError("the reference does not fit what is stored", "ATTACHMENT_CORRUPT")
        return data

    def _described(self, data: bytes, media_type: str) -> Reference:
        """The reference of an admitted picture; raises `AttachmentError` for any other."""
        limits = self.limits
        if len(data) > limits.image_bytes:
            raise AttachmentError(f"the image has more than {limits.image_bytes} bytes", "IMAGE_TOO_LARGE")
        picture = recognise(data)
        if picture is None:
            raise AttachmentError("the data is no PNG, JPEG, WEBP or GIF image", "INVALID_IMAGE")
        if picture.width * picture.height > limits.image_pixels:
            raise AttachmentError(f"the image has more than {limits.image_pixels} pixels", "IMAGE_TOO_MANY_PIXELS")
        if max(picture.width, picture.height) > limits.image_side:
            raise AttachmentError(
                f"the image is {picture.width}x{picture.height}, a side has at most {limits.image_side} pixels",
                "IMAGE_DIMENSION_TOO_LARGE",
            )
        if picture.media_type != media_type:
            raise AttachmentError(f"the image is {picture.media_type}, not {media_type}", "IMAGE_TYPE_MISMATCH")
        return {
            "attachmentId": f"sha256:{hashlib.sha256(data).hexdigest()}",
            "mediaType": media_type,
            "width": picture.width,
            "height": picture.height,
            "bytes": len(data),
        }


def decode_base64(text: str) -> bytes:
    """The bytes of an uploaded picture. Raises `AttachmentError` `INVALID_IMAGE_BASE64` unless `text` is canonical."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data or base64.b64encode(data).decode() != text:
        raise AttachmentError("the upload is not canonical base64", "INVALID_IMAGE_BASE64")
    return data
