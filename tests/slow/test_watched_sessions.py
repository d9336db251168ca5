"""Progress of a quiet pytest session: seen on a terminal, and by nobody else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SESSION = """
import sys, pytest
from conformance._pytest.watched import Watched
sys.exit(pytest.main(["-qq", "--no-header", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[Watched("tests")]))
"""
TESTS = "import pytest\n\n@pytest.mark.parametrize('n', range(7))\ndef test_it(n):\n    print('noise')\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_seven.py").write_text(TESTS)
    return tmp_path


def session(folder: Path, error: int, *arguments: str) -> int:
    command = [sys.executable, "-c", SESSION, "-c", "/dev/null", f"--rootdir={folder}", *arguments, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "80"}
    return subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=error, timeout=120, check=False
    ).returncode


@pytest.mark.parametrize("arguments", [(), ("-n2",)], ids=["one process", "two workers"])
def test_a_terminal_sees_how_far_it_is(folder: Path, arguments: tuple[str, ...]) -> None:
    ours, theirs = pty.openpty()
    try:
        assert session(folder, theirs, *arguments) == 0
        os.close(theirs)
        seen = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)

    assert seen.startswith("\r\x1b[Ktests: collecting")
    assert "\r\x1b[Ktests: 7 of 7 (100 %)" in seen
    assert seen.endswith("\r\x1b[K")


def test_a_file_sees_nothing(folder: Path) -> None:
    with (folder / "said").open("wb") as error:
        assert session(folder, error.fileno()) == 0

    assert (folder / "said").read_text() == ""


def test_a_long_test_is_watched_beside_pytests_own_line(folder: Path) -> None:
    (folder / "test_seven.py").write_text(
        "from conformance._pytest.long_tests import progress_of\n\n\n"
        "def test_it(pytestconfig):\n    with progress_of(pytestconfig, 'long') as line:\n        line.count(2, 2)\n"
    )
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "-p", "no:cacheprovider", f"--rootdir={folder}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NO_COLOR": "1"}
        done = subprocess.run(
            [*command, str(folder)], cwd=folder, env=environment, stdout=theirs, stderr=theirs, timeout=120, check=False
        )
        os.close(theirs)
        seen = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)

    assert done.returncode == 0, seen
    assert "test_seven.py \x1b7  long: 2 of 2 (100 %)\x1b[K\x1b8\x1b7\x1b[K\x1b8." in seen
