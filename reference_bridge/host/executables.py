"""Which file a command name stands for, and which variables a child inherits."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_NOT_INHERITED: Final = re.compile(r"KEY|PASSWORD|SECRET|TOKEN|^DSH_", re.IGNORECASE)


class StartError(Exception):
    """A program that could not be found or started; the text names it, `code` is the system's error name if any."""

    def __init__(self, text: str, code: str | None = None) -> None:
        super().__init__(text)
        self.code = code


def resolve(command: str, path: str) -> str:
    """The executable behind an absolute name, or behind a bare one on the search path `path`.

    Raises `StartError`. A command line is no name: nothing is split at spaces.
    """
    if not command:
        raise StartError("subprocess-local: executable must be non-empty")
    if command.startswith("/"):
        if not _is_executable(Path(command)):
            raise StartError(f'subprocess-local: command "{command}" is not an executable file')
        return command
    if "/" in command:
        raise StartError(
            f'subprocess-local: command "{command}" is a relative path; use an absolute path or a bare PATH name'
        )
    for folder in path.split(os.pathsep):
        candidate = Path(folder or ".", command)
        if _is_executable(candidate):
            return str(candidate)
    raise StartError(f'subprocess-local: command "{command}" was not found on PATH')


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """The inherited variables with `changes` laid over them; `None` removes one.

    What looks like a credential (KEY, PASSWORD, SECRET or TOKEN anywhere in its name) or is the harness's own (`DSH_`)
    is not inherited, whatever the case; a change may still set it.
    """
    inherited = {name: value for name, value in os.environ.items() if not _NOT_INHERITED.search(name)}
    return {name: value for name, value in {**inherited, **changes}.items() if value is not None}
