"""A driver's skeleton can be talked to as it is written, and says of every rule that it cannot do it yet."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from conformance import cli
from conformance.commands.new_driver import LIBRARY, MAIN
from tests.slow.small_checkout import SmallCheckout

LANGUAGES = list(MAIN)


def new(language: str, folder: Path) -> int:
    """Write a skeleton."""
    return cli.main(["new-driver", language, str(folder)])


@pytest.mark.parametrize("language", LANGUAGES)
def test_doctor_finds_nothing_wrong_with_a_skeleton(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new(language, tmp_path / "mine") == 0
    capsys.readouterr()

    status = cli.main(["doctor", f"--bridge={tmp_path / 'mine' / 'bridge.yaml'}"])

    out = capsys.readouterr().out
    assert status == 0, out
    assert "mine 0.1.0, protocol 1, role bridge" in out
    assert "31 probed: 31 neither" in out
    assert out.endswith("\nusable\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rule_is_unsupported_on_a_skeleton_and_none_is_an_error(
    language: str, tmp_path: Path, sound: SmallCheckout
) -> None:
    assert new(language, tmp_path / "mine") == 0

    ran = sound.command("run", f"--bridge={tmp_path / 'mine' / 'bridge.yaml'}", "--report=reports")

    assert ran.status == 1, ran.out
    assert set(ran.verdicts("mine").values()) == {"unsupported"}, ran.out
    assert "mine: not conformant" in ran.out


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_skeleton_says_to_type_is_what_there_is(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    assert new(language, folder) == 0
    out = capsys.readouterr().out

    for line in re.findall(r"^  bridge-conformance (.*)$", out, re.M):
        command, *options = shlex.split(line)
        assert command in cli.COMMANDS
        assert f"--bridge={folder / 'bridge.yaml'}" in options
    for name in re.findall(r"^wrote (.*)$", out, re.M):
        assert Path(name).exists()
    assert not [path.name for path in folder.glob("*.*") if re.search("@[A-Z]+@", path.read_text())]


def test_the_library_of_a_node_skeleton_is_the_suite_s_own(tmp_path: Path) -> None:
    assert new("node", tmp_path / "mine") == 0

    written = {path.name: path.read_text() for path in (tmp_path / "mine" / "lib").iterdir()}
    assert written == {path.name: path.read_text() for path in LIBRARY.glob("*.mjs")}


@pytest.mark.parametrize("name", ["2 pi & me", "-rf", "Brücke"])
def test_any_folder_name_makes_a_skeleton(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new("python", tmp_path / name) == 0
    assert cli.main(["doctor", f"--bridge={tmp_path / name / 'bridge.yaml'}"]) == 0, capsys.readouterr().out


class TestNothingIsOverwritten:
    def test_a_folder_with_something_in_it_is_refused(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "notes").write_text("mine")

        assert new("python", tmp_path) == 4

        assert "is not empty" in (err := capsys.readouterr().err)
        assert "Mend: name a new folder" in err
        assert [path.name for path in tmp_path.iterdir()] == ["notes"]

    def test_a_file_is_refused(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "notes").write_text("mine")

        assert new("python", tmp_path / "notes") == 4
        assert "is a file" in capsys.readouterr().err

    def test_a_place_that_cannot_be_written_is_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert new("node", Path("/proc/mine")) == 4
        assert "cannot be written" in capsys.readouterr().err

    def test_an_empty_folder_is_used(self, tmp_path: Path) -> None:
        assert new("python", tmp_path) == 0
        assert (tmp_path / "driver.py").is_file()


def test_an_unknown_language_is_told_the_known_ones(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        new("cobol", tmp_path / "mine")

    assert stop.value.code == 4
    assert "python" in (err := capsys.readouterr().err)
    assert "node" in err
