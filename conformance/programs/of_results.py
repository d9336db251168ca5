"""What is said of a call's result: whether it fails, its text and pictures, its details, and what its end tells."""

from __future__ import annotations

import re
from typing import Any

from conformance.compare import echoed, same
from conformance.invariants._story import Call
from conformance.programs.gherkin import inline
from conformance.programs.paths import Path
from conformance.programs.places import steady
from conformance.programs.statements import Pair
from conformance.trace import images_of, plain, text_of

RESULT, END = "tool_result", "tool_execution_end"


def compare_results(pair: Pair, call: Call, other: Call, path: Path) -> bool:
    """Say everything of the durable result of both sides, and of what handlers are told of it."""
    if not _pictures_shown(pair, call, other, path):
        return False
    one, two = call.result, other.result
    if one is None or two is None:
        return one is two
    if path.loose:
        return True  # What becomes of the result has no rule; whether it asked to stop has.
    failed = one["isError"], two["isError"]
    then = f'call "{call.id}" fails' if failed[0] else f'call "{call.id}" succeeds'
    if not pair.say(path.outcome, "outcome", f"{call.label}: whether it fails", *failed, then=(then,)):
        return False
    texts = [text_of(each["content"]) for each in (one, two)]
    equal = _failure(pair, call, path, texts) if failed[0] else _success(pair, call, other, path, texts)
    return equal and _details(pair, call, other, path) and _end(pair, call, other, path)


def _failure(pair: Pair, call: Call, path: Path, texts: list[str]) -> bool:
    said = plain(path.says)
    if said and said in texts[0]:
        then = f'call "{call.id}" fails and says "{said}"'
        inside = said in texts[1]
        if not pair.say(path.said or path.outcome, "error", f"{call.label}: says {said!r}", True, inside, then=(then,)):
            return False
    if path.way == "blocked" and plain(texts[0]).strip() and not path.wordless:
        rule = "tool_call.a-block-without-a-reason-still-says-something"
        then = f'call "{call.id}" fails with a text'
        if not pair.say(rule, "error", f"{call.label}: says something", True, bool(texts[1].strip()), then=(then,)):
            return False
    return path.way != "invalid" or _invalid(pair, call, path, texts)


_PATH = re.compile(r"^\s*-\s*([^:\n]+):", re.MULTILINE)


def _invalid(pair: Pair, call: Call, path: Path, texts: list[str]) -> bool:
    """Say the frame of a validation error, the paths that it names, and the arguments that it shows."""
    head = f'Validation failed for tool "{call.name}"'
    if head not in texts[0].split("\n")[0] or not path.exact:
        return True
    framed = head in texts[1].split("\n")[0]
    says = f'call "{call.id}" fails and says'
    then: tuple[str, ...] = (f'{says} "Validation failed for tool"',)
    where = f"{call.label}: its first line"
    if not pair.say("registerTool.an-invalid-call-does-not-run", "error", where, True, framed, then=then):
        return False
    problems, _, echo = texts[0].partition("Received arguments:")
    others, _, shown = texts[1].partition("Received arguments:")
    for name in sorted(set(_PATH.findall(problems)) - {"root"}):
        where = f"{call.label}: the error names {name}"
        rule = "registerTool.a-validation-error-names-each-property"
        then = (f'{says} "{name}:"',) if '"' not in name else ()
        if not pair.say(rule, "error", where, True, _names(others, name), then=then):
            return False
    rule = "registerTool.a-validation-error-shows-what-it-received"
    return pair.say(rule, "error", f"{call.label}: the arguments it shows", echoed(echo), echoed(shown))


def _names(text: str, path: str) -> bool:
    """Whether a text has a path as a word of its own."""
    return re.search(rf"(?<!\w){re.escape(path)}(?!\w)", text) is not None


def _success(pair: Pair, call: Call, other: Call, path: Path, texts: list[str]) -> bool:
    if path.pictures:
        contents = [side.result["content"] for side in (call, other) if side.result is not None]
        own = set(_texts(pair.right.reply(call.bodies[0]).get("returns", {}).get("content")))
        kinds = [_kinds(content, own) for content in contents]
        rule = "registerTool.pictures-go-through-the-attachment-store"
        return pair.say(rule, "pictures", f"{call.label}: its blocks in the log", *kinds)
    if not path.plain or not path.result:
        return path.result
    if path.emptied:
        rule = "tool_result.content-may-be-emptied"
        return pair.say(rule, "text", f"{call.label}: its text", *texts)
    if '"' in texts[0] or "\n" in texts[0]:
        then: tuple[str, ...] = ()
    else:
        then = (f'call "{call.id}" succeeds with "{texts[0]}"',)
    if not pair.say(path.content, "text", f"{call.label}: its text", *texts, then=then):
        return False
    if path.own:
        blocks = [_texts(side.result["content"]) for side in (call, other) if side.result is not None]
        return pair.say(path.content, "blocks", f"{call.label}: its text blocks", *blocks)
    return True


def _kinds(content: Any, own: set[str]) -> list[str]:
    """Return the tool's own texts of a result, and a word for every other text and for every other block."""
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    said = [block["text"] if block["text"] in own else "(words)" for block in blocks if block.get("type") == "text"]
    texts = iter(said)
    return [next(texts) if block.get("type") == "text" else "(a picture)" for block in blocks]


def _texts(content: Any) -> list[str]:
    blocks = content if isinstance(content, list) else []
    return [str(block.get("text")) for block in blocks if isinstance(block, dict) and block.get("type") == "text"]


def _details(pair: Pair, call: Call, other: Call, path: Path) -> bool:
    if not path.own or not path.details or call.result is None or other.result is None:
        return True
    kept = [side.result["details"] for side in (call, other) if side.result is not None]
    if call.result["isError"]:
        rule = "registerTool.lost-details-of-an-error-are-announced"
        told = [
            side["details"] is not None or any(call.name in str(notice["text"]) for notice in story.kinds["notice"])
            for story, side in ((pair.right, call.result), (pair.found, other.result))
        ]
        # A side that says more than the right one says enough.
        return not told[0] or pair.say(rule, "details", f"{call.label}: its details are kept or reported", *told)
    rule = "tool_result.details-stay-the-tools-own"
    then = (f'the log keeps {inline({"details": kept[0]})} as the result of call "{call.id}"',)
    return pair.say(rule, "details", f"{call.label}: its details in the log", *kept, then=then)


def _end(pair: Pair, call: Call, other: Call, path: Path) -> bool:
    """Say what the end handlers are told of the result."""
    if path.way not in ("ran", "threw") or not path.result:
        return True
    for one, two in zip(*steady(pair, call, other, END), strict=False):
        payloads = [event["payload"] if isinstance(event["payload"], dict) else {} for event in (one, two)]
        shown = [each.get("result") for each in payloads]
        results: list[dict[str, Any]] = [each if isinstance(each, dict) else {} for each in shown]
        where = f"{call.label}: what the end tells {one['package']}"
        flags = [each.get("isError") for each in payloads]
        rule, sees = "tool_execution_end.carries-the-final-result", f'package "{one["package"]}" sees {END} of call'
        then = (f'{sees} "{call.id}" with {inline({"isError": flags[0]})}',)
        if not pair.say(rule, "end", where, *flags, then=then):
            return False
        if not path.pictures and not path.emptied and path.plain and path.way == "ran":
            texts = [_texts(each.get("content")) for each in results]
            then = (f'{sees} "{call.id}" with {inline({"result": {"content": results[0].get("content")}})}',)
            if not pair.say(rule, "end", where, *texts, then=then):
                return False
        if path.own and path.way == "ran" and path.details and flags[0] is False:
            details = [each.get("details") for each in results]
            then = (f'{sees} "{call.id}" with {inline({"result": {"details": details[0]}})}',)
            if not pair.say("tool_execution_end.payload-has-the-details", "end", where, *details, then=then):
                return False
    return True


def _pictures_shown(pair: Pair, call: Call, other: Call, path: Path) -> bool:
    """Say which pictures the first handler of a result is shown."""
    if not path.own or not path.shows_pictures:
        return True
    first = [entered[:1] for entered in steady(pair, call, other, RESULT)]
    for one, two in zip(*first, strict=False):
        shown = [images_of((event["payload"] or {}).get("content")) for event in (one, two)]
        where = f"{call.label}: the pictures {one['package']} is shown"
        content = (one["payload"] or {}).get("content")
        then = (f'package "{one["package"]}" sees {RESULT} of call "{call.id}" with {inline({"content": content})}',)
        if not pair.say("tool_result.pictures-are-shown", "pictures", where, *shown, then=then, equal=same):
            return False
    return True
