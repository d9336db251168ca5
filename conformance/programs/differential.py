"""Where two implementations that ran the same program differ in what a rule speaks about.

There is no model of the rules here: an answer is right because it is the reference's (or, for the reference itself, the
real Pi's). What the rules leave to an implementation is left out, rather too much of it than too little: a false
accusation costs more than a fault that is missed.
"""

from __future__ import annotations

from collections.abc import Collection

from conformance.invariants import Story
from conformance.invariants._story import Batch, Call
from conformance.plan import MAIN
from conformance.programs.cases import Finding
from conformance.programs.freedom import Contested, Freedom, freedom
from conformance.programs.of_calls import compare_calls
from conformance.programs.of_lists import compare_idle, compare_lists
from conformance.programs.of_requests import compare_requests
from conformance.programs.operations import Program
from conformance.programs.places import (
    changes_for,
    goes_on,
    interfered,
    is_cut,
    lists_while_loading,
    met_while_made,
    shared_changes,
    switched_off,
    unchanged,
    unsettled_by_others,
    was_cut,
)
from conformance.programs.run import Ran
from conformance.programs.statements import Difference as Difference
from conformance.programs.statements import Differs, Pair
from conformance.trace import Event

MUST = ("must",)


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


def differ(program: Program, reference: Ran, candidate: Ran, levels: Collection[str] = MUST) -> Difference | None:
    """Return the first place where the candidate differs from the reference in what a rule speaks about.

    Which rules count follows from the roles: beside the real Pi only those that are the same there, else every one of
    these ``levels`` that is asked of the candidate's role, mount and capabilities.
    """
    if reference.skipped != candidate.skipped:
        return None  # One of them lacks something: then they did not run the same program.
    free = freedom(program)
    if free.nothing:
        return None
    stories = Story(reference.trace), Story(candidate.trace)
    pair = Pair(*stories, (reference.context, candidate.context), levels)
    try:
        _Walk(pair, free).go()
    except Differs as found:
        return found.difference
    return None


class _Walk:
    """Two stories read side by side as long as the program means the same in both."""

    def __init__(self, pair: Pair, free: Freedom) -> None:
        self.pair = pair
        self.free = free
        self._others: dict[tuple[str, int], Batch] = {}
        self._idle = 0
        self._other = 0
        """Where the other side is, as far as it was read."""
        self._contested = Contested(pair.right), Contested(pair.found)
        counts: dict[str, int] = {}
        for batch in pair.found.batches:
            counts[batch.agent] = counts.get(batch.agent, 0) + 1
            self._others[batch.agent, counts[batch.agent]] = batch

    def go(self) -> None:
        """Say everything of both sides, in the order of the right one; of an agent no more once they part in it."""
        right, found = self.pair.right, self.pair.found
        counts: dict[str, int] = {}
        # Whether packages are told of the calls of an agent that works for another has no rule.
        parted = set(self.pair.child_agents)
        if lists_while_loading(right) != lists_while_loading(found):
            return
        for batch in right.batches:
            counts[batch.agent] = counts.get(batch.agent, 0) + 1
            if batch.agent in parted:
                continue
            other = self._others.get((batch.agent, counts[batch.agent]))
            if other is not None and parted:
                # What the agents that parted did may concern the others.
                if shared_changes(right, batch.begin) != shared_changes(found, other.begin):
                    return
            elif not parted and not interfered(right, batch.agent, batch.begin) and not self._compare_idle(batch.begin):
                return
            if other is None or not self._follows(batch, other):
                parted.add(batch.agent)
        end = len(right.events)
        agents = {event.agent or "" for event in right.kinds["agent.created"]}
        if not parted and not any(interfered(story, agent, end) for agent in agents for story in (right, found)):
            self._compare_idle(end)

    def _follows(self, batch: Batch, other: Batch) -> bool:
        """Say everything of a request and its batch; return whether what comes after means the same in both."""
        if [call.id for call in other.calls] != [call.id for call in batch.calls]:
            return False
        if interfered(self.pair.right, batch.agent, batch.begin):
            return False
        if interfered(self.pair.found, batch.agent, other.begin):
            return False
        if not self._same_tools(batch.agent, batch.begin, other.begin):
            return False
        self._other = other.begin
        return self._requests(batch.request, other.request) and self._batch(batch, other)

    def _same_tools(self, agent: str, right: int, found: int) -> bool:
        """Whether the same was done before to the tools of an agent, on both sides and in the same order.

        What a body does that ran on one side alone, the other side has not; where calls or agents work at once, an act
        may meet either of them, and one act another.
        """
        places = (self.pair.right, right), (self.pair.found, found)
        done = [changes_for(story, agent, before) for story, before in places]
        return done[0] == done[1]

    def _batch(self, batch: Batch, other: Batch) -> bool:
        """Say everything of a batch; return whether what comes after it means the same in both."""
        if is_cut(self.pair.right, batch):
            return False
        if is_cut(self.pair.found, other):
            if not was_cut(self.pair.found, other):
                self._ended(batch, other)
            return False
        settled = True
        for one, two in zip(batch.calls, other.calls, strict=True):
            left_out = self._left_out(batch.begin, batch.agent)
            told = self._told(self.pair.right, one, left_out) and self._told(self.pair.found, two, left_out)
            # What a list shows is a matter of its own: it is told also where the tool that asks is somebody's choice.
            compare_lists(self.pair, one, two, left_out | self.free.switched)
            settled = told and compare_calls(self.pair, one, two) and settled
        if batch.spoken or other.spoken:
            return False
        right, found = goes_on(self.pair.right, batch), goes_on(self.pair.found, other)
        if not settled:
            return right == found
        text = "the model is asked again after the batch" if right else "the loop stops after the batch"
        equal = self.pair.say(
            "tool_call.the-loop-stops-only-when-every-call-asked",
            "requests",
            f"request {batch.request['request']} of {batch.agent}: {text}",
            right,
            found,
            then=_times_asked(self.pair.right, batch),
        )
        if equal and batch.after is not None and other.after is not None and right:
            places = self.pair.right.number(batch.after), self.pair.found.number(other.after)
            return self._same_tools(batch.agent, *places) and self._requests(batch.after, other.after)
        return equal

    def _ended(self, batch: Batch, other: Batch) -> None:
        """Say that the turn ended by itself, though nobody cancelled anything and nothing went wrong on the way."""
        left_out = self._left_out(batch.begin, batch.agent)
        if goes_on(self.pair.found, other):
            return  # What cut the turn came later.
        if batch.spoken or other.spoken or not all(self._told(self.pair.right, call, left_out) for call in batch.calls):
            return
        for one in batch.calls:
            for body in one.of("tool.enter"):
                reply = self.pair.right.reply(body)
                rule = (
                    "registerTool.whatever-is-thrown-is-one-error"
                    if "throws" in reply
                    else "registerTool.an-odd-result-costs-one-result"
                )
                if not goes_on(self.pair.right, batch):
                    continue
                then = _times_asked(self.pair.right, batch)
                self.pair.say(rule, "requests", f"{one.label}: the loop goes on", True, False, then=then)

    def _compare_idle(self, before: int) -> bool:
        """Say what was answered outside any turn, up to a place of the right story."""
        left_out = self._left_out(before, MAIN) | self.free.switched
        self._idle, equal = compare_idle(self.pair, self._idle, before, left_out)
        return equal

    def _requests(self, right: Event, found: Event) -> bool:
        if met_while_made(self.pair.right, right) or met_while_made(self.pair.found, found):
            return False
        left_out = self._left_out(self.pair.right.number(right), right.agent or "")
        return compare_requests(self.pair, right, found, left_out, self.free.owners.keys() - left_out)

    def _left_out(self, before: int, agent: str) -> set[str]:
        """Return the names of which nothing is compared of an agent, at a place of the right story."""
        switched = switched_off(self.pair.right, agent, before, self.free.switched)
        return self.free.names | switched | self._contested[0].before(before) | self._contested[1].before(self._other)

    def _told(self, story: Story, call: Call, left_out: set[str]) -> bool:
        """Whether anything of a call is compared: its tool, and what it does, is nobody's choice."""
        policies = self.free.policies
        if not call.clear or call.name in left_out or any(event["id"] in policies for event in call.of("policy")):
            return False
        return unchanged(story, call) and not unsettled_by_others(story, call)


def _times_asked(story: Story, batch: Batch) -> tuple[str, ...]:
    if batch.agent != MAIN:
        return ()
    total = len([event for event in story.kinds["model.request"] if event.agent == MAIN])
    return (f"the model is asked {total} times",)
