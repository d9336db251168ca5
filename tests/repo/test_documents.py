"""What the pages at the root say is so: commands exist, paths are there, dependencies are explained."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conformance import __version__
from conformance.catalogue import load_catalogue
from conformance.cli import COMMANDS
from conformance.drivers.capabilities import CAPABILITIES

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "reports/README.md")
PLACES = re.compile(r"`((?:conformance|reference_bridge|spec|features|tests|docs|reports|\.ci)/[\w./-]*)`")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project() -> dict[str, Any]:
    whole: dict[str, Any] = tomllib.loads(text("pyproject.toml"))
    return whole["project"]  # type: ignore[no-any-return]


def test_the_version_is_said_once_and_the_same() -> None:
    assert project()["version"] == __version__


@pytest.mark.parametrize("page", PAGES)
def test_every_command_a_page_names_exists(page: str) -> None:
    named = set(re.findall(r"bridge-conformance ([a-z-]+)", text(page)))

    assert named <= set(COMMANDS), f"{page} names {sorted(named - set(COMMANDS))}"


@pytest.mark.parametrize("page", PAGES)
def test_every_path_a_page_names_is_there(page: str) -> None:
    # What a run writes is there only after one.
    named = {name for name in PLACES.findall(text(page)) if not name.startswith("reports/")}

    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_readme_fits_one_screen_of_a_browser() -> None:
    assert len(text("README.md").splitlines()) <= 80


def test_the_output_in_the_readme_is_what_a_run_prints_today() -> None:
    [shown] = re.findall(r"```text\n(.*?)```", text("README.md"), re.DOTALL)
    every = frozenset(CAPABILITIES)
    rules = [rule for rule in load_catalogue().rules if rule.applies_to("bridge", "root", every)]
    counts = Counter(rule.surface for rule in rules) + Counter(f"every {rule.level}" for rule in rules)

    told = dict(re.findall(r"^(\w+|every \w+) +(\d+)/\2$", shown, re.MULTILINE))
    assert {name: int(count) for name, count in told.items()} == {name: counts[name] for name in told}
    assert {f"every {level}" for level in ("must", "should", "may")} < set(told)
    assert f"conformant ({len(rules)} pass)" in shown


def test_each_command_of_the_readme_sets_up_what_it_needs() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", text("README.md"), re.DOTALL)

    assert len(blocks) == 2
    for block in blocks:
        words = shlex.split(block)
        assert words[:4] == ["python3", "-m", "venv", ".venv"]
        assert ".[dev]" in words


def test_every_folder_of_tests_has_a_stage_in_the_gate() -> None:
    folders = {path.name for path in (ROOT / "tests").iterdir() if list(path.glob("test_*.py"))}

    assert [name for name in sorted(folders) if f"tests/{name}" not in text(".ci/run")] == []


def test_every_dependency_is_explained() -> None:
    given = [project()["dependencies"], *project()["optional-dependencies"].values()]
    wanted = {re.split(r"[<>=\[ ]", each)[0].lower() for group in given for each in group}
    table = text("CONTRIBUTING.md").partition("## Why each dependency is there")[2]

    missing = [
        name
        for name in sorted(wanted - {"pi-bridge-conformance"})
        if not re.search(rf"\b{re.escape(name)}\b", table.lower()) and not name.startswith("types-")
    ]
    assert missing == []
