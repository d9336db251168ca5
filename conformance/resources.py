"""The only place that finds ``spec/`` and ``features/``, in a checkout and in an installed wheel alike.

A wheel carries both folders under ``conformance/_data``. In an editable install that copy goes stale, so the folders of
the checkout win whenever the ``pyproject.toml`` beside the package names this project.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

PROJECT = "pi-bridge-conformance"
"""The project's distribution name, as ``pyproject.toml`` spells it."""


class ResourcesError(RuntimeError):
    """The rules are neither beside the package nor inside it; the message says how to mend it."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Absolute folders of the rules as data, the Gherkin examples, and whether both belong to a checkout."""

    spec: Path
    features: Path
    is_checkout: bool


def locate(package: Path) -> Resources:
    """The folders that go with the package folder ``package``.

    Raises ResourcesError where neither a checkout nor a wheel's data is there.
    """
    package = package.resolve()
    if _names_this_project(package.parent / "pyproject.toml"):
        base, is_checkout = package.parent, True
    else:
        base, is_checkout = package / "_data", False
    found = Resources(base / "spec", base / "features", is_checkout)
    for folder in (found.spec, found.features):
        if not folder.is_dir():
            raise ResourcesError(
                f"the folder {folder} is missing, so there are no rules to run. "
                f"Mend: reinstall {PROJECT} (pip install --force-reinstall {PROJECT}), or run from a complete checkout."
            )
    return found


def _names_this_project(pyproject: Path) -> bool:
    try:
        declared = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False  # A neighbour's broken file in site-packages is not ours to complain about.
    project = declared.get("project")
    return isinstance(project, dict) and project.get("name") == PROJECT


@functools.cache
def resources() -> Resources:
    """The folders of the running package; see ``locate``."""
    return locate(Path(__file__).parent)


def spec_dir() -> Path:
    """Absolute path of ``spec/``."""
    return resources().spec


def features_dir() -> Path:
    """Absolute path of ``features/``."""
    return resources().features
