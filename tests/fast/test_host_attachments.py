"""Pictures: which are admitted, and what a reference says."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable

import pytest

from reference_bridge.host.attachments import AttachmentError, Image, Limits, MemoryAttachments, decode_base64
from reference_bridge.host.images import Picture, recognise
from tests.fast.small_host import Stage, staged


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(height * (1 + 3 * width)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


GIF = b"GIF89a" + struct.pack("<HH", 5, 7) + b"\0\0\0;"
JPEG = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc4\0\x02\xff\xc2\0\x11\x08" + struct.pack(">HH", 7, 5) + bytes(10) + b"\xff\xd9"
WEBP_LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 4 | 6 << 14)
WEBP_LOSSY = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 5, 7)
WEBP_EXTENDED = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x04\0\0\x06\0\0"
PNG = png(2, 3)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (png(5, 7), "image/png"),
        (GIF, "image/gif"),
        (JPEG, "image/jpeg"),
        (WEBP_LOSSLESS, "image/webp"),
        (WEBP_LOSSY, "image/webp"),
        (WEBP_EXTENDED, "image/webp"),
    ],
)
def test_a_picture_says_its_type_and_size(data: bytes, media_type: str) -> None:
    assert recognise(data) == Picture(media_type, 5, 7)
    assert recognise(data[:-1]) is None


@pytest.mark.parametrize(
    "data",
    [b"", b"\1\2\3", b"BM" + bytes(60), PNG[:-4], PNG[:30] + b"!" + PNG[31:], b"GIF89a\0\0\0\0", b"\xff\xd8\0\0"],
)
def test_garbage_and_what_breaks_off_is_no_picture(data: bytes) -> None:
    assert recognise(data) is None


@staged(attachments=MemoryAttachments())
async def test_a_reference_names_the_bytes_and_never_holds_them(stage: Stage) -> None:
    store = stage.host.attachments
    assert store is not None
    reference = await store.save_image(PNG, "image/png", "some/dir/pic.png")
    assert {key: value for key, value in reference.items() if key != "attachmentId"} == {
        "mediaType": "image/png",
        "width": 2,
        "height": 3,
        "bytes": len(PNG),
        "name": "pic.png",
    }
    assert reference["attachmentId"].startswith("sha256:")
    assert (await store.save_image(PNG, "image/png"))["attachmentId"] == reference["attachmentId"]
    assert await store.load(reference) == PNG


async def refused(act: Callable[[], object]) -> str:
    with pytest.raises(AttachmentError) as error:
        await act()  # type: ignore[misc]
    return error.value.code


@staged()
async def test_a_picture_that_is_not_admitted_has_a_code(stage: Stage) -> None:
    store = MemoryAttachments()
    assert await refused(lambda: store.save_image(b"", "image/png")) == "INVALID_IMAGE"
    assert await refused(lambda: store.save_image(b"123", "image/png")) == "INVALID_IMAGE"
    assert await refused(lambda: store.save_image(PNG, "image/jpeg")) == "IMAGE_TYPE_MISMATCH"
    assert await refused(lambda: store.save_image(png(3000, 4), "image/png")) == "IMAGE_DIMENSION_TOO_LARGE"
    assert await refused(lambda: store.save_image(bytes(3_670_017), "image/png")) == "IMAGE_TOO_LARGE"
    few = MemoryAttachments(Limits(image_pixels=5))
    assert await refused(lambda: few.save_image(PNG, "image/png")) == "IMAGE_TOO_MANY_PIXELS"


@staged()
async def test_the_pictures_of_a_message_are_stored_together_or_not_at_all(stage: Stage) -> None:
    store, good = MemoryAttachments(Limits(message_bytes=3 * len(PNG))), Image(PNG, "image/png", "a")
    assert [reference["name"] for reference in await store.save_images([good, good])] == ["a", "a"]
    other = png(4, 4)
    batch = [Image(other, "image/png"), Image(b"123", "image/png")]
    assert await refused(lambda: store.save_images(batch)) == "INVALID_IMAGE"
    reference = await MemoryAttachments().save_image(other, "image/png")
    assert await refused(lambda: store.load(reference)) == "ATTACHMENT_NOT_FOUND"
    assert await refused(lambda: store.save_images([Image(PNG, "image/bmp")])) == "UNSUPPORTED_IMAGE_TYPE"
    assert await refused(lambda: store.save_images([good] * 21)) == "TOO_MANY_IMAGES"
    assert await refused(lambda: store.save_images([good] * 4)) == "IMAGES_TOO_LARGE"


@staged()
async def test_a_reference_that_was_tampered_with_is_corrupt(stage: Stage) -> None:
    store = MemoryAttachments()
    reference = await store.save_image(PNG, "image/png")
    assert await refused(lambda: store.load({**reference, "bytes": 1})) == "ATTACHMENT_CORRUPT"
    assert await refused(lambda: store.load({**reference, "width": 9})) == "ATTACHMENT_CORRUPT"
    missing = {**reference, "attachmentId": "sha256:" + "0" * 64}
    assert await refused(lambda: store.load(missing)) == "ATTACHMENT_NOT_FOUND"


def test_only_canonical_base64_is_read() -> None:
    text = base64.b64encode(PNG).decode()
    assert decode_base64(text) == PNG
    for other in ("", f" {text}", f"{text}\n", text.rstrip("="), "ab=c", "é"):
        with pytest.raises(AttachmentError) as error:
            decode_base64(other)
        assert error.value.code == "INVALID_IMAGE_BASE64"


@staged()
async def test_a_host_without_a_store_has_none(stage: Stage) -> None:
    assert stage.host.attachments is None
