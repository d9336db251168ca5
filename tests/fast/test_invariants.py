"""Each invariant on a trace that holds, on one that breaks it, and on one of which it cannot tell."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from conformance.drivers.backend import InProcessDriver
from conformance.drivers.reference import make_backend
from conformance.invariants import INVARIANTS, Context, Holding, examine, judge
from conformance.peer import text_result
from conformance.programs.operations import AnyOperation
from conformance.programs.pools.blocks import PICTURE, PNG
from conformance.programs.run import Connection, run_program
from conformance.programs.search import own_connection
from conformance.trace import Event, Trace
from tests.fast.small_traces import (
    OPEN,
    PROGRAMS,
    Edit,
    also,
    answered,
    asks,
    at,
    by_another,
    lacks,
    moved,
    overtaken,
    package,
    reported_again,
    runs,
    shown,
    told,
    twice,
    unanswered,
    unheard,
    untold,
    without,
)


@pytest.fixture(scope="module")
def reference() -> Iterator[Connection]:
    at = own_connection(InProcessDriver("reference", lambda suite: make_backend(suite, "root")))
    yield at
    at.runner.run(at.driver.close())
    at.runner.close()


TWICE = {"tools": [{"name": "stow", "description": "the tool stow", "parameters": OPEN}] * 2}
HANDLER = {"handler": "tool_call"}
GATE = {"event": "tool_call", "invocation": "new", "reply": {}}
BODY = {"invocation": "new", "tool": "stow", "reply": {}}
NOTICE = {"channel": "logger", "level": "warn", "text": "the tool look stays", "instance": None}

CASES: dict[str, tuple[str, Edit, str]] = {
    "one-end-for-every-start": (
        "two calls",
        without("handler.enter", event="tool_execution_end", call_id="1"),
        "nothing",
    ),
    "every-call-starts": (
        "two calls",
        without("handler.enter", event="tool_execution_start", call_id="1"),
        "a cut message",
    ),
    "starts-follow-the-durable-record": ("two calls", moved("log.call", "tool.enter", call_id="1"), "nothing"),
    "start-comes-first": (
        "two calls",
        moved("handler.enter", "tool.enter", event="tool_execution_start", call_id="1"),
        "nothing",
    ),
    "starts-are-awaited-before-the-gate": (
        "two calls",
        without("handler.exit", event="tool_execution_start"),
        "a cut message",
    ),
    "start-arguments-equal-the-durable-record": (
        "two calls",
        told("log.call", {"arguments": '{"s":"y"}'}, call_id="1"),
        "nothing",
    ),
    "nothing-of-a-call-after-its-end": (
        "two calls",
        also("tool.enter", "tool.enter", BODY, "log.result", {"call_id": "1"}),
        "nothing",
    ),
    "ends-come-after-tool-result": ("two calls", without("handler.exit", event="tool_result"), "a block"),
    "ends-come-before-the-durable-result": (
        "two calls",
        moved("log.result", "handler.enter", {"event": "tool_execution_end"}, call_id="1"),
        "a cancel",
    ),
    "tool-result-comes-before-the-durable-result": (
        "two calls",
        moved("log.result", "handler.enter", {"event": "tool_result"}, call_id="1"),
        "a block",
    ),
    "the-end-tells-the-durable-result": ("two calls", told("log.result", {"isError": True}, call_id="1"), "a cancel"),
    "what-is-blocked-does-not-run": (
        "a block",
        also("tool.enter", "handler.enter", BODY, "handler.exit", HANDLER, event="tool_call"),
        "an allowing policy",
    ),
    "nobody-is-asked-after-a-block": (
        "a block",
        also("handler.enter", "handler.enter", GATE, "handler.exit", HANDLER, event="tool_call"),
        "two calls",
    ),
    "a-call-whose-gate-throws-does-not-run": (
        "a gate that throws",
        also("tool.enter", "handler.enter", BODY, "handler.exit", HANDLER, event="tool_call"),
        "two calls",
    ),
    "what-the-host-denies-does-not-run": (
        "a denial",
        also("tool.enter", "policy", BODY, "policy", {"phase": "exit"}),
        "two calls",
    ),
    "denials-have-a-reason": (
        "a denial",
        told("policy", {"decision": {"kind": "deny", "reason": ""}}, phase="exit"),
        "two calls",
    ),
    "native-arguments-equal-the-logged": ("two calls", told("native.enter", {"arguments": {"s": "y"}}), "a block"),
    "blocked-results-are-not-patched": (
        "a block",
        also(
            "handler.enter",
            "handler.enter",
            {"event": "tool_result", "invocation": "new"},
            "handler.exit",
            HANDLER,
            event="tool_call",
        ),
        "two calls",
    ),
    "user-bash-never-fires": (
        "two calls",
        also("handler.enter", "handler.enter", {"event": "user_bash", "payload": {}}, "turn.start"),
        "nothing",
    ),
    "results-in-model-order": (
        "two calls",
        moved("log.result", "log.result", {"call_id": "1"}, call_id="2"),
        "a block",
    ),
    "one-durable-result-a-call": ("two calls", twice("log.result", call_id="1"), "a cut message"),
    "the-model-reads-the-durable-result": ("two calls", told("log.result", {"content": []}, call_id="1"), "a stop"),
    "the-loop-stops-when-every-call-asked": (
        "a stop",
        told("tool.enter", {"reply": {"returns": text_result("last")}}),
        "a cancel",
    ),
    "texts-of-results-reach-the-log": (
        "two calls",
        told("log.result", {"content": [{"type": "text", "text": "other"}]}, call_id="1"),
        "a block",
    ),
    "thrown-errors-reach-the-log": (
        "a failure",
        told("log.result", {"content": [{"type": "text", "text": "other"}]}),
        "two calls",
    ),
    "only-visible-tools-run": ("two calls", told("model.request", {"tools": []}), "nothing"),
    "calls-act-on-their-own-agent": ("two calls", told("instance.created", {"role": "agent"}), "nothing"),
    "tools-are-described-as-registered": (
        "two calls",
        told("model.request", {"tools": [{"name": "stow", "description": "mine"}]}),
        "nothing",
    ),
    "a-list-reaches-no-other-agent": (
        "two agents",
        told("model.request", {"tools": []}, agent="main", request=3),
        "a list between prompts",
    ),
    "active-tools-equal-the-catalogue": ("lists", told("model.request", {"tools": []}), "two calls"),
    "all-tools-equal-the-catalogue": ("lists", told("model.request", {"tools": [{"name": "more"}]}), "two calls"),
    "one-list-reports-each-thing-once": (
        "lists",
        twice("notice"),
        "two calls",
    ),
    "a-throw-is-reported-once": ("a throwing watcher", twice("notice"), "two calls"),
    "judges-are-asked-one-after-another": (
        "two packages",
        without("handler.exit", event="tool_call"),
        "two calls",
    ),
    "updates-are-awaited-before-the-result": (
        "an update",
        without("handler.exit", event="tool_execution_update"),
        "two calls",
    ),
    "ends-come-before-the-next-request": (
        "two calls",
        without("handler.exit", event="tool_execution_end"),
        "nothing",
    ),
    "sequential-tools-run-alone": ("a sequential tool", moved("native.enter", "tool.exit"), "two calls"),
    "a-cancel-reaches-the-running-tool": ("a cancel in a body", without("tool.aborted"), "two calls"),
    "a-cancel-in-a-gate-starts-nothing-more": (
        "a cancel",
        also("tool.enter", "handler.enter", BODY, "handler.exit", HANDLER, event="tool_call"),
        "two calls",
    ),
    "each-prompt-reaches-the-model": ("nothing", without("model.request"), "a cancel"),
    "what-the-user-says-in-a-batch-is-answered": ("input in a batch", unanswered, "two calls"),
    "starts-name-their-call": ("two calls", shown("tool_execution_start"), "nothing"),
    "judges-are-told-whose-call-it-is": ("two calls", shown("tool_call"), "nothing"),
    "updates-name-their-call": ("an update", shown("tool_execution_update"), "two calls"),
    "results-name-their-call": ("two calls", shown("tool_result"), "nothing"),
    "ends-name-their-call": ("two calls", shown("tool_execution_end"), "nothing"),
    "the-first-to-see-a-result-sees-the-tools-own": ("two calls", shown("tool_result"), "a block"),
    "the-first-to-see-a-failure-sees-what-was-thrown": ("a failure", shown("tool_result"), "two calls"),
    "results-show-the-input-the-tool-ran-with": ("two calls", shown("tool_result"), "a block"),
    "patches-build-on-each-other": ("two packages", shown("tool_result", package="beta"), "two calls"),
    "the-log-keeps-what-patches-leave": ("two calls", told("log.result", {"isError": True}, call_id="1"), "a block"),
    "judges-see-the-same-input-unless-one-changes-it": (
        "two packages",
        shown("tool_call", package="beta"),
        "two calls",
    ),
    "a-tool-runs-with-what-was-judged": ("two calls", told("tool.enter", {"params": {"s": "y"}}), "a block"),
    "what-start-handlers-throw-is-reported": ("throwing handlers", untold, "two calls"),
    "what-update-handlers-throw-is-reported": ("throwing handlers", untold, "two calls"),
    "what-result-handlers-throw-is-reported": ("throwing handlers", untold, "two calls"),
    "what-end-handlers-throw-is-reported": ("throwing handlers", untold, "two calls"),
    "schemas-reach-the-model-or-a-notice-names-the-tool": (
        "two calls",
        told("model.request", {"tools": [{"name": "stow", "description": "the tool stow", "parameters": {}}]}),
        "nothing",
    ),
    "a-package-has-one-tool-of-a-name": ("a name twice", told("model.request", TWICE), "two calls"),
    "packages-have-one-tool-of-a-name": ("a name of two packages", told("model.request", TWICE), "two calls"),
    "a-native-and-a-package-have-one-tool-of-a-name": (
        "a native's name",
        told("model.request", {"tools": [{"name": "look", "description": "the tool look"}] * 2}),
        "two calls",
    ),
    "a-name-that-two-packages-register-is-told": ("a name of two packages", untold, "two calls"),
    "a-registration-that-a-native-tool-hides-is-told": (
        "a native's name",
        told("model.request", {"tools": [{"name": "look", "description": "the native tool look"}]}),
        "two calls",
    ),
    "bytes-of-pictures-stay-out-of-the-log": (
        "a picture",
        told("log.result", {"content": [{"type": "image", "data": PNG}]}),
        "two calls",
    ),
    "bytes-of-pictures-stay-out-of-requests": (
        "a picture",
        told("model.request", {"messages": [{"role": "tool", "callId": "1", "content": [{"data": PNG}]}]}, request=2),
        "two calls",
    ),
    "no-child-outlives-the-stage": (
        "two calls",
        also("operator", "operator", {"act": "close", "children": [7]}, "turn.end"),
        "two calls",
    ),
    "a-plain-tool-may-be-registered": (
        "a tool registered between prompts",
        answered("fetch", "registerTool", {"threw": "words"}),
        "a native's name",
    ),
    "a-registered-tool-is-listed": (
        "a tool registered between prompts",
        lacks("model.request", "fetch", request=3),
        "a list between prompts",
    ),
    "a-tool-registered-after-a-list-is-listed": (
        "a tool registered after a list",
        lacks("model.request", "fetch", request=3),
        "a tool registered between prompts",
    ),
    "taking-back-an-unknown-name-is-false": (
        "tools taken back",
        answered("ghost", "unregisterTool", {"threw": "words"}),
        "two calls",
    ),
    "taking-back-a-native-tool-is-false": (
        "tools taken back",
        answered("look", "unregisterTool", {"returned": True}),
        "two calls",
    ),
    "taking-back-another-packages-tool-is-false": (
        "tools taken back",
        answered("fetch", "unregisterTool", {"returned": True}),
        "two calls",
    ),
    "taking-back-the-own-tool-is-true": (
        "tools taken back",
        answered("stow", "unregisterTool", {"returned": False}),
        "two calls",
    ),
    "tools-of-a-removed-package-are-gone": (
        "a removed package",
        told("model.request", {"tools": [{"name": "stow", "description": "the tool stow"}]}, request=3),
        "two packages",
    ),
    "a-removed-package-is-not-asked": (
        "a removed package",
        moved("instance.disposed", "model.request"),
        "two packages",
    ),
    "a-removed-package-patches-nothing": (
        "a removed package",
        moved("instance.disposed", "model.request"),
        "two packages",
    ),
    "a-removed-package-hears-nothing-more": (
        "a removed package",
        moved("instance.disposed", "model.request"),
        "two packages",
    ),
    "what-is-no-json-does-not-run": (
        "no json",
        also("tool.enter", "log.call", BODY, "log.call"),
        "two calls",
    ),
    "what-json-cannot-carry-does-not-run": (
        "a number too large",
        also("tool.enter", "log.call", BODY, "log.call"),
        "two calls",
    ),
    "what-is-judged-and-not-blocked-runs": ("two calls", without("tool.enter"), "a block"),
    "what-judges-change-runs": ("a changed input", without("tool.enter"), "two calls"),
    "what-judges-add-beyond-json-costs-no-call": (
        "a function put into an input",
        without("tool.enter"),
        "a changed input",
    ),
    "a-native-call-that-nobody-touches-runs": ("two calls", without("native.enter"), "a block"),
    "what-is-blocked-says-something": (
        "a block",
        told("log.result", {"content": [{"type": "text", "text": "Error: "}]}),
        "two calls",
    ),
    "what-a-judge-throws-is-told": (
        "a thrown text",
        told("log.result", {"content": [{"type": "text", "text": "Error: something"}]}),
        "a gate that throws",
    ),
    "what-a-tool-returns-is-a-success": ("a returned isError", told("log.result", {"isError": True}), "two calls"),
    "nothing-is-aborted-that-nobody-cancelled": ("two calls", told("log.result", {"code": "ABORTED"}), "a cancel"),
    "pictures-are-shown": (
        "a watched picture",
        told("handler.enter", {"payload": {"content": []}}, event="tool_result"),
        "two calls",
    ),
    "an-emptied-result-is-empty": (
        "an emptied result",
        told("log.result", {"content": [{"type": "text", "text": "kept"}]}),
        "two calls",
    ),
    "an-errors-text-is-what-the-last-patch-gave": (
        "a patched failure",
        told("log.result", {"content": [{"type": "text", "text": "Error: the body broke"}]}),
        "two calls",
    ),
    "ends-of-broken-calls-come-before-the-next-request": (
        "a number too large",
        without("handler.exit", event="tool_execution_end"),
        "two calls",
    ),
    "a-start-handler-that-throws-silences-nobody": (
        "two watchers of which one throws",
        unheard("tool_execution_start"),
        "two packages",
    ),
    "a-result-handler-that-throws-silences-nobody": (
        "two watchers of which one throws",
        unheard("tool_result"),
        "two packages",
    ),
    "an-end-handler-that-throws-silences-nobody": (
        "two watchers of which one throws",
        unheard("tool_execution_end"),
        "two packages",
    ),
    "all-tools-has-no-more-than-the-catalogue": (
        "lists",
        lacks("model.request", "look", request=1),
        "two calls",
    ),
    "what-a-list-leaves-out-stays-out": (
        "a list between prompts",
        told("model.request", {"tools": [{"name": name, "description": name} for name in ("stow", "look")]}, request=3),
        "two calls",
    ),
    "what-a-list-names-is-there": (
        "a list between prompts",
        lacks("model.request", "stow", request=3),
        "two calls",
    ),
    "start-handlers-wait-for-each-other": (
        "two tellers of each event",
        without("handler.exit", event="tool_execution_start"),
        "an update",
    ),
    "update-handlers-wait-for-each-other": (
        "two tellers of each event",
        without("handler.exit", event="tool_execution_update"),
        "an update",
    ),
    "end-handlers-wait-for-each-other": (
        "two tellers of each event",
        without("handler.exit", event="tool_execution_end"),
        "an update",
    ),
    "what-is-blocked-by-any-truth-does-not-run": (
        "a truthy block",
        also("tool.enter", "log.call", BODY, "log.call"),
        "two calls",
    ),
    "taking-back-twice-is-false": (
        "a tool taken back twice",
        answered("stow", "unregisterTool", {"returned": True}, nth=2),
        "tools taken back",
    ),
    "taking-back-what-is-no-name-is-false": (
        "a tool taken back twice",
        answered(7, "unregisterTool", {"threw": "words"}),
        "tools taken back",
    ),
    "a-package-that-failed-to-load-is-not-asked": (
        "a package that fails to load",
        told("instance.created", {"error": "no loading"}, package="beta"),
        "two packages",
    ),
    "a-factory-that-throws-is-reported": ("a package that fails to load", untold, "two packages"),
    "a-tool-that-asks-for-nothing-gets-what-was-written": (
        "a tool with a snippet",
        told("tool.enter", {"params": {"s": "another"}}),
        "two calls",
    ),
    "what-cannot-be-prepared-does-not-run": (
        "a tool that cannot be prepared",
        also("tool.enter", "log.call", BODY, "log.call"),
        "two calls",
    ),
    "a-result-of-nothing-stays-empty": (
        "a result of nothing",
        told("log.result", {"content": [{"type": "text", "text": "(no output)"}]}),
        "two calls",
    ),
    "without-a-list-every-native-is-there": (
        "two agents",
        lacks("model.request", "look", request=1),
        "a list between prompts",
    ),
    "who-serves-one-agent-hears-of-it-alone": ("two calls", told("instance.created", {"role": "agent"}), "nothing"),
    "nothing-runs-unjudged": ("two calls", without("handler.enter", event="tool_call"), "a block"),
    "every-result-is-shown": ("two calls", without("handler.enter", event="tool_result", call_id="1"), "a block"),
    "every-native-result-is-shown": (
        "two calls",
        without("handler.enter", event="tool_result", call_id="2"),
        "a block",
    ),
    "every-package-is-told-of-updates": (
        "two tellers of each event",
        unheard("tool_execution_update"),
        "two calls",
    ),
    "the-rest-of-the-chain-is-asked-once": ("two calls", twice("policy", phase="enter"), "a block"),
    "prompts-have-what-listed-tools-gave": (
        "a tool with a snippet",
        told("model.request", {"system": ""}),
        "two calls",
    ),
    "prompts-have-nothing-of-other-tools": (
        "a tool with a snippet",
        told("model.request", {"system": "use stow well"}, request=3),
        "two calls",
    ),
    "what-is-blocked-says-why": (
        "a block",
        told("log.result", {"content": [{"type": "text", "text": "Error: no"}]}),
        "two calls",
    ),
    "what-was-cut-off-does-not-run": (
        "a cut message",
        runs("1"),
        "two calls",
    ),
    "a-vain-recovery-is-reported": ("a vain recovery", untold, "a failure"),
    "what-was-taken-back-is-gone": (
        "a tool with a snippet",
        told("model.request", {"tools": [{"name": "stow", "description": "the tool stow"}]}, request=3),
        "two calls",
    ),
    "setting-a-list-returns-nothing": (
        "lists",
        told("api.return", {"outcome": {"returned": ["stow"]}}, call="setActiveTools"),
        "two calls",
    ),
    "judges-get-what-the-model-wrote": (
        "two calls",
        told("handler.enter", {"payload": {"input": {"s": "y"}}}, event="tool_call", call_id="1"),
        "nothing",
    ),
    "what-judges-leave-is-what-runs": (
        "a changed input",
        told("tool.enter", {"params": {"s": "x"}}),
        "a block",
    ),
    "natives-run-when-their-input-is-the-same-in-the-end": (
        "a native's input set to the same",
        without("native.enter"),
        "two calls",
    ),
    "natives-do-not-run-when-their-input-is-another": (
        "a native's input changed",
        runs("1"),
        "a native's input set to the same",
    ),
    "what-judges-change-is-not-validated-again": (
        "a changed input",
        lambda events: without("tool.enter")(
            told("log.result", {"content": [{"type": "text", "text": 'Validation failed for tool "stow"'}]})(events)
        ),
        "two calls",
    ),
    "what-other-packages-judges-change-runs": (
        "another package's input changed",
        without("tool.enter"),
        "a changed input",
    ),
    "what-another-packages-list-names-is-there": (
        "lists of two packages",
        lacks("model.request", "look", request=3),
        "a list between prompts",
    ),
    "for-a-later-agent-every-native-is-there": (
        "a list and a later agent",
        lacks("model.request", "look", agent="other"),
        "two agents",
    ),
    "what-runs-is-an-object-where-one-is-asked-for": (
        "two calls",
        told("tool.enter", {"params": "words"}),
        "nothing",
    ),
    "a-tool-that-asks-for-nothing-runs": ("a tool that nobody judges", without("tool.enter"), "two calls"),
    "policies-are-shown-what-the-model-wrote": (
        "two calls",
        told("policy", {"arguments": {}}, phase="enter"),
        "a block",
    ),
    "what-is-blocked-says-nothing-but-why": (
        "a block with content",
        told("log.result", {"content": [{"type": "text", "text": "beside the block"}]}),
        "a block",
    ),
    "every-cancelled-result-is-shown": (
        "a cancel in a body",
        without("handler.enter", event="tool_result"),
        "two calls",
    ),
    "the-end-of-a-cut-call-tells-its-failure": (
        "a cancel",
        told("log.result", {"isError": False}, call_id="1"),
        "two calls",
    ),
    "judges-are-asked-in-load-order": ("two packages", overtaken("tool_call"), "nothing"),
    "start-handlers-are-told-in-load-order": ("two packages", overtaken("tool_execution_start"), "nothing"),
    "result-handlers-are-asked-in-load-order": ("two packages", overtaken("tool_result"), "nothing"),
    "end-handlers-are-told-in-load-order": ("two packages", overtaken("tool_execution_end"), "nothing"),
    "prompts-have-nothing-that-was-replaced": (
        "a tool registered again without a snippet",
        told("model.request", {"system": "use stow well"}, request=3),
        "two calls",
    ),
    "the-tool-of-the-first-loaded-package-is-listed": (
        "a name that two packages describe",
        told("model.request", {"tools": [{"name": "stow", "description": "another stow"}]}),
        "a name of two packages",
    ),
    "what-a-list-leaves-out-is-gone-or-told": (
        "a list between prompts",
        told("model.request", {"tools": [{"name": name, "description": name} for name in ("stow", "look")]}, request=3),
        "two calls",
    ),
    "what-the-user-does-not-allow-does-not-run": (
        "a question",
        also("tool.enter", "policy", BODY, "policy", {"phase": "exit"}),
        "two calls",
    ),
    "what-is-invalid-is-not-judged": (
        "a call that does not pass",
        also("handler.enter", "handler.enter", GATE, "log.call", event="tool_execution_start"),
        "two calls",
    ),
    "what-runs-fits-its-schema": (
        "a tool that asks for a number",
        told("tool.enter", {"params": {"n": "7"}}),
        "a gate that throws",
    ),
    "the-same-list-again-is-not-reported": (
        "a list set twice",
        reported_again,
        "lists",
    ),
    "an-empty-text-starts-as-an-empty-object": (
        "an empty text",
        told("handler.enter", {"payload": {"args": ""}}, event="tool_execution_start"),
        "two calls",
    ),
    "no-tool-of-a-package-is-built-in": (
        "lists",
        told(
            "api.return",
            {"outcome": {"returned": [{"name": "stow", "sourceInfo": {"source": "builtin"}}]}},
            call="getAllTools",
        ),
        "two calls",
    ),
    "results-show-what-the-tool-made-of-its-input": (
        "a tool that writes into its input",
        told("handler.enter", {"payload": {"input": {"s": "x"}}}, event="tool_result"),
        "two calls",
    ),
    "a-text-that-is-changed-in-place-is-changed": (
        "a text changed in place",
        told("log.result", {"content": [{"type": "text", "text": "stow ok"}]}),
        "two calls",
    ),
    "what-is-assigned-alone-changes-nothing": (
        "a result assigned",
        told("log.result", {"content": [{"type": "text", "text": "assigned"}]}),
        "two calls",
    ),
    "what-is-assigned-after-a-patch-counts": (
        "a result assigned after an answer",
        told("log.result", {"content": [{"type": "text", "text": "answered"}]}),
        "two calls",
    ),
    "what-handlers-made-an-error-they-may-take-back": (
        "an error taken back",
        told("log.result", {"isError": True}),
        "two calls",
    ),
    "a-text-that-a-tool-throws-is-told": (
        "a text that a tool throws",
        told("log.result", {"content": []}),
        "a failure",
    ),
    "blank-guidelines-leave-no-trace": (
        "a blank guideline",
        told("model.request", {"system": "Guidelines:\n- stow it\n- "}),
        "two calls",
    ),
    "an-error-keeps-its-pictures": (
        "errors with pictures",
        told("log.result", {"content": []}, call_id="1"),
        "two calls",
    ),
    "a-failed-package-leaves-no-list": (
        "a list of a package that fails",
        lacks("model.request", "look"),
        "lists",
    ),
    "a-signal-is-aborted-by-a-cancel-of-its-turn": (
        "two calls",
        told("tool.enter", {"aborted": True}),
        "nothing",
    ),
    "a-cancel-ends-no-other-agents-turn": (
        "a cancel",
        by_another("operator", act="cancel"),
        "two calls",
    ),
    "what-is-blocked-without-a-reason-says-no-others": (
        "a block without a reason after another",
        told("log.result", {"content": [{"type": "text", "text": "Error: never on mondays"}]}, call_id="2"),
        "two calls",
    ),
    "what-the-hosts-listener-breaks-does-not-run": (
        "a listener of the host that throws",
        also("tool.enter", "policy", BODY, "policy"),
        "two calls",
    ),
    "what-the-user-allows-runs": (
        "a question that the user answers",
        without("tool.enter"),
        "a question",
    ),
    "a-picture-that-is-left-out-is-gone": (
        "a picture that is left out",
        told("log.result", {"content": [PICTURE]}),
        "two calls",
    ),
    "a-natives-pictures-stay": (
        "a native's picture",
        told("log.result", {"content": []}),
        "two calls",
    ),
    "what-a-list-names-is-not-reported": (
        "a list beside the host's transport",
        told("notice", {"text": "run_code stays"}),
        "lists",
    ),
    "each-agents-list-is-reported": (
        "a list beside the host's transport",
        untold,
        "lists",
    ),
    "judges-keep-their-place-through-a-reload": ("a reloaded package", overtaken("tool_call"), "two packages"),
    "a-list-survives-another-packages-end": (
        "a list and a package that goes",
        told("model.request", {"tools": [{"name": name, "description": name} for name in ("stow", "look")]}, request=3),
        "a list between prompts",
    ),
    "a-lost-keyword-is-announced-once": ("a tool that asks for a number", twice("notice"), "two calls"),
    "ends-carry-the-pictures": (
        "a watched picture",
        told("handler.enter", {"payload": {"result": {"content": []}}}, event="tool_execution_end"),
        "two calls",
    ),
    "texts-beside-pictures-are-kept": ("a text beside a picture", told("log.result", {"content": []}), "two calls"),
    "start-arguments-equal-a-record-that-is-no-object": (
        "arguments that are a list",
        told("handler.enter", {"payload": {"args": {}}}, event="tool_execution_start"),
        "two calls",
    ),
    "the-log-keeps-no-details-but-the-tools": (
        "a text beside a picture",
        told("log.result", {"details": {"k": 2}}),
        "a failure",
    ),
    "natives-come-back-when-their-name-is-given-up": (
        "a native's name given up",
        lacks("model.request", "look", request=3),
        "two calls",
    ),
    "a-package-that-is-loaded-has-an-instance": ("two calls", without("instance.created"), "nobody asks"),
    "who-listens-is-asked-before-a-prompt": (
        "a package that is asked before a prompt",
        without("handler.enter", event="before_agent_start"),
        "two calls",
    ),
}
"""For each invariant: a program whose trace holds, an edit that breaks it, and a program of which it cannot tell."""


def numbered(events: list[Event]) -> Trace:
    return Trace([msgspec.structs.replace(event, seq=number) for number, event in enumerate(events, 1)])


def traced(reference: Connection, program: str) -> list[Event]:
    return run_program(reference, PROGRAMS[program]).trace.events


LOST = {"channel": "logger", "level": "warn", "text": "tool stow: minimum of property n is lost", "instance": None}
ADDED: dict[str, Edit] = {
    "no-child-outlives-the-stage": also("operator", "operator", {"act": "close", "children": []}, "turn.end"),
    "one-list-reports-each-thing-once": also("notice", "api.call", NOTICE, "api.call", {"call": "setActiveTools"}),
    "a-lost-keyword-is-announced-once": also("notice", "api.call", LOST, "api.call", {"call": "registerTool"}),
}
"""What the reference does not do by itself: put into the trace before anything is judged."""

CONTEXT = Context("bridge", "root", frozenset({"notices"}), settled=True)


def test_every_invariant_has_a_case() -> None:
    assert sorted(CASES) == sorted(INVARIANTS)


@pytest.mark.parametrize("name", CASES)
def test_an_invariant_holds(reference: Connection, name: str) -> None:
    program, _, _ = CASES[name]
    events = ADDED.get(name, list)(traced(reference, program))
    if name == "calls-act-on-their-own-agent":
        events = [
            msgspec.structs.replace(event, agent="main", data={**event.data, "role": "agent"})
            if event.kind == "instance.created"
            else event
            for event in events
        ]
    assert examine(numbered(events), CONTEXT)[name] is Holding.HOLDS


@pytest.mark.parametrize("name", CASES)
def test_an_invariant_breaks(reference: Connection, name: str) -> None:
    program, edit, _ = CASES[name]
    events = edit(ADDED.get(name, list)(traced(reference, program)))
    if name == "calls-act-on-their-own-agent":
        number = at(events, "instance.created")
        events[number] = msgspec.structs.replace(events[number], agent="another")
    trace = numbered(events)
    assert examine(trace, CONTEXT)[name] is Holding.BROKEN
    mine = [each for each in judge(trace, CONTEXT) if each.invariant == name]
    assert mine
    assert all(each.rules == INVARIANTS[name].rules and each.sentence for each in mine)


@pytest.mark.parametrize("name", CASES)
def test_an_invariant_cannot_tell(reference: Connection, name: str) -> None:
    events = traced(reference, CASES[name][2])
    assert examine(numbered(events), CONTEXT)[name] is Holding.CANNOT_TELL


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_accused_on_the_reference(reference: Connection, program: str) -> None:
    trace = numbered(traced(reference, program))
    assert judge(trace, CONTEXT) == []
    assert Holding.BROKEN not in examine(trace, CONTEXT).values()


def test_an_invariant_of_bridges_says_nothing_of_pi(reference: Connection) -> None:
    events = CASES["user-bash-never-fires"][1](traced(reference, "two calls"))
    assert examine(numbered(events), Context("pi"))["user-bash-never-fires"] is Holding.CANNOT_TELL


def test_equal_ids_one_after_the_other_are_told_apart(reference: Connection) -> None:
    """What breaks in the second occurrence is found, and named as the second."""
    program: list[AnyOperation] = [package("alpha", "stow"), asks("stow"), asks("stow")]
    events = run_program(reference, program).trace.events
    number = max(n for n, e in enumerate(events) if e.kind == "handler.enter" and e["event"] == "tool_execution_end")
    del events[number]
    found = judge(numbered(events), CONTEXT)
    assert [each.invariant for each in found] == ["one-end-for-every-start"]
    assert "(occurrence 2)" in found[0].sentence


def test_an_end_that_is_only_late_is_no_breach_before_everything_settled(reference: Connection) -> None:
    program: list[AnyOperation] = [package("alpha", "stow"), asks("stow")]
    events = run_program(reference, program).trace.events
    cut = events[: at(events, "handler.enter", event="tool_execution_end")]
    assert "one-end-for-every-start" not in [each.invariant for each in judge(numbered(cut), Context("bridge", "root"))]


def test_nobody_owes_a_child_agents_call_its_start(reference: Connection) -> None:
    """Whether packages are told of it at all has no rule; every other call starts."""
    program: list[AnyOperation] = [package("alpha", "stow"), asks("stow")]
    events = run_program(reference, program).trace.events
    told = [event for event in events if event["event"] not in ("tool_execution_start", "tool_execution_end")]
    agents = frozenset(event.agent for event in events if event.agent)
    served = Context("bridge", "root", settled=True)
    helping = Context("bridge", "root", settled=True, child_agents=agents)
    assert "every-call-starts" in [each.invariant for each in judge(numbered(told), served)]
    assert "every-call-starts" not in [each.invariant for each in judge(numbered(told), helping)]


def test_packages_are_in_the_order_in_which_they_were_loaded_whenever_their_instances_are_made(
    reference: Connection,
) -> None:
    """Of a recording that does not say what was loaded, in the order of the instances."""
    lazy = moved("instance.created", "instance.created", package="beta")
    events = lazy(traced(reference, "two packages"))
    assert judge(numbered(events), CONTEXT) == []
    old = [
        msgspec.structs.replace(event, data={**event.data, "package": None}) if event["act"] else event
        for event in events
    ]
    found = {each.invariant for each in judge(numbered(old), CONTEXT)}
    assert {"judges-are-asked-in-load-order", "end-handlers-are-told-in-load-order"} <= found
