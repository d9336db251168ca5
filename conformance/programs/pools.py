"""What programs are made of: few names, so that things meet, and the odd values that have told bridges apart."""

from __future__ import annotations

from typing import Any

from conformance.drivers.protocol import ModelAnswer, NativeAnswer, Op, Reply, ToolCall, ToolSpec
from conformance.peer import error, text_result
from conformance.plan import MAIN

PACKAGES = ("alphabet", "alpha", "gamma")
"""One name begins with another: what belongs to a package is told by the whole of it. They are in no order."""
AGENTS = (MAIN, "other")
OWN = ("stow", "fetch", "weigh")
"""Names of packages' tools. Two packages may take one name."""
NATIVE = ("look", "probe")
NOBODYS = "ghost"

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg=="
PICTURE = {"type": "image", "mimeType": "image/png", "data": PNG}
OTHER_PICTURE = PICTURE | {
    "data": "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR42mM4IWcDQQxwFgBHVAbNxIeY8QAAAABJRU5ErkJggg=="
}

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


def _object(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {}), **more}


def _nested(depth: int, inmost: dict[str, Any]) -> dict[str, Any]:
    return _object({"o": _nested(depth - 1, inmost)}) if depth else inmost


SCHEMAS: tuple[Any, ...] = (
    _object({}),
    _object({"s": {"type": "string"}, "n": {"type": "number"}}, "s"),
    _object({"s": {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"}, "n": {"type": "integer"}}, "n"),
    _object({"s": {"anyOf": [{"type": "number"}, {"type": "string"}], "description": "either"}}, "s"),
    _object({"s": {"enum": ["x", "y", {"deep": 1}]}, "n": {"type": "number", "minimum": 0, "default": 3}}),
    _object({"o": _object({"n": {"type": "integer"}}, "n"), "a": {"type": "array", "items": {"type": "string"}}}),
    _object({"s": {"type": "string"}}, additionalProperties=False),
    _object(
        {
            "s": {"type": "string", "anyOf": [{"minLength": 2}, {"const": "x"}]},
            "a": {"type": "array", "items": [{"type": "number"}, {"type": "string"}]},
        }
    ),
    {"type": "string"},
    None,
    _object({"s": {"type": "string"}, "n": {"type": "number"}}, "s", "n"),
    _object(
        {"s": {"type": "string"}, "n": {"type": "number"}}, **{"if": {"required": ["n"]}, "then": {"required": ["s"]}}
    ),
    _object(
        {"s": {"$ref": "#/$defs/words", "minLength": 2}},
        **{"$defs": {"words": {"type": "string", "description": "any words"}}},
    ),
    _object({"s": {"type": "string", "description": "at length: " + "word " * 500}}, "s"),
    _object({"s": {"type": "string", "description": "f\u00fcr alle \u2014 \U0001f300", "examples": ["\u00e9"]}}),
    _object(
        {"s": {"type": "string"}}, additionalProperties={"type": "number"}, patternProperties={"^a": {"type": "array"}}
    ),
    _object({"a": {"type": "array", "items": [{"type": "number"}, {"type": "string"}], "additionalItems": False}}),
    _object(
        {
            "title": {"type": "string", "default": "", "format": "email"},
            "gr\u00f6\u00dfe": {"type": ["number", "boolean"]},
            "n": {"$anchor": "count", "type": "integer"},
            "a": {"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "string"}},
        }
    ),
    _object({"o": _object({"o": _object({"o": _object({"n": {"type": "integer"}, "s": {"const": "x"}}, "n")})})}),
    _object({f"p{number}": {"type": "string"} for number in range(60)} | {"s": {"type": "string", "pattern": "or"}}),
    _object({"s": True, "z": False, "n": {"oneOf": [{"type": "boolean"}, {"type": "number"}, {"type": "string"}]}}),
    _object({"a": {"contains": {"type": "string"}}}, allOf=[_object({"s": {}})], unevaluatedProperties=False),
    _object({"s": {"anyOf": [{"type": "boolean"}, {"type": "integer"}, {"type": "string"}]}, "n": {"minimum": 3}}),
    _object({"a": {"type": "array", "contains": {"type": "string"}, "minContains": 2, "maxContains": 3}}),
    _nested(6, _object({"n": {"type": "integer"}, "s": {"const": "x"}}, "n")),
    _object({"s": {"$ref": "#words"}}, **{"$defs": {"words": {"$anchor": "words", "type": "string", "minLength": 2}}}),
    _object({"s": {"type": "string"}}, "s", title="of one title"),
    _object({"n": {"type": "number"}}, "n", title="of one title"),
    _object({"s": {"type": "string"}}, "s", **{"$id": "urn:of:one:id"}),
    _object({"n": {"type": "number"}}, "n", **{"$id": "urn:of:one:id"}),
)
"""Schemas that fit :data:`ARGUMENTS` now and then."""
NATIVE_SCHEMA = _object({"s": {"description": "what to look for"}})
"""What a native tool may say of its arguments; it refuses none."""
ALIKE = (26, 27, 28, 29)
"""Those that have the title or the name of another one."""

ARGUMENTS = (
    "{}",
    '{"s":"x"}',
    '{"s":"word"}',
    '{"n":3}',
    '{"s":"7"}',
    '{"s":"word","n":7}',
    '{"s":"7","n":"7"}',
    '{"n":2.5,"s":true}',
    '{"s":null,"n":null}',
    '{"o":{"n":"4"},"a":[1,"b"]}',
    '{"s":"word","n":1,"more":{"deep":[1,null]}}',
    '{"a":["1","2"],"s":{"deep":1},"n":-1}',
    '[{"s":"x"}]',
    '"words"',
    '{"s":" W\u00f6rd ","n":7.0,"a":[2,1,true]}',
    "null",
    "not json",
    "",
    '{"s":"word","n":1e999}',
    '{"s":"{\\"deep\\":1}","n":"[1]"}',
    '{"s":"\u201ew\u00f6rtlich\u201c \U0001f300\\n","n":0}',
    '{"constructor":"x","s":"toString"}',
    '{"s":"word","a":7,"z":"7"}',
    '{"o":{"o":{"o":{"n":"4","s":"x"}}}}',
    '{"a":["x","y","z","w"],"gr\u00f6\u00dfe":"7"}',
    '{"title":"","a":[],"o":{}}',
    '{"a":[1,2,3],"n":"true"}',
    '{"o":{"o":{"o":{"o":{"o":{"o":{"n":"4","s":"x"}}}}}}}',
    '{"a":["x","y","z"],"title":"a@b.org"}',
    '{"s":"at length: ' + "word " * 60 + '","n":"many"}',
    '{"a":["x",1,{"k":1}],"s":"true"}',
    '{"a":["x"],"s":false}',
    '{"s":"one\\r\\ntwo $1 $& $$","n":"[1]"}',
    '{"s":"half \\ud83c of it","more":{"s":"\\u0000"}}',
)
"""Argument texts as a model may write them."""

TELLING: dict[int, tuple[int, ...]] = {
    1: (0, 1, 6, 7, 29),
    2: (1, 5, 6, 29),
    3: (4, 7, 11),
    4: (1, 4, 11, 6),
    5: (9, 23, 24),
    6: (1, 5, 7),
    7: (1, 2, 9, 14),
    10: (0, 2, 3, 5, 6, 29),
    11: (3, 5, 0),
    12: (1, 2, 7),
    13: (0, 2, 7),
    14: (0, 2, 7, 20),
    15: (6, 22, 10),
    16: (9, 14, 24),
    17: (24, 25, 26, 28),
    18: (23, 27, 9),
    19: (2, 1, 7),
    20: (6, 22, 7, 26, 19),
    21: (24, 26, 10, 1),
    22: (2, 4, 7, 30, 31),
    23: (24, 28, 30, 31, 26),
    24: (27, 23, 0),
    25: (1, 2, 7),
    26: (0, 1, 3, 6),
    27: (0, 1, 3, 6),
    28: (0, 1, 3, 6),
    29: (0, 1, 3, 6),
}
"""Which of the :data:`ARGUMENTS` tell most of how a schema is read, by the schema's number."""

PREPARES: tuple[Reply, ...] = (
    Reply(ops=[Op(op="set", path=["s"], value="prepared", at="enter")]),
    Reply(returns={"s": "other", "n": "5"}),
    Reply(throws=error("cannot be prepared")),
    Reply(returns="words"),
)


def tool_spec(name: str, schema: Any, kind: int) -> ToolSpec:
    """Return a registration; ``kind`` picks what is special about it, 0 nothing."""
    fields: dict[str, Any] = {"name": name, "label": name, "description": f"the tool {name}", "parameters": schema}
    if kind == 1:
        fields |= {"prompt_snippet": f"use {name} well", "prompt_guidelines": [f"{name} comes first"]}
    elif kind == 2:
        fields |= {"execution_mode": "sequential"}
    elif kind == 3:
        fields |= {"description": f"another {name}", "tag": "second"}
    elif 4 <= kind < 4 + len(PREPARES):
        fields |= {"prepare": PREPARES[kind - 4]}
    elif kind == 4 + len(PREPARES):
        del fields["label"]
        fields |= {"executes": False, "description": f"the tool {name}, at length: " + "word " * 400}
    elif kind == 5 + len(PREPARES):
        fields |= {"description": ""}
    elif kind == 7 + len(PREPARES):
        lines = [f"{name} \u2014 erst nach R\u00fcckfrage", " ", f"never {name} twice"]
        fields |= {"prompt_snippet": f"what {name} does\nand why", "prompt_guidelines": lines}
    elif kind == 8 + len(PREPARES):
        fields |= {
            "prompt_snippet": f"use {name} with care, " + "and then again with care, " * 6 + "and so on",
            "prompt_guidelines": [],
        }
    elif kind == 9 + len(PREPARES):
        fields |= {"tag": "again"}
    elif kind == 10 + len(PREPARES):
        fields |= {
            "description": "a tool",
            "prompt_guidelines": [f"hands off {name}", f"Hands off {name}", f"- {name} last"],
        }
    elif kind == 11 + len(PREPARES):
        lines = [f"{name}: {line}" for line in ("$1", "$& and $$", "100 %s", "\\n", "{name}", "so on")]
        fields |= {
            "description": f"{name} costs $1, $& and $$",
            "prompt_snippet": f"{name} pays $& $1",
            "prompt_guidelines": lines,
        }
    elif kind == 6 + len(PREPARES):
        fields |= {"execution_mode": "parallel", "description": f"the tool {name}\n\n- in two parts: \u00e9, e\u0301"}
    return ToolSpec(**fields)


TOOL_KINDS = 12 + len(PREPARES)

ODD = ("gr\u00f6\u00dfe", "cafe\u0301", "constructor", "Stow", "at_length_" + "of_a_name_" * 9)
"""Names of tools that a bridge may find odd."""

IDS = (
    ("1", "2", "3", "4", "5"),
    ("c", "C", "c1", "C1", "c-1"),
    ("1", "01", "1.0", "+1", "10"),
    ("toString", "constructor", "length", "__proto__", "valueOf"),
    ("1", "1", "2", "2", "1"),
)
"""Ids of the calls of a message; of all but the first some are easily taken for others, or for something else."""
ALIKE_GROUPS = (
    ("stow", "Stow"),
    ("stow", "stow_", "stow-"),
    ("caf\u00e9", "cafe\u0301"),
    ("stow", "stow2"),
    ("a_name_of_many_words", "a-name-of-many-words", "aNameOfManyWords"),
)
"""Names of tools that differ in one sign, in the case of a letter, or in how one is written."""
ALIKE_LISTS: tuple[Any, ...] = (
    ["stow", "run_code"],
    ["stow"],
    ["Stow", "look"],
    ["stow*", "look"],
    ["*"],
    ["caf\u00e9", "look"],
    ["stow", "stow_", "look"],
    [" stow", "LOOK"],
    ["", "stow-"],
)
"""Lists of such names; some hold what is no name at all."""

TAKEN: tuple[Any, ...] = ("stow", "stow", "stow", "stow", "fetch", "fetch", "look", "look", " stow", 7, "")
"""Arguments of ``unregisterTool``."""

GATES: tuple[Reply, ...] = (
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

ODD_GATES: tuple[Reply, ...] = (
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

_DENSE = "Error: costs $1, $& and $$, 100 %s, {name}\r\n<b>a\u0000b</b> &amp; **cafe\u0301** \U0001f300\r\n \n"
_WORDS = ("same", _DENSE, '{"ok":[true]}', "Error: all is well")
"""Texts that are easily taken for something else, or changed on the way."""
_HALF = {"$": "escaped", "text": "half \\ud83c of it"}

WORDED_GATES: tuple[Reply, ...] = (
    *(Reply(returns={"block": True, "reason": words}) for words in ("0", "false", "null", " ", "undefined", *_WORDS)),
    Reply(returns={"block": True, "reason": None, "terminate": True}),
    Reply(returns={"block": True, "reason": ""}),
    Reply(returns={"block": "no", "reason": "a text is true", "terminate": True}),
    Reply(returns={"block": 1, "reason": "one is true", "terminate": True}),
    Reply(throws=error(_DENSE.strip())),
)
"""What a ``tool_call`` handler may say."""

STOPPING_GATES: tuple[Reply, ...] = (
    ODD_GATES[4],
    ODD_GATES[6],
    GATES[1],
    GATES[3],
    Reply(
        returns={"block": True, "reason": "changed, and no more", "terminate": True},
        ops=[Op(op="set", path=["input", "s"], value="changed")],
    ),
)
"""What a ``tool_call`` handler may do about the end of the loop, beside the plain block with ``terminate``."""

RESTORING_GATES: tuple[Reply, ...] = (
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

RESULTS: tuple[Reply, ...] = (
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

ODD_RESULTS: tuple[Reply, ...] = (
    Reply(returns={"content": [text("")]}),
    Reply(returns={"content": [text("  "), text("caf\u00e9, cafe\u0301")]}),
    Reply(returns={"content": [PICTURE, PICTURE]}),
    Reply(returns={"content": [text("it failed, and")], "isError": True}),
    Reply(returns={"isError": 1}),
    Reply(ops=[Op(op="set", path=["content", 0], value=text("another in its place"))]),
    Reply(throws=""),
)
"""What a ``tool_result`` handler may do that is easily read amiss."""

STOPPING_RESULTS: tuple[Reply, ...] = (
    RESULTS[15],
    RESULTS[16],
    Reply(returns={"content": [text("and no more")], "terminate": True}),
    Reply(returns={"content": [text("patched")], "details": {"patched": True}, "isError": False}),
)
"""What a ``tool_result`` handler may do about the end of the loop, beside patching anything else."""

WORDED_RESULTS: tuple[Reply, ...] = (
    *(Reply(returns={"content": [text(words)]}) for words in _WORDS),
    Reply(returns={"content": [text("same"), text("same")]}),
    Reply(returns={"content": [text("apart"), text("\n"), text("again")], "details": 0}),
    Reply(returns={"content": [{"type": "text", "text": _HALF}]}),
    Reply(returns={"details": {"a": None, "b": [], "c": {}, "d": 0}}),
    Reply(returns={"content": [], "isError": True}),
    Reply(returns={"content": [text(_DENSE)], "isError": False}),
    Reply(throws=error(_DENSE.strip())),
    Reply(ops=[Op(op="append", path=["content"], value=text("same"))]),
    Reply(ops=[Op(op="delete", path=["content", 0])]),
)
"""What a ``tool_result`` handler may say."""

WATCHES: tuple[Reply, ...] = (
    Reply(),
    Reply(throws=error("the watcher broke")),
    Reply(returns={"block": True, "reason": "unasked", "isError": True, "content": [text("unasked")]}),
    Reply(ops=[Op(op="set", path=["args", "s"], value="watched")]),
    Reply(ops=[Op(op="set", path=["result", "content", 0, "text"], value="watched")]),
    Reply(ops=[Op(op="assign", path=["args"], value={"s": "watched"})]),
    Reply(delay_ms=1),
    Reply(throws="the watcher fell over"),
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

ODD_BODIES: tuple[Reply, ...] = (
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

PICTURED_BODIES: tuple[Reply, ...] = (
    Reply(returns={"content": [PICTURE, OTHER_PICTURE, PICTURE, OTHER_PICTURE, text("five"), OTHER_PICTURE]}),
    Reply(returns={"content": [PICTURE, text("and"), OTHER_PICTURE]}),
    Reply(returns={"content": [text("another"), OTHER_PICTURE]}),
    ODD_BODIES[-3],
    ODD_BODIES[-1],
)
"""What the body of a package's tool may do with pictures."""

BODIES: tuple[Reply, ...] = (
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

WORDED_BODIES: tuple[Reply, ...] = (
    *(Reply(returns=text_result(words)) for words in _WORDS),
    Reply(returns={"content": [text("same"), text("same"), text("other"), text("same")]}),
    Reply(returns={"content": [text("none")], "details": 0}),
    Reply(returns={"content": [text("none")], "details": ""}),
    Reply(returns={"content": [text("deep")], "details": {"a": None, "b": [], "o": {"o": {"o": {"o": {"o": 1}}}}}}),
    Reply(returns={"details": {"why": "no content"}}),
    Reply(returns={"content": [], "details": {"why": "an empty one"}}),
    Reply(returns={"terminate": True}),
    Reply(returns={"content": [{"type": "text", "text": _HALF}], "details": {"half": _HALF}}),
    Reply(returns={"content": [text("named")], "details": {"toString": 1, "__proto__": 2, "$1": "$&"}}),
    Reply(throws=error(_DENSE.strip())),
    Reply(throws=error("Error: twice")),
    Reply(throws={"terminate": True, "message": "thrown, and no more"}),
    Reply(throws={"$": "error", "name": "AbortError", "message": "one\r\ntwo"}),
)
"""What the body of a package's tool may say."""

LONG_BODIES: tuple[Reply, ...] = (
    Reply(returns=text_result("at length: " + "word " * 2_400)),
    Reply(returns={"content": [{"type": "text", "text": {"$": "repeat", "text": "words ", "times": 34_000}}]}),
    Reply(returns={"content": [{"type": "text", "text": {"$": "repeat", "text": "word ", "times": 14_000}}]}),
    Reply(throws={"$": "error", "name": "Error", "message": "at length: " + "why " * 200}),
    Reply(returns=text_result("short")),
)
LONG_ARGUMENTS = ('{"s":"' + "word " * 13_200 + '"}', '{"s":"word"}')
"""Longer than what a bridge may think long enough; and shorter, for what is kept of the longer."""

LONG_GATES = (Reply(returns={"block": True, "reason": "at length: " + "no " * 1_700}),)
LONG_RESULTS = (
    Reply(returns={"content": [text("at length: " + "word " * 2_400), text("and more")]}),
    Reply(returns={"content": [text("short")], "details": {"long": "word " * 2_400}}),
)
LONG_UPDATES = (text_result("at length: " + "word " * 2_400), text_result("short"))

_LONG = "word " * 2_100
_DEEP = '"o":{"o":{"o":{"o":{"o":{"n":"4","s":"x"}}}}},"k":[1,{"k":null}]'
_FAR = f'{_DEEP},"a":[{",".join(map(str, range(130)))}]'
FAR_ARGUMENTS = (f'{{{_FAR},"s":"{_LONG}"}}', f'{{{_FAR},"s":"x"}}')
"""Values of which something is deep inside, or far from the beginning."""
FAR_GATES: tuple[Reply, ...] = (
    Reply(),
    Reply(ops=[Op(op="set", path=["input", "o", "o", "o", "o", "o", "n"], value=4)]),
    Reply(ops=[Op(op="delete", path=["input", "o", "o", "o", "o", "o", "s"])]),
    Reply(ops=[Op(op="set", path=["input", "a", 120], value="120")]),
    Reply(ops=[Op(op="append", path=["input", "a"], value=130)]),
    Reply(ops=[Op(op="set", path=["input", "s"], value=f"{_LONG}x")]),
    Reply(ops=[Op(op="set", path=["input", "s"], value=_LONG)]),
    Reply(ops=[Op(op="set", path=["input", "k", 1, "k"], value=0)]),
    Reply(ops=[Op(op="set", path=["input", "k"], value=[1, {}])]),
)
"""What a ``tool_call`` handler may change there."""

PICTURED_NATIVES: tuple[NativeAnswer, ...] = (
    NativeAnswer(content=[text("looked"), NATIVE_PICTURES[0]]),
    NativeAnswer(content=[*NATIVE_PICTURES, text("seen")]),
)
WORDED_NATIVES: tuple[NativeAnswer, ...] = (
    *(NativeAnswer(text=words) for words in _WORDS),
    NativeAnswer(content=[text("same"), text("same")]),
    NativeAnswer(throws=error(_DENSE.strip())),
    NativeAnswer(throws="words"),
)
"""What the body of a native tool may say."""

NATIVE_BODIES: tuple[NativeAnswer, ...] = (
    NativeAnswer(text="looked"),
    NativeAnswer(throws=error("nothing there")),
    NativeAnswer(content=[text("one"), text("two")]),
    NativeAnswer(text="enough", conclude=True),
    NativeAnswer(text="more", defer="by the way"),
    NativeAnswer(text=""),
)
"""What the body of a native tool may do."""

LISTS: tuple[Any, ...] = (
    [],
    ["stow"],
    ["look"],
    ["stow", "look"],
    ["fetch", "probe", "ghost"],
    ["stow", "stow", "look"],
    ["look", "run_code", "own_probe"],
    [" look"],
    ["stow", "fetch", "look", "probe"],
    ["stow", "fetch", "look", "probe", "run_code", "own_probe"],
    "stow",
    None,
)
"""Arguments of ``setActiveTools``."""

ODD_ID = "call/\u00e9:"
LONG_ID = "call_" + "0123456789" * 9
"""Ids may be long; what is cut off may be what tells them apart."""

FINISHES: tuple[Any, ...] = (*[None] * 24, "length", "error", "stop")
"""How messages end; mostly as their calls say."""


def message(calls: list[tuple[str, str, str]], finish: Any = None) -> ModelAnswer:
    """Return an assistant message of calls (id, tool, argument text)."""
    return ModelAnswer(calls=[ToolCall(id=id, name=name, arguments=args) for id, name, args in calls], finish=finish)
