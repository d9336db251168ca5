"""Reads one state of the rules: a folder as it lies there, or what a git revision held."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.catalogue.diff import Side
from conformance.catalogue.features import compile_features
from conformance.catalogue.load import INDEX, load_catalogue
from conformance.catalogue.problems import CatalogueError
from conformance.catalogue.released import load_released

PARTS = ("spec", "features")


class RevisionError(Exception):
    """What the user named is neither a folder with rules nor a git revision; the message has a cause and a mend."""


@contextmanager
def side(name: str, repository: Path, called: str = "") -> Iterator[Side]:
    """One state by its name: a folder that holds ``spec/`` (and ``features/``), else a revision of ``repository``.

    ``called`` is how it is shown. Raises RevisionError, and CatalogueError where the rules in it are broken.
    """
    folder = Path(name)
    if (folder / "spec" / INDEX).is_file():
        yield _read(called or name, folder)
        return
    if folder.is_dir() and any(folder.iterdir()) and not _is_revision(name, repository):
        raise RevisionError(
            f"the folder {name} holds no spec/{INDEX}\nMend: name the folder that holds spec/, or a revision"
        )
    with tempfile.TemporaryDirectory(prefix="bridge-conformance-spec-") as made:
        _unpack(name, repository, Path(made))
        yield _read(called or (name[:12] if re.fullmatch(r"[0-9a-f]{40}", name) else name), Path(made))


def _read(name: str, folder: Path) -> Side:
    try:
        catalogue = load_catalogue(folder / "spec")
        released = load_released(folder / "spec")
        features = compile_features(folder / "features")
        if features.problems:
            raise CatalogueError(features.problems)
    except CatalogueError as error:
        raise RevisionError(f"the rules of {name} cannot be compared, for they do not load.\n{error}") from None
    return Side(name, catalogue, features, released)


def _is_revision(name: str, repository: Path) -> bool:
    return (
        _git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").returncode == 0
    )


def _unpack(name: str, repository: Path, into: Path) -> None:
    if not _is_revision(name, repository):
        raise RevisionError(
            f"{name} is neither a folder that holds spec/ nor a git revision of {repository}\n"
            "Mend: name a branch, a tag or a commit; in a shallow clone fetch it first (git fetch origin main)"
        )
    there = _git(repository, "ls-tree", "--name-only", f"{name}^{{commit}}", "--", *PARTS).stdout.decode().split()
    if "spec" not in there:
        raise RevisionError(f"the revision {name} holds no spec/\nMend: name a later one")
    done = _git(repository, "archive", "--format=tar", f"{name}^{{commit}}", "--", *there)
    if done.returncode:
        raise RevisionError(f"git archive of {name} failed: {done.stderr.decode(errors='replace').strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
        for member in tar:
            # Plain files only, and only below: the revision may be a stranger's, and links lead elsewhere.
            path = (into / member.name).resolve()
            content = tar.extractfile(member) if member.isfile() and path.is_relative_to(into.resolve()) else None
            if content is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())
    # A catalogue may know no features yet, and a folder that is not there has none.
    (into / "features").mkdir(exist_ok=True)


def _git(repository: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        raise RevisionError(
            "git is not here, and a revision is read by it\nMend: install git, or name two folders"
        ) from None
