"""The rules are found beside the package in a checkout, and inside it once it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.resources import PROJECT, ResourcesError, features_dir, locate, spec_dir


def package(folder: Path, *resources: str, pyproject: str | None = None) -> Path:
    for name in ("conformance", *resources):
        (folder / name).mkdir(parents=True)
    if pyproject is not None:
        (folder / "pyproject.toml").write_text(pyproject)
    return folder / "conformance"


def test_a_checkout_uses_its_own_folders_although_a_built_copy_is_there(tmp_path: Path) -> None:
    data = ("conformance/_data/spec", "conformance/_data/features")
    found = locate(package(tmp_path, "spec", "features", *data, pyproject=f'[project]\nname = "{PROJECT}"\n'))
    assert (found.spec, found.features, found.is_checkout) == (tmp_path / "spec", tmp_path / "features", True)


@pytest.mark.parametrize("pyproject", [None, '[project]\nname = "another"\n', "not toml [", "project = 1\n"])
def test_an_installed_package_uses_its_data_whatever_lies_beside_it(tmp_path: Path, pyproject: str | None) -> None:
    data = ("conformance/_data/spec", "conformance/_data/features")
    found = locate(package(tmp_path, "spec", "features", *data, pyproject=pyproject))
    assert (found.spec, found.is_checkout) == (tmp_path / "conformance/_data/spec", False)


def test_a_missing_folder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ResourcesError, match=r"_data/spec is missing.*Mend: reinstall pi-bridge-conformance"):
        locate(package(tmp_path))


def test_the_running_package_finds_its_rules() -> None:
    assert (spec_dir() / "index.yaml").is_file()
    assert (features_dir() / "tools").is_dir()
