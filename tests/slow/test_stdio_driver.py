"""Adapters that do one thing wrong: each is named for it, in bounded time and memory, and nothing of it stays.

Those that only do something unusual work. Each adapter is a file of tests/hostile.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
import uuid
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from conformance.deadlines import Deadlines
from conformance.drivers.driver import (
    AdapterGone,
    HarnessError,
    PossibleHang,
    ProtocolBroken,
    RequestFailed,
    Unsupported,
)
from conformance.drivers.protocol import (
    AgentCancel,
    AgentPrompt,
    AgentSteer,
    Message,
    NativeAnswer,
    Nothing,
    Outcome,
    PackageLoad,
    PackageSpec,
    Ping,
    Record,
)
from conformance.drivers.stdio import StdioDriver
from conformance.stage import Stage
from conformance.verdicts import Inconclusive

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent.parent
HOSTILE = ROOT / "tests" / "hostile"
PROMPT = AgentPrompt(agent="main", text="go")

AT_START: dict[str, tuple[type[HarnessError], tuple[str, ...]]] = {
    "banner_on_stdout": (ProtocolBroken, ("a line that is not JSON", "'Welcome to hostile 1.0'")),
    "exits_at_start": (AdapterGone, ("exited with code 7 while the suite awaited initialize", "no licence found")),
    "wrong_protocol_version": (ProtocolBroken, ("protocol version 99", "speaks 1")),
    "wrong_shape": (ProtocolBroken, ("answered initialize in the wrong shape", "Expected `object`, got `array`")),
    "missing_field": (ProtocolBroken, ("answered initialize in the wrong shape", "required field `role`")),
    "unknown_field": (ProtocolBroken, ("answered initialize in the wrong shape", "unknown field `colour`")),
}

LATER: dict[str, tuple[type[HarnessError], tuple[str, ...]]] = {
    "exits_mid_request": (AdapterGone, ("exited with code 3 while the suite awaited agent.prompt", "out of memory")),
    "exits_while_asking": (AdapterGone, ("exited with code 4 while the suite awaited agent.prompt",)),
    "exits_but_a_child_holds_its_output": (AdapterGone, ("exited with code 5",)),
    "exits_after_half_a_line": (AdapterGone, ("exited with code 6 after half a line", """'{"jsonrpc":"2.0","se'""")),
    "dies_by_signal": (AdapterGone, ("was ended by SIGKILL", "wrote nothing to its error output")),
    "closes_stdout_but_lives": (AdapterGone, ("closed its standard output, but is still running",)),
    "closes_stdin_but_lives": (AdapterGone, ("closed its standard input, but is still running",)),
    "replies_twice": (ProtocolBroken, ("answered request 2 twice",)),
    "replies_to_unknown_id": (ProtocolBroken, ("answered a request that was never made", "4711")),
    "result_and_error": (ProtocolBroken, ("both result and error",)),
    "unsupported_without_a_name": (ProtocolBroken, ("without data.capability",)),
    "null_id_error": (ProtocolBroken, ("could not read a message of the suite", "parse error")),
    "invalid_utf8": (ProtocolBroken, ("not UTF-8", r"\\xff\\xfe")),
    "line_of_256_mib": (ProtocolBroken, ("a line of 268435456 bytes", "67108864 allowed", "'xxx")),
    "floods_notifications": (ProtocolBroken, ("flooded the suite with 100001 messages",)),
    "unknown_method": (ProtocolBroken, ("the unknown method 'no.such'",)),
    "unknown_kind_of_note": (ProtocolBroken, ("gossip",)),
    "same_id_twice": (ProtocolBroken, ("native.execute with id 'a', which is still open",)),
    "seq_goes_back": (ProtocolBroken, ("seq 0 after seq 1",)),
    "seq_missing": (ProtocolBroken, ("without seq",)),
    "nests_without_end": (ProtocolBroken, ("nested too deeply",)),
    "nan_literal": (ProtocolBroken, ("not JSON", "NaN")),
    "half_a_surrogate_pair": (ProtocolBroken, ("a text holds half a surrogate pair",)),
    "prints_while_running": (ProtocolBroken, ("not JSON", "'got here'")),
}

LEGAL = ("crlf_line_ends", "empty_lines", "floods_stderr", "message_in_pieces")

SILENT: dict[str, tuple[type[Exception], str]] = {
    "answers_nothing_but_ping": (
        Inconclusive,
        "nothing came for 0.3 s while the suite awaited the answer to stage.open",
    ),
    "half_a_line_then_silence": (PossibleHang, "possible hang of the bridge"),
    "hangs_in_a_busy_loop": (PossibleHang, "awaited the answer to stage.open"),
    "never_reads_stdin": (PossibleHang, "possible hang of the bridge"),
}

LEAVING = {
    "leaves_a_child": True,
    "leaves_a_child_with_its_own_session": True,
    "leaves_a_child_that_hides": True,
    "leaves_a_child_that_ignores_term": False,  # ended by force itself, it cannot be blamed for its child
}

ELSEWHERE = {"never_answers_initialize", "replies_out_of_order", "replies_late", "line_without_end", "ignores_term"}
ELSEWHERE |= {"leaves_a_locked_folder"}


class Peer:
    """Answers every native at once and keeps nothing; ``hold`` makes it wait for ever."""

    def __init__(self, hold: bool = False) -> None:
        self.asked = asyncio.Event()
        self.hold = hold

    async def answer(self, message: Message, seq: int) -> Record:
        self.asked.set()
        if self.hold:
            await asyncio.Event().wait()
        return NativeAnswer(text="ok")

    def note(self, message: Message, seq: int) -> None: ...


@pytest.fixture(autouse=True)
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A word in every process of the test; afterwards there is none, and neither a folder, a descriptor nor a child."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    word = f"hostile-{uuid.uuid4().hex}"
    descriptors, children = open_descriptors(), own_children()
    yield word
    assert processes(word) == []
    assert [path.name for path in tmp_path.iterdir()] == []
    assert open_descriptors() <= descriptors
    assert own_children() == children


def processes(word: str) -> list[str]:
    """The commands of live processes that have the word in their command or environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command, environment = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
            if word.encode() in command + environment:
                found.append(command.replace(b"\0", b" ").decode())
    return found


def open_descriptors() -> int:
    """How many descriptors we have open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def own_children() -> set[str]:
    """The ids of our children, those that ended and were not reaped among them."""
    lists = [(task / "children").read_text() for task in Path("/proc/self/task").iterdir()]
    return {child for text in lists for child in text.split()}


def make(name: str, word: str, **more: Any) -> StdioDriver:
    """A driver of one of the adapters, not started."""
    script = HOSTILE / f"{name}.py"
    assert script.is_file()
    more = {"start_seconds": 20.0, "grace_seconds": 0.5, **more}
    return StdioDriver("hostile", [sys.executable, str(script)], env={"HOSTILE_MARK": word}, **more)


@contextlib.asynccontextmanager
async def started(name: str, word: str, peer: Peer | None = None, **more: Any) -> AsyncIterator[StdioDriver]:
    """A driver that has shaken hands, with a peer; closed afterwards."""
    driver = make(name, word, **more)
    await driver.start()
    driver.bind(peer or Peer())
    try:
        yield driver
    finally:
        await driver.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}


async def within(seconds: float, work: Awaitable[T]) -> T:
    """The result of ``work``, which may take so long."""
    return await asyncio.wait_for(work, seconds)


def test_every_adapter_is_used() -> None:
    used = {*AT_START, *LATER, *LEGAL, *SILENT, *LEAVING, *ELSEWHERE}
    assert used == {path.stem for path in HOSTILE.glob("[a-z]*.py")}


@pytest.mark.parametrize("name", AT_START)
def test_one_that_cannot_shake_hands_is_named(name: str, mark: str) -> None:
    kind, words = AT_START[name]

    async def run() -> HarnessError:
        driver = make(name, mark)
        with pytest.raises(HarnessError) as caught:
            await within(20, driver.start())
        return caught.value

    error = asyncio.run(run())
    assert type(error) is kind
    for word in words:
        assert word in error.cause, error.cause
    assert error.mend


def test_one_that_never_answers_the_handshake_is_given_up(mark: str) -> None:
    async def run() -> None:
        driver = make("never_answers_initialize", mark, start_seconds=0.5)
        with pytest.raises(HarnessError, match=r"did not answer initialize within 0\.5 s"):
            await within(10, driver.start())

    asyncio.run(run())


@pytest.mark.parametrize("name", LATER)
def test_one_that_breaks_later_is_named_at_once_and_by_every_way(name: str, mark: str) -> None:
    kind, words = LATER[name]

    async def run() -> HarnessError:
        async with started(name, mark, Peer(hold=True)) as driver:
            asked = asyncio.ensure_future(driver.request(PROMPT))
            error = await within(20, driver.failed())
            with contextlib.suppress(HarnessError):
                await within(5, asked)  # it may have been answered before the fault
            with pytest.raises(HarnessError) as caught:
                await within(5, driver.request(Ping()))
            assert caught.value is error
            return error

    tracemalloc.start()
    try:
        error = asyncio.run(run())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert type(error) is kind
    for word in words:
        assert word in error.cause, error.cause
    assert len(error.cause) < 1000
    assert peak < 80 << 20, f"{peak >> 20} MiB"


def test_a_line_without_end_is_refused_before_it_ends(mark: str) -> None:
    async def run() -> HarnessError:
        async with started("line_without_end", mark, line_limit=1 << 20) as driver:
            with pytest.raises(ProtocolBroken) as caught:
                await within(20, driver.request(PROMPT))
            return caught.value

    assert "a line of at least 16" in asyncio.run(run()).cause


@pytest.mark.parametrize("name", LEGAL)
def test_one_that_is_only_unusual_works(name: str, mark: str) -> None:
    async def run() -> StdioDriver:
        async with started(name, mark) as driver:
            for _ in range(2):
                assert isinstance(await within(30, driver.request(PROMPT)), Outcome)
        return driver

    driver = asyncio.run(run())
    assert driver.left_behind == []
    if name == "floods_stderr":
        assert driver.stderr.startswith("FIRST\n")
        assert driver.stderr.endswith("LAST\n")
        assert "bytes left out" in driver.stderr
        assert len(driver.stderr) < 70_000


def test_answers_may_come_in_any_order(mark: str) -> None:
    async def run() -> list[Any]:
        async with started("replies_out_of_order", mark) as driver:
            return await within(10, asyncio.gather(driver.request(PROMPT), driver.request(PROMPT)))

    assert [outcome.returned for outcome in asyncio.run(run())] == ["first", "second"]


def test_a_late_answer_is_no_fault_when_it_was_given_up(mark: str) -> None:
    async def run() -> None:
        async with started("replies_late", mark) as driver:
            with pytest.raises(TimeoutError):
                await within(0.1, driver.request(PROMPT))
            assert await within(10, driver.request(Ping())) == Nothing()
            assert await within(10, driver.request(Ping())) == Nothing()

    asyncio.run(run())


@pytest.mark.parametrize("name", SILENT)
def test_silence_is_judged_by_a_sign_of_life(name: str, mark: str) -> None:
    kind, sentence = SILENT[name]
    with asyncio.Runner() as runner:
        driver = make(name, mark)
        hello = runner.run(driver.start())
        stage = Stage(runner, driver, hello, deadlines=Deadlines(request=0.3))
        try:
            with pytest.raises(kind, match=sentence):
                stage.open()
        finally:
            runner.run(driver.close())


def test_what_is_not_read_does_not_block_the_suite(mark: str) -> None:
    async def run() -> None:
        async with started("never_reads_stdin", mark) as driver:
            big = PackageLoad(package=PackageSpec(name="x" * (8 << 20)))
            with pytest.raises(TimeoutError):
                await within(0.5, driver.request(big))

    asyncio.run(run())


class TestTheEnd:
    @pytest.mark.parametrize("name", LEAVING)
    def test_children_are_ended_and_those_left_behind_are_told(self, name: str, mark: str) -> None:
        async def run() -> StdioDriver:
            async with started(name, mark) as driver:
                assert len(processes(mark)) == 2
            return driver

        left = asyncio.run(run()).left_behind
        assert len(left) == LEAVING[name]
        assert all("python" in str(relative) for relative in left)

    def test_one_that_ignores_term_is_killed(self, mark: str) -> None:
        async def run() -> None:
            async with started("ignores_term", mark):
                pass

        began = time.monotonic()
        asyncio.run(run())
        assert time.monotonic() - began < 10

    def test_kill_needs_no_grace(self, mark: str) -> None:
        async def run() -> float:
            async with started("ignores_term", mark, grace_seconds=30.0) as driver:
                began = time.monotonic()
                driver.kill()
                await driver.close()
                return time.monotonic() - began

        assert asyncio.run(run()) < 5

    def test_a_folder_that_was_locked_is_removed(self, mark: str) -> None:
        async def run() -> None:
            async with started("leaves_a_locked_folder", mark):
                pass

        asyncio.run(run())
        assert Path("/").exists()

    def test_closing_twice_and_before_the_start_does_nothing(self, mark: str) -> None:
        async def run() -> None:
            driver = make("crlf_line_ends", mark)
            await driver.close()
            await driver.start()
            await driver.close()
            await driver.close()

        asyncio.run(run())

    def test_a_driver_is_started_once(self, mark: str) -> None:
        async def run() -> None:
            async with started("crlf_line_ends", mark) as driver:
                with pytest.raises(HarnessError, match="fresh driver"):
                    await driver.start()

        asyncio.run(run())

    def test_a_crashed_one_is_replaced_by_a_fresh_driver(self, mark: str) -> None:
        async def run() -> None:
            for _ in range(2):
                async with started("exits_mid_request", mark) as driver:
                    with pytest.raises(AdapterGone):
                        await within(10, driver.request(PROMPT))

        asyncio.run(run())

    def test_an_answer_that_was_being_worked_out_is_cancelled(self, mark: str) -> None:
        async def run() -> None:
            peer = Peer(hold=True)
            async with started("exits_while_asking", mark, peer) as driver:
                with pytest.raises(AdapterGone):
                    await within(10, driver.request(PROMPT))
                assert peer.asked.is_set()

        asyncio.run(run())


class TestTheEnvironment:
    PROGRAM = """
import json, os, sys
print(json.dumps({"jsonrpc": "2.0", "seq": 1, "id": 1, "result": {
    "protocol": 1, "name": "env", "version": os.getcwd(), "role": "bridge", "versions": dict(os.environ)}}), flush=True)
sys.stdin.read()
"""

    def told(self, **more: Any) -> tuple[str, dict[str, str]]:
        """The working folder and environment of an adapter."""

        async def run() -> tuple[str, dict[str, str]]:
            driver = StdioDriver("env", [sys.executable, "-c", self.PROGRAM], **more)
            try:
                hello = await driver.start()
                return hello.version, hello.versions
            finally:
                await driver.close()

        return asyncio.run(run())

    def test_it_holds_the_usual_few_and_folders_of_its_own(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("SECRET_TOKEN", "s3cret")
        monkeypatch.setenv("LC_ALL", "C.UTF-8")
        folder, env = self.told()
        assert "SECRET_TOKEN" not in env
        assert env["PATH"] == os.environ["PATH"]
        assert env["LC_ALL"] == "C.UTF-8"
        for own in (folder, env["HOME"], env["TMPDIR"]):
            assert Path(own).is_relative_to(tmp_path.resolve())
        assert len({folder, env["HOME"], env["TMPDIR"]}) == 3

    def test_more_is_passed_on_by_name_and_set_by_value(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WANTED", "yes")
        folder, env = self.told(extra_names=["WANTED", "NOT_THERE"], env={"HOME": "/elsewhere"}, cwd=HOSTILE)
        assert env["WANTED"] == "yes"
        assert "NOT_THERE" not in env
        assert env["HOME"] == "/elsewhere"
        assert folder == str(HOSTILE)

    @pytest.mark.parametrize("argv", [["/no/such/program"], ["no-such-program-at-all"], [str(HOSTILE)], ["a\0b"]])
    def test_a_program_that_is_not_there_is_named(self, argv: list[str]) -> None:
        async def run() -> None:
            with pytest.raises(HarnessError, match="cannot be started") as caught:
                await StdioDriver("gone", argv).start()
            assert repr(argv[0]) in caught.value.cause
            assert "installed" in caught.value.mend

        asyncio.run(run())


class TestServe:
    """``serve`` is the adapter that does everything right."""

    PROGRAM = """
import os, subprocess, sys
from conformance.drivers.driver import Unsupported
from conformance.drivers.protocol import *
from conformance.drivers.serve import serve

class Backend:
    def __init__(self, suite):
        self.suite = suite

    async def handle(self, message):
        if isinstance(message, Initialize):
            print("a print"), os.write(1, b"a write\\n"), subprocess.run(["echo", "a child"])
            assert sys.stdin.read() == ""
            return InitializeResult(protocol=1, name="served", version="1", role="bridge")
        if isinstance(message, AgentPrompt):
            self.suite.note(TraceNote(kind="notice"))
            for _ in message.text.split():
                answer = await self.suite.ask(NativeExecute(tool="t", call_id="c", arguments={}, invocation="1"))
            return Outcome(returned=answer.text)
        if isinstance(message, AgentSteer):
            raise Unsupported("steer")
        if isinstance(message, AgentCancel):
            raise KeyError("nobody")
        return Nothing()

    async def close(self):
        print("closed")

sys.exit(serve(Backend))
"""

    @contextlib.asynccontextmanager
    async def served(self) -> AsyncIterator[StdioDriver]:
        driver = StdioDriver("served", [sys.executable, "-c", self.PROGRAM], env={"PYTHONPATH": str(ROOT)})
        hello = await within(20, driver.start())
        assert hello.name == "served"
        driver.bind(Peer())
        try:
            yield driver
        finally:
            await driver.close()

    def test_standard_output_belongs_to_the_protocol_and_the_end_of_input_ends_it(self) -> None:
        async def run() -> StdioDriver:
            async with self.served() as driver:
                assert (await within(10, driver.request(PROMPT))).returned == "ok"
            return driver

        driver = asyncio.run(run())
        assert sorted(driver.stderr.split("\n")) == ["", "a child", "a print", "a write", "closed"]

    def test_what_it_lacks_and_what_it_throws_arrive_as_such(self) -> None:
        async def run() -> None:
            async with self.served() as driver:
                with pytest.raises(Unsupported, match="steer"):
                    await within(10, driver.request(AgentSteer(agent="a", text="b")))
                with pytest.raises(RequestFailed, match="KeyError"):
                    await within(10, driver.request(AgentCancel(agent="a")))
                assert (await within(10, driver.request(PROMPT))).returned == "ok"

        asyncio.run(run())

    def test_term_ends_it_in_order(self) -> None:
        async def run() -> StdioDriver:
            async with self.served() as driver:
                assert driver.pid is not None
                os.kill(driver.pid, signal.SIGTERM)
                assert "exited with code 0" in (await within(10, driver.failed())).cause
            return driver

        assert "closed" in asyncio.run(run()).stderr

    def test_a_signal_that_comes_while_it_ends_is_no_traceback(self) -> None:
        signalled = """
import asyncio.selector_events as loops, os, signal
closes = loops.BaseSelectorEventLoop.close
def close(self):
    closes(self)
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)
loops.BaseSelectorEventLoop.close = close
"""
        ran = subprocess.run(
            [sys.executable, "-c", signalled + self.PROGRAM],
            input=b"",
            capture_output=True,
            env={"PYTHONPATH": str(ROOT)},
            timeout=60,
        )

        assert (ran.returncode, ran.stderr.decode()) == (0, "closed\n")
