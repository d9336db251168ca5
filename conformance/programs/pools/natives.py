"""What the bodies of native tools do."""

from __future__ import annotations

from conformance.drivers.protocol import NativeAnswer
from conformance.peer import error
from conformance.programs.pools.blocks import DENSE, NATIVE_PICTURES, WORDS, text

PICTURED: tuple[NativeAnswer, ...] = (
    NativeAnswer(content=[text("looked"), NATIVE_PICTURES[0]]),
    NativeAnswer(content=[*NATIVE_PICTURES, text("seen")]),
)

WORDED: tuple[NativeAnswer, ...] = (
    *(NativeAnswer(text=words) for words in WORDS),
    NativeAnswer(content=[text("same"), text("same")]),
    NativeAnswer(throws=error(DENSE.strip())),
    NativeAnswer(throws="words"),
)
"""What the body of a native tool may say."""

ANY: tuple[NativeAnswer, ...] = (
    NativeAnswer(text="looked"),
    NativeAnswer(throws=error("nothing there")),
    NativeAnswer(content=[text("one"), text("two")]),
    NativeAnswer(text="enough", conclude=True),
    NativeAnswer(text="more", defer="by the way"),
    NativeAnswer(text=""),
)
"""What the body of a native tool may do."""
