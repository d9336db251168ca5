"""The protocol's page and its JSON Schemas come from the messages, and say of each what decoding asks of it."""

from __future__ import annotations

import json

import jsonschema
import pytest

from conformance import cli
from conformance.drivers import codec
from conformance.drivers.capabilities import CAPABILITIES
from conformance.drivers.description import as_markdown, schemas
from conformance.drivers.protocol import (
    ADAPTER_ASKS,
    NOTES,
    SUITE_ASKS,
    AgentPrompt,
    Initialize,
    Message,
    NativeSpec,
    PackageHandle,
    PolicySpec,
    StageOpen,
    TraceNote,
)

MESSAGES: list[Message] = [
    Initialize(protocol=1, suite="1"),
    StageOpen(natives=[NativeSpec(name="t", timeout_ms=3)], policies=[PolicySpec(id="p", answer="deny")]),
    AgentPrompt(agent="main", text="go"),
    TraceNote(kind="notice", data={"text": "hello"}),
    PackageHandle(package="p", instance="i", handler="h", event="e", payload={"a": None}, invocation="1"),
]


def of(message: Message) -> jsonschema.Draft202012Validator:
    whole = schemas()
    return jsonschema.Draft202012Validator({"$defs": whole["$defs"], **whole["methods"][message.method]["params"]})


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.method)
def test_a_message_as_it_travels_fits_its_schema(message: Message) -> None:
    of(message).validate(json.loads(codec.encode(message)))


@pytest.mark.parametrize("change", [{"agent": None}, {"agent": 3}, {"more": 1}])
def test_what_decoding_refuses_the_schema_refuses(change: dict[str, object]) -> None:
    wire = {"agent": "main", "text": "go", **change}
    if change == {"agent": None}:
        del wire["agent"]

    assert list(of(AgentPrompt(agent="", text="")).iter_errors(wire))
    with pytest.raises(Exception, match=r"agent|more"):
        codec.decode(json.dumps(wire).encode(), AgentPrompt)


def test_every_method_type_and_capability_is_on_the_page() -> None:
    page, whole = as_markdown(), schemas()

    assert set(whole["methods"]) == {*SUITE_ASKS, *ADAPTER_ASKS, *NOTES}
    assert all(f"### `{method}`\n" in page for method in whole["methods"])
    asked = {message.__name__ for known in (SUITE_ASKS, ADAPTER_ASKS, NOTES) for message in known.values()}
    assert all(f"### {name}\n" in page for name in whole["$defs"] if name not in asked | {"Nothing"})
    assert all(f"| `{name}` | {text} |" in page for name, text in CAPABILITIES.items())
    assert "``" not in page.replace("```", "")


def test_the_command_prints_both_forms(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["spec", "protocol"]) == 0
    assert capsys.readouterr().out == as_markdown()
    assert cli.main(["spec", "protocol", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == schemas()
