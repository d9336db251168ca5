"""Which way a call went, and which rules speak of each thing that can be said of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from conformance.invariants import Story
from conformance.invariants._story import Call
from conformance.trace import Event, images_of

_TOLD = {
    "tool_execution_start": "tool_execution_start.every-call-starts",
    "tool_execution_end": "tool_execution_end.one-end-for-every-start",
    "tool_execution_update": "tool_execution_update.from-on-update",
}


@dataclass(frozen=True)
class Path:
    """``free`` says that no must tells how this call ends. ``rule`` speaks of whether the body runs, ``arguments`` of
    what it runs with, ``outcome`` of whether the call fails, ``content`` of its text.

    ``own`` is a package's tool. ``exact`` says that what it is given follows from rules, ``plain`` that its text does.
    ``says`` is in the text of the error. ``result`` is false where no must tells what becomes of the result.
    """

    way: str
    rule: str
    own: bool = False
    free: bool = False
    exact: bool = True
    result: bool = True
    plain: bool = True
    says: str = ""
    arguments: str = "registerTool.arguments-are-coerced-as-on-pi"
    outcome: str = ""
    content: str = "registerTool.text-results-reach-log-and-model"

    def told(self, event: str) -> str | None:
        """The rule that says who is told ``event`` of such a call; None where no must does."""
        if event == "tool_call":
            return {
                "unknown": None,
                "denied": None,
                "invalid": "tool_call.invalid-calls-are-not-judged",
                "no object": "tool_call.invalid-calls-are-not-judged",
                "blocked": "tool_call.the-first-block-wins",
                "gate threw": "tool_call.a-gate-that-throws-blocks",
            }.get(self.way, "tool_call.every-call-is-judged")
        if event == "tool_result":
            if self.way in ("unknown", "denied", "refused", "gate threw", "odd"):
                return None
            if self.way in ("blocked", "invalid", "no object"):
                return "tool_result.not-for-calls-that-never-ran"
            return (
                "tool_result.fires-for-failed-tools"
                if self.way == "threw"
                else _native_or(self.own, "tool_result.native-results-are-patched-too", "tool_result.payload")
            )
        if event == "tool_execution_update":
            if self.way not in ("ran", "odd", "threw"):
                return "tool_execution_update.none-for-calls-that-do-not-run"
            return _native_or(self.own, "tool_execution_update.none-for-native-tools", _TOLD[event])
        return _TOLD[event]


def _native_or(own: bool, native: str, migrated: str) -> str:
    return migrated if own else native


FREE = Path("free", "", free=True)


def path_of(story: Story, call: Call) -> Path:
    """Return which way a call went, by what its handlers and body were told to do and what the host's policy said."""
    path = _path_of(story, call)
    # What an end handler writes into the result takes effect on Pi.
    written = any(story.reply(event).get("ops") for event in call.handled("tool_execution_end"))
    return replace(path, result=False) if written else path


def _path_of(story: Story, call: Call) -> Path:
    if any(event["decision"] not in (None, _ALLOW) and _is_free(event["decision"]) for event in call.of("policy")):
        return FREE
    gates = [(event, story.reply(event)) for event in call.handled("tool_call")]
    own = bool(call.of("tool.enter")) or (not call.of("native.enter") and _is_own(story, call))
    if call.record is None or _touches(story, call, own):
        return FREE
    if not isinstance(call.record, dict):
        rule = "registerTool.arguments-that-are-no-object"
        return Path("no object", rule, own, outcome=rule) if own and not gates and not call.bodies else FREE
    blocked = next((reply for _, reply in gates if _blocks(reply)), None)
    thrown = next((event for event, _ in gates if story.threw(event)), None)
    denied = any(_denies(event["decision"]) for event in call.of("policy"))
    mutated = any(_mutates(reply) for _, reply in gates)
    if blocked is not None and blocked["returns"]["block"] is not True:
        return FREE
    if blocked is not None or thrown is not None:
        if mutated and not own:
            return FREE
        return _judged_away(blocked, story, thrown, own)
    if not own and not call.of("native.enter") and mutated:
        return Path("refused", _REFUSED, outcome=_REFUSED)
    if denied:
        rule = "tool_call.the-rest-of-the-chain-decides" if gates else "registerTool.a-denial-of-the-host-holds"
        return Path("denied", rule, own, outcome=rule)
    if call.name not in {str(row["name"]) for row in call.batch.request["tools"]}:
        rule = "registerTool.only-visible-tools-run"
        return Path("unknown", rule, outcome=rule)
    if not call.bodies:
        return Path("invalid", _SCHEMA, own, outcome="registerTool.an-invalid-call-does-not-run") if own else FREE
    return _executed(story, call, own, gates, mutated)


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
    return Path("blocked", rule, own, says=says if '"' not in says else "", outcome=rule)


def _executed(story: Story, call: Call, own: bool, gates: list[tuple[Event, dict[str, Any]]], mutated: bool) -> Path:
    body = call.bodies[0]
    reply = body["reply"] if isinstance(body["reply"], dict) else {}
    patches = [(event, story.reply(event)) for event in call.handled("tool_result")]
    odd = any(not _is_plain_patch(patch) for _, patch in patches)
    patched = any("content" in _returned(patch) for _, patch in patches)
    failing = "throws" in reply
    loose = own and not failing and not _is_plain_result(reply.get("returns"))
    odd = odd or loose
    turned = any(_returned(patch).get("isError") is True for _, patch in patches)
    recovers = any(_returned(patch).get("isError") is False for _, patch in patches)
    odd_body = not own and ("content" in reply or reply.get("defer"))
    foreign = any(event["package"] != body["package"] for event, reply in gates if _mutates(reply))
    rule = _ran_rule(own, gates, mutated, foreign)
    if failing:
        says = "" if patched else _message(reply["throws"])
        outcome = "tool_result.an-error-stays-an-error" if recovers else "registerTool.a-thrown-error-reaches-the-model"
        return Path(
            "threw",
            rule,
            own,
            result=not odd,
            exact=_is_exact(call),
            says=says,
            outcome=outcome,
            arguments=_arguments(mutated),
        )
    outcome = (
        "tool_result.success-becomes-an-error"
        if turned
        else _native_or(own, "tool_result.answers-that-are-no-patch", "registerTool.text-results-reach-log-and-model")
    )
    content = (
        "tool_result.text-is-replaced"
        if patched
        else _native_or(own, "tool_result.answers-that-are-no-patch", "registerTool.text-results-reach-log-and-model")
    )
    return Path(
        "odd" if loose else "ran",
        rule,
        own,
        result=not odd,
        exact=_is_exact(call),
        plain=not odd_body,
        outcome=outcome,
        content=content,
        arguments=_arguments(mutated),
    )


def _ran_rule(own: bool, gates: list[Any], mutated: bool, foreign: bool) -> str:
    if mutated and own and foreign:
        return "tool_call.mutation-reaches-any-packages-tool"
    if mutated:
        return "tool_call.mutation-is-not-validated-again" if own else _REFUSED
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
    return bool(_returned(reply).get("block"))


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


def _is_free(decision: Any) -> bool:
    return not _denies(decision)


def _denies(decision: Any) -> bool:
    reason = decision.get("reason") if isinstance(decision, dict) else None
    return isinstance(decision, dict) and decision.get("kind") == "deny" and isinstance(reason, str) and bool(reason)


def _is_own(story: Story, call: Call) -> bool:
    """Whether some package has registered the name."""
    return any(
        event["call"] == "registerTool"
        and isinstance(event["args"][0], dict)
        and event["args"][0].get("name") == call.name
        for event in story.kinds["api.call"]
        if event["args"]
    )


def _is_exact(call: Call) -> bool:
    """Whether the rules say to the letter what a body is given: null has two right answers."""
    return not any(part is None for part in _leaves(call.record))


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


def _is_plain_patch(reply: dict[str, Any]) -> bool:
    """Whether a tool_result handler's answer is one of which the rules say to the letter what it does."""
    if reply.get("ops") or "throws" in reply:
        return not reply.get("ops")
    found = reply.get("returns")
    if not isinstance(found, dict):
        return True
    if "isError" in found and not isinstance(found["isError"], bool):
        return False
    if "content" not in found:
        return True
    content = found["content"]
    texts = isinstance(content, list) and all(isinstance(b, dict) and b.get("type") == "text" for b in content)
    return texts and bool(content)


def _message(thrown: Any) -> str:
    text = thrown.get("message") if isinstance(thrown, dict) and thrown.get("$") == "error" else ""
    return text if isinstance(text, str) and '"' not in text else ""
