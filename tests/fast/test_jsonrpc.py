"""The connection trusts nothing that comes over it, says what was wrong, and keeps order where there is one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from conformance.drivers import jsonrpc, mends
from conformance.drivers.driver import AdapterGone, HarnessError, ProtocolBroken, RequestFailed, Unsupported
from conformance.drivers.envelope import quote
from conformance.drivers.jsonrpc import Connection
from conformance.drivers.protocol import (
    ADAPTER_ASKS,
    NOTES,
    SUITE_ASKS,
    AgentPrompt,
    AgentSettle,
    Message,
    NativeAnswer,
    NativeExecute,
    Nothing,
    Outcome,
    Ping,
    Record,
    TraceNote,
)

NATIVE = {"tool": "t", "callId": "c", "arguments": {}, "invocation": "1"}
NOTE = {"kind": "notice", "data": {"text": "hello"}}


class Wire:
    """The other side, by hand: what it writes and reads are lines."""

    def __init__(self, connection: Connection, read_fd: int, write_fd: int) -> None:
        self.connection = connection
        self.seq = 0
        self._write: int | None = write_fd
        self._reader = asyncio.StreamReader(limit=1 << 24)
        self._read = read_fd

    def raw(self, data: bytes) -> None:
        """Write these bytes."""
        assert self._write is not None
        os.write(self._write, data)

    def say(self, **members: Any) -> None:
        """Write a message with the next number."""
        self.seq += 1
        self.raw(json.dumps({"jsonrpc": "2.0", "seq": self.seq, **members}).encode() + b"\n")

    async def hear(self) -> dict[str, Any]:
        """Read the next message."""
        async with asyncio.timeout(5):
            found: dict[str, Any] = json.loads(await self._reader.readline())
            return found

    async def lost(self) -> HarnessError:
        """Wait for the reason why the connection was given up."""
        async with asyncio.timeout(5):
            return await asyncio.shield(self.connection.lost)

    async def open(self) -> None:
        """Start to read."""
        protocol = asyncio.StreamReaderProtocol(self._reader)
        pipe = os.fdopen(self._read, "rb", 0)
        self.transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)

    def close_write(self) -> None:
        """Close our output."""
        fd, self._write = self._write, None
        if fd is not None:
            os.close(fd)

    def close(self) -> None:
        """Close both."""
        self.close_write()
        self.transport.close()


class Keeps:
    """A peer that keeps what it is told, in order, and answers natives by ``answering``."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, str]] = []
        self.answering: Callable[[Message], Any] = lambda message: NativeAnswer(text="ok")
        self.release = asyncio.Event()
        self.release.set()

    async def answer(self, message: Message, seq: int) -> Record:
        self.seen.append((seq, message.method))
        await self.release.wait()
        answer: Record = self.answering(message)
        return answer

    def note(self, message: Message, seq: int) -> None:
        self.seen.append((seq, message.method))


@contextlib.asynccontextmanager
async def connected(**more: Any) -> AsyncIterator[Wire]:
    """A connection of the suite, and its other side by hand."""
    to_us, from_them = os.pipe()
    to_them, from_us = os.pipe()
    connection = Connection("hostile", "suite", ADAPTER_ASKS, NOTES, **more)
    connection.connect(to_us, from_us)
    wire = Wire(connection, to_them, from_them)
    await wire.open()
    try:
        yield wire
    finally:
        wire.close()
        await connection.close()


def lose(*lines: bytes, asked: bool = False, **more: Any) -> HarnessError:
    """Write these lines, and return why the connection was given up; ``asked``: while a ping is open with id 1."""

    async def run() -> HarnessError:
        async with connected(**more) as wire:
            wire.connection.bind(Keeps())
            ping = asyncio.ensure_future(wire.connection.request(Ping())) if asked else None
            for line in lines:
                wire.raw(line + b"\n")
            error = await wire.lost()
            if ping is not None:
                with pytest.raises(HarnessError) as caught:
                    await ping
                assert caught.value is error
            return error

    return asyncio.run(run())


def message(**members: Any) -> bytes:
    """One message as a line, numbered 1 unless ``seq`` is given; ``seq=None`` leaves it out."""
    whole = {"jsonrpc": "2.0", "seq": 1, **members}
    return json.dumps({key: value for key, value in whole.items() if key != "seq" or value is not None}).encode()


FAULTS = {
    "a banner": (b"Welcome to \x1b[1mhostile\x1b[0m", "not JSON", r"\x1b[1mhostile"),
    "no object": (b"[1]", "not a JSON-RPC message", "[1]"),
    "a batch": (b"[" + message(id=1, result={}) + b"]", "not a JSON-RPC message", "array"),
    "another version": (b'{"jsonrpc":"1.0","seq":1,"id":1,"result":{}}', "not a JSON-RPC message", "1.0"),
    "no version": (b'{"seq":1,"id":1,"result":{}}', "jsonrpc", ""),
    "an unknown member": (message(id=1, result={}, extra=1), "extra", ""),
    "bytes that are no UTF-8": (b'{"jsonrpc":"2.0","seq":1,"id":1,"result":"\xff"}', "not UTF-8", "xff"),
    "NaN": (b'{"jsonrpc":"2.0","seq":1,"id":1,"result":{"a":NaN}}', "not JSON", "NaN"),
    "nesting without end": (
        b'{"jsonrpc":"2.0","seq":1,"method":"trace","params":{"kind":"notice","data":{"a":'
        + b"[" * 20_000
        + b"]" * 20_000
        + b"}}}",
        "nested too deeply",
        "bytes)",
    ),
    "no seq": (message(seq=None, id=1, result={}), "without seq", ""),
    "a fraction for seq": (message(seq=1.5, id=1, result={}), "seq", "1.5"),
    "true for seq": (message(seq=True, id=1, result={}), "seq", "bool"),
    "a seq of a thousand digits": (message(seq=0).replace(b"0}", b"1" * 5000 + b"}"), "seq", "bytes)"),
    "neither id nor method": (message(result={}), "neither id nor method", ""),
    "an answer with params": (message(id=1, result={}, params={}), "params", ""),
    "result and error": (message(id=1, result={}, error={"code": 1, "message": "x"}), "both result and error", ""),
    "neither result nor error": (message(id=1), "neither result nor error", ""),
    "method and result": (message(id=1, method="trace", result={}), "request and answer at once", ""),
    "an error without a code": (message(id=1, error={"message": "x"}), "code", ""),
    "an error about no request": (message(id=None, error={"code": -32700, "message": "eh"}), "-32700", "eh"),
    "an answer to nobody": (message(id=77, result={}), "never made", "77"),
    "an answer to a name": (message(id="1", result={}), "never made", ""),
    "an answer of the wrong shape": (message(id=1, result={"extra": 1}), "answered ping in the wrong shape", "extra"),
    "unsupported without a name": (message(id=1, error={"code": -32050, "message": "x"}), "data.capability", ""),
    "an unknown method": (message(id="a", method="no.such", params={}), "unknown method 'no.such'", ""),
    "a request only the suite makes": (message(id="a", method="ping", params={}), "unknown method 'ping'", ""),
    "an unknown notification": (message(method="no.such", params={}), "unknown method 'no.such'", ""),
    "a trace as a request": (message(id="a", method="trace", params=NOTE), "unknown method 'trace'", ""),
    "a request as a notification": (message(method="native.execute", params=NATIVE), "native.execute", ""),
    "a request with null for an id": (message(id=None, method="native.execute", params=NATIVE), "id is null", ""),
    "params of the wrong shape": (message(id="a", method="native.execute", params={"tool": 1}), "tool", "`int`"),
    "params that are a list": (message(id="a", method="native.execute", params=[]), "native.execute", "array"),
    "a note of an unknown kind": (message(method="trace", params={"kind": "gossip"}), "gossip", ""),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_the_connection_and_is_named_and_quoted(fault: str) -> None:
    line, *words = FAULTS[fault]
    error = lose(line, asked=True)
    assert isinstance(error, ProtocolBroken)
    assert error.cause.startswith("hostile ")
    for word in words:
        assert word in error.cause, error.cause
    assert len(error.cause) < 600
    assert error.cause.isprintable()
    assert error.mend in vars(mends).values()


def test_numbers_must_grow_and_may_leave_gaps() -> None:
    notes = [message(seq=seq, method="trace", params=NOTE) for seq in (3, 9, 9)]
    assert "seq 9 after seq 9" in lose(*notes).cause
    notes = [message(seq=seq, method="trace", params=NOTE) for seq in (3, 9, 4)]
    assert "seq 4 after seq 9" in lose(*notes).cause


def test_a_second_answer_is_a_fault_and_a_late_one_is_not() -> None:
    async def run() -> None:
        async with connected() as wire:
            given_up = asyncio.ensure_future(wire.connection.request(Ping()))
            await wire.hear()
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)
            wire.say(id=1, result={"late": "and of any shape"})
            second = asyncio.ensure_future(wire.connection.request(Ping()))
            wire.say(id=(await wire.hear())["id"], result={})
            assert await second == Nothing()
            wire.say(id=1, result={})
            assert "answered request 1 twice" in (await wire.lost()).cause

    asyncio.run(run())


def test_answers_come_in_any_order_in_pieces_and_with_any_line_end() -> None:
    async def run() -> None:
        async with connected() as wire:
            first = asyncio.ensure_future(wire.connection.request(AgentPrompt(agent="a", text="go")))
            second = asyncio.ensure_future(wire.connection.request(AgentSettle(agent="a")))
            asked = [await wire.hear(), await wire.hear()]
            assert [one["method"] for one in asked] == ["agent.prompt", "agent.settle"]
            assert wire.connection.awaited == ["agent.prompt", "agent.settle"]
            wire.raw(b"\n  \r\n")
            wire.raw(message(seq=1, id=asked[1]["id"], result={}) + b"\r\n")
            assert await second == Nothing()
            for byte in message(seq=2, id=asked[0]["id"], result={"returned": "é"}) + b"\n":
                wire.raw(bytes([byte]))
                await asyncio.sleep(0)
            assert await first == Outcome(returned="é")
            assert wire.connection.awaited == []

    asyncio.run(run())


def test_what_comes_in_one_chunk_is_seen_in_its_order() -> None:
    async def run() -> None:
        async with connected() as wire:
            peer = Keeps()
            wire.connection.bind(peer)
            lines = [
                message(seq=1, method="trace", params=NOTE),
                message(seq=2, id="a", method="native.execute", params=NATIVE),
                message(seq=3, method="trace", params=NOTE),
                message(seq=4, id="b", method="native.execute", params=NATIVE),
                message(seq=5, method="trace", params=NOTE),
            ]
            wire.raw(b"\n".join(lines) + b"\n")
            assert {(await wire.hear())["id"], (await wire.hear())["id"]} == {"a", "b"}
            assert [seq for seq, _ in peer.seen] == [1, 2, 3, 4, 5]

    asyncio.run(run())


def test_an_id_is_free_again_only_when_its_answer_is_out() -> None:
    async def run() -> None:
        async with connected() as wire:
            peer = Keeps()
            wire.connection.bind(peer)
            wire.say(id="a", method="native.execute", params=NATIVE)
            assert (await wire.hear())["result"] == {"text": "ok"}
            peer.release.clear()
            wire.say(id="a", method="native.execute", params=NATIVE)
            wire.say(id="a", method="native.execute", params=NATIVE)
            assert "id 'a', which is still open" in (await wire.lost()).cause

    asyncio.run(run())


def test_errors_of_the_adapter_become_what_they_mean() -> None:
    async def run() -> None:
        async with connected() as wire:
            lacking = asyncio.ensure_future(wire.connection.request(Ping()))
            wire.say(
                id=(await wire.hear())["id"], error={"code": -32050, "message": "no", "data": {"capability": "steer"}}
            )
            with pytest.raises(Unsupported) as unsupported:
                await lacking
            assert unsupported.value.capability == "steer"
            failing = asyncio.ensure_future(wire.connection.request(Ping()))
            wire.say(id=(await wire.hear())["id"], error={"code": -32603, "message": "boom\x07", "data": [1]})
            with pytest.raises(RequestFailed, match=r"answered ping with error -32603: 'boom\\x07'"):
                await failing
            assert not wire.connection.lost.done()

    asyncio.run(run())


def test_errors_of_the_suite_become_errors_of_json_rpc() -> None:
    def missing(message: Message) -> Record:
        raise Unsupported("steer")

    def broken(message: Message) -> Record:
        raise KeyError("nobody")

    async def run() -> None:
        async with connected() as wire:
            wire.say(id="a", method="native.execute", params=NATIVE)
            refused = await wire.hear()
            assert refused["error"]["code"] == -32600
            assert "no stage was open" in refused["error"]["message"]
            peer = Keeps()
            wire.connection.bind(peer)
            peer.answering = missing
            wire.say(id="a", method="native.execute", params=NATIVE)
            assert (await wire.hear())["error"]["data"] == {"capability": "steer"}
            peer.answering = broken
            wire.say(id="a", method="native.execute", params=NATIVE)
            assert (await wire.hear())["error"] == {"code": -32603, "message": "KeyError: 'nobody'"}
            peer.answering = lambda message: NativeAnswer(content=object())
            wire.say(id="a", method="native.execute", params=NATIVE)
            assert "cannot be sent" in (await wire.lost()).cause

    asyncio.run(run())


def test_an_unknown_method_is_also_answered_so_that_its_author_can_read_it() -> None:
    async def run() -> None:
        async with connected() as wire:
            wire.say(id="a", method="no.such")
            assert (await wire.hear())["error"]["code"] == -32601

    asyncio.run(run())


def test_a_note_without_a_stage_is_dropped() -> None:
    async def run() -> None:
        async with connected() as wire:
            wire.say(method="trace", params=NOTE)
            ping = asyncio.ensure_future(wire.connection.request(Ping()))
            wire.say(id=(await wire.hear())["id"], result={})
            assert await ping == Nothing()

    asyncio.run(run())


def test_the_end_of_the_output_names_half_a_line() -> None:
    async def run() -> None:
        told: asyncio.Future[tuple[str, bytes]] = asyncio.get_running_loop().create_future()
        async with connected(gone=lambda how, rest: told.set_result((how, rest))) as wire:
            wire.raw(b'{"jsonrpc":')
            wire.close_write()
            assert await asyncio.wait_for(told, 5) == ("closed its standard output", b'{"jsonrpc":')

    asyncio.run(run())


def test_the_end_of_the_output_ends_every_open_request() -> None:
    async def run() -> None:
        async with connected() as wire:
            ping = asyncio.ensure_future(wire.connection.request(Ping()))
            await wire.hear()
            wire.close_write()
            with pytest.raises(AdapterGone, match="hostile closed its standard output"):
                await ping
            with pytest.raises(AdapterGone):
                await wire.connection.request(Ping())

    asyncio.run(run())


class TestLimits:
    def test_a_line_over_the_limit_is_refused_with_its_size(self) -> None:
        assert "a line of 1001 bytes, more than the 1000 allowed: 'xxx" in lose(b"x" * 1001, line_limit=1000).cause

    def test_a_line_over_the_limit_in_many_pieces_is_refused_with_its_size(self) -> None:
        async def run() -> HarnessError:
            async with connected(line_limit=1000) as wire:
                for _ in range(9):
                    wire.raw(b"x" * 300)
                    await asyncio.sleep(0)
                wire.raw(b"x\n")
                return await wire.lost()

        assert "a line of 2701 bytes" in asyncio.run(run()).cause

    def test_a_line_without_end_is_refused_before_it_ends(self) -> None:
        async def run() -> HarnessError:
            async with connected(line_limit=1000) as wire:
                while not wire.connection.lost.done():
                    wire.raw(b"x" * 300)
                    await asyncio.sleep(0)
                return await wire.lost()

        assert "a line of at least 16" in asyncio.run(run()).cause

    def test_a_line_at_the_limit_is_taken(self) -> None:
        line = message(method="trace", params=NOTE)
        assert "seq 1 after seq 1" in lose(line, line, line_limit=len(line)).cause

    def test_a_flood_of_messages_is_refused_with_its_number(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jsonrpc, "MESSAGES_PER_STAGE", 10)
        notes = [message(seq=seq, method="trace", params=NOTE) for seq in range(20)]
        assert "flooded the suite with 11 messages" in lose(*notes).cause

    def test_a_flood_of_bytes_is_refused_with_its_number(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jsonrpc, "BYTES_PER_STAGE", 1000)
        notes = [message(seq=seq, method="trace", params=NOTE) for seq in range(20)]
        assert "messages of 10" in lose(*notes).cause

    def test_each_stage_counts_from_zero(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jsonrpc, "MESSAGES_PER_STAGE", 2)

        async def run() -> None:
            async with connected() as wire:
                for _ in range(3):
                    wire.connection.bind(Keeps())
                    for _ in range(2):
                        wire.say(id="a", method="native.execute", params=NATIVE)
                        assert "result" in await wire.hear()

        asyncio.run(run())

    def test_the_suite_keeps_the_limit_of_the_adapter(self) -> None:
        async def run() -> None:
            async with connected() as wire:
                wire.connection.send_limit = 100
                with pytest.raises(HarnessError, match="is more than hostile takes"):
                    await wire.connection.request(AgentPrompt(agent="a", text="x" * 200))

        asyncio.run(run())

    def test_what_is_not_read_waits_and_arrives_whole(self) -> None:
        async def run() -> None:
            async with connected() as wire:
                text = "x" * (1 << 20)
                prompt = asyncio.ensure_future(wire.connection.request(AgentPrompt(agent="a", text=text)))
                settle = asyncio.ensure_future(wire.connection.request(AgentSettle(agent="a")))
                assert (await wire.hear())["params"]["text"] == text
                assert (await wire.hear())["method"] == "agent.settle"
                prompt.cancel()
                settle.cancel()
                await asyncio.gather(prompt, settle, return_exceptions=True)

        asyncio.run(run())


class TestServing:
    """The adapter's side: two connections, back to back."""

    def test_each_of_its_messages_has_the_next_number_from_the_moment_it_was_asked(self) -> None:
        class Backend:
            async def answer(self, message: Message, seq: int) -> Record:
                late = adapter.request(NativeExecute(tool="t", call_id="c", arguments={}, invocation="1"))
                adapter.notify(TraceNote(kind="notice"))
                assert await late == NativeAnswer(text="ok")
                return Nothing()

            def note(self, message: Message, seq: int) -> None: ...

        async def run() -> list[tuple[int, str]]:
            nonlocal adapter
            async with both(Backend()) as (suite, adapter):
                peer = Keeps()
                suite.bind(peer)
                assert await suite.request(Ping()) == Nothing()
                return peer.seen

        adapter: Connection
        assert asyncio.run(run()) == [(1, "native.execute"), (2, "trace")]

    def test_it_only_answers_what_it_does_not_know(self) -> None:
        async def run() -> list[int]:
            to_us, from_them = os.pipe()
            to_them, from_us = os.pipe()
            adapter = Connection("the suite", "adapter", SUITE_ASKS, {})
            adapter.bind(Keeps())
            adapter.connect(to_us, from_us)
            wire = Wire(adapter, to_them, from_them)
            await wire.open()
            codes = []
            for method, params in (("no.such", {}), ("agent.prompt", {"agent": 1})):
                wire.raw(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
                codes.append((await wire.hear())["error"]["code"])
            assert not adapter.lost.done()
            wire.close()
            await adapter.close()
            return codes

        assert asyncio.run(run()) == [-32601, -32602]


@contextlib.asynccontextmanager
async def both(backend: Any) -> AsyncIterator[tuple[Connection, Connection]]:
    """A connection of the suite and one of an adapter."""
    to_suite, from_adapter = os.pipe()
    to_adapter, from_suite = os.pipe()
    suite = Connection("it", "suite", ADAPTER_ASKS, NOTES)
    adapter = Connection("the suite", "adapter", SUITE_ASKS, {})
    adapter.bind(backend)
    suite.connect(to_suite, from_suite)
    adapter.connect(to_adapter, from_adapter)
    try:
        yield suite, adapter
    finally:
        await suite.close()
        await adapter.close()


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"short", "'short'"),
        (b"\xff\n\x1b", r"'\\xff\n\x1b'"),
        ("\u202eevil", r"'\u202eevil'"),
        ("x" * 5000, "(5000 characters)"),
        (b"x" * 5000, "(5000 bytes)"),
    ],
)
def test_a_quote_is_short_and_safe_to_print(data: bytes | str, shown: str) -> None:
    assert shown in quote(data)
    assert len(quote(data)) < 200
    assert quote(data).isprintable()
