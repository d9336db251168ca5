"""The protocol for people and for machines, both from the JSON Schemas of its messages."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from conformance.drivers import capabilities, protocol
from conformance.drivers.envelope import INTERNAL, INVALID_PARAMS, INVALID_REQUEST, UNKNOWN_METHOD
from conformance.drivers.protocol import ADAPTER_ASKS, NOTES, SUITE_ASKS, UNSUPPORTED, Message

PARTS: Mapping[str, tuple[str, Mapping[str, type[Message]]]] = {
    "What the suite asks": ("Requests that an implementation answers.", SUITE_ASKS),
    "What an implementation asks": ("Requests that the suite answers, while a stage is open.", ADAPTER_ASKS),
    "What an implementation notes": ("Notifications: there is no answer.", NOTES),
}
HEAD = """\
# The protocol

This page is written by `bridge-conformance spec protocol --write` from the JSON Schemas of the messages, which
`bridge-conformance spec protocol --json` prints. How to begin is in [writing-a-driver.md](writing-a-driver.md).

A message is a JSON-RPC 2.0 object on a line of its own, in UTF-8, over standard input and output.
Either side asks the other, and many requests are open at once.
Each message of an implementation also carries `seq`, an integer that rises from message to message.
A field that is not required may be left out and then has its default; a field that is not named here is refused.
"""


def schemas() -> dict[str, Any]:
    """Return one JSON Schema document: ``$defs`` holds every type, ``methods`` the parameters and result of each."""
    messages = [message for _, known in PARTS.values() for message in known.values()]
    types = list(dict.fromkeys(kind for message in messages for kind in (message, message.Result)))
    references, components = msgspec.json.schema_components(types)
    of = dict(zip(types, references, strict=True))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"The protocol of pi-bridge-conformance, version {protocol.PROTOCOL_VERSION}",
        "methods": {message.method: {"params": of[message], "result": of[message.Result]} for message in messages},
        "$defs": {name: _spoken(name, schema) for name, schema in sorted(components.items())},
    }


def as_json() -> str:
    """Return :func:`schemas` as text."""
    return json.dumps(schemas(), indent=2, ensure_ascii=False) + "\n"


def as_markdown() -> str:
    """Return the page: every method with its fields, then the values inside of them, then names and codes."""
    return "\n".join(_lines()).rstrip() + "\n"


def _spoken(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with the docstring as a guide's sentences: no markup of the source."""
    return {**schema, "description": _prose(schema["description"])} if "description" in schema else schema


def _prose(text: str) -> str:
    text = re.sub(r":\w+:`~?([\w.]+)`", lambda found: f"`{found[1].rpartition('.')[2]}`", text)
    return text.replace("``", "`")


def _lines() -> Iterator[str]:
    whole = schemas()
    kinds = whole["$defs"]
    yield HEAD
    shown: set[str] = set()
    for title, (about, known) in PARTS.items():
        yield from (f"## {title}", "", about, "")
        for method, message in known.items():
            shown |= {message.__name__}
            yield from (f"### `{method}`", "", kinds[message.__name__]["description"], "")
            yield from _fields(kinds[message.__name__])
            yield from _result(message, kinds)
    results = {message.Result.__name__ for _, known in PARTS.values() for message in known.values()}
    inside = sorted((set(kinds) | results) - shown - {"Nothing"})
    yield from (
        "## Values inside of messages",
        "",
        _prose(inspect.cleandoc(protocol.__doc__ or "").split("\n\n")[-1]),
        "",
    )
    for name in inside:
        yield from (f"### {name}", "", kinds[name].get("description", ""), "")
        yield from _fields(kinds[name])
    yield from _names()


def _result(message: type[Message], kinds: Mapping[str, Any]) -> Iterator[str]:
    name = message.Result.__name__
    if message.method in NOTES:
        return
    what = "nothing: an empty object" if name == "Nothing" else f"[{name}](#{name.lower()})"
    yield from (f"Answer: {what}.", "")


def _fields(schema: Mapping[str, Any]) -> Iterator[str]:
    fields = schema.get("properties", {})
    if not fields:
        yield from ("It has no fields.", "")
        return
    yield from ("| field | value | default |", "|---|---|---|")
    required = set(schema.get("required", ()))
    for name, field in fields.items():
        default = "required" if name in required else _default(field)
        yield f"| `{name}` | {_type(field)} | {default} |"
    yield ""


def _default(field: Mapping[str, Any]) -> str:
    return f"`{json.dumps(field['default'], ensure_ascii=False)}`" if "default" in field else "absent"


def _type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return _or(_type(each) for each in field["anyOf"])
    if "enum" in field:
        return _or(f"`{json.dumps(value)}`" for value in field["enum"])
    kind = field.get("type")
    if kind == "array":
        return f"list of {_type(field.get('items', {}))}"
    if kind == "object":
        return f"object of {_type(field.get('additionalProperties') or {})}"
    return {None: "any value", "null": "`null`", "string": "text"}.get(kind, str(kind))


def _or(words: Iterable[str]) -> str:
    return " or ".join(words)


def _names() -> Iterator[str]:
    yield from ("## Capabilities", "", "What `initialize` may declare, and rules may need.", "")
    yield from ("| name | an implementation that declares it |", "|---|---|")
    yield from (f"| `{name}` | {text} |" for name, text in capabilities.CAPABILITIES.items())
    yield from ("", "## Errors", "", "| code | when |", "|---|---|")
    codes = {
        UNSUPPORTED: "the implementation lacks what was asked; `data.capability` names it",
        UNKNOWN_METHOD: "the method is not known: so an older adapter can meet a newer suite",
        INVALID_PARAMS: "the parameters have the wrong shape",
        INVALID_REQUEST: "it was asked while no stage was open",
        INTERNAL: "whoever was asked broke: no verdict is taken. What a package throws is never an error",
    }
    yield from (f"| {code} | {when} |" for code, when in codes.items())
