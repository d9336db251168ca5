"""Vector rows: a right answer passes, every wrong one is the implementation's, and a broken row is the suite's."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any

import pytest

from conformance.catalogue.model import Rule, Source, VectorRow
from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import HarnessError
from conformance.drivers.reference import make_backend
from conformance.stage import Stage
from conformance.vectors import TOOL, run_vector
from conformance.verdicts import RuleFailed
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.registrations import Registrations

RULE = Rule(
    id="registerTool.example",
    surface="registerTool",
    level="must",
    relation="same",
    text="An example.",
    source=Source("tools", "registertool-pi"),
    evidence=(),
    needs=(),
    kills=(),
    since=1,
    file="spec/example.yaml",
    line=1,
)
WEIGHT = {"type": "object", "properties": {"weight": {"type": "number"}}, "required": ["weight"]}
CODE = {"type": "object", "properties": {"parcel_code": {"type": "string", "minLength": 3}}}
LENGTH = {"schema": CODE, "keyword": "minLength", "path": "/properties/parcel_code"}
TEXT = {"returns": {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "details": {}}}


def run(kind: str, row: dict[str, Any], bridge: type[Bridge] = Bridge) -> None:
    driver = InProcessDriver("reference", lambda suite: make_backend(suite, None, bridge), None)
    with asyncio.Runner() as runner:
        stage = Stage(runner, driver, runner.run(driver.start()))
        try:
            run_vector(stage, RULE, VectorRow("example", kind, row, None, "spec/example.yaml", 1))
        finally:
            stage.close()
            runner.run(driver.close())


def coercion(arguments: str, **answer: Any) -> dict[str, Any]:
    return {"schema": WEIGHT, "arguments": arguments, "answer": answer}


@pytest.mark.parametrize(
    "row",
    [
        coercion('{"weight": "7"}', gives={"weight": 7}),
        coercion('{"weight": "7"}', gives={"weight": 7.0}),
        coercion('{"weight": "7"}', gives_any=[{}, {"weight": 7}]),
        coercion('{"weight": "x"}', gives_any=[{}], rejects=[{"path": "weight"}]),
        coercion('{"weight": "x"}', rejects=[{"path": "weight"}]),
        coercion('{"weight": "x"}', text="must be number"),
    ],
)
def test_arguments_that_are_answered_right_pass(row: dict[str, Any]) -> None:
    run("coercion", row)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (coercion('{"weight": "7"}', gives={"weight": "7"}), 'it ran with {"weight": 7}'),
        (coercion('{"weight": true}', gives={"weight": True}), 'it ran with {"weight": 1}'),
        (coercion('{"weight": "x"}', gives={"weight": "x"}), r"it ran 0 time\(s\)"),
        (coercion('{"weight": "7"}', gives_any=[{}, {"weight": 8}]), 'it ran with {"weight": 7}'),
        (coercion('{"weight": "7"}', rejects=[{"path": "weight"}]), "the tool does not run"),
        (coercion('{"weight": "x"}', rejects=[{"path": "height"}]), "the error names 'height'"),
        (coercion('{"weight": "x"}', rejects=[{"path": "weight"}], echoes={"weight": 7}), 'it shows {"weight": "x"}'),
        (coercion('{"weight": "x"}', text="out of paper"), "the error says 'out of paper'"),
    ],
)
def test_arguments_that_are_answered_wrong_fail(row: dict[str, Any], said: str) -> None:
    with pytest.raises(RuleFailed, match=said):
        run("coercion", row)


def test_what_prepare_arguments_returns_is_what_an_error_shows() -> None:
    prepared = {"prepare": {"returns": {"weight": "heavy"}}}
    row = coercion("{}", rejects=[{"path": "weight"}], echoes={"weight": "heavy"}) | prepared
    run("coercion", row)


def losing(*notices: str) -> type[Bridge]:
    """A bridge that loses minLength and says so, in its way."""

    class Losing(Registrations):
        def parameters(self, definition: dict[str, Any]) -> Any:
            schema: Any = copy.deepcopy(super().parameters(definition))
            del schema["properties"]["parcel_code"]["minLength"]
            for notice in notices:
                self._notices.warn(notice)
            return schema

    class LosingBridge(Bridge):
        registrations_type = Losing

    return LosingBridge


def test_a_keyword_that_reaches_the_model_passes() -> None:
    run("schema", LENGTH)


def test_a_keyword_that_is_announced_as_lost_passes() -> None:
    run("schema", LENGTH, losing(f"{TOOL}: minLength of parcel_code is not in the catalogue"))


def test_one_notice_for_several_keywords_is_enough() -> None:
    run("schema", LENGTH, losing(f"{TOOL} loses parcel_code.minLength, parcel_code.pattern"))


@pytest.mark.parametrize(
    "notices",
    [
        (),
        ("minLength of parcel_code is not in the catalogue",),
        (f"{TOOL}: minLength of parcel_weight is not in the catalogue",),
        (f"{TOOL}: minLengths of parcel_code are not in the catalogue",),
        (f"{TOOL}: something of parcel_code is not in the catalogue",),
    ],
    ids=["silence", "no-tool", "another-property", "another-keyword", "no-keyword"],
)
def test_a_keyword_that_is_lost_without_its_notice_fails(notices: tuple[str, ...]) -> None:
    with pytest.raises(RuleFailed, match="it is gone"):
        run("schema", LENGTH, losing(*notices))


OWNER = {
    "type": "object",
    "properties": {"parcel_owner": {"type": "object", "properties": {"name": {"type": "string"}}, "anyOf": [{}]}},
}
PROPERTIES = {"schema": OWNER, "keyword": "properties", "path": "/properties/parcel_owner"}


def bare(notice: str) -> type[Bridge]:
    class Baring(Registrations):
        def parameters(self, definition: dict[str, Any]) -> Any:
            self._notices.warn(notice)
            return {"type": "object", "properties": {"parcel_owner": {"type": "object", "anyOf": [{}]}}}

    class BaringBridge(Bridge):
        registrations_type = Baring

    return BaringBridge


@pytest.mark.parametrize(
    "where",
    [
        "/properties/parcel_owner",
        "#/properties/parcel_owner/anyOf",
        "parameters.properties.parcel_owner",
        "properties['parcel_owner']",
        "['properties']['parcel_owner']",
        "properties > parcel_owner",
        "properties.parcel_owner.anyOf[0]",
    ],
)
def test_a_path_that_only_passes_a_keyword_does_not_name_it(where: str) -> None:
    with pytest.raises(RuleFailed, match="it is gone"):
        run("schema", PROPERTIES, bare(f"{TOOL}: anyOf at {where} was changed"))


@pytest.mark.parametrize(
    "said",
    [
        "properties of parcel_owner is not in the catalogue",
        "`properties` at /properties/parcel_owner is lost",
        "/properties/parcel_owner/properties is lost",
        "parcel_owner.properties is lost",
        "parameters.properties.parcel_owner['properties'] is lost",
        "lost at parcel_owner: properties/required",
        "it loses properties. parcel_owner keeps its anyOf",
        "properties: parcel_owner loses it",
    ],
)
def test_a_keyword_may_be_named_alone_or_at_the_end_of_a_path(said: str) -> None:
    run("schema", PROPERTIES, bare(f"{TOOL}: {said}"))


def test_a_loss_that_is_announced_twice_fails() -> None:
    with pytest.raises(RuleFailed, match="announced once"):
        run("schema", LENGTH, losing(*[f"{TOOL}: minLength of parcel_code is lost"] * 2))


def test_a_notice_on_the_keyword_around_covers_what_is_inside() -> None:
    schema = {"type": "object", "properties": {"parcel_code": {"minLength": 1, "anyOf": [{"minLength": 3}]}}}
    row = {"schema": schema, "keyword": "minLength", "path": "/properties/parcel_code/anyOf/0"}

    class Emptying(Registrations):
        def parameters(self, definition: dict[str, Any]) -> Any:
            self._notices.warn(f"{TOOL}: anyOf of parcel_code is not in the catalogue")
            return {"type": "object", "properties": {"parcel_code": {}}}

    class EmptyingBridge(Bridge):
        registrations_type = Emptying

    run("schema", row, EmptyingBridge)


@pytest.mark.parametrize("answer", [{}, {"error": False, "texts": ["one", "two"], "kinds": ["text", "text"]}])
def test_a_result_that_is_shown_right_passes(answer: dict[str, Any]) -> None:
    run("content", {"result": TEXT, "answer": answer})


@pytest.mark.parametrize(
    "answer",
    [
        {"error": True},
        {"texts": ["one"]},
        {"texts": ["two", "one"]},
        {"says": ["three"]},
        {"mentions": ["three"]},
        {"pictures": 1},
        {"kinds": ["text"]},
        {"logs": ["three"]},
    ],
)
def test_a_result_that_is_shown_wrong_fails(answer: dict[str, Any]) -> None:
    with pytest.raises(RuleFailed):
        run("content", {"result": TEXT, "answer": answer})


def test_a_turn_that_ends_after_a_result_fails() -> None:
    result = {"returns": {**TEXT["returns"], "terminate": True}}
    with pytest.raises(RuleFailed, match="the model is asked again"):
        run("content", {"result": result, "answer": {}})


BREAKAGES: dict[str, Callable[[], tuple[str, dict[str, Any]]]] = {
    "kind": lambda: ("colour", {}),
    "path": lambda: ("schema", {**LENGTH, "path": "/properties/nowhere"}),
    "keyword": lambda: ("schema", {**LENGTH, "keyword": "maxLength"}),
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_a_broken_row_is_the_suites_fault(name: str) -> None:
    with pytest.raises(HarnessError):
        run(*BREAKAGES[name]())
