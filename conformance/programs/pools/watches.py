"""What handlers of start, update and end do, and what they are told on the way."""

from __future__ import annotations

from typing import Any

from conformance.drivers.protocol import Op, Reply
from conformance.peer import error, text_result
from conformance.programs.pools.blocks import PICTURE, text

ANY: tuple[Reply, ...] = (
    Reply(),
    Reply(throws=error("the watcher broke")),
    Reply(returns={"block": True, "reason": "unasked", "isError": True, "content": [text("unasked")]}),
    Reply(ops=[Op(op="set", path=["args", "s"], value="watched")]),
    Reply(ops=[Op(op="set", path=["result", "content", 0, "text"], value="watched")]),
    Reply(ops=[Op(op="assign", path=["args"], value={"s": "watched"})]),
    Reply(delay_ms=1),
    Reply(throws="the watcher fell over"),
    Reply(throws=error("another watcher broke")),
    Reply(throws=error("one more watcher gave up")),
    Reply(delay_ms=3),
    Reply(delay_ms=1_200),
)
"""What a handler of start, update or end may do."""

UPDATES: tuple[Any, ...] = (
    text_result("part"),
    text_result("more", isError=True),
    "words",
    None,
    text_result("seen", details={"k": [1]}),
    {"content": [text("with a picture"), PICTURE]},
)
"""Partial results."""

ODD_UPDATES: tuple[Any, ...] = (
    {"content": [text("same"), text("same")], "details": {"a": None}},
    text_result("a\u0000b $& $1\r\n"),
    text_result(""),
    False,
    0,
    "",
    {"content": []},
    {"details": {"k": 1}},
    text_result("by the way", terminate=True, details=None),
)
"""Partial results that are easily read amiss."""

LONG_UPDATES = (text_result("at length: " + "word " * 2_400), text_result("short"))
