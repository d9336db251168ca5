"""What one adapter's process gets to see: a folder of its own, and an environment with little in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

PASSED_ON = ("PATH", "LANG", "LANGUAGE", "TZ", "TERM", "SYSTEMROOT")
"""Variables an adapter gets from the suite's own environment, beside ``LC_*``; ``HOME`` and ``TMPDIR`` are its own."""


class Surroundings:
    """Made for one process and removed after it.

    ``work`` is an empty working folder; ``env`` holds :data:`PASSED_ON`, the variables called ``names`` where they are
    set, a ``HOME`` and a ``TMPDIR`` of its own, and ``more``, which wins.
    """

    def __init__(self, names: Iterable[str] = (), more: Mapping[str, str] | None = None) -> None:
        self._folder: Path | None = Path(tempfile.mkdtemp(prefix="bridge-conformance-")).resolve()
        home, scratch, self.work = (self._folder / name for name in ("home", "tmp", "work"))
        for part in (home, scratch, self.work):
            part.mkdir()
        env = {name: value for name, value in os.environ.items() if name in PASSED_ON or name.startswith("LC_")}
        env |= {name: os.environ[name] for name in names if name in os.environ}
        self.env = env | {"HOME": str(home), "TMPDIR": str(scratch)} | dict(more or {})

    def remove(self) -> None:
        """Remove the folder and all in it; links are not followed. May be called twice."""
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, onerror=_again)


def _again(function: Callable[..., Any], path: str, _: Any) -> None:
    # An adapter may have taken away its own rights on a folder it made.
    with contextlib.suppress(OSError):
        Path(path).parent.chmod(stat.S_IRWXU)
        if not Path(path).is_symlink():
            Path(path).chmod(stat.S_IRWXU)
        function(path)
