"""What is printed for a test that did not pass: rule, source, finding, the trace's end, and how to repeat it."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback
from msgspec import UNSET

from conformance._pytest.judge import InvariantBroken, Judged
from conformance._pytest.plan import Task
from conformance.catalogue import Rule
from conformance.drivers.driver import HarnessError
from conformance.drivers.envelope import printable
from conformance.trace import Event, Trace
from conformance.verdicts import Finding, Verdict

TAIL = 12
"""Events of the trace that are shown."""
WIDTH = 240
"""Characters of one shown value."""


def representation(
    task: Task,
    rules: Mapping[str, Rule],
    judged: Judged,
    error: BaseException | None,
    trace: Trace | None,
    stderr: str = "",
    again: bool = False,
) -> ReprExceptionInfo:
    """The block in the form that pytest prints, abbreviates and sends between processes; ``rules`` are all of them.

    ``again`` says that the rule's block was printed before: then only what this example adds is.
    """
    said = further(task, judged) if again else lines(task, rules, judged, error, trace, stderr)
    text = printable("\n".join(said)) + "\n"
    file, _, line = task.where.rpartition(":")
    crash = ReprFileLocation(file or task.where, int(line) if line.isdigit() else 0, _short(task, judged))
    return ReprExceptionInfo(ReprTraceback([ReprEntryNative([text])], None, "native"), crash)


def _short(task: Task, judged: Judged) -> str:
    first = (judged.message or (judged.broken[0].sentence if judged.broken else "")).splitlines()
    return f"{judged.outcome}: {printable(first[0])}" if first else str(judged.outcome)


def lines(
    task: Task,
    rules: Mapping[str, Rule],
    judged: Judged,
    error: BaseException | None,
    trace: Trace | None,
    stderr: str = "",
) -> Iterator[str]:
    """The block's lines."""
    by_invariant = isinstance(error, InvariantBroken)
    broken = [rules[rule] for each in judged.broken for rule in each.rules if rule in rules]
    rule = broken[0] if by_invariant and broken else task.rule
    yield f"{rule.id} ({rule.level}) on {task.bridge.title}"
    yield f"  rule:     {rule.text}"
    if task.bridge.hello.role == "pi" and rule.on_pi:
        yield f"  on Pi:    {rule.on_pi}"
    yield f"  source:   {rule.source}, {rule.where}"
    if by_invariant:
        yield f"  seen in:  {task.where}, whose own rule {task.rule.id} says: {judged.verdict}"
    else:
        yield f"  proof:    {task.where}"
        if judged.step:
            yield f"  step:     {judged.step}"
    yield f"  verdict:  {judged.outcome}"
    yield from _finding(judged, said=by_invariant)
    if task.deviation is not None and judged.outcome not in (Verdict.STALE, Verdict.DEVIATION):
        yield from _labelled("ledger:", f"{task.deviation.where} lists this test, and does not excuse it")
    yield from _tail(trace)
    if judged.verdict is Verdict.HARNESS_ERROR and stderr:
        yield "  adapter's standard error, its end:"
        yield from (f"    {line}" for line in stderr.strip().splitlines()[-TAIL:])
    if error is not None and not isinstance(error, Finding | HarnessError):
        yield "  traceback:"
        for part in traceback.format_exception(error):
            yield from (f"    {line}" for line in part.rstrip().splitlines())
    yield _command(task)


def further(task: Task, judged: Judged) -> Iterator[str]:
    """The lines of one more example of a rule whose block was printed before."""
    yield f"{task.rule.id} ({task.rule.level}) on {task.bridge.title}, as above (-v shows each whole)"
    yield f"  proof:    {task.where}"
    yield f"  verdict:  {judged.outcome}"
    yield from _finding(judged, said=False)
    yield _command(task)


def _finding(judged: Judged, said: bool) -> Iterator[str]:
    """What was expected and got; the sentence too unless it was ``said`` or only puts the two together."""
    values = [value for value in (judged.expected, judged.got) if isinstance(value, str)]
    if judged.message and not said and not (len(values) == 2 and all(value in judged.message for value in values)):
        yield from _labelled("why:", judged.message)
    for label, value in (("expected:", judged.expected), ("got:", judged.got)):
        if value is not UNSET:
            yield from _labelled(label, value if isinstance(value, str) else short(value))
    for each in judged.broken:
        yield from _labelled("invariant:", f"{each.invariant} ({', '.join(each.rules)}): {each.sentence}")


def _command(task: Task) -> str:
    return f"  again:    bridge-conformance run --bridge={task.bridge.given} --rule={task.selector}"


def _labelled(label: str, text: str) -> Iterator[str]:
    head, *rest = text.splitlines() or [""]
    yield f"  {label:<9} {head}"
    yield from (f"            {line}" for line in rest)


def _tail(trace: Trace | None) -> Iterator[str]:
    if trace is None or not len(trace):
        return
    events = trace.events
    shown = events[-TAIL:]
    yield f"  trace:    {f'last {len(shown)} of {len(events)} events' if len(events) > len(shown) else 'whole'}"
    for event in shown:
        yield f"    {event_line(event)}"


def event_line(event: Event) -> str:
    """One event as one line."""
    who = "".join(f" {part}" for part in (event.agent, event.call_id and f"call {event.call_id}") if part)
    data = {key: value for key, value in event.data.items() if value is not None}
    return f"{event.seq:>5}  {event.kind:<16}{who}  {short(data) if data else ''}".rstrip()


def short(value: Any) -> str:
    """A value as one line of JSON, its middle left out when it is long."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= WIDTH else f"{text[: WIDTH * 3 // 4]} … {text[-WIDTH // 5 :]}"
