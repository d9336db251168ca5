"""Steps on exec: signals, the provider's script, how calls ended and what is left of the children."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET
from pytest_bdd import given, then

from conformance.compare import check, holds, show
from conformance.drivers.process import COOKIE, own_cookie
from conformance.drivers.protocol import ProcessAnswer
from conformance.scripts import CallPi
from conformance.stage import Stage
from conformance.steps._phrase import phrase
from conformance.steps.packages import add_to_body
from conformance.steps.results import describe, last_outcome
from conformance.verdicts import Inconclusive

BOUND = 64 * 1024 * 1024
"""Bytes of one stream that a bridge keeps."""


# --- what is prepared -------------------------------------------------------------------------------------------------


@given(phrase('the signal "{signal}" is aborted {when:word}'))
@given(phrase('the signal "{signal}" is aborted with the start of child {number:int}'))
def signal_is_aborted(stage: Stage, signal: str, when: str = "", number: int = 0) -> None:
    """``already`` aborts it before the prompt; ``later`` leaves it to a body that does."""
    stage.plan.signals[signal] = when or number


@given(phrase("the provider answers {answer:json}"))
def provider_answers(stage: Stage, answer: Any) -> None:
    stage.peer.scripted_processes.append(msgspec.convert(answer, ProcessAnswer))


@given(phrase('the tool "{tool}" makes {times:int} calls of exec at once with {args:json}'))
def many_calls(stage: Stage, tool: str, times: int, args: list[Any]) -> None:
    add_to_body(stage, tool, CallPi(call="exec", args=args, times=times))


# --- how the calls ended ----------------------------------------------------------------------------------------------


def _answer(stage: Stage) -> dict[str, Any]:
    outcome = last_outcome(stage, "exec")
    found = outcome.returned
    check(isinstance(found, dict), "exec resolves with an answer", f"it {describe(outcome)}")
    assert isinstance(found, dict)
    return found


@then(phrase("exec resolved with {value:json}"))
def resolved_with(stage: Stage, value: Any) -> None:
    found = _answer(stage)
    check(holds(found, value), f"exec resolves with {show(value)}", show(found))


@then(phrase("every exec resolved with {value:json}"))
def every_resolved_with(stage: Stage, value: Any) -> None:
    outcomes = stage.returned("exec")
    wrong = [describe(outcome) for outcome in outcomes if not holds(outcome.returned, value)]
    check(bool(outcomes) and not wrong, f"every exec resolves with {show(value)}", f"{len(wrong)} did not: {wrong[:3]}")


@then(phrase("no two exec answers share their stdout"))
def own_outputs(stage: Stage) -> None:
    texts = [outcome.returned["stdout"] for outcome in stage.returned("exec") if isinstance(outcome.returned, dict)]
    check(len(set(texts)) == len(texts), "each call has its own output", f"{len(texts) - len(set(texts))} are shared")


@then(phrase("exec resolved without success"))
def resolved_without_success(stage: Stage) -> None:
    found = _answer(stage)
    check(found.get("code") not in (0, None), "exec resolves with a nonzero code", show(found))


@then(phrase("exec failed with a reason"))
def failed_with_a_reason(stage: Stage) -> None:
    outcome = last_outcome(stage, "exec")
    if outcome.threw is not UNSET:
        reason = outcome.threw.get("message") if isinstance(outcome.threw, dict) else outcome.threw
        check(bool(reason), "exec rejects with a reason", show(outcome.threw))
        return
    resolved_without_success(stage)
    found = _answer(stage)
    check(bool(str(found.get("stderr", "")).strip()), "stderr says why", show(found))


@then(phrase("exec failed or resolved without success"))
def failed_somehow(stage: Stage) -> None:
    if last_outcome(stage, "exec").threw is UNSET:
        resolved_without_success(stage)


@then(phrase('the {stream:word} of exec is {count:int} bytes long and begins with "{head}"'))
def stream_is(stage: Stage, stream: str, count: int, head: str) -> None:
    found = _answer(stage).get(stream)
    size, start = (found["bytes"], found["head"]) if isinstance(found, dict) else (len(str(found)), str(found))
    check(size == count, f"{stream} is {count} bytes long", f"{size} bytes")
    check(start.startswith(head), f"{stream} begins with {head!r}", repr(start[:8]))


@then(phrase('the overflow of exec is announced beside "{text}"'))
def overflow_is_announced(stage: Stage, text: str) -> None:
    """``text`` is what the program wrote to stderr; what announces the overflow may stand before or behind it."""
    answer = _answer(stage)
    written = str(answer.get("stderr", ""))
    check(text in written, f"stderr has {text!r}", repr(written[:200]))
    said = [written.replace(text, "", 1).strip(), *(str(event["text"]) for event in stage.trace.of("notice"))]
    fields = [key for key in answer if key not in ("stdout", "stderr", "code", "killed") and answer[key]]
    check(any(said) or bool(fields), "stderr, a field or a notice says that output was cut", "nothing does")


# --- who started what, and what is left -------------------------------------------------------------------------------


@then(phrase("the provider was asked for {argv:json}"))
def provider_was_asked(stage: Stage, argv: list[str]) -> None:
    found = [event["argv"] for event in stage.trace.of("spawn", via="provider")]
    check(found == [argv], f"the provider is asked once, for {show(argv)}", show(found))


@then(phrase("the provider was asked to keep {count:int} bytes of each stream"))
def provider_was_asked_to_keep(stage: Stage, count: int) -> None:
    found = [event["maxBytes"] for event in stage.trace.of("spawn", via="provider")]
    wanted = {"stdout": count, "stderr": count}
    check(found == [wanted], f"the provider is asked to keep {show(wanted)}", show(found))


@then(phrase("nothing was started"))
@then(phrase("only the provider started anything"))
def only_the_provider(stage: Stage) -> None:
    """Seen by the implementation's own spawn observer, and by the operating system's list of its children."""
    own = [event["argv"] for event in stage.trace.of("spawn") if event["via"] != "provider"]
    check(not own, "no child besides the provider's", f"started: {show(own)}")
    new = stage.new_children()
    check(not new, "the operating system knows no new child", f"processes {show(new)}")


@then(phrase('no process whose command holds "{text}" is left'))
def no_process_left(stage: Stage, text: str) -> None:
    deadline = time.monotonic() + stage.hello.limits.kill_grace_ms / 1000 + 1

    def look() -> list[str]:
        while (left := _commands(stage, text)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return left

    left = stage.seen(f"processes left with {text}", look)
    check(not left, f"no process whose command holds {text!r} is left", f"still there: {show(left)}")


@then(phrase('a process whose command holds "{text}" is left'))
def a_process_left(stage: Stage, text: str) -> None:
    found = stage.seen(f"processes with {text}", lambda: _commands(stage, text))
    check(bool(found), f"a process whose command holds {text!r} is left", "there is none")


def _commands(stage: Stage, text: str) -> list[str]:
    """Return the command lines of live processes that hold ``text``; zombies have none.

    Only of this implementation: somebody else on the machine may be judging by the same scenario.
    """
    if not Path("/proc").is_dir():
        raise Inconclusive("this machine has no /proc to look for processes in")
    pid = getattr(stage.driver, "pid", None)
    cookie = _cookie(pid) if pid else own_cookie().encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
            except OSError:
                continue
            if text in command and _cookie(int(entry.name)) == cookie:
                found.append(command)
    return found


def _cookie(pid: int) -> bytes | None:
    """Return what marks a process, by its environment, as one of an adapter's; ``None`` for anybody else's."""
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((each for each in variables if each.startswith(f"{COOKIE}=".encode())), None)
