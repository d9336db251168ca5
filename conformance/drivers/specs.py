"""From the text of ``--bridge`` to a specification, and from a specification to a driver."""

from __future__ import annotations

import importlib
import json
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl

import msgspec
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

    ``label`` tells its verdicts apart, is safe as a file name and never depends on what else was named. ``name`` is the
    built-in or registered name, the mutant, the ``MODULE:FACTORY`` or the folder of a recording, by ``kind``; ``argv``
    is a command's words. ``options`` are what stood behind ``?``, without ``mount``. ``env`` are extra variables of a
    command, ``cwd`` its folder: the one the suite was started in, or of a manifest what it says, else its own.
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
    label, text = _split_label(value, folder or Path())
    if not text.strip():
        raise SpecError(f"--bridge={value} names no implementation", f"name one of: {', '.join(known_names())}")
    kind, colon, rest = text.partition(":")
    if colon and kind == "stdio":
        return _command(label or _safe(text), text, rest, folder or Path())
    if colon and kind == "py":
        return _factory(label or _safe(text), text, rest)
    if colon and kind == "mutant":
        return _mutant(label or _safe(text), text, rest)
    if colon and kind == "replay":
        if not rest:
            raise SpecError(f"--bridge={text} names no folder", "write replay:DIR, the folder of --bridge-record=DIR")
        return BridgeSpec(label or _safe(text), text, "replay", name=rest, cwd=((folder or Path()) / rest).resolve())
    path = (folder or Path()) / text
    name = text.partition("?")[0]  # an option may hold a path; a manifest has none
    if Path(name).suffix in (".yaml", ".yml", ".json") or "/" in name:
        return _manifest(label, text, path)
    return _named(label or _safe(text), text)


def parse_all(values: Sequence[str], folder: Path | None = None) -> list[BridgeSpec]:
    """Return the specifications of several values. Raises :class:`SpecError`, also for two equal labels."""
    specs = [parse(value, folder) for value in values]
    seen: dict[str, str] = {}
    for spec in specs:
        key = spec.label.casefold()  # the label names files, and not every file system tells cases apart
        if key in seen:
            raise SpecError(
                f"two bridges are labelled {spec.label!r}, and verdicts are told apart by that label",
                f"label them, as in --bridge=first={seen[key]} --bridge=second={spec.text}",
            )
        seen[key] = spec.text
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
        from conformance.transcripts.replaying import ReplayDriver

        return ReplayDriver(spec.label, spec.cwd or Path(spec.name))
    if spec.name == "reference":
        from conformance.drivers.reference import make_backend

        return InProcessDriver(spec.label, lambda suite: make_backend(suite, spec.mount), spec.mount)
    registered = {point.name: point for point in entry_points(group=GROUP)}
    factory: Callable[..., Driver]
    if spec.name in registered:
        factory = _registered(registered[spec.name])
    else:
        try:
            factory = importlib.import_module(f"conformance.drivers.{spec.name}").make_driver
        except ModuleNotFoundError as error:
            raise HarnessError(
                f"there is no driver for {spec.name}: {error}", "update pi-bridge-conformance"
            ) from error
    driver = factory(spec)
    pass_on = getattr(driver, "pass_on", None)
    if pass_on is not None:
        pass_on(env_names)
    return driver


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
    if name in BUILT_IN and at and (name == "reference" or not version):
        raise SpecError(f"{name!r} of --bridge={text} has no version {version!r}", f"write {name} without @{version}")
    # What a registered bridge takes is its own affair.
    options = _options(text, query, known=("mount",) if name in BUILT_IN and name != "pi2dsh" else None)
    mount = options.pop("mount", None)
    return BridgeSpec(label, text, "name", name, version if at else None, mount, options)


def _split_label(value: str, folder: Path) -> tuple[str, str]:
    label, equals, text = value.partition("=")
    if not equals or re.search("[?:/]", label) or (folder / value).is_file():
        return "", value
    if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", label):
        raise SpecError(
            f"the label {label!r} of --bridge={value} names no file",
            "begin with a letter or digit, and go on with letters, digits and . _ + -",
        )
    return label, text


def _options(text: str, query: str, known: Sequence[str] | None = ("mount",)) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    if known is not None and (unknown := [key for key in options if key not in known]):
        raise SpecError(f"--bridge={text} has the unknown option {unknown[0]!r}", f"known are: {', '.join(known)}")
    if len(options) < len(pairs) or "" in options.values():
        raise SpecError(f"an option of --bridge={text} has no value, or two", "write ?name=value&other=value")
    return options


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
    return BridgeSpec(label, text, "mutant", name, mount=_options(text, query).get("mount"))


def _command(label: str, text: str, rest: str, folder: Path) -> BridgeSpec:
    argv = _words(f"the command of --bridge={text}", rest)
    if not argv:
        raise SpecError(f"--bridge={text} holds no command", 'write stdio:"PROGRAM ARGUMENT …"')
    return BridgeSpec(label, text, "stdio", argv[0], argv=argv, cwd=folder.resolve())


def _words(what: str, command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise SpecError(f"{what} cannot be read: {error}", "close its quotes") from None


def _factory(label: str, text: str, rest: str) -> BridgeSpec:
    name, _, query = rest.partition("?")
    module, _, factory = name.partition(":")
    if not all(part.isidentifier() for part in [*module.split("."), factory]):
        raise SpecError(f"--bridge={text} is not MODULE:FACTORY", "write py:package.module:make_backend")
    return BridgeSpec(label, text, "py", name, mount=_options(text, query).get("mount"))


def _load(name: str) -> Callable[..., Any]:
    module, _, factory = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), factory)
    except AttributeError:
        raise SpecError(f"the module {module} has no {factory}", "name a function that makes a backend") from None
    except Exception as error:  # whatever another's module does when it is imported
        raise SpecError(
            f"the module of py:{name} cannot be imported: {type(error).__name__}: {error}",
            "mend the module, its name, or PYTHONPATH",
        ) from error
    if not callable(found):
        raise SpecError(f"{factory} of {module} cannot be called", "name a function that makes a backend")
    return found  # type: ignore[no-any-return]


def _registered(point: EntryPoint) -> Callable[..., Driver]:
    try:
        return point.load()  # type: ignore[no-any-return]
    except Exception as error:  # whatever another's module does when it is imported
        raise SpecError(
            f"the bridge {point.name} of {point.value} cannot be loaded: {type(error).__name__}: {error}",
            "reinstall or update the distribution that registers it",
        ) from error


def _manifest(label: str, text: str, path: Path) -> BridgeSpec:
    example = "write one like {label: mine, command: [node, adapter.mjs], mount: engine, env: {NAME: value}, cwd: .}"
    try:
        content = path.read_text(encoding="utf-8")
        value = json.loads(content) if path.suffix == ".json" else yaml.safe_load(content)
    except OSError as error:
        raise SpecError(f"the manifest {text} cannot be read: {error.strerror}", "name a file that is there") from None
    except (ValueError, yaml.YAMLError) as error:
        raise SpecError(f"the manifest {text} is neither JSON nor YAML: {error}", example) from None
    try:
        manifest = msgspec.convert(value, _Manifest)
    except msgspec.ValidationError as error:
        raise SpecError(f"the manifest {text} does not say how to start an adapter: {error}", example) from None
    command = manifest.command
    argv = _words(f"the command of {text}", command) if isinstance(command, str) else tuple(command)
    if not argv:
        raise SpecError(f"the manifest {text} holds an empty command", example)
    cwd = (path.parent / manifest.cwd).resolve()
    if not cwd.is_dir():
        raise SpecError(f"the folder {manifest.cwd!r} of the manifest {text} is not there", "name one that is")
    name = label or _safe(manifest.label or path.stem)
    return BridgeSpec(name, text, "stdio", argv[0], mount=manifest.mount, argv=argv, env=manifest.env, cwd=cwd)


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A manifest file: a command, split like a shell's words or as a list; ``cwd`` is relative to the file."""

    command: str | list[str]
    label: str = ""
    mount: str | None = None
    env: dict[str, str] = {}
    cwd: str = "."


def _safe(text: str) -> str:
    """Return a label for ``text``: what a file name can hold."""
    return re.sub(r"[^A-Za-z0-9.@+_-]+", "-", text).strip("-.")[:80] or "bridge"
