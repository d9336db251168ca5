"""Runs one vector row: puts its input on a fresh stage and compares what came with the row's right answer."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from conformance.batch_vectors import run_batch
from conformance.catalogue.model import Rule, VectorRow
from conformance.compare import check, echoed, parsed, same, show, written_out
from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import ModelAnswer, Reply, Services, ToolCall, ToolSpec
from conformance.scripts import Behaviour
from conformance.stage import Stage
from conformance.trace import Event, images_of, plain, text_of
from conformance.verdicts import Inconclusive

PACKAGE = "parcels"
TOOL = "parcel_label_printer"
"""Long and unlike any word of a sentence, so that looking for it in a notice cannot match by accident."""

CALL = "1"
_MAPS = ("properties", "patternProperties", "$defs")
"""Keywords whose keys are names, which only look like keywords."""

_DESCRIPTION = "Prints the label of a parcel"


def run_vector(stage: Stage, rule: Rule, row: VectorRow) -> None:
    """Decide one row on a stage of its own, which is not open yet.

    Raises :class:`~conformance.verdicts.RuleFailed` on a wrong answer, ``Inconclusive`` where the trace does not
    decide, and :class:`~conformance.drivers.driver.HarnessError` for a row that says something impossible.
    """
    runner = _RUNNERS.get(row.kind)
    if runner is None:
        raise HarnessError(f"no runner is known for {row.kind} rows, which {rule.id} uses", "add one to _RUNNERS")
    runner(stage, row.values)


# --- coercion ---------------------------------------------------------------------------------------------------------


def _coercion(stage: Stage, row: Mapping[str, Any]) -> None:
    """``answer``: ``gives`` (what the tool runs with), ``gives_any`` (a list of such), ``rejects`` (the problems, each
    with its ``path``) or ``text`` (part of an error without the frame around problems); with ``gives_any``,
    ``rejects`` is one more right answer. ``prepare`` is the reply of a prepareArguments, and then ``echoes`` beside
    ``rejects`` holds the arguments that the error shows.
    """
    _register(stage, row["schema"], msgspec.convert(row["prepare"], Reply) if "prepare" in row else msgspec.UNSET)
    _call(stage, row["arguments"])
    answer = row["answer"]
    wanted = answer["gives_any"] if "gives_any" in answer else [answer["gives"]] if "gives" in answer else []
    runs = stage.trace.of("tool.enter", tool=TOOL)
    if wanted and (runs or "rejects" not in answer):
        _check_runs(stage, runs, wanted)
        return
    result = _result(stage)
    error = plain(text_of(result["content"]))
    check(not runs, "the tool does not run", f"it ran with {show([event['params'] for event in runs])}")
    check(result["isError"] is True, "the call ends as an error", f"a success: {error!r}")
    if "rejects" in answer:
        received = answer["echoes"] if "echoes" in answer else parsed(row["arguments"])
        _check_frame(error, received, [problem["path"] for problem in answer["rejects"]])
    else:
        check(answer["text"] in error, f"the error says {answer['text']!r}", f"it says {error!r}")


def _check_runs(stage: Stage, runs: list[Event], wanted: list[Any]) -> None:
    expected = f"the tool runs once, with {' or '.join(show(value) for value in wanted)}"
    check(len(runs) == 1, expected, f"it ran {len(runs)} time(s), and the result is {_said(stage)}")
    given = runs[0]["params"]
    check(any(same(given, value) for value in wanted), expected, f"it ran with {show(given)}")
    check(_result(stage)["isError"] is False, "the call succeeds", f"an error: {_said(stage)}")


def _check_frame(error: str, received: Any, paths: list[str]) -> None:
    first, _, rest = error.partition("\n")
    head = f'Validation failed for tool "{TOOL}"'
    check(head in first, f"the first line of the error says {head!r}", f"it is {first!r}")
    problems, separator, echo = rest.partition("Received arguments:")
    for path in paths:
        check(path in problems, f"the error names {path!r}", f"its lines are {problems.strip()!r}")
    check(bool(separator), "the error shows the arguments it received", f"it says {error!r}")
    shown = echoed(echo)
    check(same(shown, received), f"the error shows {show(received)}", f"it shows {show(shown)}")


# --- schema -----------------------------------------------------------------------------------------------------------


def _schema(stage: Stage, row: Mapping[str, Any]) -> None:
    """``path`` is the JSON pointer of the schema that holds ``keyword``, inside ``schema``."""
    _register(stage, row["schema"])
    stage.prompt()
    shown = next((tool for tool in _first_catalogue(stage) if tool["name"] == TOOL), None)
    keyword, steps = row["keyword"], _steps(row["path"])
    wanted = _at(row["schema"], steps)
    if not isinstance(wanted, dict) or keyword not in wanted:
        raise HarnessError(f"the schema of this row has no {keyword} at {row['path']!r}", "mend keyword or path")
    found = _at((shown or {}).get("parameters"), steps)
    if isinstance(found, dict) and keyword in found and _says_the_same(found[keyword], wanted[keyword]):
        return
    expected = (
        f"`{keyword}` of {_property(steps) or 'the root'} is {show(wanted[keyword])} in the catalogue, or announced"
    )
    announced = _announcements(stage, row["schema"], keyword, steps)
    check(bool(announced), expected, _lost(stage, found, keyword))
    allowed = max(1, len(stage.trace.of("instance.created", package=PACKAGE)))
    for text, times in announced.items():
        check(times <= allowed, "the loss is announced once", f"{times} times in one place: {text!r}")


def _says_the_same(found: Any, wanted: Any) -> bool:
    """Whether two values of a keyword are equal, or a schema that is true or false is written as an object."""
    written: dict[str, Any] = {} if wanted is True else {"not": {}}
    return same(found, wanted) or (isinstance(wanted, bool) and same(found, written))


def _lost(stage: Stage, found: Any, keyword: str) -> str:
    there = show(found[keyword]) if isinstance(found, dict) and keyword in found else "gone"
    return f"it is {there}, and the notices are {show([event['text'] for event in stage.trace.of('notice')])}"


def _announcements(stage: Stage, schema: Any, keyword: str, steps: list[str]) -> dict[str, int]:
    """Return the notices that announce the loss of ``keyword`` or of a keyword around it, counted per channel.

    What is inside a lost keyword is lost with it, so announcing the outer one is enough.
    """
    lost = [(keyword, _property(steps))]
    for at, step in enumerate(steps):
        is_name = at > 0 and steps[at - 1] in _MAPS
        if not is_name and not step.isdigit() and step != "properties":
            lost.append((step, _property(steps[:at])))
    inner = {*_property_names(schema), *steps}
    counts: dict[tuple[str, Any, str], int] = {}
    for event in stage.trace.of("notice"):
        text = str(event["text"])
        rest = text.replace(TOOL, " ")
        if TOOL in text and any(_names(rest, name, inner) and near in rest for name, near in lost):
            key = (event["channel"], event["instance"], text)
            counts[key] = counts.get(key, 0) + 1
    announced: dict[str, int] = {}
    for (_, _, text), times in counts.items():
        announced[text] = max(times, announced.get(text, 0))
    return announced


def _names(text: str, keyword: str, inner: set[str]) -> bool:
    """Say whether a text names a keyword as what it is about, alone or at the end of a path.

    Inside a path, where one of the names of ``inner`` or the number of a member follows, it only says where.
    """
    further = "|".join([r"\d+", *(re.escape(name) for name in sorted(inner))])
    goes_on = rf"(?:[./\[]|\s*[>→]\s*)['\"]?(?:{further})(?![\w$])"
    return re.search(rf"(?<![\w$]){re.escape(keyword)}(?![\w$])(?!['\"]?\]?{goes_on})", text) is not None


def _property_names(schema: Any) -> Iterator[str]:
    """Yield the names of properties and definitions at any depth."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in _MAPS and isinstance(value, dict):
                yield from value
            yield from _property_names(value)
    elif isinstance(schema, list):
        for member in schema:
            yield from _property_names(member)


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _at(schema: Any, steps: list[str]) -> Any:
    for step in steps:
        if isinstance(schema, dict) and step in schema:
            schema = schema[step]
        elif isinstance(schema, list) and step.isdigit() and int(step) < len(schema):
            schema = schema[int(step)]
        else:
            return None
    return schema


def _property(steps: list[str]) -> str:
    """Return the name of the innermost property on the way, or '' at the root."""
    names = [name for before, name in itertools.pairwise(steps) if before == "properties"]
    return names[-1] if names else ""


# --- content ----------------------------------------------------------------------------------------------------------


def _content(stage: Stage, row: Mapping[str, Any]) -> None:
    """``result`` is a reply: ``returns``, ``throws`` or neither. ``answer`` may hold ``error`` (whether it is one),
    ``texts`` (those of the blocks, in order), ``says`` (texts that it contains), ``mentions`` (one of these words is in
    it), ``pictures`` (how many), ``kinds`` (the blocks' types, in order) and ``logs`` (texts somewhere in the durable
    result). Whatever it holds, there is one result, and the next request carries it.
    """
    if "services" in row:
        stage.plan.services = msgspec.convert(row["services"], Services)
    _register(stage, {"type": "object", "properties": {}})
    reply = msgspec.convert(row["result"], Reply)
    stage.plan.package(PACKAGE).executes(TOOL, Behaviour(reply=reply))
    _call(stage, "{}")
    runs = len(stage.trace.of("tool.enter", tool=TOOL))
    check(runs == 1, "the tool runs once", f"it ran {runs} time(s)")
    result = _result(stage)
    shown = _answered(stage)
    for holder, content in (("the log", result["content"]), ("request 2", shown)):
        _check_content(holder, content, row["answer"])
    _check_error(result, row["answer"])
    for part in row["answer"].get("logs", ()):
        check(part in json.dumps(result.data), f"the log has {part!r}", show(result.data))
    if stage.role == "bridge":
        _check_pictures(stage, result["content"], reply)
        if not stage.plan.services.attachments:
            _check_no_bytes(reply, "request 2", shown)


def _check_error(result: Event, answer: Mapping[str, Any]) -> None:
    wanted = answer.get("error")
    if wanted is not None:
        kind = "an error" if wanted else "a success"
        got = f"the opposite, with the text {text_of(result['content'])!r}"
        check(result["isError"] is wanted, f"the result is {kind}", got)


def _check_content(holder: str, content: Any, answer: Mapping[str, Any]) -> None:
    text = plain(text_of(content))
    if "texts" in answer:
        blocks = content if isinstance(content, list) else []
        texts = [block["text"] for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
        wanted = [written_out(text) for text in answer["texts"]]
        check(texts == wanted, f"{holder} has the texts {show(wanted)}", show(content))
    for part in answer.get("says", ()):
        check(part in text, f"the result in {holder} says {part!r}", f"it says {text!r}")
    if "mentions" in answer:
        words = answer["mentions"]
        known = any(word in text.lower() for word in words)
        check(known, f"the result in {holder} mentions one of {show(words)}", f"it says {text!r}")
    if "kinds" in answer:
        kinds = [block.get("type") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        check(kinds == answer["kinds"], f"{holder} has the blocks {show(answer['kinds'])}", show(content))
    if "pictures" in answer:
        found = len(images_of(content))
        check(found == answer["pictures"], f"{holder} has {answer['pictures']} picture(s)", f"it has {found}")


def _check_pictures(stage: Stage, content: Any, reply: Reply) -> None:
    """Of a bridge, no picture's bytes are in the log: a block refers to its own attachment."""
    for block in images_of(content):
        kept = block.get("attachment")
        known = isinstance(kept, dict) and bool(kept.get("attachmentId"))
        check(known, "a picture in the log refers to an attachment", show(block))
    given = images_of(reply.returns.get("content")) if isinstance(reply.returns, dict) else []
    references = [json.dumps(block["attachment"], sort_keys=True) for block in images_of(content)]
    if len(references) == len(given):
        pictures, found = len({block.get("data") for block in given}), len(set(references))
        check(found >= pictures, f"the log refers to {pictures} different pictures", f"it refers to {found}")
    for event in stage.trace.of("log.call", "log.result", "log.assistant", "log.user"):
        _check_no_bytes(reply, f"the {event.kind} of the log", event.data)


def _check_no_bytes(reply: Reply, holder: str, held: Any) -> None:
    given = reply.returns.get("content") if isinstance(reply.returns, dict) else None
    text = json.dumps(held)
    for data in (block["data"] for block in images_of(given) if isinstance(block.get("data"), str)):
        check(data not in text, f"the bytes of a picture are not in {holder}", "they are")


# --- what they share --------------------------------------------------------------------------------------------------


def _register(stage: Stage, schema: Any, prepare: Reply | msgspec.UnsetType = msgspec.UNSET) -> None:
    tool = ToolSpec(name=TOOL, label=TOOL, description=_DESCRIPTION, parameters=schema, prepare=prepare)
    stage.plan.package(PACKAGE).tools.append(tool)


def _call(stage: Stage, arguments: str) -> None:
    stage.plan.script().append(ModelAnswer(calls=[ToolCall(id=CALL, name=TOOL, arguments=arguments)]))
    stage.prompt()


def _result(stage: Stage) -> Event:
    found = stage.trace.of("log.result", call_id=CALL)
    check(len(found) == 1, "the call has one durable result", f"it has {len(found)}")
    return found[0]


def _answered(stage: Stage) -> Any:
    """Return the content that answers the call in the model's next request."""
    requests = stage.requests()
    check(len(requests) == 2, "the model is asked again once", f"it was asked {len(requests)} time(s) in all")
    found = [message for message in requests[1]["messages"] if message.get("callId") == CALL]
    check(len(found) == 1, "request 2 carries one result of the call", f"it carries {len(found)}")
    return found[0].get("content")


def _first_catalogue(stage: Stage) -> Iterator[dict[str, Any]]:
    if not stage.requests():
        raise Inconclusive("the model was never asked")
    yield from stage.requests()[0]["tools"]


def _said(stage: Stage) -> str:
    return repr(text_of(_result(stage)["content"]))


_RUNNERS: Mapping[str, Callable[[Stage, Mapping[str, Any]], None]] = {
    "coercion": _coercion,
    "schema": _schema,
    "content": _content,
    "batch": run_batch,
}
