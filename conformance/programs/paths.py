"""Which way a call went, and which rules speak of each thing that can be said of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from conformance.invariants import Story
from conformance.invariants._story import Call
from conformance.trace import Event, images_of, text_of

_TOLD = {
    "tool_execution_start": "tool_execution_start.every-call-starts",
    "tool_execution_end": "tool_execution_end.one-end-for-every-start",
    "tool_execution_update": "tool_execution_update.from-on-update",
}


@dataclass(frozen=True)
class Path:
    """``free`` says that no rule tells how this call ends. ``rule`` speaks of whether the body runs, ``arguments`` of
    what it runs with, ``outcome`` of whether the call fails, ``content`` of its text.

    ``own`` is a package's tool. ``exact`` says that what it is given follows from rules, ``plain`` that its text does.
    ``says`` is in the text of the error, and ``said`` speaks of that, where it is not the outcome's rule. ``result`` is
    false where no must tells what becomes of the result, and ``loose`` where no rule does.
    """

    way: str
    rule: str
    own: bool = False
    free: bool = False
    exact: bool = True
    result: bool = True
    plain: bool = True
    says: str = ""
    said: str = ""
    arguments: str = "registerTool.arguments-are-coerced-as-on-pi"
    outcome: str = ""
    content: str = "registerTool.text-results-reach-log-and-model"
    host_broke: bool = False
    """A listener of the host threw: then the rules speak of start and end only."""
    mutated: bool = False
    """A handler changed the input."""
    writes: bool = False
    """A start handler wrote into the arguments it was shown, which on Pi reaches the log."""
    loose: bool = False
    emptied: bool = False
    """The last patch of the content left nothing of it."""
    pictures: bool = False
    """The result is texts and pictures, and nobody patched its content."""
    shows_pictures: bool = False
    """The tool returned pictures, and handlers are shown them."""
    details: bool = False
    """The tool gave details that JSON can carry."""
    wordless: bool = False
    """The reason of a block is no text; what it becomes has no rule."""

    def told(self, event: str) -> str | None:
        """The rule that says who is told ``event`` of such a call; None where no must does."""
        if event == "tool_call":
            return {
                "unknown": None,
                "denied": None,
                "broke": None,
                "no json": None,
                "invalid": "tool_call.invalid-calls-are-not-judged",
                "no object": "tool_call.invalid-calls-are-not-judged",
                "blocked": "tool_call.the-first-block-wins",
                "gate threw": "tool_call.a-gate-that-throws-blocks",
            }.get(self.way, "tool_call.every-call-is-judged")
        if event == "tool_result":
            if self.way in ("odd", "broke", "no json", "gate threw"):
                return None
            if self.way == "unknown":
                return "tool_result.not-for-unknown-names"
            if self.way in ("denied", "refused"):
                return "tool_result.not-for-refused-calls"
            if self.way in ("blocked", "invalid", "no object"):
                return "tool_result.not-for-calls-that-never-ran"
            return (
                "tool_result.fires-for-failed-tools"
                if self.way == "threw"
                else _native_or(self.own, "tool_result.native-results-are-patched-too", "tool_result.payload")
            )
        if event == "tool_execution_update":
            if self.way in ("broke", "no json"):
                return None
            if self.way not in ("ran", "odd", "threw"):
                return "tool_execution_update.none-for-calls-that-do-not-run"
            return _native_or(self.own, "tool_execution_update.none-for-native-tools", _TOLD[event])
        if self.way in ("broke", "no json"):
            return "tool_execution_end.calls-the-host-breaks-end" if event == "tool_execution_end" else None
        if self.way in ("denied", "refused") and event == "tool_execution_end":
            return "tool_execution_end.refused-and-denied-calls-end"
        return _TOLD[event]


def _native_or(own: bool, native: str, migrated: str) -> str:
    return migrated if own else native


FREE = Path("free", "", free=True)
NOT_RUN = Path("not run", "")
"""A call that ended without its tool for a reason that no rule tells, or not what else becomes of it."""


def path_of(story: Story, call: Call) -> Path:
    """Return which way a call went, by what its handlers and body were told to do and what the host's policy said."""
    path = _path_of(story, call)
    # What an end handler writes into the result takes effect on Pi.
    written = any(story.reply(event).get("ops") for event in call.handled("tool_execution_end"))
    writes = any(
        op["path"][:1] == ["args"] and op["op"] != "assign"
        for event in call.handled("tool_execution_start")
        for op in story.reply(event).get("ops", ())
    )
    return replace(path, result=path.result and not written, loose=path.loose or written, writes=writes)


def _path_of(story: Story, call: Call) -> Path:
    decisions = [event["decision"] for event in call.of("policy") if event["phase"] == "exit"]
    if call.host_broke:
        return Path("broke", "", host_broke=True)
    if any(decision not in (None, _ALLOW) and not _denies(decision) and not _asks(decision) for decision in decisions):
        return FREE
    gates = [(event, story.reply(event)) for event in call.handled("tool_call")]
    own = bool(call.of("tool.enter")) or (not call.of("native.enter") and _is_own(story, call))
    if call.record is None:
        rule = "registerTool.text-that-is-no-json-does-not-run"
        return Path("no json", rule, own, outcome=rule, exact=False) if own and not gates and call.text else FREE
    if _touches(story, call, own):
        return FREE
    if not isinstance(call.record, dict):
        rule = "registerTool.arguments-that-are-no-object"
        return Path("no object", rule, own, outcome=rule) if own and not gates and not call.bodies else FREE
    blocked = next((reply for _, reply in gates if _blocks(reply)), None)
    thrown = next((event for event, _ in gates if story.threw(event)), None)
    denied = next((decision for decision in reversed(decisions) if _denies(decision)), None)
    asked = any(map(_asks, decisions))
    mutated = any(_mutates(reply) for _, reply in gates)
    if blocked is not None and blocked["returns"]["block"] is not True:
        rule = "tool_call.any-truthy-block-blocks"
        odd = mutated or thrown is not None or denied is not None or asked
        return (
            FREE
            if odd
            else replace(
                _judged_away(blocked, story, None, own), rule=rule, outcome=rule, says="", exact=_is_exact(call)
            )
        )
    if blocked is not None or thrown is not None:
        if mutated and not own:
            return FREE
        return replace(_judged_away(blocked, story, thrown, own), exact=_is_exact(call))
    if not own and not call.of("native.enter") and mutated:
        return Path("refused", _REFUSED, outcome=_REFUSED, says=call.name)
    if denied is not None or (asked and not call.bodies):
        rule = "tool_call.the-rest-of-the-chain-decides" if gates else "registerTool.a-denial-of-the-host-holds"
        if asked:
            rule = "registerTool.a-question-of-the-host-is-asked" if own else "tool_call.the-rest-of-the-chain-decides"
        says = str((denied or {}).get("reason", "")) if not asked else ""
        return Path("denied", rule, own, outcome=rule, says=says if '"' not in says else "")
    if call.name not in {str(row["name"]) for row in call.batch.request["tools"]}:
        rule = "registerTool.only-visible-tools-run"
        return Path("unknown", rule, outcome=rule, says=call.name, said=_unknown_rule(story, call))
    if not call.bodies:
        if call.handled("tool_result"):
            return NOT_RUN  # It was not found invalid: what it lacks is its execute.
        return Path("invalid", _SCHEMA, own, outcome="registerTool.an-invalid-call-does-not-run") if own else NOT_RUN
    path = _executed(story, call, own, gates, mutated)
    if asked and own:
        return replace(path, rule="registerTool.a-question-of-the-host-is-asked")
    return (
        replace(path, rule="registerTool.a-permission-of-the-host-runs-the-tool")
        if decisions and own and not gates
        else path
    )


def _unknown_rule(story: Story, call: Call) -> str:
    """Return the rule that says the model reads which name is unknown: of a tool that was there, or of nobody's."""
    before = [event for event in story.kinds["api.call"] if story.number(event) < call.batch.begin]
    for event in reversed(before):
        if event["call"] == "unregisterTool" and (event["args"] or [None])[0] == call.name:
            return "unregisterTool.a-call-afterwards-is-unknown"
        if event["call"] == "setActiveTools":
            return "setActiveTools.a-tool-switched-off-is-unknown"
    return "tool_call.unknown-names-end-as-unknown"


def _asks(decision: Any) -> bool:
    return isinstance(decision, dict) and decision.get("kind") == "ask"


_ALLOW = {"kind": "allow"}
_REFUSED = "tool_call.native-arguments-are-never-rewritten"
_SCHEMA = "registerTool.the-whole-schema-is-enforced"


def _judged_away(blocked: dict[str, Any] | None, story: Story, thrown: Event | None, own: bool) -> Path:
    if thrown is not None and (blocked is None):
        rule = "tool_call.a-gate-that-throws-blocks"
        return Path("gate threw", rule, own, says=_message(story.reply(thrown).get("throws")), outcome=rule)
    rule = "tool_call.a-block-keeps-the-tool-from-running"
    reason = blocked["returns"].get("reason") if blocked is not None else None
    says = reason if isinstance(reason, str) else ""
    wordless = reason is not None and not isinstance(reason, str)
    return Path("blocked", rule, own, says=says if '"' not in says else "", outcome=rule, wordless=wordless)


def _executed(story: Story, call: Call, own: bool, gates: list[tuple[Event, dict[str, Any]]], mutated: bool) -> Path:
    body = call.bodies[0]
    reply = body["reply"] if isinstance(body["reply"], dict) else {}
    returned = reply.get("returns")
    patches = [(event, story.reply(event)) for event in call.handled("tool_result")]
    failing = "throws" in reply
    # A failure's pictures are not compared, and its text stands beside them.
    odd_patch = any(not _is_plain_patch(patch, pictures=failing) for _, patch in patches)
    if any(_takes_back([_returned(patch) for _, patch in patches], key) for key in ("content", "isError")):
        odd_patch = True
    patched = [_returned(patch)["content"] for _, patch in patches if _returned(patch).get("content") is not None]
    loose = own and not failing and not _is_plain_result(returned)
    pictures = own and not failing and _is_pictured(returned)
    odd = odd_patch or loose
    turned = any(_returned(patch).get("isError") is True for _, patch in patches)
    recovers = any(_returned(patch).get("isError") is False for _, patch in patches)
    if turned and recovers and not failing:
        odd_patch = odd = True  # Whether a later handler may take an earlier one's error back is no must.
    odd_body = not own and ("content" in reply or reply.get("defer"))
    foreign = any(event["package"] != body["package"] for event, reply in gates if _mutates(reply))
    rule = _ran_rule(own, gates, mutated, foreign)
    common: dict[str, Any] = {"exact": _is_exact(call), "arguments": _arguments(mutated), "mutated": mutated}
    if failing:
        says = "" if patched else _message(reply["throws"])
        outcome = "tool_result.an-error-stays-an-error" if recovers else "registerTool.a-thrown-error-reaches-the-model"
        said = ""
        if patched and not odd:
            says = text_of(patched[-1])
            said = (
                "tool_result.a-vain-recovery-keeps-its-text" if recovers else "tool_result.an-errors-text-is-replaced"
            )
        return Path(
            "threw",
            rule,
            own,
            result=not odd,
            loose=odd_patch,
            says=says if '"' not in says else "",
            said=said,
            outcome=outcome,
            **common,
        )
    native, text = "tool_result.answers-that-are-no-patch", "registerTool.text-results-reach-log-and-model"
    outcome = "tool_result.success-becomes-an-error" if turned else _native_or(own, native, text)
    if own and isinstance(returned, dict) and returned.get("isError") is True and not turned:
        outcome = "registerTool.a-returned-iserror-is-no-error"
    content = "tool_result.text-is-replaced" if patched else _native_or(own, native, text)
    return Path(
        "odd" if loose and not pictures else "ran",
        rule,
        own,
        result=not odd or (pictures and not odd_patch),
        loose=odd_patch or (loose and not pictures and not _is_texts_with_flag(returned)),
        plain=not odd_body,
        outcome=outcome,
        content=content,
        emptied=bool(patched) and patched[-1] == [],
        pictures=pictures and not patched,
        shows_pictures=pictures,
        details=own and isinstance(returned, dict) and "details" in returned and _is_lossless(returned["details"]),
        **common,
    )


def _ran_rule(own: bool, gates: list[Any], mutated: bool, foreign: bool) -> str:
    if mutated and own and foreign:
        return "tool_call.mutation-reaches-any-packages-tool"
    if mutated:
        return "tool_call.mutation-is-not-validated-again" if own else "tool_call.only-a-different-value-is-a-mutation"
    if gates:
        return "tool_call.only-a-block-decides"
    return "registerTool.arguments-are-coerced-as-on-pi" if own else "registerTool.in-the-catalogue-beside-natives"


def _arguments(mutated: bool) -> str:
    return "tool_call.mutation-reaches-the-tool" if mutated else "registerTool.arguments-are-coerced-as-on-pi"


# --- single replies ---------------------------------------------------------------------------------------------------


def _returned(reply: dict[str, Any]) -> dict[str, Any]:
    found = reply.get("returns")
    return found if isinstance(found, dict) else {}


def _blocks(reply: dict[str, Any]) -> bool:
    # Truth is JavaScript's: an empty list blocks, an empty text does not.
    return _returned(reply).get("block") not in (None, False, 0, "")


def _mutates(reply: dict[str, Any]) -> bool:
    return any(op["path"][:1] == ["input"] and op["op"] != "assign" for op in reply.get("ops", ()))


def _touches(story: Story, call: Call, own: bool) -> bool:
    """Whether a handler changes what is no rule's: something after it answered, the call's name, or a start's args."""
    for event in call.of("handler.enter"):
        for op in story.reply(event).get("ops", ()):
            if op.get("at") == "after-return":
                return True
            if event["event"] == "tool_call" and op["path"][:1] != ["input"]:
                return True
            if event["event"] in ("tool_execution_start", "tool_execution_update") and own:
                return True
    return False


def _denies(decision: Any) -> bool:
    reason = decision.get("reason") if isinstance(decision, dict) else None
    return isinstance(decision, dict) and decision.get("kind") == "deny" and isinstance(reason, str) and bool(reason)


def _is_own(story: Story, call: Call) -> bool:
    """Whether some package had registered the name when the model asked for it."""
    return any(
        event["call"] == "registerTool"
        and isinstance(event["args"][0], dict)
        and event["args"][0].get("name") == call.name
        for event in story.kinds["api.call"]
        if event["args"] and story.number(event) < call.batch.begin
    )


def _is_exact(call: Call) -> bool:
    """Whether the rules say to the letter what a body is given: null has two right answers, undefined is nothing."""
    given = [body["params"] for body in call.of("tool.enter")]
    return not has_null(call) and all(map(_is_lossless, given))


def has_null(call: Call) -> bool:
    """Whether there is a null in the arguments that the model wrote."""
    return any(part is None for part in _leaves(call.record))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    else:
        yield value


def _is_plain_result(value: Any) -> bool:
    if not isinstance(value, dict) or "isError" in value or images_of(value.get("content")):
        return False
    content = value.get("content")
    return isinstance(content, list) and all(
        isinstance(block, dict) and block.get("type") == "text" for block in content
    )


def _is_pictured(value: Any) -> bool:
    """Whether a result is texts and pictures, and nothing else; what becomes of a broken picture has no must."""
    if not isinstance(value, dict) or "isError" in value or not images_of(value.get("content")):
        return False
    if not all(str(block.get("data", "")).startswith(_PNG) for block in images_of(value["content"])):
        return False
    return all(isinstance(block, dict) and block.get("type") in ("text", "image") for block in value["content"])


_PNG = "iVBORw0KGgo"
"""How every PNG begins, in base64."""


def _is_texts_with_flag(value: Any) -> bool:
    """Whether a result is plain but for a flag that says it is an error."""
    return (
        isinstance(value, dict)
        and value.get("isError") is True
        and _is_plain_result({key: part for key, part in value.items() if key != "isError"})
    )


def _is_lossless(value: Any) -> bool:
    if isinstance(value, dict):
        return "$" not in value and all(map(_is_lossless, value.values()))
    return not isinstance(value, list) or all(map(_is_lossless, value))


def _takes_back(patches: list[dict[str, Any]], key: str) -> bool:
    """Whether a null comes after a patch: it patches nothing, and on Pi what earlier ones made is lost."""
    given = [patch[key] for patch in patches if key in patch]
    return any(each is None for each in given[1:])


def _is_plain_patch(reply: dict[str, Any], pictures: bool = False) -> bool:
    """Whether a tool_result handler's answer is one of which the rules say to the letter what it does."""
    types = ("text", "image") if pictures else ("text",)
    if reply.get("ops") or "throws" in reply:
        return not reply.get("ops")
    found = reply.get("returns")
    if not isinstance(found, dict):
        return True
    if found.get("isError") is not None and not isinstance(found["isError"], bool):
        return False
    content = found.get("content")
    if content is None:
        return True
    return isinstance(content, list) and all(isinstance(b, dict) and b.get("type") in types for b in content)


def _message(thrown: Any) -> str:
    text = thrown.get("message") if isinstance(thrown, dict) and thrown.get("$") == "error" else ""
    return text if isinstance(text, str) and '"' not in text else ""
