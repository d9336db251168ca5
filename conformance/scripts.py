"""What packages, natives and the model are told to do on a stage, as plain data.

The same values are built by Gherkin steps, by vectors and by random programs, and travel in case files.
"""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.drivers.protocol import ModelAnswer, NativeAnswer, NativeSpec, PolicySpec, Reply


class Match(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which invocations a behaviour answers: all fields given must fit; ``nth`` counts the fitting ones from 1."""

    tool: str | None = None
    call: str | None = None
    agent: str | None = None
    nth: int | None = None


class Act(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="do"):
    """Something done while a handler or tool is open, before its reply."""


class CallPi(Act, frozen=True, omit_defaults=True, tag="pi"):
    """Call ``pi.<call>``; of the invocation's own package, or from another ``package``'s instance for the agent.

    ``outside`` makes the call outside the invocation's context, on the same instance; ``times`` makes it so many times
    at once.
    """

    call: str
    args: list[Any] = []
    package: str | None = None
    outside: bool = False
    times: int = 1


class CallCtx(Act, frozen=True, omit_defaults=True, tag="ctx"):
    """Call ``ctx.<call>``."""

    call: str
    args: list[Any] = []


class Update(Act, frozen=True, omit_defaults=True, tag="update"):
    """Hand a partial result to the tool's ``onUpdate``."""

    update: Any = None


class Cancel(Act, frozen=True, omit_defaults=True, tag="cancel"):
    """The user cancels the agent's turn."""


class Say(Act, frozen=True, omit_defaults=True, tag="say"):
    """The user adds input to the running agent: ``steer`` or ``follow_up``."""

    how: str
    text: str


class Hold(Act, frozen=True, omit_defaults=True, tag="hold"):
    """Keep the handler open until the trace has an event of one of ``kinds``, or nothing came for the window.

    ``event`` narrows ``handler.enter`` to that Pi event. The window is the stage's; this is how a rule about awaiting
    is proven without a fixed pause.
    """

    kinds: list[str]
    event: str | None = None


class SetPolicy(Act, frozen=True, omit_defaults=True, tag="policy"):
    """The operator sets a host policy listener."""

    policy: PolicySpec


class RegisterNative(Act, frozen=True, omit_defaults=True, tag="native"):
    """The operator registers a native tool."""

    native: NativeSpec


class UnregisterNative(Act, frozen=True, omit_defaults=True, tag="drop-native"):
    """The operator removes a native tool."""

    name: str
    agent: str | None = None


class AbortSignal(Act, frozen=True, omit_defaults=True, tag="abort"):
    """Abort a signal made with ``signal.create``."""

    signal: str


class Unload(Act, frozen=True, omit_defaults=True, tag="unload"):
    """The operator removes a package."""

    package: str


class Reload(Act, frozen=True, omit_defaults=True, tag="reload"):
    """The operator loads a package anew."""

    package: str


class StartAgent(Act, frozen=True, omit_defaults=True, tag="start-agent"):
    """The operator creates an agent."""

    agent: str


class EndAgent(Act, frozen=True, omit_defaults=True, tag="end-agent"):
    """The operator ends an agent."""

    agent: str


class Next(Act, frozen=True, omit_defaults=True, tag="next"):
    """Call the ``next()`` of the host listener this is done in; a reply of its own it then needs none."""


class CallHost(Act, frozen=True, omit_defaults=True, tag="host"):
    """Call a seam of the host, as ``target.call``, in a scope; ``name`` is given to what can be disposed."""

    call: str
    args: list[Any] = []
    scope: str | None = None
    name: str | None = None


AnyAct = (
    CallPi
    | CallCtx
    | Update
    | Cancel
    | Say
    | Hold
    | SetPolicy
    | RegisterNative
    | UnregisterNative
    | AbortSignal
    | Unload
    | Reload
    | StartAgent
    | EndAgent
    | Next
    | CallHost
)


class Behaviour(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule of conduct of a handler or tool: where it fits, what it does meanwhile, and what it replies."""

    match: Match = Match()
    acts: list[AnyAct] = []
    reply: Reply = Reply()


class Timed(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happens at a moment of a batch, whoever the call belongs to, before the suite answers there.

    ``when`` is a Pi event (its first handler for the call), ``body`` (a tool's or a native's), or ``request`` (the
    model is asked). ``call`` and ``agent`` narrow it; ``nth`` counts the fitting moments from 1.
    """

    when: str
    acts: list[AnyAct] = []
    call: str | None = None
    agent: str | None = None
    nth: int = 1


class NativeBehaviour(msgspec.Struct, frozen=True, omit_defaults=True):
    """The same for a native tool's body."""

    match: Match = Match()
    acts: list[AnyAct] = []
    answer: NativeAnswer = NativeAnswer()


DONE = ModelAnswer(text="done")
"""What the model says when its script has ended."""


def pick(
    behaviours: list[Any], counts: dict[int, int], *, tool: str | None, call: str | None, agent: str | None
) -> Any | None:
    """Return the last behaviour that fits a call; ``counts`` keeps how often each fitted, by identity.

    Later behaviours win, so a scenario can state the usual case first and the exception after it.
    """
    chosen = None
    for behaviour in behaviours:
        match = behaviour.match
        if match.tool not in (None, tool) or match.call not in (None, call) or match.agent not in (None, agent):
            continue
        counts[id(behaviour)] = counts.get(id(behaviour), 0) + 1
        if match.nth is None or match.nth == counts[id(behaviour)]:
            chosen = behaviour
    return chosen
