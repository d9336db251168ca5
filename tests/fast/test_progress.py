"""One line that says how far long work is: it replaces itself, goes away, and keeps out of everybody's way."""

from __future__ import annotations

import io

import pytest

from conformance.progress import Beside, Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_one_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    terminal = Terminal()

    with Progress("mutants", terminal) as progress:
        progress.count(1, 4, "a-very-long-name-of-a-mutant\nin two lines")
        progress.count(2, 4)
        progress.count(4, 4)

    assert terminal.getvalue() == ("\r\x1b[Kmutants: 1 of 4 (25 %) a-very\r\x1b[Kmutants: 4 of 4 (100 %)\r\x1b[K")


@pytest.mark.parametrize(("stream", "term"), [(io.StringIO(), "xterm"), (Terminal(), "dumb")], ids=["a file", "dumb"])
def test_progress_is_silent_where_nobody_can_see_it(
    stream: io.StringIO, term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)

    with Progress("mutants", stream) as progress:
        progress.say("reading")
        progress.count(1, 1)

    assert stream.getvalue() == ""


def test_progress_beside_another_line_leaves_it_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()

    with Beside("programs", terminal, lambda: 25) as progress:
        progress.say("1 of 2")

    assert terminal.getvalue() == "\x1b7  programs: 1 of 2\x1b[K\x1b8\x1b7\x1b[K\x1b8"


def test_progress_that_has_no_room_beside_a_line_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()

    Beside("programs", terminal, lambda: 10).say("1 of 2")

    assert terminal.getvalue() == "\x1b7\x1b[K\x1b8"
