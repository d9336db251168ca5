"""Children of the reference host, with real processes."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal as signals
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reference_bridge.host import AbortController, AbortedError, Host, HostOptions
from reference_bridge.host.subprocess import Exit, LocalChild, LocalSubprocess, Read, SpawnSpec, StartError
from tests.fast.small_host import as_test

MIB = 1 << 20
DEADLINE_S = 30
PY = sys.executable


def local(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run the test with a provider that is closed at the end, within a deadline."""

    async def run(**arguments: Any) -> None:
        async with asyncio.timeout(DEADLINE_S):
            provider = LocalSubprocess()
            await test(provider, **arguments)
            await provider.close()
            assert provider.pids == []
        assert len(asyncio.all_tasks()) == 1

    return as_test(test, run)


def spec(*argv: str, **more: Any) -> SpawnSpec:
    return SpawnSpec(argv, **({"cwd": "/", "stdout": MIB, "stderr": MIB, "grace": 5.0} | more))


def shell(script: str, **more: Any) -> SpawnSpec:
    return spec("sh", "-c", script, **more)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something outside of this process; the test's deadline bounds it."""
    while not condition():  # noqa: ASYNC110 - a file or a process of another program tells nobody
        await asyncio.sleep(0.005)


async def said(child: LocalChild, text: str) -> None:
    await until(lambda: text in child.stdout.read_from(0).text)


def content_and_mode(path: Path) -> tuple[str, int]:
    content, mode = path.read_text(), stat.S_IMODE(path.stat().st_mode)
    path.unlink()
    return content, mode


def runs(pid: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except FileNotFoundError:
        return False


@local
async def test_a_child_answers_with_its_code_and_its_streams(provider: LocalSubprocess) -> None:
    child = provider.spawn(shell("echo out; echo err >&2; exit 3"))
    assert child.pid > 0
    assert await child.done() == Exit(3)
    assert child.stdout.read_from(0) == Read("out\n", 4, False)
    assert child.stderr.read_from(0) == Read("err\n", 4, False)
    assert [child.stdout.read_from(at).text for at in (0, 2, 4, 99)] == ["out\n", "t\n", "", ""]
    assert await child.wait_for_exit()


@local
async def test_no_shell_reads_the_arguments(provider: LocalSubprocess) -> None:
    child = provider.spawn(spec("echo", "$HOME", ";", "ls"))
    await child.done()
    assert child.stdout.read_from(0).text == "$HOME ; ls\n"


@local
async def test_a_child_that_dies_of_a_signal_has_no_code(provider: LocalSubprocess) -> None:
    assert await provider.spawn(shell("kill -9 $$")).done() == Exit(None, "SIGKILL")


@pytest.mark.parametrize(
    ("make", "text", "code"),
    [
        (lambda folder: spec("definitely-not-here"), "spawn definitely-not-here ENOENT", "ENOENT"),
        (lambda folder: spec("true", cwd="/no/such/dir"), "spawn true ENOENT", "ENOENT"),
        (lambda folder: spec(f"{folder}/plain"), "EACCES", "EACCES"),
    ],
)
@local
async def test_a_child_that_cannot_start_says_so_when_it_is_awaited(
    provider: LocalSubprocess, make: Callable[[Path], SpawnSpec], text: str, code: str, tmp_path: Path
) -> None:
    tmp_path.joinpath("plain").write_text("x")
    child = provider.spawn(make(tmp_path))
    assert child.pid == -1
    with pytest.raises(StartError, match=text) as failed:
        await child.done()
    assert failed.value.code == code
    child.terminate()


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (spec(), "invalid argv: expected a non-empty program name"),
        (spec(""), "invalid argv"),
        *((spec("true", grace=grace), "graceMs must be a positive") for grace in (0, -1, float("nan"), 2147484, "5")),
        (spec("true", "\0"), "null byte"),
    ],
)
@local
async def test_a_spec_that_cannot_be_meant_is_refused_at_once(
    provider: LocalSubprocess, made: SpawnSpec, text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        provider.spawn(made)


@local
async def test_a_signal_that_is_aborted_already_keeps_the_child_from_starting(provider: LocalSubprocess) -> None:
    controller = AbortController()
    controller.abort("early")
    with pytest.raises(ValueError, match=r"^aborted before spawn: early$"):
        provider.spawn(spec("true", signal=controller.signal))


@pytest.mark.parametrize(
    ("script", "limit", "read"),
    [
        ("printf 0123456789", 4, Read("6789", 10, True)),
        ("printf 0123", 4, Read("0123", 4, False)),
        ('printf "aé"', 1, Read("\ufffd", 3, True)),
        ("printf '\\377\\376'", 9, Read("\ufffd\ufffd", 2, False)),
        ("printf abc", 0, Read("", 3, True)),
    ],
)
@local
async def test_the_end_of_a_stream_is_kept_to_the_byte(
    provider: LocalSubprocess, script: str, limit: int, read: Read
) -> None:
    child = provider.spawn(shell(script, stdout=limit))
    await child.done()
    assert child.stdout.read_from(0) == read


@local
async def test_a_read_from_inside_the_kept_end_is_not_lossy(provider: LocalSubprocess) -> None:
    child = provider.spawn(shell("printf 0123456789", stdout=4))
    await child.done()
    assert child.stdout.read_from(8) == Read("89", 10, False)


@local
async def test_a_spilled_stream_is_whole_and_private_unless_it_is_too_long(provider: LocalSubprocess) -> None:
    child = provider.spawn(shell("printf 0123456789; printf 012345678901 >&2", stdout=4, stderr=4, spill=10))
    await child.done()
    read = child.stdout.read_from(0)
    assert (read.text, read.lossy) == ("6789", True)
    assert read.spill_path is not None
    assert content_and_mode(Path(read.spill_path)) == ("0123456789", 0o600)
    assert child.stderr.read_from(0) == Read("8901", 12, True, None)


@local
async def test_a_gibibyte_flows_through_bounded_memory(provider: LocalSubprocess) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = provider.spawn(shell("head -c 1073741824 /dev/zero; printf END", stdout=8 * MIB))
    assert await child.done() == Exit(0)
    read = child.stdout.read_from(0)
    assert (len(read.text), read.next_offset, read.lossy) == (8 * MIB, 1024 * MIB + 3, True)
    assert read.text.endswith("\0END")
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 64 * 1024


@local
async def test_a_child_that_writes_byte_by_byte_costs_no_object_a_byte(provider: LocalSubprocess) -> None:
    child = provider.spawn(spec(PY, "-c", "import os\nfor i in range(20000): os.write(1, b'%d' % (i % 10))"))
    await child.done()
    assert child.stdout.read_from(0).text == "0123456789" * 2000
    assert len(child.stdout._blocks) == 1


@local
async def test_input_is_written_and_closed(provider: LocalSubprocess) -> None:
    for data in (b"", "héllo".encode(), b"x" * (3 * MIB)):
        child = provider.spawn(spec("cat", stdin=data, stdout=4 * MIB))
        assert await child.done() == Exit(0)
        assert child.stdout.read_from(0).text.encode() == data


@local
async def test_a_child_that_never_reads_its_input_does_not_fail(provider: LocalSubprocess) -> None:
    assert await provider.spawn(spec("true", stdin=b"x" * MIB)).done() == Exit(0)


@local
async def test_an_abort_ends_the_child_and_keeps_its_output(provider: LocalSubprocess) -> None:
    controller = AbortController()
    child = provider.spawn(shell("echo begin; sleep 30", signal=controller.signal))
    await said(child, "begin\n")
    controller.abort("why")
    assert await child.done() == Exit(None, "SIGTERM")
    assert child.stdout.read_from(0).text == "begin\n"


@local
async def test_a_child_that_ignores_term_is_killed_after_the_grace(provider: LocalSubprocess) -> None:
    controller = AbortController()
    child = provider.spawn(
        shell("trap 'echo ignored' TERM; echo up; while :; do sleep 0.05; done", grace=0.3, signal=controller.signal)
    )
    await said(child, "up")
    loop = asyncio.get_running_loop()
    began = loop.time()
    controller.abort()
    assert await child.done() == Exit(None, "SIGKILL")
    assert loop.time() - began >= 0.29
    assert "ignored" in child.stdout.read_from(0).text


@local
async def test_a_child_that_handles_term_reports_its_own_code(provider: LocalSubprocess) -> None:
    child = provider.spawn(shell("trap 'echo cleanup; exit 7' TERM; echo up; while :; do sleep 0.05; done"))
    await said(child, "up")
    child.terminate()
    child.terminate()
    assert await child.done() == Exit(7)
    assert child.stdout.read_from(0).text == "up\ncleanup\n"
    child.terminate()


@local
async def test_waiting_can_be_given_up_without_harm_to_the_child(provider: LocalSubprocess) -> None:
    controller = AbortController()
    child = provider.spawn(spec("sleep", "30"))
    waiting = asyncio.ensure_future(child.wait_for_exit(controller.signal))
    await asyncio.sleep(0)
    controller.abort()
    assert not await waiting
    assert runs(child.pid)


@local
async def test_a_background_child_of_the_group_dies_with_the_tree(provider: LocalSubprocess) -> None:
    child = provider.spawn(shell("sleep 60 & echo $!; sleep 60"))
    await said(child, "\n")
    grandchild = int(child.stdout.read_from(0).text)
    child.terminate()
    await child.done()
    assert await child.wait_for_exit()
    assert not runs(grandchild)


@local
async def test_a_descendant_that_holds_the_pipe_delays_the_answer_by_no_more_than_the_grace(
    provider: LocalSubprocess,
) -> None:
    child = provider.spawn(shell("(trap '' TERM; sleep 20) & echo bg; exit 0", grace=0.2))
    assert await child.done() == Exit(0)
    assert child.tree_is_alive()
    child.terminate()
    assert await child.wait_for_exit()


@local
async def test_a_descendant_with_a_session_of_its_own_escapes(provider: LocalSubprocess, tmp_path: Path) -> None:
    pid_file, escape = tmp_path / "pid", tmp_path / "escape"
    escape.write_text(f"echo $$ > {pid_file}.part; mv {pid_file}.part {pid_file}; exec sleep 20")
    child = provider.spawn(shell(f"setsid sh {escape} </dev/null >/dev/null 2>&1 & sleep 20"))
    await until(pid_file.exists)
    escaped = int(pid_file.read_text())
    child.terminate()
    await child.done()
    assert await child.wait_for_exit()
    assert runs(escaped)
    os.kill(escaped, signals.SIGKILL)


@local
async def test_credentials_and_the_harness_own_variables_are_not_inherited(
    provider: LocalSubprocess, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = "P_API_KEY P_plain DSH_P MY_TOKENIZER P_PASSPHRASE dsh_lower my_access_token EXTRA_SECRET"
    for name in names.split()[:-1]:
        monkeypatch.setenv(name, "inherited")
    monkeypatch.delenv("EXTRA_SECRET", raising=False)
    program = f"import os, json; print(json.dumps({{n: os.environ[n] for n in {names.split()} if n in os.environ}}))"

    async def seen(**env: str | None) -> Any:
        child = provider.spawn(spec(PY, "-c", program, env=env))
        assert await child.done() == Exit(0)
        return json.loads(child.stdout.read_from(0).text)

    assert await seen() == {"P_plain": "inherited", "P_PASSPHRASE": "inherited"}
    assert await seen(P_API_KEY="given", EXTRA_SECRET="s", DSH_P="mine", P_plain=None) == {
        "P_API_KEY": "given",
        "DSH_P": "mine",
        "P_PASSPHRASE": "inherited",
        "EXTRA_SECRET": "s",
    }


@local
async def test_a_command_is_resolved_by_name_and_never_split(provider: LocalSubprocess, tmp_path: Path) -> None:
    program, plain, decoy = tmp_path / "tool", tmp_path / "plain", tmp_path / "decoy"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    plain.write_text("x")
    decoy.mkdir()
    decoy.joinpath("tool").write_text("x")

    assert (await provider.resolve_executable("sh")).endswith("/sh")
    assert await provider.resolve_executable(str(program)) == str(program)
    assert await provider.resolve_executable("tool", {"PATH": f"{decoy}:{tmp_path}"}) == str(program)
    refusals = {
        "no-such-tool-x": 'command "no-such-tool-x" was not found on PATH',
        "echo hi": 'command "echo hi" was not found on PATH',
        "./tool": 'command "./tool" is a relative path; use an absolute path or a bare PATH name',
        "": "executable must be non-empty",
        str(tmp_path): f'command "{tmp_path}" is not an executable file',
        str(plain): f'command "{plain}" is not an executable file',
        f"{tmp_path}/nope": f'command "{tmp_path}/nope" is not an executable file',
    }
    for command, text in refusals.items():
        with pytest.raises(StartError) as refused:
            await provider.resolve_executable(command)
        assert str(refused.value) == f"subprocess-local: {text}"
    controller = AbortController()
    controller.abort("ab")
    with pytest.raises(AbortedError, match="ab"):
        await provider.resolve_executable("sh", signal=controller.signal)


@asynccontextmanager
async def host_with(provider: LocalSubprocess) -> AsyncIterator[Host]:
    host = Host(HostOptions(subprocess=provider))
    yield host
    await host.close()


@local
async def test_closing_the_host_ends_every_tree_and_waits_for_it(provider: LocalSubprocess) -> None:
    async with host_with(provider) as host:
        assert host.subprocess is provider
        plain = provider.spawn(spec("sleep", "30"))
        deaf = provider.spawn(shell("trap '' TERM; echo up; while :; do sleep 0.05; done", grace=0.2))
        orphan = provider.spawn(shell("sleep 30 & echo $!", grace=0.1))
        await said(deaf, "up")
        await orphan.done()
        grandchild = int(orphan.stdout.read_from(0).text)
        assert runs(grandchild)
    assert await plain.done() == Exit(None, "SIGTERM")
    assert await deaf.done() == Exit(None, "SIGKILL")
    assert not any(runs(pid) for pid in (plain.pid, deaf.pid, grandchild))


def test_a_host_without_a_provider_has_none() -> None:
    assert Host().subprocess is None
