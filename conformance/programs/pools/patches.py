"""What a handler of ``tool_result`` does."""

from __future__ import annotations

from conformance.drivers.protocol import Op, Reply
from conformance.peer import error
from conformance.programs.pools.blocks import DENSE, HALF, PICTURE, WORDS, text

ANY: tuple[Reply, ...] = (
    Reply(),
    Reply(returns={"content": [text("patched")]}),
    Reply(returns={"isError": True}),
    Reply(returns={"content": [text("all is well")], "isError": False}),
    Reply(returns={"isError": False}),
    Reply(returns={"details": {"patched": True}}),
    Reply(throws=error("the patch broke")),
    Reply(returns={"content": [text("failed"), text(" twice")], "isError": True, "details": {"k": 1}}),
    Reply(returns={"content": []}),
    Reply(returns={"content": None, "isError": None}),
    Reply(returns={"content": [PICTURE, text("seen")]}),
    Reply(ops=[Op(op="set", path=["content", 0, "text"], value="in place")]),
    Reply(ops=[Op(op="append", path=["content"], value=text("appended"))], returns={"details": {}}),
    Reply(ops=[Op(op="assign", path=["isError"], value=True)]),
    Reply(returns={"content": "words"}),
    Reply(returns={"terminate": True}),
    Reply(returns={"terminate": False}),
    Reply(returns=None),
    Reply(ops=[Op(op="set", path=["input", "s"], value="seen")]),
    Reply(delay_ms=1),
    Reply(throws="the patch fell over"),
    Reply(returns={"content": [text("patched after a while")]}, delay_ms=1_200),
    Reply(returns={"content": [text("one line\nand another"), text("")], "details": None}),
    Reply(returns={"content": [text("only seen")], "toolName": "other", "input": {"s": "unasked"}}),
    Reply(ops=[Op(op="assign", path=["content"], value=[text("assigned")])]),
)
"""What a ``tool_result`` handler may do."""

ODD: tuple[Reply, ...] = (
    Reply(returns={"content": [text("")]}),
    Reply(returns={"content": [text("  "), text("caf\u00e9, cafe\u0301")]}),
    Reply(returns={"content": [PICTURE, PICTURE]}),
    Reply(returns={"content": [text("it failed, and")], "isError": True}),
    Reply(returns={"isError": 1}),
    Reply(ops=[Op(op="set", path=["content", 0], value=text("another in its place"))]),
    Reply(throws=""),
)
"""What a ``tool_result`` handler may do that is easily read amiss."""

STOPPING: tuple[Reply, ...] = (
    ANY[15],
    ANY[16],
    Reply(returns={"content": [text("and no more")], "terminate": True}),
    Reply(returns={"content": [text("patched")], "details": {"patched": True}, "isError": False}),
)
"""What a ``tool_result`` handler may do about the end of the loop, beside patching anything else."""

WORDED: tuple[Reply, ...] = (
    *(Reply(returns={"content": [text(words)]}) for words in WORDS),
    Reply(returns={"content": [text("same"), text("same")]}),
    Reply(returns={"content": [text("apart"), text("\n"), text("again")], "details": 0}),
    Reply(returns={"content": [{"type": "text", "text": HALF}]}),
    Reply(returns={"details": {"a": None, "b": [], "c": {}, "d": 0}}),
    Reply(returns={"content": [], "isError": True}),
    Reply(returns={"content": [text(DENSE)], "isError": False}),
    Reply(throws=error(DENSE.strip())),
    Reply(ops=[Op(op="append", path=["content"], value=text("same"))]),
    Reply(ops=[Op(op="delete", path=["content", 0])]),
)
"""What a ``tool_result`` handler may say."""

LONG = (
    Reply(returns={"content": [text("at length: " + "word " * 2_400), text("and more")]}),
    Reply(returns={"content": [text("short")], "details": {"long": "word " * 2_400}}),
)
