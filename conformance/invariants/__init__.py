"""Predicates over a whole trace that hold in every run, whatever the run was about.

Each has three answers: it holds, it is broken, or it cannot tell, because the trace lacks what it looks at or the path
has no rule. Per-call predicates are keyed by agent, call id and occurrence: equal ids are legal.
"""

from __future__ import annotations

from conformance.invariants import _answers as _answers
from conformance.invariants import _batches as _batches
from conformance.invariants import _calls as _calls
from conformance.invariants import _catalogues as _catalogues
from conformance.invariants import _causes as _causes
from conformance.invariants import _gates as _gates
from conformance.invariants import _hearing as _hearing
from conformance.invariants import _inputs as _inputs
from conformance.invariants import _lifetimes as _lifetimes
from conformance.invariants import _lists as _lists
from conformance.invariants import _loading as _loading
from conformance.invariants import _orders as _orders
from conformance.invariants import _payloads as _payloads
from conformance.invariants import _pictures as _pictures
from conformance.invariants import _prompts as _prompts
from conformance.invariants import _reports as _reports
from conformance.invariants import _schemas as _schemas
from conformance.invariants import _tools as _tools
from conformance.invariants import _ways as _ways
from conformance.invariants._judging import INVARIANTS as INVARIANTS
from conformance.invariants._judging import Broken as Broken
from conformance.invariants._judging import Context as Context
from conformance.invariants._judging import Holding as Holding
from conformance.invariants._judging import Invariant as Invariant
from conformance.invariants._story import Call as Call
from conformance.invariants._story import Story as Story
from conformance.trace import Trace


def judge(trace: Trace, context: Context) -> list[Broken]:
    """Return what this trace breaks of the invariants that hold for the context's role."""
    story = Story(trace)
    found = [
        Broken(known.name, known.rules, sentence)
        for known in INVARIANTS.values()
        if context.role in known.roles
        for sentence in known.judge(story, context)
        if sentence is not None
    ]
    story.close()
    return found


def examine(trace: Trace, context: Context) -> dict[str, Holding]:
    """Return what this trace says of every invariant."""
    story = Story(trace)
    return {name: known.examine(story, context)[0] for name, known in INVARIANTS.items()}
