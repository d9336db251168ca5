"""The value codec of the Node adapters: what JSON lacks keeps its meaning both ways."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.drivers.node import find_node

CODEC = Path(__file__).resolve().parents[2] / "conformance" / "adapters" / "lib" / "codec.mjs"


def evaluate(expression: str, wire: Any = None) -> Any:
    """Return what a JavaScript expression over the codec, ``wire`` and ``signal`` gives, as JSON."""
    program = f"""
    import {{ decode, encode, typeName }} from {json.dumps(CODEC.as_uri())};
    const signal = new AbortController().signal;
    const known = new Map([["s", signal], [signal, "s"]]);
    const signals = {{ get: (id) => known.get(id), idOf: (it) => known.get(it) }};
    const wire = JSON.parse({json.dumps(json.dumps(wire))});
    console.log(JSON.stringify({expression}));
    """
    node = str(find_node().program)
    ended = subprocess.run([node, "--input-type=module", "-e", program], capture_output=True, timeout=30, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    return msgspec.json.decode(ended.stdout)


TAGGED = [
    pytest.param({"$": "undefined"}, "undefined", id="undefined"),
    pytest.param({"$": "NaN"}, "NaN", id="nan"),
    pytest.param({"$": "Infinity"}, "Infinity", id="infinity"),
    pytest.param({"$": "-Infinity"}, "-Infinity", id="minus-infinity"),
    pytest.param({"$": "-0"}, "-0", id="minus-zero"),
    pytest.param({"$": "bigint", "digits": "-123456789012345678901"}, "-123456789012345678901n", id="bigint"),
    pytest.param({"$": "function"}, "() => 1", id="function"),
    pytest.param({"$": "symbol"}, "Symbol('x')", id="symbol"),
    pytest.param({"$": "date"}, "new Date()", id="date"),
    pytest.param({"$": "error", "name": "RangeError", "message": "m"}, "new RangeError('m')", id="error"),
    pytest.param(
        {"$": "error", "name": "Odd", "message": "m"}, "Object.assign(new Error('m'), {name: 'Odd'})", id="named-error"
    ),
    pytest.param({"$": "signal", "id": "s"}, "signal", id="signal"),
]


@pytest.mark.parametrize(("wire", "script"), TAGGED)
def test_a_value_json_lacks_is_tagged(wire: Any, script: str) -> None:
    assert evaluate(f"encode([1, {{at: {script}}}], signals)") == [1, {"at": wire}]


@pytest.mark.parametrize("wire", [case.values[0] for case in TAGGED])
def test_a_tag_becomes_the_value_it_names(wire: Any) -> None:
    assert evaluate("encode(decode(wire, signals), signals)", {"at": [wire]}) == {"at": [wire]}


@pytest.mark.parametrize(
    ("wire", "type_name"),
    [
        pytest.param({"$": "undefined"}, "undefined", id="undefined"),
        pytest.param({"$": "bigint", "digits": "1"}, "bigint", id="bigint"),
        pytest.param({"$": "function"}, "function", id="function"),
        pytest.param({"$": "signal", "id": "s"}, "AbortSignal", id="signal"),
        pytest.param({"$": "date"}, "object", id="date"),
        pytest.param(None, "null", id="null"),
        pytest.param([], "array", id="array"),
    ],
)
def test_a_decoded_value_has_its_own_type(wire: Any, type_name: str) -> None:
    assert evaluate("typeName(decode(wire, signals))", wire) == type_name


def test_plain_json_passes_unchanged() -> None:
    plain = {
        "a": [1, -2.5, 1e300, "\u2028 ü 🙂", True, None, {}],
        "__proto__": {"x": 1},
        "$ref": "#",
        "$": "unknown tag",
    }
    assert evaluate("encode(decode(wire))", plain) == plain


def test_decoding_shares_nothing_with_the_wire() -> None:
    assert evaluate("(() => { decode(wire).list.push(2); return wire; })()", {"list": [1]}) == {"list": [1]}


def test_a_key_named_proto_does_not_reach_the_prototype() -> None:
    assert evaluate("[decode(wire).x === undefined, encode(decode(wire))]", {"__proto__": {"x": 1}}) == [
        True,
        {"__proto__": {"x": 1}},
    ]


def test_a_cycle_is_cut_where_it_closes() -> None:
    assert evaluate("(() => { const o = {a: [1]}; o.a.push(o); return encode(o); })()") == {"a": [1, {"$": "cycle"}]}


def test_what_is_only_shared_is_no_cycle() -> None:
    assert evaluate("(() => { const o = {x: 1}; return encode([o, o]); })()") == [{"x": 1}, {"x": 1}]


def test_a_cycle_tag_is_the_object_that_holds_it() -> None:
    assert evaluate(
        "(() => { const o = decode(wire); return o.in.self === o.in; })()", {"in": {"self": {"$": "cycle"}}}
    )


def test_a_repeat_becomes_a_long_text() -> None:
    assert evaluate("decode(wire)", {"$": "repeat", "text": "ab", "times": 3}) == "ababab"


def test_a_text_over_a_mebibyte_is_told_by_its_ends_and_digest() -> None:
    text = "ü" * (1024 * 512) + "!"
    found = evaluate("encode(decode(wire) + '!')", {"$": "repeat", "text": "ü", "times": 1024 * 512})
    assert found["$"] == "text"
    assert found["bytes"] == 1024 * 1024 + 1
    assert found["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert text.startswith(found["head"])
    assert text.endswith(found["tail"])
    assert len(found["head"]) == len(found["tail"]) == 256


def test_a_text_of_a_mebibyte_is_a_text() -> None:
    assert evaluate("encode('x'.repeat(1024 * 1024)).length") == 1024 * 1024


def test_half_a_surrogate_pair_is_escaped_and_comes_back() -> None:
    wire = {"$": "escaped", "text": r"b\"\n\udc00ü"}
    assert evaluate(r"encode('b\"\n\udc00ü')") == wire
    assert evaluate("encode(decode(wire))", wire) == wire
    assert evaluate(r"decode(wire) === 'b\"\n\udc00ü'", wire) is True


def test_half_a_surrogate_pair_in_a_key_becomes_readable() -> None:
    assert evaluate(r"encode({'a\ud800': 1})") == {"a\ufffd": 1}


def test_a_getter_that_throws_gives_what_it_threw() -> None:
    assert evaluate("encode({ get at() { throw new TypeError('stale'); } })") == {
        "at": {"$": "error", "name": "TypeError", "message": "stale"}
    }


def test_a_hole_of_an_array_is_undefined() -> None:
    assert evaluate("encode([1, , 3])") == [1, {"$": "undefined"}, 3]


def test_an_unknown_signal_is_an_error() -> None:
    assert "no signal" in evaluate(
        "(() => { try { decode(wire, signals); } catch (error) { return error.message; } })()",
        {"$": "signal", "id": "t"},
    )
