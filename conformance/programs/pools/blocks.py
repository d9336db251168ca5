"""Blocks of content, and texts that are easily taken for something else or changed on the way."""

from __future__ import annotations

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg=="

PICTURE = {"type": "image", "mimeType": "image/png", "data": PNG}

OTHER_PICTURE = PICTURE | {
    "data": "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR42mM4IWcDQQxwFgBHVAbNxIeY8QAAAABJRU5ErkJggg=="
}

LIKE_PICTURE = PICTURE | {
    "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IacBRAwQCgAgFgQ5YebC6gAAAABJRU5ErkJggg=="
}
"""A picture whose data begin as those of the first one."""

GIF = {"type": "image", "mimeType": "image/gif", "data": "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="}

NATIVE_PICTURES = (
    PICTURE
    | {"data": "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7ljmRAAAAEElEQVR4nGPgTD4ORww4OQAP7A5l6Kh4XQAAAABJRU5ErkJggg=="},
    PICTURE
    | {"data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAAFCAIAAADg0arLAAAAEElEQVR4nGNI5hQGIgY8FABaFAT3LzkjzgAAAABJRU5ErkJggg=="},
)
"""Pictures that no package's tool gives: a native tool's may stay in the log as they are."""


def text(words: str) -> dict[str, str]:
    """Return a text block."""
    return {"type": "text", "text": words}


DENSE = "Error: costs $1, $& and $$, 100 %s, {name}\r\n<b>a\u0000b</b> &amp; **cafe\u0301** \U0001f300\r\n \n"

WORDS = ("same", DENSE, '{"ok":[true]}', "Error: all is well")
"""Texts that are easily taken for something else, or changed on the way."""

HALF = {"$": "escaped", "text": "half \\ud83c of it"}
