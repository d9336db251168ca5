"""What a user gets from a wheel and from an sdist: the command, the plugin, and the rules inside."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.slow.small_checkout import SmallCheckout

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel that was made from an sdist."""
    folder = tmp_path_factory.mktemp("dist")
    _run([sys.executable, "-m", "build", "--outdir", str(folder), str(CHECKOUT)], folder)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with nothing of the project but the wheel."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home)
    programs = home / "bin"
    _run([*_pip_of(home), "install", "-q", "--no-deps", str(next(built.glob("*.whl")))], home)
    libraries = next(home.glob("lib/python*/site-packages"))
    # The dependencies are borrowed from this environment; a .pth inside a borrowed folder has no effect.
    (libraries / "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return programs


def test_the_wheel_holds_rules_features_and_adapters(built: Path) -> None:
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    for name in (
        "bridge_conformance_pytest.py",
        "conformance/_data/spec/index.yaml",
        "conformance/_data/spec/schema/surface.schema.json",
        "conformance/_data/features/tools/tool_call.feature",
        "conformance/adapters/pi/package-lock.json",
        "conformance/adapters/lib/connection.mjs",
        "conformance/commands/pytest.ini",
        "conformance/reporting/allure3/package-lock.json",
        "reference_bridge/host/host.py",
    ):
        assert name in names
    assert not [name for name in names if "node_modules" in name or name.startswith("tests/")]


def test_the_command_judges_the_reference_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    _keeps_every_rule(
        _run([str(installed / "bridge-conformance"), "run", "--bridge=reference", "--surface=user_bash"], tmp_path)
    )
    assert (tmp_path / "reports" / "conformance.json").is_file()


def test_pytest_judges_the_reference_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "python"), "-m", "pytest", "-q", "--pyargs", "conformance", "--bridge=reference"]
    _keeps_every_rule(_run([*command, "--bridge-surface=user_bash"], tmp_path))
    assert not (tmp_path / "reports").exists()


def test_an_editable_install_sees_an_edit(checkout: SmallCheckout, tmp_path: Path) -> None:
    for name in ("README.md", "LICENSE"):
        shutil.copy(CHECKOUT / name, checkout.folder / name)
    home = tmp_path / "editable"
    venv.create(home)
    programs = home / "bin"
    libraries = next(home.glob("lib/python*/site-packages"))
    (libraries / "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    _run([*_pip_of(home), "install", "-q", "--no-deps", "--editable", str(checkout.folder)], tmp_path)

    checkout.replace("spec/tools/user_bash.yaml", "text: It never fires.", "text: It never ever fires.")
    checkout.replace("conformance/__init__.py", '__version__ = "', '__version__ = "9.')

    program = str(programs / "bridge-conformance")
    assert "It never ever fires." in _run([program, "explain", "user_bash.never-fires"], tmp_path)
    assert "bridge-conformance 9." in _run([program, "--version"], tmp_path)


def _keeps_every_rule(out: str) -> None:
    found = re.search(r"^user_bash +(\d+)/(\d+)$", out, re.MULTILINE)
    assert found is not None, out
    assert found[1] == found[2] != "0"


def _pip_of(home: Path) -> list[str]:
    """The pip of this environment at work on another: bringing each its own takes longer than what it installs."""
    return [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python")]


def _run(command: list[str], folder: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
