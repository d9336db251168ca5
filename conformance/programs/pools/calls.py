"""What the model writes: texts of arguments, and messages."""

from __future__ import annotations

from typing import Any

from conformance.drivers.protocol import ModelAnswer, ToolCall

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

LONG_ARGUMENTS = ('{"s":"' + "word " * 13_200 + '"}', '{"s":"word"}')
"""Longer than what a bridge may think long enough; and shorter, for what is kept of the longer."""

LONG_TEXT = "word " * 2_100

_DEEP = '"o":{"o":{"o":{"o":{"o":{"n":"4","s":"x"}}}}},"k":[1,{"k":null}]'

_FAR = f'{_DEEP},"a":[{",".join(map(str, range(130)))}]'

FAR_ARGUMENTS = (f'{{{_FAR},"s":"{LONG_TEXT}"}}', f'{{{_FAR},"s":"x"}}')
"""Values of which something is deep inside, or far from the beginning."""

FINISHES: tuple[Any, ...] = (*[None] * 24, "length", "error", "stop")
"""How messages end; mostly as their calls say."""


def message(calls: list[tuple[str, str, str]], finish: Any = None) -> ModelAnswer:
    """Return an assistant message of calls (id, tool, argument text)."""
    return ModelAnswer(calls=[ToolCall(id=id, name=name, arguments=args) for id, name, args in calls], finish=finish)
