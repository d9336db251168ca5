"""Adapters that misbehave: each ends in an error that names what happened, in bounded time, and leaves no process."""

from __future__ import annotations

import asyncio
import sys
import textwrap
import time
from pathlib import Path

import pytest

from conformance.deadlines import Deadlines
from conformance.drivers.driver import HarnessError
from conformance.drivers.protocol import InitializeResult, Ping
from conformance.drivers.stdio import StdioDriver
from conformance.stage import Stage
from conformance.verdicts import Inconclusive

WIRE = """
import json, os, signal, sys, time

number = 0

def send(**message):
    global number
    number += 1
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "seq": number, **message}) + "\\n")
    sys.stdout.flush()

def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)

HELLO = {"protocol": 1, "name": "hostile", "version": "1", "role": "bridge"}

def greet():
    send(id=read()["id"], result=HELLO)

def wait():
    while True:
        read()
"""

AT_START = {
    "exits at once": ("sys.exit(7)", "7"),
    "prints a banner": ("raw(b'Welcome to hostile 1.0\\n'); greet(); wait()", "Welcome"),
    "answers in the wrong shape": ("send(id=read()['id'], result=[1, 2]); wait()", "initialize"),
    "leaves a field out": ("send(id=read()['id'], result={'protocol': 1}); wait()", "name"),
    "adds a field": ("send(id=read()['id'], result={**HELLO, 'extra': 1}); wait()", "extra"),
    "speaks another protocol": ("send(id=read()['id'], result={**HELLO, 'protocol': 99}); wait()", "99"),
    "sends bytes that are no UTF-8": ("read(); raw(b'\\xff\\xfe{}\\n'); wait()", "UTF-8"),
    "sends a literal JSON has not": ("read(); raw(b'{\"id\": NaN}\\n'); wait()", "JSON"),
    "answers an id nobody gave": ("read(); send(id=4711, result=HELLO); wait()", "4711"),
    "closes its output and lives": ("read(); os.close(1); time.sleep(60)", "output"),
}

LATER = {
    "exits in the middle of a request": ("greet(); read(); sys.exit(3)", "3"),
    "dies by a signal": ("greet(); read(); os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    "answers twice": ("greet(); at = read()['id']; send(id=at, result={}); send(id=at, result={}); wait()", None),
    "sends result and error": (
        "greet(); send(id=read()['id'], result={}, error={'code': 1, 'message': 'no'}); wait()",
        "result and",
    ),
    "answers with null for an id": (
        "greet(); read(); send(id=None, error={'code': 1, 'message': 'x'}); wait()",
        "null",
    ),
    "sends an endless line": (
        "greet(); read()\nwhile True:\n    raw(b'x' * (1 << 20))",
        "line",
    ),
    "sends a line that is no object": ("greet(); read(); raw(b'[1]\\n'); wait()", "[1]"),
    "notes an unknown kind": (
        "greet(); at = read()['id']; send(method='trace', params={'kind': 'nonsense'}); send(id=at, result={}); wait()",
        "nonsense",
    ),
    "asks for an unknown method": ("greet(); read(); send(id='a1', method='no.such', params={}); wait()", "no.such"),
}


def driver(script: str, **more: object) -> StdioDriver:
    """A driver of an adapter with this script, with little patience."""
    program = WIRE + textwrap.dedent(script)
    return StdioDriver("hostile", [sys.executable, "-c", program], start_seconds=5.0, **more)  # type: ignore[arg-type]


async def broken(script: str, later: bool) -> HarnessError:
    """Start the adapter, ask it once, and return how that failed."""
    hostile = driver(script)
    try:
        await hostile.start()
        assert later, "it started"
        asked = asyncio.ensure_future(hostile.request(Ping()))
        failed = asyncio.ensure_future(hostile.failed())
        await asyncio.wait({asked, failed}, timeout=20.0, return_when=asyncio.FIRST_COMPLETED)
        if not failed.done():
            # What comes after the answer is noticed with the next request, or by itself.
            await asyncio.wait({failed}, timeout=5.0)
        assert failed.done(), "the connection counts as whole"
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        return failed.result()
    except HarnessError as error:
        return error
    finally:
        await hostile.close()
        assert not processes(hostile), "a process is left"


def processes(hostile: StdioDriver) -> list[int]:
    """The live processes whose command is this adapter's."""
    wanted = hostile.argv[-1].encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if wanted in command:
                found.append(int(entry.name))
    return found


@pytest.mark.parametrize("name", AT_START)
def test_an_adapter_that_cannot_be_talked_to_is_named(name: str) -> None:
    script, word = AT_START[name]
    began = time.monotonic()
    error = asyncio.run(broken(script, later=False))
    assert word in str(error), str(error)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("name", LATER)
def test_an_adapter_that_breaks_later_is_named(name: str) -> None:
    script, word = LATER[name]
    error = asyncio.run(broken(script, later=True))
    assert (word or "") in str(error), str(error)


def test_an_adapter_that_never_answers_the_handshake_is_given_up() -> None:
    error = asyncio.run(broken("time.sleep(60)", later=False))
    assert "initialize" in str(error)


def test_an_adapter_that_ignores_its_end_is_ended() -> None:
    async def close() -> None:
        stubborn = driver("signal.signal(signal.SIGTERM, signal.SIG_IGN)\ngreet()\nwhile True:\n    time.sleep(60)")
        await stubborn.start()
        await stubborn.close()
        assert not processes(stubborn)

    asyncio.run(close())


def test_a_child_left_behind_is_ended_and_told() -> None:
    async def close() -> list[object]:
        parent = driver("import subprocess\nsubprocess.Popen(['sleep', '97.31'])\ngreet()\nread()\n")
        await parent.start()
        await parent.close()
        return list(parent.left_behind)

    assert asyncio.run(close())


def test_replies_out_of_order_and_in_pieces_are_legal() -> None:
    script = """
    greet()
    first, second = read()["id"], read()["id"]
    send(id=second, result={})
    text = json.dumps({"jsonrpc": "2.0", "seq": 99, "id": first, "result": {}}).encode() + b"\\r\\n"
    for at in range(len(text)):
        raw(text[at : at + 1])
    wait()
    """

    async def ask() -> None:
        odd = driver(script)
        await odd.start()
        try:
            await asyncio.wait_for(asyncio.gather(odd.request(Ping()), odd.request(Ping())), 5.0)
        finally:
            await odd.close()

    asyncio.run(ask())


HELLO = InitializeResult(protocol=1, name="hostile", version="1", role="bridge")


def test_silence_with_a_sign_of_life_decides_nothing() -> None:
    script = """
    greet()
    while True:
        message = read()
        if message["method"] == "ping":
            send(id=message["id"], result={})
    """
    with asyncio.Runner() as runner:
        mute = driver(script)
        runner.run(mute.start())
        stage = Stage(runner, mute, HELLO, deadlines=Deadlines(request=0.3))
        try:
            with pytest.raises(Inconclusive, match=r"stage\.open"):
                stage.open()
        finally:
            runner.run(mute.close())


def test_silence_without_a_sign_of_life_is_a_possible_hang() -> None:
    with asyncio.Runner() as runner:
        hung = driver("greet()\ntime.sleep(60)")
        runner.run(hung.start())
        stage = Stage(runner, hung, HELLO, deadlines=Deadlines(request=0.3))
        try:
            with pytest.raises(HarnessError, match="possible hang"):
                stage.open()
        finally:
            runner.run(hung.close())
