"""Invariants of judging: what is blocked or denied does not run, and natives run with what the log keeps."""

from __future__ import annotations

from conformance.compare import same, show
from conformance.invariants._judging import Answers, Context, invariant
from conformance.invariants._once import once
from conformance.invariants._story import Call, Story
from conformance.trace import Event


@once
def blocking(story: Story, call: Call) -> Event | None:
    """Return the first handler of a call that answered ``block: true``, beyond doubt."""
    for gate in call.handled("tool_call"):
        answer = story.reply(gate).get("returns")
        if isinstance(answer, dict) and answer.get("block") is True and not story.threw(gate):
            return gate
    return None


def _overruled(story: Story, call: Call) -> bool:
    """Whether a listener of the host outside the bridge may have let the call run whatever the bridge said."""
    kinds = [(event["decision"] or {}).get("kind") for event in call.of("policy") if event["phase"] == "exit"]
    return story.listened or any(kind != "deny" for kind in kinds)


@invariant("tool_call.a-block-keeps-the-tool-from-running")
def what_is_blocked_does_not_run(story: Story, context: Context) -> Answers:
    for call in story.calls:
        gate = blocking(story, call)
        if not call.clear or gate is None or _overruled(story, call):
            continue
        ran = call.bodies
        yield f"{call.label}: {gate['package']} blocked it, and its body ran (event {ran[0].seq})" if ran else None


@invariant("tool_call.the-first-block-wins")
def nobody_is_asked_after_a_block(story: Story, context: Context) -> Answers:
    for call in story.calls:
        gate = blocking(story, call)
        done = story.exit_of(gate) if gate is not None else None
        if not call.clear or gate is None or done is None:
            continue
        later = [each for each in call.handled("tool_call") if story.number(each) > story.number(done)]
        yield f"{call.label}: {later[0]['package']} was asked after a block" if later else None


@invariant("tool_call.a-gate-that-throws-blocks")
def a_call_whose_gate_throws_does_not_run(story: Story, context: Context) -> Answers:
    for call in story.calls:
        threw = any(map(story.threw, call.handled("tool_call")))
        if not call.clear or not threw or _overruled(story, call):
            continue
        ran = call.bodies
        yield f"{call.label}: a handler threw, and its body ran (event {ran[0].seq})" if ran else None


@invariant("registerTool.a-denial-of-the-host-holds", roles="bridge")
def what_the_host_denies_does_not_run(story: Story, context: Context) -> Answers:
    for call in story.calls:
        decided = [event for event in call.of("policy") if event["phase"] == "exit"]
        if not call.clear or story.listened or not decided:
            continue
        # The outermost listener is the last to answer; a guard answers after them all.
        last = decided[-1]
        if (last["decision"] or {}).get("kind") != "deny":
            continue
        ran = [body for body in call.bodies if story.number(body) > story.number(last)]
        yield f"{call.label}: it was denied (event {last.seq}), and its body ran" if ran else None


@invariant("registerTool.a-question-of-the-host-is-asked", "tool_call.the-rest-of-the-chain-decides", roles="bridge")
def what_the_user_does_not_allow_does_not_run(story: Story, context: Context) -> Answers:
    """Of calls about which the outermost listener of the host asks the user, who does not say yes."""
    opened = next(iter(story.acts["open"]), None)
    if opened is None or opened["approval"] in (None, "allowed-once") or story.listened:
        return
    for call in story.calls:
        kinds = [(event["decision"] or {}).get("kind") for event in call.of("policy") if event["phase"] == "exit"]
        if call.clear and kinds and kinds[-1] == "ask" and not call.host_broke:
            ran = call.bodies
            told = f"{call.label}: the user was asked and did not allow it, and its body ran"
            yield f"{told} (event {ran[0].seq})" if ran else None


@invariant("tool_call.own-denials-are-well-formed", roles="bridge")
def denials_have_a_reason(story: Story, context: Context) -> Answers:
    for event in story.kinds["policy"]:
        decision = event["decision"]
        if not isinstance(decision, dict) or decision.get("kind") != "deny" or story.listened:
            continue
        reason = decision.get("reason")
        fine = isinstance(reason, str) and (reason.strip() != "" or reason in _reasons(story))
        yield None if fine else f"a denial of {event['tool']} has the reason {show(reason)} (event {event.seq})"


def _reasons(story: Story) -> set[str]:
    """Return what handlers gave as the reasons of their blocks; one that is nothing but blanks is a text, too."""
    returned = [story.reply(gate).get("returns") for call in story.calls for gate in call.handled("tool_call")]
    given = [each.get("reason") for each in returned if isinstance(each, dict)]
    return {reason for reason in given if isinstance(reason, str) and reason}


@invariant("tool_call.native-arguments-are-never-rewritten", roles="bridge")
def native_arguments_equal_the_logged(story: Story, context: Context) -> Answers:
    if story.listened:
        return  # A listener of the host's own may replace a call's arguments; then nothing is told of the bridge.
    for call in story.calls:
        record = call.record
        if not call.clear or not isinstance(record, dict):
            continue
        for body in call.of("native.enter"):
            ran = body["arguments"]
            yield None if same(ran, record) else f"{call.label}: ran with {show(ran)}, the log keeps {show(record)}"


@invariant("tool_result.not-for-calls-that-never-ran")
def blocked_results_are_not_patched(story: Story, context: Context) -> Answers:
    for call in story.calls:
        if not call.clear or blocking(story, call) is None or _overruled(story, call):
            continue
        asked = call.handled("tool_result")
        yield f"{call.label}: it was blocked, and tool_result was asked (event {asked[0].seq})" if asked else None


@invariant("user_bash.never-fires", roles="bridge")
def user_bash_never_fires(story: Story, context: Context) -> Answers:
    for event in story.kinds["handler.enter"]:
        yield f"user_bash was fired (event {event.seq})" if event["event"] == "user_bash" else None
