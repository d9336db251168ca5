"""Where two implementations that ran the same program differ in what a rule speaks about.

There is no model of the rules here: an answer is right because it is the reference's (or, for the reference itself, the
real Pi's). What the rules leave to an implementation is left out, rather too much of it than too little: a false
accusation costs more than a fault that is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from conformance.catalogue import Rule, load_catalogue
from conformance.compare import same, show
from conformance.drivers.protocol import Role
from conformance.invariants import Context, Story
from conformance.invariants._story import Batch, Call
from conformance.plan import MAIN
from conformance.programs.cases import Finding
from conformance.programs.freedom import Freedom, freedom
from conformance.programs.gherkin import inline
from conformance.programs.operations import Program
from conformance.programs.paths import Path, path_of
from conformance.programs.run import Ran
from conformance.trace import Event, text_of

GATE, RESULT, START, END, UPDATE = (
    "tool_call",
    "tool_result",
    "tool_execution_start",
    "tool_execution_end",
    "tool_execution_update",
)


@dataclass(frozen=True)
class Difference:
    """The first place where the candidate answers otherwise: ``about`` names it, ``where`` says on what.

    ``then`` are steps that hold where it is answered as ``expected``; empty where no step says it.
    """

    rule: str
    about: str
    where: str
    expected: Any
    got: Any
    then: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.where}: expected {show(self.expected)}; got {show(self.got)}"


def finding_of_difference(difference: Difference, against: str) -> Finding:
    """Return a difference as a finding; ``against`` is whose answer counts as right."""
    return Finding(
        kind="difference",
        name=difference.about,
        rule=difference.rule,
        sentence=str(difference),
        then=list(difference.then),
        against=against,
    )


@dataclass(frozen=True)
class _Statement:
    """One thing that can be said of a trace, the rule it speaks of, and the steps that say it."""

    rule: str
    about: str
    where: str
    value: Any
    then: tuple[str, ...] = ()
    equal: Callable[[Any, Any], bool] = same


def differ(program: Program, reference: Ran, candidate: Ran) -> Difference | None:
    """Return the first place where the candidate differs from the reference in what a rule speaks about.

    Which rules count follows from the roles: beside the real Pi only those that are the same there, else every must
    that is asked of the candidate's role, mount and capabilities.
    """
    if reference.skipped != candidate.skipped:
        return None  # One of them lacks something: then they did not run the same program.
    free = freedom(program)
    if free.nothing:
        return None
    asked = _Asked(reference.context, candidate.context)
    pair = _Pair(Story(reference.trace), Story(candidate.trace), free)
    for right, found in pair.statements():
        if right.equal(right.value, found.value):
            continue
        if not asked.counts(right.rule):
            if right.about == "requests":
                return None
            continue
        return Difference(right.rule, right.about, right.where, right.value, found.value, right.then)
    return None


class _Asked:
    """Which rules are asked of both sides."""

    def __init__(self, *contexts: Context) -> None:
        self._contexts = contexts

    def counts(self, rule_id: str) -> bool:
        rule = _rules().get(rule_id)
        if rule is None or rule.level != "must":
            return False
        roles = {context.role for context in self._contexts}
        if len(roles) > 1 and rule.relation != "same":
            return False
        return all(rule.applies_to(_role(each), each.mount, each.capabilities) for each in self._contexts)


def _role(context: Context) -> Role:
    role: Role = msgspec.convert(context.role, Role)
    return role


@lru_cache(maxsize=1)
def _rules() -> dict[str, Rule]:
    return dict(load_catalogue().by_id)


class _Pair:
    """Two stories of one program, read side by side as long as the program means the same in both."""

    def __init__(self, right: Story, found: Story, free: Freedom) -> None:
        self.right = right
        self.found = found
        self.free = free
        self._others: dict[tuple[str, int], Batch] = {}
        counts: dict[str, int] = {}
        for batch in found.batches:
            counts[batch.agent] = counts.get(batch.agent, 0) + 1
            self._others[batch.agent, counts[batch.agent]] = batch

    def statements(self) -> Iterator[tuple[_Statement, _Statement]]:
        """Statements of both sides, in the order of the right one; ends where they part in what is free."""
        counts: dict[str, int] = {}
        for batch in self.right.batches:
            counts[batch.agent] = counts.get(batch.agent, 0) + 1
            other = self._others.get((batch.agent, counts[batch.agent]))
            if other is None or [c.id for c in other.calls] != [c.id for c in batch.calls]:
                return
            if self._interfered(self.right, batch) or self._interfered(self.found, other):
                return
            yield from self._request(batch, other)
            if self._is_cut(batch) or self._is_cut(other):
                return
            settled = True
            for one, two in zip(batch.calls, other.calls, strict=True):
                if self._told(one) and self._told(two):
                    yield from self._call(one, two)
                else:
                    settled = False
            if batch.spoken or other.spoken:
                return
            goes_on = [batch.after is not None and not _next_turn(self.right, batch)]
            goes_on.append(other.after is not None and not _next_turn(self.found, other))
            if not settled:
                if goes_on[0] != goes_on[1]:
                    return
                continue
            text = "the model is asked again after the batch" if goes_on[0] else "the loop stops after the batch"
            yield self._both(
                "tool_call.the-loop-stops-only-when-every-call-asked",
                "requests",
                f"request {batch.request['request']} of {batch.agent}: {text}",
                goes_on,
                then=self._times_asked(batch),
            )
            if goes_on[0] != goes_on[1]:
                return

    def _both(
        self,
        rule: str,
        about: str,
        where: str,
        values: Sequence[Any],
        then: tuple[str, ...] = (),
        equal: Callable[[Any, Any], bool] = same,
    ) -> tuple[_Statement, _Statement]:
        right, found = values
        return (
            _Statement(rule, about, where, right, then, equal),
            _Statement(rule, about, where, found, then, equal),
        )

    # --- what is free -------------------------------------------------------------------------------------------------

    def _interfered(self, story: Story, batch: Batch) -> bool:
        """Whether the user cancelled or spoke before the message, in a turn or beside one: when that counts is free."""
        acts = (event for event in story.kinds["operator"] if event["act"] in ("cancel", "steer", "follow_up"))
        return any(story.number(event) < batch.begin for event in acts)

    def _is_cut(self, batch: Batch) -> bool:
        if batch.cut or batch.finish is not None:
            return True
        replies = [body["reply"] or {} for call in batch.calls for body in call.of("native.enter")]
        return any(reply.get("conclude") for reply in replies)

    def _told(self, call: Call) -> bool:
        """Whether anything of a call is compared: its tool, and what it does, is nobody's choice."""
        story, batch = self._story(call.batch), call.batch
        names = self.free.names | (self.free.switched if self._listed(story, batch.begin) else set())
        if not call.clear or call.name in names or self._is_odd(call):
            return False
        change = self._change(story, batch)
        known = [story.number(event) for event in call.bodies] or [
            story.number(event) for event in call.of("log.result")
        ]
        return change is None or bool(known and known[0] < change)

    def _story(self, batch: Batch) -> Story:
        return self.right if any(batch is known for known in self.right.batches) else self.found

    def _listed(self, story: Story, before: int) -> bool:
        """Whether anybody set a list before."""
        return any(e["call"] == "setActiveTools" and story.number(e) < before for e in story.kinds["api.call"])

    def _change(self, story: Story, batch: Batch) -> int | None:
        """Where the tools, or the host's policy, may first have changed while the batch ran."""
        end = story.number(batch.after) if batch.after is not None else batch.end
        changes = [number for number in story.changes if batch.begin < number and (end is None or number < end)]
        for event in story.kinds["operator"]:
            number = story.number(event)
            if batch.begin < number and (end is None or number < end) and event["act"] not in ("settle", "prompt"):
                changes.append(number)
        return min(changes, default=None)

    def _is_odd(self, call: Call) -> bool:
        """Whether a listener of the host's had a say that is the host's own affair."""
        return any(event["id"] in self.free.policies for event in call.of("policy"))

    # --- what is compared ---------------------------------------------------------------------------------------------

    def _request(self, batch: Batch, other: Batch) -> Iterator[tuple[_Statement, _Statement]]:
        number, agent = batch.request["request"], batch.agent
        right, found = (self._names(each) for each in (batch, other))
        for name in sorted(right ^ found):
            there = name in right
            whose = f' of agent "{agent}"' if agent != MAIN else ""
            word = "lists" if there else "does not list"
            then = (f'request {number}{whose} {word} "{name}"',) if there or agent == MAIN else ()
            rule = self._listing_rule(batch, name)
            yield self._both(rule, "catalogue", f"request {number} of {agent} {word} {name}", (there, not there), then)

    def _names(self, batch: Batch) -> set[str]:
        story = self._story(batch)
        names = {str(row["name"]) for row in batch.request["tools"]} - self.free.names
        return names - self.free.switched if self._listed(story, story.number(batch.request)) else names

    def _listing_rule(self, batch: Batch, name: str) -> str:
        before = self.right.events[: self.right.number(batch.request)]
        calls = [event for event in before if event.kind == "api.call" and event["call"] in _LISTING]
        for event in reversed(calls):
            spec = (event["args"] or [None])[0]
            about = spec.get("name") if isinstance(spec, dict) else spec
            if event["call"] == "setActiveTools" or (about == name and event["invocation"] is not None):
                return _LISTING[event["call"]][0]
            if about == name:
                return _LISTING[event["call"]][1]
        return "registerTool.in-the-catalogue-beside-natives"

    def _call(self, call: Call, other: Call) -> Iterator[tuple[_Statement, _Statement]]:
        path = path_of(self.right, call)
        if path.free or path_of(self.found, other).free:
            return
        yield from self._told_events(call, other, path)
        ran = [[_body(each) for each in side.bodies] for side in (call, other)]
        total = len([e for e in self.right.events if e.kind in _BODIES and e["tool"] == call.name])
        ran_then = f'the tool "{call.name}" runs {total} times' if total else f'the tool "{call.name}" does not run'
        yield self._both(path.rule, "body", f"{call.label}: its body", ran, then=(ran_then,))
        if ran[0] != ran[1]:
            return
        if path.own and path.exact and len(ran[0]) == 1:
            params = [side.bodies[0]["params"] for side in (call, other)]
            then = (f'call "{call.id}" of "{call.name}" runs with {inline(params[0])}',)
            yield self._both(path.arguments, "arguments", f"{call.label}: what it runs with", params, then=then)
        if path.result:
            yield from self._result(call, other, path)

    def _told_events(self, call: Call, other: Call, path: Path) -> Iterator[tuple[_Statement, _Statement]]:
        for event in (START, GATE, UPDATE, RESULT, END):
            rule = path.told(event)
            if rule is None:
                continue
            right, found = (self._listeners(story, each, event) for story, each in self._sides(call, other))
            if [row[0] for row in right] == [row[0] for row in found]:
                continue
            packages = sorted({row[0] for row in (*right, *found)})
            package = next(name for name in packages if _of(right, name) != _of(found, name))
            total = len(
                [e for e in self.right.kinds["handler.enter"] if (e["event"], e["package"]) == (event, package)]
            )
            then = (
                f'package "{package}" sees {event} {total} times'
                if total
                else f'package "{package}" never sees {event}'
            )
            yield self._both(rule, event, f"{call.label}: who is told {event}", (right, found), then=(then,))
        if path.own and path.exact:
            rights, founds = call.handled(GATE), other.handled(GATE)
            for number, (one, two) in enumerate(zip(rights, founds, strict=False)):
                rule = (
                    "tool_call.mutation-is-seen-by-later-handlers"
                    if number
                    else "tool_call.the-gate-sees-checked-arguments"
                )
                seen = [(each["payload"] or {}).get("input") for each in (one, two)]
                then = f'package "{one["package"]}" sees {GATE} of call "{call.id}" with {inline({"input": seen[0]})}'
                yield self._both(rule, "input", f"{call.label}: what {one['package']} judges", seen, then=(then,))

    def _sides(self, call: Call, other: Call) -> tuple[tuple[Story, Call], tuple[Story, Call]]:
        return (self.right, call), (self.found, other)

    def _listeners(self, story: Story, call: Call, event: str) -> list[list[str]]:
        """Package and handler of every entry that serves the call's agent; the order within is another matter."""
        return sorted([str(each["package"]), str(each["handler"])] for each in call.handled(event))

    def _result(self, call: Call, other: Call, path: Path) -> Iterator[tuple[_Statement, _Statement]]:
        one, two = call.result, other.result
        if one is None or two is None:
            return
        failed = [each["isError"] for each in (one, two)]
        then = f'call "{call.id}" fails' if failed[0] else f'call "{call.id}" succeeds'
        yield self._both(path.outcome, "outcome", f"{call.label}: whether it fails", failed, then=(then,))
        if failed[0] != failed[1]:
            return
        texts = [text_of(each["content"]) for each in (one, two)]
        if failed[0]:
            said = path.says
            if said and said in texts[0]:
                then = f'call "{call.id}" fails and says "{said}"'
                yield self._both(
                    path.outcome, "error", f"{call.label}: says {said!r}", (True, said in texts[1]), then=(then,)
                )
        elif path.plain and '"' not in texts[0] and "\n" not in texts[0]:
            then = f'call "{call.id}" succeeds with "{texts[0]}"'
            yield self._both(path.content, "text", f"{call.label}: its text", texts, then=(then,))

    def _times_asked(self, batch: Batch) -> tuple[str, ...]:
        if batch.agent != MAIN:
            return ()
        total = len([event for event in self.right.kinds["model.request"] if event.agent == MAIN])
        return (f"the model is asked {total} times",)


_BODIES = ("tool.enter", "native.enter")
_LISTING = {
    "setActiveTools": ("setActiveTools.narrows-the-next-request",) * 2,
    "registerTool": ("registerTool.registered-in-a-handler", "registerTool.registered-between-prompts"),
    "unregisterTool": ("unregisterTool.the-own-tool-goes",) * 2,
}


def _of(rows: list[list[str]], package: str) -> int:
    return len([row for row in rows if row[0] == package])


def _body(event: Event) -> list[str]:
    if event.kind == "native.enter":
        return ["native", event["tool"]]
    return [event["package"], event["tool"], event["tag"] or ""]


def _next_turn(story: Story, batch: Batch) -> bool:
    """Whether the next request of the agent belongs to another prompt."""
    assert batch.after is not None
    return batch.end is not None and story.number(batch.after) > batch.end
