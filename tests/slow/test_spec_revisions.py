"""Two revisions of a repository are compared as git has them, whatever lies in the working tree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conformance import cli
from tests.fast.small_specs import DEMO, changed, write_features, write_spec


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two commits, the second with a weaker rule, and a working tree in which the rule is a may."""
    write_spec(tmp_path)
    write_features(tmp_path)
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    write_spec(tmp_path, tools__demo=changed(DEMO, "level: must", "level: should"))
    git(tmp_path, "commit", "-a", "-m", "second")
    write_spec(tmp_path, tools__demo=changed(DEMO, "level: must", "level: may"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_revisions_are_compared(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["spec", "diff", "HEAD~1", "HEAD"]) == 0

    assert "must → should" in capsys.readouterr().out


def test_without_a_head_the_files_as_they_are_count(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["spec", "diff", "HEAD"]) == 0

    said = capsys.readouterr().out
    assert "should → may" in said
    assert str(repository) not in said


def test_a_revision_is_read_from_below_the_root_too(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository / "features")

    assert cli.main(["spec", "diff", "HEAD~1", "HEAD"]) == 0
    assert "must → should" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["no-such-branch", "--output=/tmp/x", "HEAD:spec"])
def test_what_is_no_revision_is_wrong_use(repository: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["spec", "diff", "--", name]) == 4
    assert "Mend: " in capsys.readouterr().err


def test_a_revision_without_rules_is_wrong_use(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(repository, "checkout", "--orphan", "bare", "--force")
    git(repository, "rm", "-r", "--force", "--cached", ".")
    (repository / "x").write_text("x")
    git(repository, "add", "x")
    git(repository, "commit", "-m", "nothing")

    assert cli.main(["spec", "diff", "HEAD"]) == 4
    assert "holds no spec/" in capsys.readouterr().err
