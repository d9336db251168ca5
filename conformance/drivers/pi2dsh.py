"""The driver of the bridge pi2dsh: its adapter on an installation that the user has."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from conformance.drivers.driver import HarnessError
from conformance.drivers.node import find_node
from conformance.drivers.stdio import StdioDriver

NAME = "pi2dsh"
ADAPTER = Path(__file__).resolve().parent.parent / "adapters" / NAME
"""The folder of the bridge's adapter; the ledger of its known deviations lies in it."""
MOUNTS = ("engine", "root")
"""How the bridge is mounted: by its engine, in each root agent's scope, or once on the host for every agent."""
VARIABLE = "BRIDGE_CONFORMANCE_PI2DSH"
"""Environment variable that names the installation to use; then no other is looked for."""
OPTION = "node_modules"
"""The option of a specification that names the installation; it comes before :data:`VARIABLE`."""


class Pi2dshSpec(Protocol):
    """What of a bridge specification is needed here: ``pi2dsh[@VERSION][?mount=MOUNT&node_modules=DIR]``."""

    @property
    def label(self) -> str:
        """The bridge's name in reports."""
        ...

    @property
    def version(self) -> str | None:
        """The version that must be found, or ``None`` for whichever is there."""
        ...

    @property
    def mount(self) -> str | None:
        """One of :data:`MOUNTS`, or ``None`` for the first."""
        ...

    @property
    def options(self) -> Mapping[str, str]:
        """May hold :data:`OPTION`."""
        ...


def make_driver(spec: Pi2dshSpec) -> StdioDriver:
    """Return a driver of the bridge under one of its mounts.

    Raises ``HarnessError`` for an unknown option or mount, when the bridge is not to be found or is of another version,
    and when Node is not to be had.
    """
    unknown = sorted(set(spec.options) - {OPTION})
    if unknown:
        raise HarnessError(f"{NAME} has no option {unknown[0]!r}", f"known are mount and {OPTION}")
    if spec.mount not in (None, *MOUNTS):
        raise HarnessError(f"{NAME} has no mount {spec.mount!r}", f"name one of: {', '.join(MOUNTS)}")
    root = find(spec.options.get(OPTION))
    version = installed_version(root)
    if spec.version not in (None, version):
        raise HarnessError(
            f"{NAME}@{spec.version} was asked for, and {root} holds {version}",
            f"name the installation of {spec.version} with ?{OPTION}=DIR, or leave @{spec.version} out",
        )
    argv = [str(find_node().program), str(ADAPTER / "adapter.mjs"), "--root", str(root)]
    return StdioDriver(spec.label, argv, spec.mount or MOUNTS[0])


def find(named: str | None = None) -> Path:
    """Return the folder whose ``node_modules`` holds the bridge.

    Looked in are, in this order: ``named`` (that folder, or its parent), what :data:`VARIABLE` names, the working
    folder and those above it, and the harness's profiles. Of the first two only the one that is given. Raises
    ``HarnessError`` that names each place.
    """
    given = named or os.environ.get(VARIABLE)
    places = [_without_name(Path(given))] if given else list(dict.fromkeys(_places()))
    for place in places:
        if (place / "node_modules" / NAME / "package.json").is_file():
            return place
    if given:
        source = f"?{OPTION}=" if named else f"{VARIABLE}="
        raise HarnessError(
            f"there is no {NAME} in {places[0] / 'node_modules'}, which {source}{given} names", _how_to_get_it()
        )
    listed = "".join(f"\n    {place / 'node_modules'}" for place in places)
    raise HarnessError(f"the bridge {NAME} is not installed; looked for it in{listed}", _how_to_get_it())


def installed_version(root: Path) -> str:
    """Return the version of the bridge under ``root``. Raises ``HarnessError`` where its manifest says none."""
    path = root / "node_modules" / NAME / "package.json"
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HarnessError(f"{path} does not say which version it is: {error!r}", "install the bridge again") from error


def _without_name(path: Path) -> Path:
    path = path.expanduser().absolute()
    return path.parent if path.name == "node_modules" else path


def _places() -> Iterator[Path]:
    here = Path.cwd()
    yield from (here, *here.parents)
    home = Path(os.environ.get("DSH_HOME") or Path.home() / ".dsh")
    if (home / "profiles").is_dir():
        yield from sorted(path for path in (home / "profiles").iterdir() if path.is_dir())


def _how_to_get_it() -> str:
    return (
        "install it where the DeepSeek Harness is (`dsh plugin add pi2dsh`), or build it from its repository "
        f"(https://github.com/weijiafu14/pi2dsh: `pnpm install`, `pnpm pack`) and `npm install` that archive with the "
        "packages of the harness that it names as peers; then name the folder, "
        f"as in --bridge='{NAME}?{OPTION}=DIR/node_modules', or set {VARIABLE}"
    )
