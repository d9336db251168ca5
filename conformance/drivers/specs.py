"""From the text of ``--bridge`` to a specification, and from a specification to a driver."""

from __future__ import annotations

import importlib
import json
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl

import yaml

from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import Driver, HarnessError

GROUP = "conformance.bridges"
"""The entry-point group by which other projects register a bridge: a name, and a factory of a driver."""

BUILT_IN = {
    "reference": "the reference bridge, in process",
    "pi": "the real Pi, from npm",
    "dsh": "the real DeepSeek Harness, from npm",
    "pi2dsh": "the bridge pi2dsh, from a node_modules folder",
}
"""Names that need no registration, and what they are."""

Kind = Literal["name", "mutant", "stdio", "py", "replay"]


class SpecError(ValueError):
    """A value of ``--bridge`` that names nothing: ``cause`` and ``mend`` are one sentence each."""

    def __init__(self, cause: str, mend: str) -> None:
        super().__init__(f"{cause}\nMend: {mend}")
        self.cause = cause
        self.mend = mend


@dataclass(frozen=True, slots=True)
class BridgeSpec:
    """One implementation as the user named it.

    ``label`` tells its verdicts apart and is safe as a file name. ``name`` is the built-in or registered name, the
    mutant, the ``MODULE:FACTORY`` or the folder of a recording, by ``kind``; ``argv`` is a command's words. ``options``
    are what stood behind ``?``, without ``mount``. ``env`` are extra variables of a command, ``cwd`` its folder.
    """

    label: str
    text: str
    kind: Kind
    name: str = ""
    version: str | None = None
    mount: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    cwd: Path | None = None


def parse(value: str, folder: Path | None = None) -> BridgeSpec:
    """Return the specification that ``[LABEL=]SPEC`` stands for; a manifest's path is taken from ``folder``.

    Raises :class:`SpecError`.
    """
    found = re.match(r"([A-Za-z0-9][\w.+-]*)=(.*)", value, re.DOTALL)
    label, text = (found[1], found[2]) if found else ("", value)
    if not text.strip():
        raise SpecError(f"--bridge={value} names no implementation", f"name one of: {', '.join(known_names())}")
    kind, colon, rest = text.partition(":")
    if colon and kind == "stdio":
        return _command(label or _safe(text), text, rest)
    if colon and kind == "py":
        return _factory(label or _safe(text), text, rest)
    if colon and kind == "mutant":
        return _mutant(label or _safe(text), text, rest)
    if colon and kind == "replay":
        return BridgeSpec(label or _safe(text), text, "replay", name=rest)
    path = (folder or Path()) / text
    if path.suffix in (".yaml", ".yml", ".json") or "/" in text:
        return _manifest(label, text, path)
    return _named(label or _safe(text), text)


def parse_all(values: Sequence[str], folder: Path | None = None) -> list[BridgeSpec]:
    """Return the specifications of several values. Raises :class:`SpecError`, also for two equal labels."""
    specs = [parse(value, folder) for value in values]
    seen: dict[str, str] = {}
    for spec in specs:
        if spec.label in seen:
            raise SpecError(
                f"two bridges are labelled {spec.label!r}, and verdicts are told apart by that label",
                f"label them, as in --bridge=first={seen[spec.label]} --bridge=second={spec.text}",
            )
        seen[spec.label] = spec.text
    return specs


def make_driver(spec: BridgeSpec, env_names: Sequence[str] = ()) -> Driver:
    """Return a driver, not started; ``env_names`` are variables that its process may see beside the usual few.

    Raises :class:`HarnessError` when the implementation cannot be had, and :class:`SpecError` for a factory that is
    not there.
    """
    if spec.kind == "stdio":
        from conformance.drivers.stdio import StdioDriver

        return StdioDriver(spec.label, spec.argv, spec.mount, cwd=spec.cwd, env=spec.env, extra_names=env_names)
    if spec.kind == "mutant":
        from conformance.mutants import load_mutants

        mutant = load_mutants()[spec.name]
        return InProcessDriver(spec.label, lambda suite: mutant.make_backend(suite, spec.mount), spec.mount)
    if spec.kind == "py":
        return InProcessDriver(spec.label, _load(spec.name), spec.mount)
    if spec.kind == "replay":
        raise SpecError("a recording cannot be judged yet", "name an implementation")
    if spec.name == "reference":
        from conformance.drivers.reference import make_backend

        return InProcessDriver(spec.label, lambda suite: make_backend(suite, spec.mount), spec.mount)
    registered = {point.name: point for point in entry_points(group=GROUP)}
    factory: Callable[..., Driver]
    if spec.name in registered:
        factory = registered[spec.name].load()
    else:
        try:
            factory = importlib.import_module(f"conformance.drivers.{spec.name}").make_driver
        except ModuleNotFoundError as error:
            raise HarnessError(
                f"there is no driver for {spec.name}: {error}", "update pi-bridge-conformance"
            ) from error
    return factory(spec)


def known_names() -> list[str]:
    """Return the names that ``--bridge`` takes as they are, the built-in ones first."""
    return [*BUILT_IN, *sorted({point.name for point in entry_points(group=GROUP)} - set(BUILT_IN))]


def _named(label: str, text: str) -> BridgeSpec:
    rest, _, query = text.partition("?")
    name, at, version = rest.partition("@")
    names = known_names()
    if name not in names:
        near = get_close_matches(name, names, 1)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise SpecError(
            f"no bridge is called {name!r}",
            f"{meant}Known are {', '.join(names)}; or give stdio:COMMAND, py:MODULE:FACTORY or a manifest file",
        )
    options = dict(parse_qsl(query, keep_blank_values=True))
    mount = options.pop("mount", None)
    return BridgeSpec(label, text, "name", name, version if at else None, mount, options)


def _mutant(label: str, text: str, rest: str) -> BridgeSpec:
    from conformance.mutants import load_mutants

    name, _, query = rest.partition("?")
    known = load_mutants()
    if name not in known:
        near = get_close_matches(name, known, 3)
        raise SpecError(
            f"no mutant is called {name!r}",
            f"near are {', '.join(near)}" if near else "bridge-conformance mutants lists them",
        )
    return BridgeSpec(label, text, "mutant", name, mount=dict(parse_qsl(query)).get("mount"))


def _command(label: str, text: str, rest: str) -> BridgeSpec:
    try:
        argv = tuple(shlex.split(rest))
    except ValueError as error:
        raise SpecError(f"the command of --bridge={text} cannot be read: {error}", "close its quotes") from None
    if not argv:
        raise SpecError(f"--bridge={text} holds no command", 'write stdio:"PROGRAM ARGUMENT …"')
    return BridgeSpec(label, text, "stdio", argv[0], argv=argv)


def _factory(label: str, text: str, rest: str) -> BridgeSpec:
    module, colon, factory = rest.partition(":")
    if not (module and colon and factory):
        raise SpecError(f"--bridge={text} is not MODULE:FACTORY", "write py:package.module:make_backend")
    return BridgeSpec(label, text, "py", rest)


def _load(name: str) -> Callable[..., Any]:
    module, _, factory = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), factory)
    except ImportError as error:
        raise SpecError(
            f"the module of py:{name} cannot be imported: {error}", "mend the name, or PYTHONPATH"
        ) from None
    except AttributeError:
        raise SpecError(f"the module {module} has no {factory}", "name a function that makes a backend") from None
    return found  # type: ignore[no-any-return]


def _manifest(label: str, text: str, path: Path) -> BridgeSpec:
    example = "{label: mine, command: [node, adapter.mjs], mount: engine}"
    try:
        content = path.read_text(encoding="utf-8")
        value = json.loads(content) if path.suffix == ".json" else yaml.safe_load(content)
    except OSError as error:
        raise SpecError(f"the manifest {text} cannot be read: {error.strerror}", "name a file that is there") from None
    except (ValueError, yaml.YAMLError) as error:
        raise SpecError(f"the manifest {text} is neither JSON nor YAML: {error}", f"write one like {example}") from None
    known = {"label", "command", "mount", "env", "cwd"}
    if not isinstance(value, dict) or not value.get("command") or set(value) - known:
        raise SpecError(f"the manifest {text} needs a command, and may hold {', '.join(sorted(known))}", example)
    command = value["command"]
    argv = tuple(shlex.split(command)) if isinstance(command, str) else tuple(map(str, command))
    cwd = (path.parent / value["cwd"]).resolve() if "cwd" in value else path.parent.resolve()
    env = {str(key): str(item) for key, item in (value.get("env") or {}).items()}
    name = label or _safe(str(value.get("label") or path.stem))
    return BridgeSpec(name, text, "stdio", argv[0], mount=value.get("mount"), argv=argv, env=env, cwd=cwd)


def _safe(text: str) -> str:
    """Return a label for ``text``: what a file name can hold."""
    return re.sub(r"[^A-Za-z0-9.@+_-]+", "-", text).strip("-.")[:80] or "bridge"
