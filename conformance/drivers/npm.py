"""Installs a pinned set of npm packages once, into a folder of the user's cache that all workers share."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.drivers.driver import HarnessError
from conformance.drivers.node import find_node

PINS = ("package.json", "package-lock.json")
"""The two files that make a set: what is wanted, and exactly which versions with their checksums that is."""
CLEAN_INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error")
INSTALL_SECONDS = 600.0
QUOTED_LINES = 8


@dataclass(frozen=True, slots=True)
class PinnedSet:
    """A set of packages: ``source`` is the folder that holds its :data:`PINS`."""

    name: str
    version: str
    source: Path

    def digest(self) -> str:
        """Return a short digest of the pins: another set never gets this one's folder."""
        content = hashlib.sha256()
        for pin in PINS:
            path = self.source / pin
            try:
                content.update(path.read_bytes())
            except OSError as error:
                raise HarnessError(
                    f"the pins of {self.name} {self.version} cannot be read: {path}: {error.strerror}",
                    "the installation is incomplete: install pi-bridge-conformance again",
                ) from error
        return content.hexdigest()[:12]


def cache_folder() -> Path:
    """Return the folder that holds everything this project caches: ``$XDG_CACHE_HOME``, else ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative value is to be ignored, says the specification of these variables.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "pi-bridge-conformance"


def install(pinned: PinnedSet, npm: Callable[[], Sequence[str]] = lambda: find_node().npm()) -> Path:
    """Return the folder whose ``node_modules`` holds the set, after installing it if it is not there.

    The folder appears whole or not at all; of several processes that want it at once, one installs and the others
    wait. ``npm`` gives the command line of npm when it is needed. Raises ``HarnessError``.
    """
    target = cache_folder() / f"{pinned.name}-{pinned.version}-{pinned.digest()}"
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_name(f"{target.name}.lock")):
            if not target.is_dir():
                _install(pinned, target, list(npm()))
    except OSError as error:
        raise HarnessError(
            f"{pinned.name} {pinned.version} cannot be cached under {target.parent}: {error}",
            "make the folder writable, or set XDG_CACHE_HOME to one that is",
        ) from error
    return target


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    # The lock file stays: removing it would let a process that waits on it and one that makes it anew in together.
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(pinned: PinnedSet, target: Path, npm: list[str]) -> None:
    print(
        f"bridge-conformance: installing {pinned.name} {pinned.version} into {target} (once)",
        file=sys.stderr,
        flush=True,
    )
    work = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    try:
        for pin in PINS:
            shutil.copyfile(pinned.source / pin, work / pin)
        _run(pinned, [*npm, *CLEAN_INSTALL], work)
        work.chmod(0o755)
        work.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run(pinned: PinnedSet, command: list[str], cwd: Path) -> None:
    label = f"{pinned.name} {pinned.version}"
    node_first = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": node_first, "npm_config_update_notifier": "false"}
    try:
        ended = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise HarnessError(
            f"npm did not install {label} within {INSTALL_SECONDS:g} s",
            "check that npm reaches its registry (`npm ping`), then try again",
        ) from error
    except OSError as error:
        raise HarnessError(
            f"npm cannot be started to install {label}: {error}",
            "check that Node and npm work (`npm --version`), or run `pip install 'pi-bridge-conformance[node]'`",
        ) from error
    if ended.returncode != 0:
        said = [line for line in (ended.stderr + ended.stdout).splitlines() if line.strip()][:QUOTED_LINES]
        quoted = "\n    ".join(said) or "it said nothing"
        raise HarnessError(
            f"npm could not install {label} (exit status {ended.returncode}):\n    {quoted}",
            "check that npm reaches its registry (`npm ping`) and that the disk has 300 MB free, then try again",
        )
