"""What a handler of ``tool_call`` does."""

from __future__ import annotations

from conformance.drivers.protocol import Op, Reply
from conformance.peer import error
from conformance.programs.pools import calls
from conformance.programs.pools.blocks import DENSE, WORDS, text

ANY: tuple[Reply, ...] = (
    Reply(),
    Reply(returns={"block": True, "reason": "not today"}),
    Reply(returns={"block": True, "reason": "not today", "terminate": True}),
    Reply(ops=[Op(op="set", path=["input", "s"], value="changed")]),
    Reply(throws=error("the gate broke")),
    Reply(returns={"block": True}),
    Reply(returns={"block": False, "reason": "unused"}),
    Reply(ops=[Op(op="assign", path=["input"], value={"s": "assigned"})]),
    Reply(ops=[Op(op="delete", path=["input", "s"])]),
    Reply(ops=[Op(op="set", path=["input", "more"], value={"deep": [1]}, at="enter")]),
    Reply(ops=[Op(op="set", path=["input", "s"], value="late", at="after-return")]),
    Reply(returns={"block": 1, "reason": ""}),
    Reply(returns={"block": True, "reason": "because", "terminate": "yes"}),
    Reply(returns=None),
    Reply(returns="words"),
    Reply(throws="words"),
    Reply(returns={"input": {"s": "returned"}}),
    Reply(returns={"reason": "unused"}),
    Reply(returns={"terminate": True}),
    Reply(returns={"block": True, "reason": "changed, too"}, ops=[Op(op="set", path=["input", "s"], value="changed")]),
    Reply(ops=[Op(op="set", path=["input", "none"], value={"$": "undefined"})]),
    Reply(ops=[Op(op="set", path=["toolName"], value="renamed")]),
    Reply(delay_ms=1),
    Reply(returns={"block": True, "reason": "not today\nnor tomorrow", "content": [text("from the block")]}),
    Reply(ops=[Op(op="set", path=["input", "s"], value=" WORD ")]),
    Reply(returns={"block": True, "reason": "after a while"}, delay_ms=1_200),
    Reply(returns={"block": True, "reason": "n\u00e4chste Woche \u2014 " + "vielleicht " * 60}),
    Reply(ops=[Op(op="set", path=["input", "s"], value="after a while")], delay_ms=1),
)
"""What a ``tool_call`` handler may do."""

ODD: tuple[Reply, ...] = (
    Reply(returns={"block": [], "reason": "an empty list is true"}),
    Reply(returns={"block": {}}),
    Reply(returns={"block": True, "reason": 7}),
    Reply(returns={"block": True, "reason": {"why": ["not today"]}}),
    Reply(returns={"block": True, "terminate": True}),
    Reply(throws=""),
    Reply(throws={"terminate": True, "block": False}),
    Reply(throws=error("the gate broke: here: and there")),
)
"""What a ``tool_call`` handler may do that is easily read amiss."""

WORDED: tuple[Reply, ...] = (
    *(Reply(returns={"block": True, "reason": words}) for words in ("0", "false", "null", " ", "undefined", *WORDS)),
    Reply(returns={"block": True, "reason": None, "terminate": True}),
    Reply(returns={"block": True, "reason": ""}),
    Reply(returns={"block": "no", "reason": "a text is true", "terminate": True}),
    Reply(returns={"block": 1, "reason": "one is true", "terminate": True}),
    Reply(throws=error(DENSE.strip())),
)
"""What a ``tool_call`` handler may say."""

STOPPING: tuple[Reply, ...] = (
    ODD[4],
    ODD[6],
    ANY[1],
    ANY[3],
    Reply(
        returns={"block": True, "reason": "changed, and no more", "terminate": True},
        ops=[Op(op="set", path=["input", "s"], value="changed")],
    ),
)
"""What a ``tool_call`` handler may do about the end of the loop, beside the plain block with ``terminate``."""

RESTORING: tuple[Reply, ...] = (
    Reply(ops=[Op(op="set", path=["input", "s"], value="x")]),
    Reply(ops=[Op(op="assign", path=["input"], value={"s": "x"})]),
    Reply(ops=[Op(op="assign", path=["input"], value={})]),
    Reply(ops=[Op(op="set", path=["input", "s"], value=" X")]),
    Reply(ops=[Op(op="delete", path=["input", "s"]), Op(op="set", path=["input", "s"], value="word")]),
    Reply(ops=[Op(op="set", path=["input", "n"], value="3")]),
    Reply(ops=[Op(op="set", path=["input", "n"], value=3)]),
    Reply(ops=[Op(op="set", path=["input", "s"], value=7)]),
)
"""What a ``tool_call`` handler may do that makes arguments of :data:`ARGUMENTS` what they were, or nearly so."""

LONG = (Reply(returns={"block": True, "reason": "at length: " + "no " * 1_700}),)

FAR: tuple[Reply, ...] = (
    Reply(),
    Reply(ops=[Op(op="set", path=["input", "o", "o", "o", "o", "o", "n"], value=4)]),
    Reply(ops=[Op(op="delete", path=["input", "o", "o", "o", "o", "o", "s"])]),
    Reply(ops=[Op(op="set", path=["input", "a", 120], value="120")]),
    Reply(ops=[Op(op="append", path=["input", "a"], value=130)]),
    Reply(ops=[Op(op="set", path=["input", "s"], value=f"{calls.LONG_TEXT}x")]),
    Reply(ops=[Op(op="set", path=["input", "s"], value=calls.LONG_TEXT)]),
    Reply(ops=[Op(op="set", path=["input", "k", 1, "k"], value=0)]),
    Reply(ops=[Op(op="set", path=["input", "k"], value=[1, {}])]),
)
"""What a ``tool_call`` handler may change there."""
