"""What the bodies of packages' tools do."""

from __future__ import annotations

from conformance.drivers.protocol import Op, Reply
from conformance.peer import error, text_result
from conformance.programs.pools.blocks import DENSE, GIF, HALF, LIKE_PICTURE, OTHER_PICTURE, PICTURE, WORDS, text

ODD: tuple[Reply, ...] = (
    Reply(returns={"content": [text("  "), text("caf\u00e9, cafe\u0301"), text("\u0000\u202e")]}),
    Reply(throws=error("first: then: last\nand a second line")),
    Reply(throws={"message": "no error, but with a message", "content": [text("unasked")]}),
    Reply(throws=error("at length: " + "why " * 200)),
    Reply(
        throws={"$": "error", "name": "Error", "message": "it broke", "content": [text("unasked")], "terminate": True}
    ),
    Reply(throws=error("broken, and late"), late_updates=[text_result("late")]),
    Reply(returns={"content": [PICTURE, text("twice the same"), PICTURE]}),
    Reply(returns={"content": [text("at length: " + "word " * 400)], "details": {"$": "undefined"}}),
    Reply(
        returns={"content": [{"type": "image", "mimeType": "image/png", "data": "no picture"}, text("beside"), PICTURE]}
    ),
)
"""What the body of a package's tool may do that is easily read amiss."""

PICTURED: tuple[Reply, ...] = (
    Reply(returns={"content": [PICTURE, OTHER_PICTURE, PICTURE, OTHER_PICTURE, text("five"), OTHER_PICTURE]}),
    Reply(returns={"content": [PICTURE, text("and"), OTHER_PICTURE]}),
    Reply(returns={"content": [text("another"), OTHER_PICTURE]}),
    Reply(returns={"content": [GIF, text("moves")]}),
    Reply(returns={"content": [PICTURE, LIKE_PICTURE, text("alike")]}),
    ODD[-3],
    ODD[-1],
)
"""What the body of a package's tool may do with pictures."""

ANY: tuple[Reply, ...] = (
    Reply(returns=text_result("done well")),
    Reply(returns=text_result("last", terminate=True)),
    Reply(throws=error("the body broke")),
    Reply(returns={"content": [text(" one "), text(""), text("two")], "details": {"deep": {"n": 1}}}),
    Reply(returns={"content": [text("seen"), PICTURE], "details": {"w": 2}}),
    Reply(returns=text_result("not so well", isError=True)),
    Reply(returns=text_result("maybe", terminate="yes")),
    Reply(throws=error("")),
    Reply(throws=error("das \u201eGer\u00e4t\u201c fehlt \U0001f300")),
    Reply(throws="words"),
    Reply(returns={"content": []}),
    Reply(returns=text_result("changed"), ops=[Op(op="set", path=["s"], value="by the body")]),
    Reply(returns=text_result("early"), late_updates=[text_result("late")]),
    Reply(returns=text_result("slow"), delay_ms=1),
    Reply(returns={"content": [text("odd")], "details": {"$": "bigint", "digits": "7"}}),
    Reply(returns={"content": [{"type": "sound"}, text("odd")]}),
    Reply(returns={"content": [text("listed")], "details": [1, "two"]}),
    Reply(throws=None),
    Reply(),
    Reply(returns="words"),
)
"""What the body of a package's tool may do."""

WORDED: tuple[Reply, ...] = (
    *(Reply(returns=text_result(words)) for words in WORDS),
    Reply(returns={"content": [text("same"), text("same"), text("other"), text("same")]}),
    Reply(returns={"content": [text("none")], "details": 0}),
    Reply(returns={"content": [text("none")], "details": ""}),
    Reply(returns={"content": [text("deep")], "details": {"a": None, "b": [], "o": {"o": {"o": {"o": {"o": 1}}}}}}),
    Reply(returns={"details": {"why": "no content"}}),
    Reply(returns={"content": [], "details": {"why": "an empty one"}}),
    Reply(returns={"terminate": True}),
    Reply(returns={"content": [{"type": "text", "text": HALF}], "details": {"half": HALF}}),
    Reply(returns={"content": [text("well")], "details": {"error": "none", "isError": True}}),
    Reply(returns={"content": [text(f"block {number}") for number in range(24)]}),
    Reply(returns={"content": [text("named")], "details": {"toString": 1, "__proto__": 2, "$1": "$&"}}),
    Reply(throws=error(DENSE.strip())),
    Reply(throws=error("Error: twice")),
    Reply(throws={"terminate": True, "message": "thrown, and no more"}),
    Reply(throws={"$": "error", "name": "AbortError", "message": "one\r\ntwo"}),
)
"""What the body of a package's tool may say."""

LONG: tuple[Reply, ...] = (
    Reply(returns=text_result("at length: " + "word " * 2_400)),
    Reply(returns={"content": [{"type": "text", "text": {"$": "repeat", "text": "words ", "times": 34_000}}]}),
    Reply(returns={"content": [{"type": "text", "text": {"$": "repeat", "text": "word ", "times": 14_000}}]}),
    Reply(throws={"$": "error", "name": "Error", "message": "at length: " + "why " * 200}),
    Reply(returns=text_result("short")),
)

SLOW: tuple[Reply, ...] = (
    Reply(returns=text_result("a little later", details={"k": 1}), delay_ms=1),
    Reply(returns=text_result("later", details={"k": 2}), delay_ms=3),
    Reply(returns=text_result("soon", details={"k": 3})),
    Reply(throws=error("it broke, and not at once"), delay_ms=2),
    Reply(returns=text_result("last, and no more", terminate=True), delay_ms=2),
    Reply(returns=text_result("after a long while"), delay_ms=1_200),
)
"""What the body of a package's tool may do while others are at work."""
