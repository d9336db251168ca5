"""What of a program the rules leave to the implementation, as far as the program itself tells: it is not compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.invariants import Story
from conformance.programs.operations import (
    AddAgent,
    AddPackage,
    CallApi,
    DropNative,
    Program,
    to_json,
)

_ANSWERS = ("deny", "allow", "next", "ask", "guard", "throw", "guard-throw")
NOBODY = ""
"""The owner of a registration of which the program does not tell whose code makes it."""


@dataclass
class Freedom:
    """``names`` are tools of which nothing is compared, ``owners`` the packages that register each name.

    ``nothing`` says why nothing at all is compared.
    """

    names: set[str] = field(default_factory=set)
    switched: set[str] = field(default_factory=set)
    """Packages' own tools that a list leaves out: they go or stay, so nothing is compared once a list was set."""
    owners: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    nothing: str = ""
    policies: set[str] = field(default_factory=set)
    """Listeners of the host's policy whose answer is the host's own affair."""


def freedom(program: Program) -> Freedom:
    """Return what this program leaves free, from its beginning to its end."""
    found = Freedom()
    several = any(isinstance(operation, AddAgent) for operation in program)
    for operation in program:
        if isinstance(operation, AddPackage) and several:
            for made in operation.calls:
                if made.call == "setActiveTools":
                    found.nothing = "a package narrows tools while it is loaded, and there are several agents"
        elif isinstance(operation, DropNative):
            found.names.add(operation.name)
    for owner, call, args in _api_calls(program):
        if call == "registerTool" and args and isinstance(args[0], dict):
            _register(found, owner, args[0])
    for row in _walk(to_json(program)):
        policy = row.get("policy")
        if isinstance(policy, dict) and policy.get("answer", "next") not in _ANSWERS:
            found.policies.add(policy["id"])
        if row.get("do") == "drop-native":
            found.names.add(row["name"])
        elif row.get("do") in ("hold", "abort", "host", "next"):
            found.nothing = found.nothing or f"an act of the kind {row['do']} is done"
    _leave_out_switched(found, program)
    return found


class Contested:
    """From where on in a story which names are free: several registered them, or it is not told for whom.

    Whose a name is that two packages register, or a package and the host, no must says; and whether a package's later
    registration reaches other agents depends on how the bridge is mounted.
    """

    def __init__(self, story: Story) -> None:
        self._since: dict[str, int] = {}
        owners: dict[str, set[str]] = defaultdict(set)
        agents = 0
        later: set[str] = set()
        packages = {name: made["package"] for name, made in story.instances.items()}
        for number, event in enumerate(story.events):
            if event.kind == "agent.created":
                agents += 1
                for name in later if agents > 1 else ():
                    self._since.setdefault(name, number)
            elif event.kind == "operator":
                for name in event["natives"] or ():
                    owners[name].add("")
                    if event["act"] == "native" or len(owners[name]) > 1:
                        self._since.setdefault(name, number)
            elif event.kind == "api.call" and event["call"] in ("registerTool", "unregisterTool") and event["args"]:
                about = event["args"][0]
                named = about.get("name") if isinstance(about, dict) else about
                if not isinstance(named, str):
                    continue
                name = named
                if event["call"] == "registerTool":
                    owners[name].add(packages.get(event["instance"], event["instance"]))
                    if len(owners[name]) > 1:
                        self._since.setdefault(name, number)
                if agents > 1:
                    self._since.setdefault(name, number)
                elif agents == 1:
                    later.add(name)

    def before(self, number: int) -> set[str]:
        """Return the names that are free at a place of the story."""
        return {name for name, since in self._since.items() if since < number}


def _leave_out_switched(found: Freedom, program: Program) -> None:
    lists = [args[0] for _, call, args in _api_calls(program) if call == "setActiveTools" and args]
    for name in found.owners:
        if any(not isinstance(names, list) or name not in names for names in lists):
            found.switched.add(name)


def _register(found: Freedom, owner: str, spec: dict[str, Any]) -> None:
    name = spec.get("name")
    if not isinstance(name, str):
        return
    found.owners[name].add(owner)
    parameters = spec.get("parameters")
    # A root that is no object's schema, and items as a list (two answers, by the draft), are free.
    odd = not isinstance(parameters, dict) or parameters.get("type") != "object"
    if odd or any(isinstance(part.get("items"), list) for part in _walk(parameters)):
        found.names.add(name)


def _api_calls(program: Program) -> Iterator[tuple[str, str, list[Any]]]:
    """Every call of the Pi API in the program, with the package that makes it; registrations while loading, too."""
    for operation, row in zip(program, to_json(program), strict=True):
        owner = operation.name if isinstance(operation, AddPackage) else NOBODY
        if isinstance(operation, AddPackage):
            for tool in row.get("tools", ()):
                yield owner, "registerTool", [tool["spec"]]
            for call in operation.calls:
                yield owner, call.call, call.args
        elif isinstance(operation, CallApi):
            yield operation.package, operation.call, operation.args
            continue
        for part in _walk(row):
            if part.get("do") == "pi":
                yield part.get("package") or owner, part["call"], part.get("args", [])


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _walk(part)
    elif isinstance(value, list):
        for part in value:
            yield from _walk(part)
