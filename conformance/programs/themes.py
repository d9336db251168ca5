"""What a program is about: a theme says which of the pools' values are drawn, and how often.

Most defects show where two or three things of one kind meet: two patches of one result, a stop and what takes it back.
Where everything is drawn evenly they hardly ever do, so each program is about one thing, and about all in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.drivers.protocol import NativeAnswer, Reply
from conformance.programs import pools

_NO = (False,)
_SELDOM = (*[False] * 7, True)
_RARELY = (*[False] * 31, True)
_NOW_AND_THEN = (False, False, False, True)
_HALF = (False, True)
_MOSTLY = (False, True, True, True)
_REPLIES: dict[str, Sequence[Reply]] = {
    "tool_call": (*pools.GATES[:1] * 5, *pools.GATES[:5] * 2, *pools.GATES, *pools.WORDED_GATES),
    "tool_result": (*pools.RESULTS[:7] * 2, *pools.RESULTS, *pools.WORDED_RESULTS),
    "tool_execution_start": (*pools.WATCHES[:3], *pools.WATCHES),
    "tool_execution_update": (*pools.WATCHES[:3], *pools.WATCHES),
    "tool_execution_end": (*pools.WATCHES[:3], *pools.WATCHES),
    "before_agent_start": (Reply(),),
}
_QUIET: dict[str, Sequence[Reply]] = {event: replies[:1] for event, replies in _REPLIES.items()}


@dataclass(frozen=True)
class Theme:
    """What is drawn of each kind; each value as often as it is in its sequence, the plainest first."""

    called: Sequence[str] = (*["stow"] * 10, *["look"] * 7, "fetch", "fetch", "fetch", "probe", "ghost", "Stow")
    """Tools that the model calls."""
    own: Sequence[str] = (*["fetch"] * 4, *["weigh"] * 4, "stow", "look", "constructor")
    """Further tools of packages, beside their first one."""
    schemas: Sequence[int] = (*([0] * 14), 3, *range(len(pools.SCHEMAS)))
    tool_kinds: Sequence[int] = (*([0] * 10), 1, 1, 3, *range(pools.TOOL_KINDS))
    arguments: Sequence[str] = (*pools.ARGUMENTS[:5] * 3, *pools.ARGUMENTS[:12] * 2, *pools.ARGUMENTS)
    events: Sequence[str] = (
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
        "tool_execution_end",
        "tool_execution_start",
        "tool_execution_update",
    )
    hears_all: Sequence[bool] = _HALF
    """Whether a package listens to every event."""
    replies: Mapping[str, Sequence[Reply]] = field(default_factory=lambda: _REPLIES)
    plain_handlers: Sequence[bool] = (*[True] * 7, *[False] * 13)
    """Whether a handler does nothing but listen."""
    narrow_handlers: Sequence[bool] = _NOW_AND_THEN
    """Whether a handler acts on the calls of one tool only."""
    plain_bodies: Sequence[bool] = (True, False)
    bodies: Sequence[Reply] = (*pools.BODIES[:6] * 2, *pools.BODIES, *pools.WORDED_BODIES)
    updates: Sequence[Any] = (*pools.UPDATES[:1] * 2, *pools.UPDATES, *pools.ODD_UPDATES)
    more_updates: Sequence[bool] = _HALF
    native_bodies: Sequence[NativeAnswer] = (*pools.NATIVE_BODIES * 2, *pools.PICTURED_NATIVES, *pools.WORDED_NATIVES)
    lists: Sequence[Any] = (*pools.LISTS[3:4] * 3, *pools.LISTS)
    acts: Sequence[bool] = _NOW_AND_THEN
    """Whether something is done meanwhile."""
    more_tools: Sequence[bool] = _NOW_AND_THEN
    """Whether a package has a further tool."""
    served: Sequence[bool] = _NO
    """Whether a program says first of all which services the host has."""
    answers: Sequence[str] = ("deny", "next", "allow", "ask", "throw", "guard", "guard-throw")
    """What the host's policy answers."""
    fails: Sequence[bool] = (*[False] * 63, True)
    """Whether a package's factory throws."""
    load_calls: Sequence[bool] = _SELDOM
    """Whether a package calls the API while it is loaded."""
    composes: Sequence[bool] = _NO
    """Whether a tool's schema is composed of properties, and the arguments of its calls with it."""
    natives: Sequence[str] = ("probe", "probe", "look", "look", "stow")
    """Names of native tools beside the first one."""
    places: Sequence[bool] = (*[False] * 15, True)
    """Whether a native tool is the host's transport, or in an agent's own scope."""
    ends: Sequence[bool] = _NOW_AND_THEN
    """Whether what is done while agents work is to end another one."""
    alike: Sequence[Sequence[str]] = ((),)
    """Names that are alike, in the place of the others."""
    taken: Sequence[Any] = pools.TAKEN
    """Arguments of ``unregisterTool``."""
    restarts: Sequence[bool] = _SELDOM
    """Whether the ids of calls start anew with every message."""
    ids: Sequence[Sequence[str]] = (pools.IDS[0],)
    """The ids of a message, where they start anew."""
    crowds: Sequence[bool] = (*[False] * 63, True)
    """Whether a message has more than ten calls."""
    fits: Sequence[bool] = _NOW_AND_THEN
    """Whether the model's arguments are of those that tell most of the schema they are for."""
    second_replies: Sequence[bool] = (*[False] * 5, True)
    """Whether a handler or a body does something else the second time."""
    more_calls: Sequence[bool] = (False, False, True, True, True)
    """Whether a message has a further call."""
    more: Mapping[str, int] = field(default_factory=dict)
    """How many times as often as else an operation or an act is drawn, by its name."""


PLAIN = Theme()
_COMPOSED = replace(PLAIN, composes=_SELDOM)
_GATES = pools.GATES[1:]
_CHANGING = (*pools.GATES[:1], *pools.GATES[3:4] * 2)
_PATCHES = (*pools.RESULTS[:3], pools.RESULTS[6])
_SHOWN = (pools.RESULTS[10], pools.RESULTS[8], pools.ODD_RESULTS[2])
_KNOWN = (*["stow"] * 6, *["look"] * 3, "fetch")

THEMES: Mapping[str, Theme] = {
    "anything": _COMPOSED,
    "oddities": replace(
        PLAIN,
        called=(*["stow"] * 6, *pools.ODD, *pools.ODD),
        own=(*pools.ODD, *pools.ODD, "fetch"),
        more_tools=_MOSTLY,
        schemas=(0,),
        tool_kinds=(0, 0, 3),
        arguments=pools.ARGUMENTS[:2],
        hears_all=_NOW_AND_THEN,
        events=("tool_call", "tool_result", "tool_result"),
        replies=_QUIET
        | {
            "tool_call": (*pools.GATES[:1] * 8, *pools.ODD_GATES),
            "tool_result": (*pools.RESULTS[:1] * 4, *pools.ODD_RESULTS),
        },
        plain_bodies=_SELDOM,
        bodies=pools.ODD_BODIES,
        acts=_SELDOM,
        more={"unregisterTool": 4},
    ),
    "prompts": replace(
        PLAIN,
        called=("stow",),
        schemas=(0,),
        tool_kinds=(1, 3, 7 + len(pools.PREPARES), 8 + len(pools.PREPARES)),
        more_tools=_MOSTLY,
        arguments=("{}",),
        events=("before_agent_start", "before_agent_start", "tool_execution_end"),
        hears_all=_SELDOM,
        plain_handlers=_SELDOM,
        replies=_QUIET,
        acts=_MOSTLY,
        more={"registerTool": 4, "setActiveTools": 3, "agent": 2, "prompt": 2},
    ),
    "agents": replace(
        _COMPOSED,
        schemas=(0, 0, 1, 5),
        arguments=pools.ARGUMENTS[:12],
        plain_handlers=(True, False),
        acts=_NOW_AND_THEN,
        more={"agent": 12, "drop-agent": 8, "setActiveTools": 2, "prompt": 2},
    ),
    "lists of agents": replace(
        PLAIN,
        schemas=(0,),
        arguments=("{}",),
        plain_handlers=_HALF,
        replies=_QUIET,
        acts=_MOSTLY,
        more={"agent": 12, "drop-agent": 6, "setActiveTools": 6, "prompt": 3, "native": 2, "pi": 0},
    ),
    "stops": replace(
        PLAIN,
        restarts=_HALF,
        ids=(pools.IDS[0], pools.IDS[4]),
        crowds=_RARELY,
        called=(*["stow"] * 6, "look", "fetch", "ghost"),
        schemas=(0,),
        arguments=("{}", "{}", "{}", "not json"),
        hears_all=_NOW_AND_THEN,
        events=("tool_result", "tool_result", "tool_call"),
        replies=_QUIET
        | {
            "tool_call": (*pools.GATES[:1] * 4, pools.GATES[2], pools.GATES[2], *pools.STOPPING_GATES),
            "tool_result": (pools.RESULTS[0], *pools.RESULTS[1:4], *pools.STOPPING_RESULTS),
        },
        plain_handlers=_SELDOM,
        narrow_handlers=_SELDOM,
        more_calls=_HALF,
        plain_bodies=_SELDOM,
        bodies=(*pools.BODIES[1:2] * 4, *pools.BODIES[:1] * 2, pools.BODIES[6], pools.BODIES[2], pools.ODD_BODIES[4]),
        second_replies=_HALF,
        acts=_SELDOM,
    ),
    "patches": replace(
        PLAIN,
        restarts=_HALF,
        crowds=_RARELY,
        called=_KNOWN,
        schemas=(0,),
        arguments=pools.ARGUMENTS[:3],
        hears_all=_NOW_AND_THEN,
        events=(*["tool_result"] * 5, "tool_execution_end"),
        replies=_REPLIES
        | {"tool_result": (*pools.RESULTS[:1] * 6, *pools.RESULTS[9:10] * 2, *pools.RESULTS, *pools.WORDED_RESULTS)},
        plain_handlers=_SELDOM,
        plain_bodies=_NOW_AND_THEN,
        second_replies=_HALF,
        acts=_SELDOM,
    ),
    "gates": replace(
        _COMPOSED,
        called=_KNOWN,
        schemas=(0, 0, 1),
        arguments=pools.ARGUMENTS[:4],
        hears_all=_NOW_AND_THEN,
        events=(*["tool_call"] * 5, "tool_result"),
        replies=_REPLIES
        | {
            "tool_call": (
                *_GATES,
                pools.GATES[3],
                pools.GATES[1],
                pools.GATES[5],
                *pools.RESTORING_GATES * 4,
                *pools.ODD_GATES,
            )
        },
        plain_handlers=_SELDOM,
        acts=_SELDOM,
        second_replies=_NOW_AND_THEN,
        more={"policy": 2},
    ),
    "refusals": replace(
        PLAIN,
        called=(*["look"] * 6, "stow", "probe"),
        schemas=(0,),
        arguments=(*pools.ARGUMENTS[1:4] * 2, *pools.ARGUMENTS[:12]),
        hears_all=_SELDOM,
        events=(*["tool_call"] * 4, "tool_result"),
        replies=_REPLIES
        | {
            "tool_call": (
                *pools.GATES[3:4] * 3,
                *pools.GATES[7:10],
                pools.GATES[24],
                pools.GATES[20],
                *pools.RESTORING_GATES * 2,
                pools.STOPPING_GATES[-1],
            ),
            "tool_result": _PATCHES,
        },
        plain_handlers=_SELDOM,
        second_replies=_HALF,
        acts=_SELDOM,
        more={"agent": 4},
    ),
    "long values": replace(
        PLAIN,
        called=("stow", "stow", "look"),
        schemas=(0, 1),
        arguments=pools.LONG_ARGUMENTS,
        hears_all=_MOSTLY,
        events=("tool_call", "tool_result"),
        replies=_QUIET
        | {"tool_call": (*pools.GATES[:1] * 3, *pools.LONG_GATES), "tool_result": (Reply(), *pools.LONG_RESULTS)},
        plain_handlers=_MOSTLY,
        updates=pools.LONG_UPDATES,
        more_updates=_NOW_AND_THEN,
        plain_bodies=_SELDOM,
        bodies=pools.LONG_BODIES,
        more_calls=_SELDOM,
        acts=_SELDOM,
        more={"agent": 0, "reload": 0, "unload": 0, "policy": 0},
    ),
    "far in": replace(
        PLAIN,
        called=("look", "look", "stow"),
        schemas=(0,),
        arguments=pools.FAR_ARGUMENTS,
        hears_all=_NOW_AND_THEN,
        events=("tool_call", "tool_call", "tool_result"),
        replies=_QUIET | {"tool_call": pools.FAR_GATES},
        plain_handlers=_NO,
        more_calls=_HALF,
        acts=_SELDOM,
        more={"agent": 0, "reload": 0, "unload": 0, "policy": 0},
    ),
    "pictures": replace(
        PLAIN,
        called=(*["stow"] * 4, *["fetch"] * 2, "look"),
        schemas=(0,),
        arguments=("{}",),
        events=("tool_result", "tool_execution_end", "tool_execution_update"),
        native_bodies=(*pools.NATIVE_BODIES[:2], *pools.PICTURED_NATIVES * 2),
        replies=_QUIET | {"tool_result": (*pools.RESULTS[:4], *_SHOWN)},
        plain_handlers=_HALF,
        plain_bodies=_SELDOM,
        bodies=(pools.BODIES[4], pools.BODIES[0], *pools.PICTURED_BODIES),
        second_replies=_HALF,
        acts=_SELDOM,
        served=_HALF,
    ),
    "schemas": replace(
        PLAIN,
        called=("stow", "stow", "stow", "fetch", "weigh", "look"),
        more_tools=_MOSTLY,
        more_calls=_MOSTLY,
        schemas=(*range(len(pools.SCHEMAS)), *pools.ALIKE, *pools.ALIKE),
        tool_kinds=(0, 0, *range(pools.TOOL_KINDS)),
        arguments=(*pools.ARGUMENTS[:7], *pools.ARGUMENTS),
        fits=_MOSTLY,
        composes=_MOSTLY,
        hears_all=_NOW_AND_THEN,
        plain_handlers=(*[True] * 7, False),
        plain_bodies=_MOSTLY,
        acts=_SELDOM,
        more={"registerTool": 3, "getAllTools": 2},
    ),
    "lists": replace(
        PLAIN,
        schemas=(0,),
        arguments=("{}",),
        plain_handlers=(True, True, False),
        replies=_QUIET,
        acts=_MOSTLY,
        load_calls=_HALF,
        fails=_SELDOM,
        more={"setActiveTools": 4, "agent": 3, "getActiveTools": 2, "native": 2, "package": 2},
    ),
    "lifetimes": replace(
        _COMPOSED,
        called=(*_KNOWN, *_KNOWN, "constructor"),
        own=("fetch", "stow", "stow", "look", "constructor"),
        schemas=(0, 0, 1),
        arguments=pools.ARGUMENTS[:3],
        plain_handlers=(True, True, False),
        replies=_QUIET | {"tool_call": _CHANGING},
        acts=_HALF,
        more={"registerTool": 4, "unregisterTool": 6, "unload": 4, "reload": 4, "package": 2, "drop-agent": 2},
    ),
    "reloads": replace(
        _COMPOSED,
        called=_KNOWN,
        schemas=(0, 0, 1),
        arguments=pools.ARGUMENTS[:3],
        plain_handlers=_HALF,
        replies=_QUIET | {"tool_call": _CHANGING},
        acts=_SELDOM,
        fails=_NOW_AND_THEN,
        more={"reload": 16, "package": 3, "prompt": 2},
    ),
    "taking back": replace(
        PLAIN,
        called=(*["stow"] * 4, "stow2", "fetch", "look"),
        own=("stow2", "stow2", "fetch"),
        more_tools=_MOSTLY,
        schemas=(0,),
        arguments=("{}",),
        plain_handlers=(*[True] * 7, False),
        replies=_QUIET,
        acts=_SELDOM,
        more={"pi": 3, "unregisterTool": 12, "setActiveTools": 0, "registerTool": 0},
    ),
    "updates": replace(
        PLAIN,
        restarts=_NOW_AND_THEN,
        crowds=_RARELY,
        called=(*["stow"] * 6, *["fetch"] * 2, "look"),
        schemas=(0,),
        arguments=pools.ARGUMENTS[:3],
        events=("tool_execution_update", "tool_execution_update", "tool_execution_end", "tool_result"),
        replies=_REPLIES | {"tool_execution_update": (*pools.WATCHES[:2], pools.WATCHES[6], pools.WATCHES[6])},
        plain_bodies=_NO,
        bodies=(
            *pools.BODIES[:6],
            *pools.BODIES[10:14],
            *pools.BODIES[12:13] * 4,
            *pools.BODIES[2:3] * 3,
            *pools.WORDED_BODIES[:4],
        ),
        updates=(*pools.UPDATES, *pools.ODD_UPDATES),
        more_updates=(False, *[True] * 5),
        more={"cancel": 3, "agent": 2},
    ),
    "lookalikes": replace(
        PLAIN,
        alike=pools.ALIKE_GROUPS,
        natives=("look", "Look", "look_", "loo", "Stow"),
        more_tools=_MOSTLY,
        schemas=(0,),
        tool_kinds=(0, 0, 3, 1),
        arguments=pools.ARGUMENTS[:4],
        hears_all=_NOW_AND_THEN,
        plain_handlers=_HALF,
        replies=_QUIET | {"tool_call": (*pools.GATES[:6], *pools.RESTORING_GATES), "tool_result": pools.RESULTS[:4]},
        narrow_handlers=_HALF,
        plain_bodies=_MOSTLY,
        lists=pools.ALIKE_LISTS,
        acts=_NOW_AND_THEN,
        restarts=_MOSTLY,
        ids=pools.IDS[1:4],
        second_replies=_HALF,
        more={"setActiveTools": 2, "native": 2, "unregisterTool": 2, "getAllTools": 2},
    ),
    "handlers at work": replace(
        PLAIN,
        called=_KNOWN,
        schemas=(0,),
        arguments=pools.ARGUMENTS[:3],
        hears_all=_NOW_AND_THEN,
        plain_handlers=_HALF,
        more_calls=_HALF,
        plain_bodies=_SELDOM,
        acts=_HALF,
        more={"on": 8, "agent": 2, "prompt": 2, "reload": 2},
    ),
    "texts": replace(
        PLAIN,
        called=(*["stow"] * 4, "look", "fetch"),
        schemas=(0,),
        tool_kinds=(0, *range(10 + len(pools.PREPARES), pools.TOOL_KINDS)),
        arguments=(*pools.ARGUMENTS[:3], *pools.ARGUMENTS[-2:], *pools.ARGUMENTS[-2:]),
        hears_all=_NOW_AND_THEN,
        events=("tool_result", "tool_result", "tool_call", "tool_execution_end", "tool_execution_update"),
        replies=_QUIET
        | {
            "tool_call": (*pools.GATES[:1] * 6, *pools.WORDED_GATES),
            "tool_result": (*pools.RESULTS[:1] * 4, *pools.WORDED_RESULTS),
        },
        plain_handlers=_NOW_AND_THEN,
        plain_bodies=_SELDOM,
        bodies=pools.WORDED_BODIES,
        second_replies=_HALF,
        updates=pools.ODD_UPDATES,
        native_bodies=(*pools.NATIVE_BODIES, *pools.WORDED_NATIVES),
        acts=_SELDOM,
    ),
    "decisions": replace(
        PLAIN,
        called=(*["stow"] * 4, *["look"] * 4, "fetch"),
        schemas=(0,),
        arguments=pools.ARGUMENTS[:4],
        served=_MOSTLY,
        answers=("ask", "ask", "ask", "deny", "next", "allow", "throw", "guard", "guard-throw"),
        more={"policy": 6, "agent": 2, "steer": 2, "follow_up": 2},
    ),
}
"""What programs are about, by name; the first is drawn most often."""

DRAWN = (
    *["anything"] * 3,
    "stops",
    "patches",
    "gates",
    "schemas",
    "refusals",
    *[name for name in THEMES if name != "anything"],
)
"""Names of themes, each as often as it is drawn."""
