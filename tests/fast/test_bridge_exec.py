"""`exec`: what is asked of the host's provider, and what a package is told of the child."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.exec import Exec
from reference_bridge.bridge.values import UNDEFINED
from reference_bridge.host import AbortController
from reference_bridge.host.subprocess import Collected, Exit, LocalSubprocess, SpawnSpec, StartError
from tests.fast.small_bridge import Bridged, bridged, pi_tool, result

MIB = 1024 * 1024
FINE = Exit(0)


class Child:
    """A child that has written what it has to say, and ends when it is told to, or at once."""

    pid = -1

    def __init__(self, spec: SpawnSpec, ended: Exit | Exception, out: bytes, err: bytes, runs: bool) -> None:
        self.stdout, self.stderr = Collected(spec.stdout), Collected(spec.stderr)
        self.stdout.add(out)
        self.stderr.add(err)
        self._ended = ended
        self._over = asyncio.Event()
        if not runs:
            self._over.set()
        assert spec.signal is not None
        spec.signal.add_listener(self.terminate)

    async def done(self) -> Exit:
        await self._over.wait()
        if isinstance(self._ended, Exception):
            raise self._ended
        return self._ended

    def terminate(self) -> None:
        self._over.set()


class Provider:
    """Keeps what it was asked for."""

    def __init__(self, ended: Exit | Exception = FINE, out: bytes = b"", err: bytes = b"", runs: bool = False) -> None:
        self.asked: list[SpawnSpec] = []
        self.started = asyncio.Event()
        self._child = (ended, out, err, runs)

    async def resolve_executable(self, command: str) -> str:
        if command == "missing":
            raise StartError("missing was not found on PATH")
        return f"/bin/{command}"

    def spawn(self, spec: SpawnSpec) -> Child:
        self.asked.append(spec)
        self.started.set()
        return Child(spec, *self._child)

    async def close(self) -> None:
        """Nothing is kept running."""


def exec_on(provider: Any, **more: Any) -> Exec:
    return Exec(lambda: provider, **more)


def run(provider: Any, *args: Any, **more: Any) -> dict[str, Any]:
    """What `exec` resolves with, outside of any agent."""

    async def within() -> dict[str, Any]:
        async with asyncio.timeout(10):
            return await exec_on(provider, **more).run(None, *args)

    return asyncio.run(within())


def test_the_provider_is_asked_for_the_last_64_mib_of_each_stream_without_a_shell() -> None:
    provider = Provider()
    run(provider, "tool", ["$HOME", 5, "a b"], {"cwd": "/tmp"})
    (spec,) = provider.asked
    assert list(spec.argv) == ["/bin/tool", "$HOME", "5", "a b"]
    assert (spec.cwd, spec.stdout, spec.stderr, spec.grace, spec.stdin) == ("/tmp", 64 * MIB, 64 * MIB, 5.0, b"")


def test_the_grace_can_be_chosen() -> None:
    provider = Provider()
    run(provider, "tool", grace=0.1)
    assert provider.asked[0].grace == 0.1


def test_streams_and_code_are_what_the_child_left() -> None:
    answer = run(Provider(Exit(3), b"out\n", b"err\n"), "tool")
    assert answer == {"stdout": "out\n", "stderr": "err\n", "code": 3, "killed": False}


@pytest.mark.parametrize(("signal", "code"), [("SIGKILL", 137), ("SIGTERM", 143), ("SIGNOPE", 128)])
def test_a_death_by_signal_is_no_success_and_no_kill(signal: str, code: int) -> None:
    answer = run(Provider(Exit(None, signal)), "tool")
    assert (answer["code"], answer["killed"]) == (code, False)


def test_without_a_provider_nothing_is_started_and_the_answer_says_so() -> None:
    answer = run(None, "tool")
    assert answer["code"] != 0
    assert "subprocess" in answer["stderr"]


@pytest.mark.parametrize(
    ("provider", "args"),
    [
        (Provider(), ("missing",)),
        (Provider(StartError("spawn /bin/tool ENOENT")), ("tool", [], {"cwd": "/no/such"})),
        (Provider(), ("tool", "not a list")),
    ],
)
def test_what_cannot_be_started_resolves_with_the_reason(provider: Provider, args: Any) -> None:
    answer = run(provider, *args)
    assert (answer["code"], answer["stdout"], answer["killed"]) == (1, "", False)
    assert answer["stderr"]


@pytest.mark.parametrize(
    ("out", "err", "said"), [(b"123456", b"", "stdout"), (b"", b"123456", "stderr"), (b"1234", b"1234", "")]
)
def test_an_overflow_keeps_the_end_and_is_said_outside_of_the_bound(out: bytes, err: bytes, said: str) -> None:
    answer = run(Provider(out=out, err=err), "tool", limit=4)
    assert answer["stdout"] == out[-4:].decode()
    assert answer["stderr"].startswith(err[-4:].decode())
    assert (f"[{said} exceeded 4 bytes" in answer["stderr"]) is bool(said)
    assert bool(answer["stderr"][len(err[-4:]) :]) is bool(said)


@pytest.mark.parametrize("timeout", [20, "20"])
def test_a_timeout_kills_and_what_was_written_is_kept(timeout: Any) -> None:
    answer = run(Provider(Exit(None, "SIGTERM"), b"part", runs=True), "tool", [], {"timeout": timeout})
    assert (answer["stdout"], answer["killed"]) == ("part", True)


@pytest.mark.parametrize("timeout", [0, -5, float("nan"), float("inf"), "soon", None, True, UNDEFINED])
def test_a_timeout_that_is_none_kills_nobody(timeout: Any) -> None:
    assert exec_on(None).seconds(timeout) is None
    assert run(Provider(), "tool", [], {"timeout": timeout})["killed"] is False


def test_an_abort_kills_and_one_that_came_before_starts_nothing() -> None:
    provider = Provider(Exit(9), runs=True)

    async def within() -> tuple[dict[str, Any], dict[str, Any]]:
        async with asyncio.timeout(10):
            stop = AbortController()
            running = asyncio.create_task(exec_on(provider).run(None, "tool", [], {"signal": stop.signal}))
            await provider.started.wait()
            stop.abort("enough")
            first = await running
            return first, await exec_on(provider).run(None, "tool", [], {"signal": stop.signal})

    first, second = asyncio.run(within())
    assert (first["code"], first["killed"], second["killed"], len(provider.asked)) == (9, True, True, 1)


def test_an_abort_after_the_end_changes_nothing_and_leaves_no_listener() -> None:
    stop = AbortController()
    assert run(Provider(), "tool", [], {"signal": stop.signal})["killed"] is False
    assert stop.signal._listeners == []


class Quick(Bridge):
    """A bridge that gives children a tenth of a second."""

    def exec_type(self, provider: Any) -> Exec:  # type: ignore[override]
        return Exec(provider, grace=0.1)


@bridged(subprocess=LocalSubprocess(), bridge_type=Quick)
async def test_a_child_and_its_children_are_gone_after_the_grace(stage: Bridged) -> None:
    answers: list[Any] = []

    async def body(*_: Any) -> Any:
        script = "trap '' TERM; echo $$; while :; do sleep 0.05; done"
        answers.append(await pi.exec("sh", ["-c", script], {"timeout": 100}))
        return result("ok")

    (pi,) = await stage.load("p", pi_tool("t", body))
    await stage.one("t")
    assert answers[0]["killed"] is True
    provider = stage.host.subprocess
    assert isinstance(provider, LocalSubprocess)
    assert provider.pids == []


@bridged()
async def test_a_program_runs_in_the_folder_of_the_agent_it_is_for(stage: Bridged) -> None:
    provider = Provider()
    object.__setattr__(stage.host.options, "subprocess", provider)
    pis = await stage.load("p", pi_tool("t", lambda *args: run_in(args[-1])))

    async def run_in(ctx: Any) -> Any:
        pi = next(each for each in pis if each.agent is None or each.agent.id == ctx.agent_id)
        await pi.exec("tool")
        return result("ok")

    other = await stage.host.agents.create("a2", stage.model, cwd="/somewhere")
    await stage.bridge.ready(other)
    stage.agent, first = other, stage.agent
    await stage.one("t")
    stage.agent = first
    await stage.one("t")
    assert [spec.cwd for spec in provider.asked] == ["/somewhere", str(Path.cwd())]
