"""Installing a pinned set of npm packages, with a small stand-in for npm."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.drivers.driver import HarnessError
from conformance.drivers.npm import PinnedSet, cache_folder, install

GOOD_NPM = """
import pathlib, sys
assert sys.argv[1:3] == ["ci", "--ignore-scripts"], sys.argv
assert pathlib.Path("package-lock.json").is_file()
with open({calls!r}, "a") as calls:
    calls.write("called\\n")
pathlib.Path("node_modules/thing").mkdir(parents=True)
"""
BROKEN_NPM = """
import pathlib, sys
pathlib.Path("node_modules/half").mkdir(parents=True)
sys.exit("npm error code ENOTFOUND\\nnpm error network request failed")
"""

Npm = Callable[[], list[str]]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pi-bridge-conformance"


@pytest.fixture
def pins(tmp_path: Path) -> PinnedSet:
    source = tmp_path / "source"
    source.mkdir()
    (source / "package.json").write_text('{"name": "set"}')
    (source / "package-lock.json").write_text('{"lockfileVersion": 3}')
    return PinnedSet("thing", "1.2.3", source)


@pytest.fixture
def npm(tmp_path: Path) -> Npm:
    return stand_in(tmp_path, GOOD_NPM.format(calls=str(tmp_path / "calls")))


def stand_in(folder: Path, text: str) -> Npm:
    script = folder / "npm.py"
    script.write_text(text)
    return lambda: [sys.executable, str(script)]


def calls(tmp_path: Path) -> int:
    return (tmp_path / "calls").read_text().count("called")


def left(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.suffix != ".lock")


def test_a_set_is_installed_once(tmp_path: Path, cache: Path, pins: PinnedSet, npm: Npm) -> None:
    root = install(pins, npm)
    assert (root / "node_modules" / "thing").is_dir()
    assert install(pins, npm) == root
    assert calls(tmp_path) == 1
    assert left(cache) == [f"thing-1.2.3-{pins.digest()}"]


def test_an_installed_set_needs_no_npm(cache: Path, pins: PinnedSet, npm: Npm) -> None:
    def none() -> list[str]:
        raise AssertionError("npm was asked for")

    assert install(pins, npm) == install(pins, none)


def test_other_pins_get_another_folder(cache: Path, pins: PinnedSet, npm: Npm) -> None:
    before = install(pins, npm)
    (pins.source / "package-lock.json").write_text('{"lockfileVersion": 3, "packages": {}}')
    assert install(pins, npm) != before


def test_workers_that_start_at_once_install_once(tmp_path: Path, cache: Path, pins: PinnedSet, npm: Npm) -> None:
    roots: list[Path] = []
    workers = [threading.Thread(target=lambda: roots.append(install(pins, npm))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=30)
    assert len(roots) == 4
    assert len(set(roots)) == 1
    assert calls(tmp_path) == 1


def test_a_failed_install_leaves_nothing_and_quotes_npm(tmp_path: Path, cache: Path, pins: PinnedSet) -> None:
    with pytest.raises(HarnessError) as caught:
        install(pins, stand_in(tmp_path, BROKEN_NPM))
    assert "thing 1.2.3" in caught.value.cause
    assert "npm error code ENOTFOUND" in caught.value.cause
    assert "registry" in caught.value.mend
    assert left(cache) == []


def test_an_npm_that_cannot_be_started_is_said(cache: Path, pins: PinnedSet, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="npm cannot be started"):
        install(pins, lambda: [str(tmp_path / "nowhere")])


def test_a_cache_that_cannot_be_written_is_said(
    tmp_path: Path, pins: PinnedSet, npm: Npm, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(HarnessError, match="cannot be cached") as caught:
        install(pins, npm)
    assert "XDG_CACHE_HOME" in caught.value.mend


def test_missing_pins_are_said(tmp_path: Path, cache: Path, npm: Npm) -> None:
    with pytest.raises(HarnessError, match=r"package\.json"):
        install(PinnedSet("thing", "1", tmp_path / "nothing"), npm)


def test_the_first_install_says_so_in_one_line(
    cache: Path, pins: PinnedSet, npm: Npm, capsys: pytest.CaptureFixture[str]
) -> None:
    install(pins, npm)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "installing thing 1.2.3" in said.err
    install(pins, npm)
    assert capsys.readouterr().err == ""


def test_a_relative_cache_home_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    assert cache_folder() == tmp_path / ".cache" / "pi-bridge-conformance"
