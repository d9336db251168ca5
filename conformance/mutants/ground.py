"""What the reference makes of random programs, and which of its code each one reaches: the ground mutants stand on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, wraps
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any

from conformance.drivers.backend import InProcessDriver
from conformance.invariants import Call, Story, judge
from conformance.mutants.registry import Mutant, load_mutants
from conformance.programs.likeness import Row, normal
from conformance.programs.operations import AnyOperation
from conformance.programs.run import Connection, Ran, run_program
from conformance.programs.search import own_connection, situation
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.host import Host

TYPICAL = 60
"""Events of a program beyond which it has to reach more to be tried early."""


@dataclass
class Ground:
    """The programs with what the reference makes of them on one mount, and which of its code each one reached."""

    programs: list[list[AnyOperation]]
    mount: str | None
    ran: list[Ran] = field(default_factory=list)
    reached: list[frozenset[CodeType]] = field(default_factory=list)
    broken: list[frozenset[str]] = field(default_factory=list)

    @cached_property
    def rows(self) -> list[list[Row]]:
        """The traces as they are compared."""
        return [normal(ran.trace) for ran in self.ran]

    @cached_property
    def order(self) -> list[int]:
        """The programs, those first that reach much that none before them reached, in one of three regards in turn."""
        stories = [Story(ran.trace) for ran in self.ran]
        size = [1 + len(ran.trace.events) / TYPICAL for ran in self.ran]
        regards: list[list[frozenset[Any]]] = [
            [
                codes | {each for call in story.calls for each in (situation(story, call), *_meetings(story, call))}
                for codes, story in zip(self.reached, stories, strict=True)
            ],
            [frozenset(_asked(story)) for story in stories],
            [frozenset(_done(story)) for story in stories],
        ]
        turns = zip(*(_by_reach(reach, size) for reach in regards), strict=True)
        return list(dict.fromkeys(number for turn in turns for number in turn))

    def walk(self) -> Ground:
        """Run every program on the reference."""
        at = connection(Mutant("reference", ""), self.mount)
        with _Reached(_changeable()) as reached:
            for program in self.programs:
                ran = run_program(at, program)
                self.ran.append(ran)
                self.reached.append(reached.of())
                self.broken.append(frozenset(each.invariant for each in judge(ran.trace, ran.context)))
        close(at)
        assert len(self.rows) == len(self.order) == len(self.programs)
        return self


def _by_reach(reach: Sequence[frozenset[Any]], size: Sequence[float]) -> list[int]:
    """Return the numbers in the order of what is reached anew for the size; when all is reached, so again."""
    found: list[int] = []
    seen: set[Any] = set()
    left = set(range(len(reach)))
    while left:
        best = max(left, key=lambda number: (len(reach[number] - seen) / size[number], -number))
        if seen and reach[best] <= seen:
            seen = set()
            continue
        found.append(best)
        left.discard(best)
        seen |= reach[best]
    return found


def _asked(story: Story) -> Iterator[tuple[str, str]]:
    """Yield what arguments packages' tools were asked with, each with the schema of the tool."""
    for call in story.calls:
        for event in story.registrations.get(call.name, [])[-1:]:
            yield str(event["args"][0].get("parameters")), call.text


def _done(story: Story) -> Iterator[tuple[str, ...]]:
    """Yield what operator and packages did one after the other: lists, names taken back, reloads, further agents."""
    acts = []
    for event in story.events:
        if event.kind == "operator":
            acts.append(str(event["act"]))
        elif event.kind == "api.call" and event["call"] != "on":
            about = (event["args"] or [None])[0]
            acts.append(f"{event['call']} {about.get('name') if isinstance(about, dict) else about}")
        elif event.kind in ("agent.created", "agent.disposed", "turn.start"):
            acts.append(f"{event.kind} {event.agent}")
    yield from ((each,) for each in acts)
    yield from pairwise(acts)


def _meetings(story: Story, call: Call) -> Iterator[tuple[str, ...]]:
    """Yield which replies met at a call: what each two handlers of one event said, and its body and a patch."""
    bodies = [f"body {_kind(story.reply(body))}" for body in call.bodies]
    for event in ("tool_call", "tool_result"):
        said = [f"{event} {_kind(story.reply(each))}" for each in call.handled(event)]
        yield from pairwise(said)
        yield from ((body, each) for body in bodies for each in said)


def _kind(reply: dict[str, Any]) -> str:
    """Return of what kind a reply is: which members it returns, sets or throws, and those that are no text."""
    returned = reply.get("returns")
    if isinstance(returned, dict):
        words = [
            f"{key} {value if isinstance(value, bool | None) else type(value).__name__}"
            for key, value in returned.items()
        ]
    else:
        words = [type(returned).__name__] if "returns" in reply else []
    words += [f"{op.get('op')} {op.get('path', [None])[0]}" for op in reply.get("ops") or ()]
    return ", ".join([*words, *(["throws"] if "throws" in reply else [])])


class _Reached:
    """Notes which of some functions of the reference are entered: a mutant differs only where one it replaces is.

    Each of them is wrapped where it stands. To be told of every call of the interpreter takes three times as long.
    """

    def __init__(self, codes: frozenset[CodeType]) -> None:
        self.found: set[CodeType] = set()
        self._places: list[tuple[type, str, Any]] = []
        known: set[CodeType] = set()
        for owner in dict.fromkeys(each for part in _parts() for each in part.__mro__ if each is not object):
            for name, value in vars(owner).items():
                code = _code(value)
                if code in codes and isinstance(value, FunctionType | property):
                    self._places.append((owner, name, value))
                    known.add(code)
        self.unseen = codes - known
        """Functions that are not watched: they count as entered."""

    def __enter__(self) -> _Reached:
        for owner, name, value in self._places:
            setattr(owner, name, self._watched(value))
        return self

    def __exit__(self, *error: object) -> None:
        for owner, name, value in self._places:
            setattr(owner, name, value)

    def of(self) -> frozenset[CodeType]:
        """Return what was entered since the last time."""
        found = self.unseen | self.found
        self.found = set()
        return found

    def _watched(self, value: Any) -> Any:
        code = _code(value)
        assert code is not None
        if isinstance(value, property):
            assert value.fget is not None
            return property(self._noting(value.fget, code), value.fset, value.fdel, value.__doc__)
        return self._noting(value, code)

    def _noting(self, function: Callable[..., Any], code: CodeType) -> Callable[..., Any]:
        @wraps(function)
        def noting(*values: Any, **named: Any) -> Any:
            self.found.add(code)
            return function(*values, **named)

        return noting


def _parts() -> list[type]:
    """Return the classes of the reference that a mutant may put another in the place of."""
    return [Host, Bridge, *(part for name, part in vars(Bridge).items() if name.endswith("_type"))]


@cache
def _changeable() -> frozenset[CodeType]:
    """Return the code that some mutant replaces."""
    return frozenset(code for mutant in load_mutants().values() for code in changed(mutant) or ())


def changed(mutant: Mutant) -> frozenset[CodeType] | None:
    """Return the code of the reference's functions that a mutant replaces; ``None`` when it changes anything else."""
    pairs: list[tuple[type, type]] = [(mutant.host_type, Host), (mutant.bridge_type, Bridge)]
    for name, part in vars(Bridge).items():
        other = getattr(mutant.bridge_type, name)
        if name.endswith("_type") and isinstance(part, type) and other is not part:
            pairs.append((other, part))
    found: set[CodeType] = set()
    for made, base in pairs:
        for owner in made.__mro__[: made.__mro__.index(base)] if base in made.__mro__ else [made]:
            for name, value in vars(owner).items():
                if name in _IGNORED or (name.endswith("_type") and base is Bridge):
                    continue
                code = _code(getattr(base, name, None))
                if code is None and (hasattr(base, name) or not isinstance(value, FunctionType)):
                    return None
                if name == "__init__":
                    return None
                if code is not None:
                    found.add(code)
    return frozenset(found) if found else None


_IGNORED = frozenset({"__module__", "__doc__", "__qualname__", "__dict__", "__weakref__", "__annotations__"})


def _code(value: Any) -> CodeType | None:
    function = value.fget if isinstance(value, property) else value
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def connection(mutant: Mutant, mount: str | None) -> Connection:
    """Return a connection to a mutant, on its own mount where it has one."""
    return own_connection(InProcessDriver(mutant.name, lambda suite: mutant.make_backend(suite, mount)))


def close(at: Connection) -> None:
    """Let go of it."""
    at.runner.run(at.driver.close())
    at.runner.close()
