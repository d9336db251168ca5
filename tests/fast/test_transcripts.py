"""Transcripts as files: what is wrong with one is said with its line and its mend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import InitializeResult
from conformance.transcripts import files
from conformance.transcripts.files import Entry, Head, Verdict

HEAD = Head(
    transcript=files.FORMAT,
    suite="0.1.0",
    protocol=1,
    spec=1,
    digest="d",
    label="it",
    bridge="reference",
    mount=None,
    hello=InitializeResult(protocol=1, name="it", version="1", role="bridge"),
    item="test_tool_call.x",
    rule="tool_call.x",
    level="must",
    text="t",
    proof="p",
)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A transcript of one exchange."""
    path = files.place(tmp_path, "it", "test_tool_call.x")
    entries = [b'{"wire":"suite asks","id":1,"method":"ping","params":{}}', b'{"wire":"adapter answers","id":1}']
    files.write(path, HEAD, entries, [], Verdict(verdict="pass", outcome="pass"))
    return path


def test_what_was_written_is_read(whole: Path) -> None:
    found = files.read(whole)

    assert found.head == HEAD
    assert found.entries[0] == Entry(wire="suite asks", id=1, method="ping", params={})
    assert found.judged.verdict == "pass"
    assert whole.name == "tool_call.x.jsonl"


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (lambda text: text[:-20], "ends in the middle of line 4"),
        (lambda text: text.replace("suite asks", "suite asked"), ":2 is damaged: "),
        (lambda text: "".join(text.splitlines(keepends=True)[:-1]), "ends after line 3, without a verdict"),
        (lambda text: text + '{"wire":"lost"}\n', ":5 comes after the verdict"),
        (lambda text: text.replace('"transcript":1', '"transcript":2'), "version 2 of the form, and this suite reads"),
        (lambda text: text.replace('"protocol":1', '"protocol":9', 1), "version 9 of the protocol, and this suite"),
        (lambda text: "no transcript\n" + text, "the first line of"),
        (lambda text: "", "the first line of"),
        (lambda text: text.replace('"id":1,"method"', '"x":1,"id":1,"method"'), ":2 is damaged: "),
    ],
)
def test_a_damaged_transcript_says_what_to_do(whole: Path, damage: Callable[[str], str], cause: str) -> None:
    whole.write_text(damage(whole.read_text(encoding="utf-8")), encoding="utf-8")

    with pytest.raises(HarnessError) as broken:
        files.read(whole)

    assert cause in broken.value.cause
    assert str(whole) in broken.value.cause
    assert broken.value.mend


def test_a_newer_form_names_the_release_that_reads_it(whole: Path) -> None:
    text = whole.read_text(encoding="utf-8")
    whole.write_text(text.replace('"transcript":1', '"transcript":2').replace("0.1.0", "7.0", 1), encoding="utf-8")

    with pytest.raises(HarnessError, match=r"pi-bridge-conformance 7\.0"):
        files.read_head(whole)
