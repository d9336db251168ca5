"""The connection of the Node adapters, spoken to line by line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.drivers.node import find_node

ADAPTER = Path(__file__).resolve().parents[1] / "fakes" / "echo_adapter.mjs"
SECONDS = 20.0
UNDEFINED = {"$": "undefined"}


class Line:
    """One adapter process and its raw lines; ``answers`` holds what the suite answers to its requests."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.received: list[dict[str, Any]] = []
        self.answers: Callable[[str, dict[str, Any]], Any] = lambda method, params: {}

    def send(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode() + b"\n")

    async def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(SECONDS):
            raw = await self.process.stdout.readline()
        message: dict[str, Any] = json.loads(raw)
        self.received.append(message)
        return message

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask, answer what is asked meanwhile, and return the response."""
        number = len(self.received) + 1000
        self.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}, ensure_ascii=False))
        while True:
            message = await self.next()
            if message.get("method") is None and message["id"] == number:
                return message
            if "id" in message and "method" in message:
                result = self.answers(message["method"], message["params"])
                self.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))

    def notes(self, kind: str) -> list[dict[str, Any]]:
        return [
            m["params"]["data"] for m in self.received if m.get("method") == "trace" and m["params"]["kind"] == kind
        ]


@asynccontextmanager
async def running() -> AsyncIterator[Line]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        str(find_node().program), str(ADAPTER), stdin=pipe, stdout=pipe, stderr=pipe, limit=1 << 26
    )
    try:
        yield Line(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def talk(body: Callable[[Line], Awaitable[None]]) -> None:
    async def run() -> None:
        async with running() as line:
            await body(line)

    asyncio.run(run())


async def opened(line: Line, *, package: dict[str, Any] | None = None) -> dict[str, Any]:
    await line.ask("stage.open")
    answer = await line.ask("package.load", package={"name": "p", **(package or {})})
    result: dict[str, Any] = answer["result"]
    return result


def test_every_message_carries_the_next_number() -> None:
    async def body(line: Line) -> None:
        await line.ask("ping")
        await line.ask("nothing.like.this")
        await opened(line, package={"handlers": [{"id": "h", "event": "e"}]})
        await line.ask("agent.prompt", agent="main", text=json.dumps({"dispatch": {"type": "e"}}))
        assert [message["seq"] for message in line.received] == list(range(1, len(line.received) + 1))
        assert {message["jsonrpc"] for message in line.received} == {"2.0"}
        assert {"package.handle", "trace", None} <= {message.get("method") for message in line.received}

    talk(body)


def test_errors_say_what_kind_they_are() -> None:
    async def body(line: Line) -> None:
        assert (await line.ask("nothing.like.this"))["error"]["code"] == -32601
        assert "no stage is open" in (await line.ask("agent.cancel", agent="main"))["error"]["message"]
        await opened(line)
        lacks = (await line.ask("package.unload", package="p"))["error"]
        assert (lacks["code"], lacks["data"]) == (-32050, {"capability": "unload"})
        broken = (await line.ask("agent.cancel", agent="main"))["error"]
        assert (broken["code"], broken["message"]) == (-32603, "this adapter is broken")
        line.send("no json")
        assert (await line.next())["error"]["code"] == -32700
        assert "result" in await line.ask("ping")

    talk(body)


def test_lines_end_at_the_newline_only_and_may_come_in_pieces() -> None:
    async def body(line: Line) -> None:
        await opened(line)
        separators = "\u2028\u2029\x85\r"
        first = (await line.ask("pi.call", instance=instance(line), call="later", args=[separators]))["result"]
        assert first == {"returned": separators}
        # More than a pipe holds: the adapter reads it in several pieces.
        long = "ü" * 200_000
        second = (await line.ask("pi.call", instance=instance(line), call="later", args=[long]))["result"]
        assert second == {"returned": long}
        line.send("")
        assert "result" in await line.ask("ping")

    talk(body)


def instance(line: Line) -> str:
    return str(line.notes("instance.created")[-1]["instance"])


def test_many_requests_may_be_open_at_once() -> None:
    async def body(line: Line) -> None:
        await opened(line, package={"handlers": [{"id": "h", "event": "e"}]})
        prompt = json.dumps({"dispatch": {"type": "e"}})
        for number in (1, 2, 3):
            params = {"agent": "main", "text": prompt}
            line.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "agent.prompt", "params": params}))
        asked = [await line.next() for _ in range(3)]
        assert {message["method"] for message in asked} == {"package.handle"}
        for message in reversed(asked):
            line.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}))
        answered: list[int] = []
        while len(answered) < 3:
            message = await line.next()
            if "result" in message:
                answered.append(message["id"])
        assert answered == [3, 2, 1]

    talk(body)


def test_what_is_printed_never_reaches_the_protocol() -> None:
    async def body(line: Line) -> None:
        await opened(line)
        for call, text in (("print", "printed"), ("warn", "warned")):
            assert (await line.ask("pi.call", instance=instance(line), call=call, args=[text]))["result"]
        assert [note for note in line.notes("notice") if note["channel"] == "console"] == [
            {"channel": "console", "level": "warn", "text": "warned"}
        ]
        assert line.process.stdin is not None
        assert line.process.stderr is not None
        line.process.stdin.close()
        async with asyncio.timeout(SECONDS):
            assert (await line.process.stderr.read()).decode() == "printed\nwarned\n"

    talk(body)


def test_an_error_nobody_caught_is_noted_and_the_adapter_lives_on() -> None:
    async def body(line: Line) -> None:
        await opened(line)
        await line.ask("pi.call", instance=instance(line), call="crash")
        while not line.notes("crash"):
            await line.next()
        assert "nobody caught this" in line.notes("crash")[0]["text"]
        assert "result" in await line.ask("ping")

    talk(body)


def test_the_end_of_its_input_ends_the_adapter() -> None:
    async def body(line: Line) -> None:
        await opened(line)
        assert line.process.stdin is not None
        line.process.stdin.close()
        async with asyncio.timeout(SECONDS):
            assert await line.process.wait() == 0

    talk(body)


def test_stages_follow_each_other_and_never_overlap() -> None:
    async def body(line: Line) -> None:
        await line.ask("stage.open")
        assert "open already" in (await line.ask("stage.open"))["error"]["message"]
        assert (await line.ask("stage.close"))["result"] == {"children": [7]}
        assert (await line.ask("stage.close"))["result"] == {}
        assert "no stage is open" in (await line.ask("signal.create", signal="s"))["error"]["message"]
        assert "result" in await line.ask("stage.open")

    talk(body)


def test_what_a_closed_stage_still_asks_is_never_sent() -> None:
    async def body(line: Line) -> None:
        await opened(line, package={"handlers": [{"id": "h", "event": "e"}, {"id": "h2", "event": "e"}]})
        prompt = json.dumps({"dispatch": {"type": "e"}})
        params = {"agent": "main", "text": prompt}
        line.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "agent.prompt", "params": params}))
        asked = await line.next()
        assert asked["method"] == "package.handle"
        before = len(line.received)
        closed = await line.ask("stage.close")
        assert closed["result"] == {"children": [7]}
        line.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}))
        await line.ask("ping")
        since = line.received[before:]
        assert [message["method"] for message in since if "method" in message] == []
        (prompted,) = [message for message in since if message["id"] == 1]
        assert prompted["result"]["threw"]["message"] == "the stage was closed"

    talk(body)


def test_a_factory_is_data() -> None:
    async def body(line: Line) -> None:
        boom = {"$": "error", "name": "Error", "message": "boom"}
        outcome = await opened(
            line,
            package={
                "tools": [{"name": "t", "parameters": {}}],
                "handlers": [{"id": "h", "event": "e"}],
                "calls": [{"call": "later", "args": [1]}, {"call": "missing"}],
                "throws": boom,
            },
        )
        assert outcome == {"threw": boom}
        (created,) = line.notes("instance.created")
        assert created["error"] == boom
        assert [(row["call"], row["outcome"]) for row in created["calls"]] == [
            ("registerTool", {"returned": UNDEFINED}),
            ("on", {"returned": UNDEFINED}),
            ("later", {"returned": 1}),
            ("missing", {"threw": {"$": "error", "name": "TypeError", "message": "pi.missing is not a function"}}),
        ]

    talk(body)


@pytest.mark.parametrize(
    ("ops", "after"),
    [
        pytest.param([{"op": "set", "path": ["in", "a"], "value": 2}], {"in": {"a": 2}}, id="set"),
        pytest.param([{"op": "delete", "path": ["in", "a"]}], {"in": {}}, id="delete"),
        pytest.param([{"op": "append", "path": ["in", "l"], "value": 3}], {"in": {"a": 1, "l": [3]}}, id="append"),
        pytest.param([{"op": "assign", "path": ["in"], "value": 4}], {"in": 4}, id="assign"),
        pytest.param(
            [{"op": "set", "path": ["in", "a"], "value": UNDEFINED}], {"in": {"a": UNDEFINED}}, id="undefined"
        ),
    ],
)
def test_a_handler_changes_what_it_was_handed(ops: list[dict[str, Any]], after: dict[str, Any]) -> None:
    async def body(line: Line) -> None:
        line.answers = lambda method, params: {"ops": ops}
        await opened(line, package={"handlers": [{"id": "h", "event": "e"}]})
        start = {"a": 1, "l": []} if ops[0]["op"] == "append" else {"a": 1}
        prompt = json.dumps({"dispatch": {"type": "e", "in": start}})
        answer = await line.ask("agent.prompt", agent="main", text=prompt)
        assert answer["result"] == {"returned": {"type": "e", **after}}

    talk(body)


def test_a_change_that_cannot_be_made_is_what_the_handler_throws() -> None:
    async def body(line: Line) -> None:
        line.answers = lambda method, params: {"ops": [{"op": "set", "path": ["nowhere", "a"], "value": 1}]}
        await opened(line, package={"handlers": [{"id": "h", "event": "e"}]})
        answer = await line.ask("agent.prompt", agent="main", text=json.dumps({"dispatch": {"type": "e"}}))
        assert answer["result"]["threw"]["name"] == "TypeError"
        assert line.notes("handler.exit")[0]["threw"]["name"] == "TypeError"

    talk(body)


def test_a_call_with_an_invocation_is_made_in_its_context() -> None:
    async def body(line: Line) -> None:
        await opened(line, package={"handlers": [{"id": "h", "event": "e"}]})
        params = {"agent": "main", "text": json.dumps({"dispatch": {"type": "e", "place": "inside"}})}
        line.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "agent.prompt", "params": params}))
        asked = await line.next()
        within = {"invocation": asked["params"]["invocation"]}
        assert (await line.ask("pi.call", call="where", **within))["result"] == {"returned": "inside"}
        outside = await line.ask("pi.call", call="where", instance=instance(line))
        assert outside["result"] == {"returned": "nowhere"}
        line.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}))
        while (await line.next()).get("id") != 1:
            pass
        assert (await line.ask("pi.call", call="where", **within))["result"] == {"returned": "inside"}

    talk(body)


def test_a_list_of_pi_is_spoiled_by_its_reader_and_a_list_of_the_context_is_not() -> None:
    async def body(line: Line) -> None:
        await opened(line, package={"handlers": [{"id": "h", "event": "e"}]})
        params = {"agent": "main", "text": json.dumps({"dispatch": {"type": "e"}})}
        line.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "agent.prompt", "params": params}))
        invocation = (await line.next())["params"]["invocation"]
        mine = {"result": {"returned": [{"description": "mine"}]}}
        for _ in range(2):
            assert mine.items() <= (await line.ask("ctx.call", invocation=invocation, call="kept")).items()
        assert mine.items() <= (await line.ask("pi.call", instance=instance(line), call="list")).items()
        spoiled = (await line.ask("pi.call", instance=instance(line), call="list"))["result"]["returned"]
        assert spoiled == [{"description": "spoiled by its reader"}, "spoiled by its reader"]

    talk(body)


def test_settling_waits_for_what_comes_after_the_return() -> None:
    async def body(line: Line) -> None:
        late = {"op": "set", "path": ["nowhere", "a"], "value": 1, "at": "after-return"}
        await opened(line, package={"handlers": [{"id": "h", "event": "e"}]})
        params = {"agent": "main", "text": json.dumps({"dispatch": {"type": "e"}})}
        line.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "agent.prompt", "params": params}))
        asked = await line.next()
        line.send(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "agent.settle", "params": {"agent": "main"}}))
        line.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"ops": [late]}}))
        while (await line.next()).get("id") != 2:
            pass
        assert [note["channel"] for note in line.notes("notice")] == ["adapter"]

    talk(body)
