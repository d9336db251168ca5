"""What a program is about: a theme says which of the pools' values are drawn, and how often.

Most defects show where two or three things of one kind meet: two patches of one result, a stop and what takes it back.
Where everything is drawn evenly they hardly ever do, so each program is about one thing, and about all in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from conformance.drivers.protocol import NativeAnswer, Reply
from conformance.programs.pools import bodies, calls, gates, names, natives, patches, tools, watches

BRIEF = 20
"""Milliseconds over an answer that are not missed on a clock that does not jump."""
NO = (False,)
SELDOM = (*[False] * 7, True)
RARELY = (*[False] * 31, True)
NOW_AND_THEN = (False, False, False, True)
HALF = (False, True)
MOSTLY = (False, True, True, True)
USUALLY = (False, *[True] * 7)
REPLIES: dict[str, Sequence[Reply]] = {
    "tool_call": (*gates.ANY[:1] * 5, *gates.ANY[:5] * 2, *gates.ANY, *gates.WORDED),
    "tool_result": (*patches.ANY[:7] * 2, *patches.ANY, *patches.WORDED),
    "tool_execution_start": (*watches.ANY[:3], *watches.ANY),
    "tool_execution_update": (*watches.ANY[:3], *watches.ANY),
    "tool_execution_end": (*watches.ANY[:3], *watches.ANY),
    "before_agent_start": (Reply(),),
}
QUIET: dict[str, Sequence[Reply]] = {event: replies[:1] for event, replies in REPLIES.items()}


@dataclass(frozen=True)
class Theme:
    """What is drawn of each kind; each value as often as it is in its sequence, the plainest first."""

    called: Sequence[str] = (*["stow"] * 10, *["look"] * 7, "fetch", "fetch", "fetch", "probe", "ghost", "Stow")
    """Tools that the model calls."""
    own: Sequence[str] = (*["fetch"] * 4, *["weigh"] * 4, "stow", "look", "constructor")
    """Further tools of packages, beside their first one."""
    schemas: Sequence[int] = (*([0] * 14), 3, *range(len(tools.SCHEMAS)))
    tool_kinds: Sequence[int] = (*([0] * 10), 1, 1, 3, *range(tools.KINDS))
    arguments: Sequence[str] = (*calls.ARGUMENTS[:5] * 3, *calls.ARGUMENTS[:12] * 2, *calls.ARGUMENTS)
    events: Sequence[str] = (
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
        "tool_execution_end",
        "tool_execution_start",
        "tool_execution_update",
    )
    hears_all: Sequence[bool] = HALF
    """Whether a package listens to every event."""
    replies: Mapping[str, Sequence[Reply]] = field(default_factory=lambda: REPLIES)
    plain_handlers: Sequence[bool] = (*[True] * 7, *[False] * 13)
    """Whether a handler does nothing but listen."""
    narrow_handlers: Sequence[bool] = NOW_AND_THEN
    """Whether a handler acts on the calls of one tool only."""
    plain_bodies: Sequence[bool] = (True, False)
    bodies: Sequence[Reply] = (*bodies.ANY[:6] * 2, *bodies.ANY, *bodies.WORDED)
    updates: Sequence[Any] = (*watches.UPDATES[:1] * 2, *watches.UPDATES, *watches.ODD_UPDATES)
    more_updates: Sequence[bool] = HALF
    native_bodies: Sequence[NativeAnswer] = (*natives.ANY * 2, *natives.PICTURED, *natives.WORDED)
    lists: Sequence[Any] = (*names.LISTS[3:4] * 3, *names.LISTS)
    acts: Sequence[bool] = NOW_AND_THEN
    """Whether something is done meanwhile."""
    more_tools: Sequence[bool] = NOW_AND_THEN
    """Whether a package has a further tool."""
    served: Sequence[bool] = NO
    """Whether a program says first of all which services the host has."""
    answers: Sequence[str] = ("deny", "next", "allow", "ask", "throw", "guard", "guard-throw")
    """What the host's policy answers."""
    fails: Sequence[bool] = (*[False] * 63, True)
    """Whether a package's factory throws."""
    load_calls: Sequence[bool] = SELDOM
    """Whether a package calls the API while it is loaded."""
    composes: Sequence[bool] = NO
    """Whether a tool's schema is composed of properties, and the arguments of its calls with it."""
    natives: Sequence[str] = ("probe", "probe", "look", "look", "stow")
    """Names of native tools beside the first one."""
    places: Sequence[bool] = (*[False] * 15, True)
    """Whether a native tool is the host's transport, or in an agent's own scope."""
    ends: Sequence[bool] = NOW_AND_THEN
    """Whether what is done while agents work is to end another one."""
    alike: Sequence[Sequence[str]] = ((),)
    """Names that are alike, in the place of the others."""
    taken: Sequence[Any] = names.TAKEN
    """Arguments of ``unregisterTool``."""
    restarts: Sequence[bool] = SELDOM
    """Whether the ids of calls start anew with every message."""
    ids: Sequence[Sequence[str]] = (names.IDS[0],)
    """The ids of a message, where they start anew."""
    crowds: Sequence[bool] = (*[False] * 63, True)
    """Whether a message has more than ten calls."""
    fits: Sequence[bool] = NOW_AND_THEN
    """Whether the model's arguments are of those that tell most of the schema they are for."""
    second_replies: Sequence[bool] = (*[False] * 5, True)
    """Whether a handler or a body does something else the second time."""
    more_calls: Sequence[bool] = (False, False, True, True, True)
    """Whether a message has a further call."""
    more_messages: Sequence[bool] = HALF
    """Whether the model writes a further message with calls before it ends the turn."""
    more: Mapping[str, int] = field(default_factory=dict)
    """How many times as often as else an operation or an act is drawn, by its name."""

    def hurried(self) -> Theme:
        """Return the theme with nobody who takes longer over an answer than :data:`BRIEF`."""
        replies = {event: [_hurried(reply) for reply in drawn] for event, drawn in self.replies.items()}
        return replace(self, replies=replies, bodies=[_hurried(reply) for reply in self.bodies])


def _hurried(reply: Reply) -> Reply:
    return reply if reply.delay_ms <= BRIEF else msgspec.structs.replace(reply, delay_ms=BRIEF)
