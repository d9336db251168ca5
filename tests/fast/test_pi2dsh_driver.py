"""Where the driver of pi2dsh looks for it, and what a user reads who does not have it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conformance.drivers.driver import HarnessError
from conformance.drivers.pi2dsh import VARIABLE, find, make_driver
from conformance.drivers.specs import parse


@dataclass(frozen=True)
class Spec:
    version: str | None = None
    mount: str | None = None
    label: str = "pi2dsh"
    options: Mapping[str, str] = field(default_factory=dict)


def install(folder: Path, version: str = "0.16.0") -> Path:
    package = folder / "node_modules" / "pi2dsh"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "pi2dsh", "version": version}))
    return folder


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder and a harness's home in which nothing is installed."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    return here


def test_a_user_without_it_reads_where_it_was_looked_for_and_how_to_get_it(nowhere: Path, tmp_path: Path) -> None:
    (tmp_path / "dsh" / "profiles" / "web").mkdir(parents=True)
    with pytest.raises(HarnessError) as caught:
        make_driver(Spec())
    places = caught.value.cause.splitlines()[1:]
    assert caught.value.cause.startswith("the bridge pi2dsh is not installed; looked for it in\n")
    assert f"    {nowhere / 'node_modules'}" in places
    assert places[-1] == f"    {tmp_path / 'dsh/profiles/web/node_modules'}"
    assert all(way in caught.value.mend for way in ("dsh plugin add pi2dsh", "npm install", "?node_modules=", VARIABLE))


def test_a_folder_that_is_named_and_holds_none_is_named_with_the_option(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"no pi2dsh in .*there/node_modules, which \?node_modules=there names"):
        find("there")
    install(tmp_path / "here")
    with pytest.raises(HarnessError, match="no pi2dsh"):
        find(str(tmp_path / "elsewhere"))


def test_the_folder_may_be_named_with_or_without_node_modules(nowhere: Path, tmp_path: Path) -> None:
    there = install(tmp_path / "there")
    assert find(str(there)) == find(str(there / "node_modules")) == there
    assert find("../there/node_modules").resolve() == there


def test_the_option_comes_before_the_variable_and_that_before_the_folders(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(nowhere)
    assert find() == nowhere
    monkeypatch.setenv(VARIABLE, str(install(tmp_path / "variable")))
    assert find() == tmp_path / "variable"
    assert find(str(install(tmp_path / "option"))) == tmp_path / "option"
    monkeypatch.setenv(VARIABLE, str(tmp_path / "empty"))
    with pytest.raises(HarnessError, match=f"which {VARIABLE}=.*empty names"):
        find()


def test_it_is_found_in_a_folder_above_and_in_a_profile_of_the_harness(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = install(tmp_path / "dsh" / "profiles" / "web")
    assert find() == profile
    below = nowhere / "a" / "b"
    below.mkdir(parents=True)
    install(nowhere)
    monkeypatch.chdir(below)
    assert find() == nowhere


def test_another_version_than_the_one_asked_for_is_refused(nowhere: Path) -> None:
    install(nowhere, "0.15.0")
    with pytest.raises(HarnessError, match=r"pi2dsh@0\.16\.0 was asked for, and .* holds 0\.15\.0"):
        make_driver(Spec(version="0.16.0"))


def test_a_manifest_without_a_version_is_refused(nowhere: Path) -> None:
    (install(nowhere) / "node_modules/pi2dsh/package.json").write_text("{}")
    with pytest.raises(HarnessError, match="does not say which version"):
        make_driver(Spec())


def test_an_unknown_mount_or_option_is_refused_with_those_that_are_known(nowhere: Path) -> None:
    install(nowhere)
    with pytest.raises(HarnessError, match="no mount 'agent'") as caught:
        make_driver(Spec(mount="agent"))
    assert "engine, root" in caught.value.mend
    with pytest.raises(HarnessError, match="no option 'node_module'") as caught:
        make_driver(Spec(options={"node_module": "x"}))
    assert "node_modules" in caught.value.mend


def test_a_specification_carries_mount_and_path() -> None:
    spec = parse("pi2dsh@0.16.0?mount=root&node_modules=/opt/dsh/node_modules")
    assert (spec.name, spec.version, spec.mount) == ("pi2dsh", "0.16.0", "root")
    assert spec.options == {"node_modules": "/opt/dsh/node_modules"}
