"""The answers a listener gives to the tool pipeline, as the plain objects the harness reads.

The harness reads members, it checks no types: a denial without a reason is no denial (the call runs, past the guards).
These functions build the decisions whose meaning is the one their name says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from reference_bridge.host.json_values import UNDEFINED, Json
from reference_bridge.host.messages import Content, Message

Decision: TypeAlias = dict[str, Json]


def allow() -> Decision:
    """Go on to the guards, then to the tool."""
    return {"kind": "allow"}


def deny(reason: str) -> Decision:
    """Do not run the tool; the model reads `Error: <reason>`."""
    return {"kind": "deny", "reason": reason}


def ask(reason: str | None = None) -> Decision:
    """Let the approval service decide; without one the call is denied."""
    return {"kind": "ask"} if reason is None else {"kind": "ask", "reason": reason}


def accept(
    *, content: Content | None = None, value: Json = UNDEFINED, additional_contexts: Sequence[Message] = ()
) -> Decision:
    """Let the result stand, with other content or, for a success, with another value; never both."""
    decision: Decision = {"kind": "accept"}
    if content is not None:
        decision["content"] = content
    if value is not UNDEFINED:
        decision["value"] = value
    if additional_contexts:
        decision["additionalContexts"] = list(additional_contexts)
    return decision


def block(feedback: Content, *, additional_contexts: Sequence[Message] = ()) -> Decision:
    """Make the result an error whose content is `feedback` exactly."""
    decision: Decision = {"kind": "block", "feedback": feedback}
    if additional_contexts:
        decision["additionalContexts"] = list(additional_contexts)
    return decision
