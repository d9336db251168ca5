"""What of a program the rules leave to the implementation, as far as the program itself tells: it is not compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.programs.operations import (
    AddAgent,
    AddNative,
    AddPackage,
    AnyOperation,
    CallApi,
    DropNative,
    Program,
    ReloadPackage,
    UnloadPackage,
    to_json,
)

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
    """Listeners of the host's policy that do not just deny, allow or hand on."""


def freedom(program: Program) -> Freedom:
    """Return what this program leaves free."""
    found = Freedom()
    natives: set[str] = set()
    late: set[str] = set()
    opened = False
    packages_after = False
    for operation in program:
        if isinstance(operation, AddPackage):
            packages_after = packages_after or opened
            for made in operation.calls:
                if made.call in ("setActiveTools", "unregisterTool"):
                    found.nothing = "a package narrows or takes back tools while it is loaded"
        elif isinstance(operation, AddNative):
            natives.add(operation.native.name)
            if opened:
                late.add(operation.native.name)
        elif isinstance(operation, DropNative):
            late.add(operation.name)
        elif isinstance(operation, UnloadPackage | ReloadPackage):
            found.nothing = found.nothing or "a package is taken away or loaded again"
        opened = opened or (not isinstance(operation, AddPackage | AddNative | AddAgent) and _opens(operation))
    if packages_after:
        found.nothing = found.nothing or "a package is loaded when there are agents"
    for owner, call, args in _api_calls(program):
        if call == "registerTool" and args and isinstance(args[0], dict):
            _register(found, owner, args[0])
    for row in _walk(to_json(program)):
        policy = row.get("policy")
        if isinstance(policy, dict) and policy.get("answer", "next") not in ("deny", "allow", "next"):
            found.policies.add(policy["id"])
        if row.get("do") in ("native", "drop-native"):
            late.add(row["native"]["name"] if row["do"] == "native" else row["name"])
        elif row.get("do") in ("unload", "hold", "abort", "host", "next"):
            found.nothing = found.nothing or f"an act of the kind {row['do']} is done"
    for name, owners in found.owners.items():
        if len(owners) > 1 or name in natives | late or NOBODY in owners:
            found.names.add(name)
    found.names |= late
    if any(isinstance(operation, AddAgent) for operation in program):
        if any(_outside(program)):
            found.nothing = found.nothing or "a list is set outside any handler, and there are several agents"
        # Whether a package's later registration reaches other agents depends on how the bridge is mounted.
        found.names |= {name for call, name in _later(program) if call in ("registerTool", "unregisterTool")}
    _leave_out_switched(found, program)
    return found


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


def _later(program: Program) -> Iterator[tuple[str, str]]:
    """Method and tool of every call of the Pi API that is made after loading and names a tool."""
    for operation, row in zip(program, to_json(program), strict=True):
        made = [(operation.call, operation.args)] if isinstance(operation, CallApi) else []
        made += [(part["call"], part.get("args", [])) for part in _walk(row) if part.get("do") == "pi"]
        for call, args in made:
            named = args[0].get("name") if args and isinstance(args[0], dict) else args[0] if args else None
            if isinstance(named, str):
                yield call, named


def _outside(program: Program) -> Iterator[bool]:
    """For every list that is set: whether an instance sets it whose agent nobody told, for it may serve several."""
    for operation, row in zip(program, to_json(program), strict=True):
        if isinstance(operation, CallApi):
            yield operation.call == "setActiveTools"
        for part in _walk(row):
            if part.get("do") == "pi":
                yield part["call"] == "setActiveTools" and bool(part.get("package") or part.get("outside"))


def _opens(operation: AnyOperation) -> bool:
    return type(operation).__name__ not in ("AddServices", "AddPolicy")


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _walk(part)
    elif isinstance(value, list):
        for part in value:
            yield from _walk(part)
