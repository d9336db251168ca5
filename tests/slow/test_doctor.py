"""The doctor finds what is wrong with an adapter, says how to mend it, and finds nothing in one that is well."""

from __future__ import annotations

import contextlib
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import cli
from conformance.drivers.node import find_node

TESTS = Path(__file__).resolve().parent.parent
UNWELL = TESTS / "unwell"
HOSTILE = TESTS / "hostile"

TROUBLES = {
    "answers_at_the_end": ("flush", "answers only when its input has ended", "flush standard output"),
    "reads_to_the_end": ("flush", "answers only when its input has ended", "read line by line"),
    "ends_no_line": ("framing", "never ended the line", "a line feed after each message"),
    "speaks_on_standard_error": ("standard error", "writes its messages to standard error", "to standard output"),
    "dies_of_what_it_does_not_know": ("unknown method", "exited with code 1", "look at what it wrote"),
    "reads_short_lines": ("a message of 32 MiB", "exited with code 1", "look at what it wrote"),
    "reads_a_piece_for_a_message": ("a message in pieces", "answered by nothing", "until a line feed comes"),
    "decodes_every_piece": ("a message in pieces", "came in four pieces", "decode only whole lines"),
    "forgets_the_second_of_two": ("a message in pieces", "of two that came in one", "every whole line you have read"),
    "one_thing_at_a_time": ("overlapping requests", "waited for the model was not answered", "tasks of their own"),
    "knows_only_ascii": ("non-ASCII", "Gr??e", "UTF-8 whatever the locale"),
    "breaks_in_every_turn": ("a turn", "out of memory", "look at what it wrote"),
}
"""Programs of tests/unwell with which no verdict can be taken: the check that says so, what it says, and the mend."""

WARNINGS = {
    "does_what_it_does_not_know": ("unknown method", "as if it had been done", "-32601"),
    "asks_no_model": ("overlapping requests", "no request to the model", "model.respond"),
    "outlives_its_input": ("end of input", "after its input had ended", "end the process when standard input ends"),
    "fails_at_the_end": ("end of input", "exited with code 3", "exit with code 0"),
    "ignores_term": ("TERM", "after a TERM", "leave SIGTERM as it is"),
    "leaves_a_child": ("children", "left behind sleep", "end what you started"),
    "writes_much_to_standard_error": ("standard error", "more than is kept", "write less"),
    "declares_too_much": ("capability steer", "declared and is not there", "take it out of the capabilities"),
    "declares_too_little": ("capability durable-log", "works and is not declared", "declare it"),
    "misspells_a_capability": ("declared capabilities", "did you mean durable-log?", "capabilities.py"),
    "has_no_name": ("versions", "an empty name", "reports are told apart"),
    "takes_short_lines_only": ("limits", "1048576", "raise it"),
}
"""The same for what is only not as it should be."""

HOSTILE_TROUBLES = {
    "answers_nothing_but_ping": ("a turn", "not answered", "look where it waits"),
    "banner_on_stdout": ("handshake", "'Welcome to hostile 1.0'", "nothing but messages to standard output"),
    "closes_stdin_but_lives": ("ping and flush", "closed its standard input", "until standard input ends"),
    "closes_stdout_but_lives": ("ping and flush", "closed its standard output", "until standard input ends"),
    "dies_by_signal": ("ping and flush", "was ended by SIGKILL", "run the command by hand"),
    "exits_after_half_a_line": ("ping and flush", "exited with code 6 after half a line", "run the command by hand"),
    "exits_at_start": ("handshake", "no licence found", "run the command by hand"),
    "exits_but_a_child_holds_its_output": ("ping and flush", "exited with code 5", "run the command by hand"),
    "exits_mid_request": ("ping and flush", "out of memory", "run the command by hand"),
    "exits_while_asking": ("ping and flush", "exited with code 4", "run the command by hand"),
    "half_a_surrogate_pair": ("ping and flush", "half a surrogate pair", "as the tag"),
    "half_a_line_then_silence": ("ping and flush", "has begun a line", "end every message with a line feed"),
    "hangs_in_a_busy_loop": ("ping and flush", "not answered", "look where it waits"),
    "ignores_term": ("ping and flush", "not answered", "look where it waits"),
    "invalid_utf8": ("ping and flush", "not UTF-8", "UTF-8 bytes"),
    "leaves_a_child_that_ignores_term": ("ping and flush", "not answered", "look where it waits"),
    "line_of_256_mib": ("ping and flush", "a line of 268435456 bytes", "over 1 MiB"),
    "message_in_pieces": ("ping and flush", "in the wrong shape", "docs/protocol.md"),
    "missing_field": ("handshake", "required field `role`", "docs/protocol.md"),
    "nan_literal": ("ping and flush", "NaN", "as tags"),
    "nests_without_end": ("ping and flush", "nested too deeply", "cycle"),
    "never_answers_initialize": ("handshake", "did not answer initialize", "line by line"),
    "never_reads_stdin": ("ping and flush", "not answered", "look where it waits"),
    "null_id_error": ("ping and flush", "could not read a message", "line feed alone"),
    "prints_while_running": ("ping and flush", "'got here'", "nothing but messages to standard output"),
    "replies_late": ("ping and flush", "not answered", "look where it waits"),
    "replies_out_of_order": ("ping and flush", "not answered", "look where it waits"),
    "replies_to_unknown_id": ("ping and flush", "4711", "answer each request once"),
    "replies_twice": ("unknown method", "answered request 2 twice", "answer each request once"),
    "result_and_error": ("ping and flush", "both result and error", "never both"),
    "same_id_twice": ("ping and flush", "still open", "an id of its own"),
    "seq_goes_back": ("ping and flush", "seq 0 after seq 1", "a seq that rises"),
    "seq_missing": ("ping and flush", "without seq", "a seq that rises"),
    "unknown_field": ("handshake", "unknown field `colour`", "docs/protocol.md"),
    "unknown_kind_of_note": ("ping and flush", "gossip", "docs/protocol.md"),
    "unknown_method": ("ping and flush", "'no.such'", "lists for adapters"),
    "unsupported_without_a_name": ("ping and flush", "without data.capability", "error.data.capability"),
    "wrong_protocol_version": ("handshake", "speaks protocol version 99", "update the adapter"),
    "wrong_shape": ("handshake", "Expected `object`, got `array`", "docs/protocol.md"),
}
"""The same for tests/hostile; the rest of it is slow, floods, or is unusual and legal."""
HOSTILE_USABLE = {
    "crlf_line_ends",
    "empty_lines",
    "leaves_a_child",
    "leaves_a_child_that_hides",
    "leaves_a_child_with_its_own_session",
    "leaves_a_locked_folder",
}
ELSEWHERE = {"floods_notifications", "floods_stderr", "line_without_end"}


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A word in the environment of every process of the test; afterwards there is none."""
    word = f"doctor-{uuid.uuid4().hex}"
    monkeypatch.setenv("HOSTILE_MARK", word)
    yield word
    assert processes(word) == []


def processes(word: str) -> list[str]:
    """The commands of live processes that have the word in their command or environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command, environment = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
            if word.encode() in command + environment and folder.name != "self":
                found.append(command.replace(b"\0", b" ").decode())
    return [command for command in found if "pytest" not in command]


class Doctor:
    """Runs the command, and returns its exit status and what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, spec: str, timeout: float = 1.0) -> tuple[int, str]:
        self.capsys.readouterr()
        status = cli.main(["doctor", f"--bridge={spec}", f"--timeout={timeout}", "--env=HOSTILE_MARK"])
        return status, self.capsys.readouterr().out


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Doctor:
    return Doctor(capsys)


def of(out: str, state: str, check: str) -> str:
    """What one check found, with its mend, in one line; fails where that state was not found."""
    lines = out.splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith(f"  {state:<8}  {check}")), None)
    assert start is not None, out
    end = next(at for at in range(start, len(lines)) if lines[at].strip().startswith("mend: "))
    return " ".join(line.strip() for line in lines[start : end + 1])


def states(out: str) -> set[str]:
    """The states of all findings."""
    return {line[2:10].strip() for line in out.splitlines() if line[:2] == "  " and line[2] != " "}


def program(folder: Path, name: str) -> str:
    return f"stdio:{sys.executable} {folder / name}.py"


class TestWell:
    """Nothing is found where nothing is wrong."""

    @pytest.mark.parametrize("mount", ["root", "engine"])
    def test_the_reference_in_process(self, doctor: Doctor, mount: str) -> None:
        status, out = doctor(f"reference?mount={mount}", 5.0)
        assert (status, states(out)) == (0, {"ok"}), out

    def test_the_reference_served(self, doctor: Doctor, mark: str) -> None:
        status, out = doctor(f"stdio:{sys.executable} -m conformance.cli serve --bridge=reference", 10.0)
        assert (status, states(out)) == (0, {"ok"}), out

    def test_a_small_adapter(self, doctor: Doctor, mark: str) -> None:
        status, out = doctor(program(UNWELL, "_body"), 10.0)
        assert (status, states(out)) == (0, {"ok"}), out
        assert "31 probed: 1 declared and found, 30 neither" in out


@pytest.mark.parametrize("name", TROUBLES)
def test_what_makes_an_adapter_unusable_is_found_and_its_mend_told(doctor: Doctor, name: str, mark: str) -> None:
    check, said, mend = TROUBLES[name]
    status, out = doctor(program(UNWELL, name), 1.5)

    assert status == 1, out
    finding = of(out, "trouble", check)
    assert said in finding.partition("mend: ")[0], out
    assert mend in finding.partition("mend: ")[2], out
    assert "not usable: " in out


@pytest.mark.parametrize("name", WARNINGS)
def test_what_only_should_be_mended_leaves_an_adapter_usable(doctor: Doctor, name: str, mark: str) -> None:
    check, said, mend = WARNINGS[name]
    status, out = doctor(program(UNWELL, name), 5.0)

    assert status == 0, out
    finding = of(out, "warning", check)
    assert said in finding.partition("mend: ")[0], out
    assert mend in finding.partition("mend: ")[2], out
    assert "\nusable: " in out


@pytest.mark.parametrize("name", HOSTILE_TROUBLES)
def test_a_hostile_adapter_is_unusable_and_the_reason_told(doctor: Doctor, name: str, mark: str) -> None:
    check, said, mend = HOSTILE_TROUBLES[name]
    status, out = doctor(program(HOSTILE, name), 10.0 if name == "line_of_256_mib" else 1.0)

    assert status == 1, out
    finding = of(out, "trouble", check)
    assert said in finding.partition("mend: ")[0], out
    assert mend in finding.partition("mend: ")[2], out


@pytest.mark.parametrize("name", sorted(HOSTILE_USABLE))
def test_what_is_unusual_is_usable(doctor: Doctor, name: str, mark: str) -> None:
    status, out = doctor(program(HOSTILE, name), 10.0)
    assert status == 0, out


def test_every_program_is_examined() -> None:
    assert {*TROUBLES, *WARNINGS, "writes_a_little_to_standard_error"} == {p.stem for p in UNWELL.glob("[a-z]*.py")}
    assert {*HOSTILE_TROUBLES, *HOSTILE_USABLE, *ELSEWHERE} == {p.stem for p in HOSTILE.glob("[a-z]*.py")}


def test_what_an_adapter_writes_cannot_move_the_cursor(doctor: Doctor, mark: str) -> None:
    _, little = doctor(program(UNWELL, "writes_a_little_to_standard_error"), 5.0)
    _, broken = doctor(program(UNWELL, "breaks_in_every_turn"), 1.5)

    assert "2 lines, kept with reports" in little
    assert "\x1b" not in little + broken


class TestInProcess:
    """What applies of the checkup to an implementation in this process."""

    @pytest.mark.parametrize(
        ("name", "check", "said"),
        [
            ("no_bridge", "handshake", "RuntimeError: nobody is at home"),
            ("ClumsyBridge", "a turn", "ZeroDivisionError"),
            ("SleepyBridge", "a turn", "not answered"),
            ("LitteringBridge", "tasks", "behind: LitteringBridge.linger"),
            ("BoastingBridge", "capability native-tools", "not there"),
        ],
    )
    def test_what_is_wrong_is_found(self, doctor: Doctor, name: str, check: str, said: str) -> None:
        status, out = doctor(f"py:tests.fakes.tiny_bridge:{name}", 1.0)

        state = "warning" if check.startswith(("tasks", "capability")) else "trouble"
        assert said in of(out, state, check), out
        assert status == (state == "trouble")


@pytest.mark.parametrize(
    ("spec", "said"),
    [("referense", "Did you mean reference?"), ("py:no.such:thing", "cannot be imported"), ("", "names no")],
)
def test_a_wrong_specification_is_wrong_use(spec: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", f"--bridge={spec}"]) == 4
    assert said in capsys.readouterr().err


def test_what_is_refused_in_the_wrong_words_is_told_the_right_ones(doctor: Doctor, mark: str) -> None:
    status, out = doctor(f"stdio:{find_node().program} {TESTS / 'fakes' / 'echo_adapter.mjs'}", 10.0)

    assert status == 1
    finding = of(out, "trouble", "a turn")
    assert "answered agent.create with error -32601" in finding
    assert "the error -32050" in finding


def test_a_command_that_is_not_there_is_unusable(doctor: Doctor) -> None:
    status, out = doctor("stdio:/no/such/program")
    assert status == 1
    assert "installed and executable" in of(out, "trouble", "handshake")
