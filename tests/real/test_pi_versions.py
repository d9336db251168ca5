"""Other versions of Pi run the same rules; docs/pi-versions.md names each rule that one of them answers otherwise."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.drivers.pi import DEFAULT, make_driver, versions
from conformance.drivers.protocol import PackageReload, PackageSpec
from conformance.stage import Stage

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "pi-versions.md"
OTHERS = [version for version in versions() if version != DEFAULT]
HOLDS = ("pass", "not applicable", "not run")


@dataclass(frozen=True)
class Spec:
    version: str | None
    label: str = "pi"
    mount: str | None = None


def section(version: str) -> str:
    """The part of the page about one version."""
    text = PAGE.read_text(encoding="utf-8")
    return text.partition(f"\n## pi@{version}\n")[2].partition("\n## ")[0]


def named(version: str) -> dict[str, str]:
    """Rule ids and what the page says of them; those that differ in some runs only begin with *in some runs*."""
    return dict(re.findall(r"^\| `([\w.-]+)` \| (.*?) \|", section(version), re.M))


@pytest.mark.parametrize("version", OTHERS)
def test_the_page_names_every_rule_that_a_version_answers_otherwise(version: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance.cli", "run", f"--bridge=pi@{version}", "--report=report", "-q"]
    command += ["--", "-k", "not random_programs"]  # What those meet is chance.
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 1, done.stdout[-3000:] + done.stderr[-3000:]
    rules = json.loads((tmp_path / "report" / "conformance.json").read_text())["bridges"][0]["rules"]

    differ = {rule["id"] for rule in rules if rule["verdict"] not in HOLDS}
    page = named(version)
    always = {rule for rule, said in page.items() if not said.startswith("in some runs")}
    assert differ - set(page) == set(), "not on the page"
    assert always - differ == set(), "on the page, and not so"


def test_the_page_speaks_of_rules_and_versions_that_there_are() -> None:
    from conformance.catalogue import load_catalogue

    known = load_catalogue().by_id
    for version in OTHERS:
        assert named(version), version
        assert [rule for rule in named(version) if rule not in known] == []


@pytest.mark.parametrize("version", versions())
def test_a_turn_after_a_reload_still_has_its_model(version: str) -> None:
    with asyncio.Runner() as runner:
        driver = make_driver(Spec(version))
        try:
            hello = runner.run(driver.start())
            assert hello.version == version
            for _ in range(2):
                stage = Stage(runner, driver, hello)
                stage.plan.package("alpha")
                stage.open()
                stage.ask(PackageReload(package="alpha", replacement=PackageSpec(name="alpha")))
                stage.prompt()
                assert len(stage.requests()) == 1
                stage.close()
        finally:
            runner.run(driver.close())
