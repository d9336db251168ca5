"""A host with one agent and a scripted model, for tests of the reference host."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from reference_bridge.host import (
    AbortSignal,
    Agent,
    Host,
    HostOptions,
    Json,
    ModelReply,
    ModelRequest,
    SessionEvent,
    ToolCall,
    ToolDefinition,
    text_block,
)

DEADLINE_S = 10


class Script:
    """A model that answers with the replies it was given, in order, and then fails."""

    def __init__(self) -> None:
        self.replies: list[ModelReply] = []
        self.requests: list[ModelRequest] = []

    async def respond(self, request: ModelRequest, signal: AbortSignal) -> ModelReply:
        self.requests.append(request)
        if not self.replies:
            raise RuntimeError("script exhausted")
        return self.replies.pop(0)


def call(name: str, args: Json = None, *, id: str = "c1", raw: str | None = None) -> ToolCall:
    return ToolCall(id, name, json.dumps(args or {}) if raw is None else raw)


def calls(*made: ToolCall) -> ModelReply:
    return ModelReply(calls=made)


OK = ModelReply(text="ok")


def show(args: Json, value: Json) -> Json:
    return [text_block(value if isinstance(value, str) else json.dumps(value))]


def tool(name: str, body: Callable[..., Any] | str = "ran", **extra: Any) -> ToolDefinition:
    execute = body if callable(body) else lambda args, exec: body
    return ToolDefinition(
        name, f"{name} tool", {"type": "object", "properties": {}}, execute, **({"render": show} | extra)
    )


@dataclass
class Result:
    """One durable `tool/result`, flat."""

    event: SessionEvent

    @property
    def id(self) -> str:
        return str(self.event.data["message"]["source"]["callId"])

    @property
    def is_error(self) -> bool:
        return bool(self.event.data["message"]["content"][0]["isError"])

    @property
    def content(self) -> Json:
        return self.event.data["message"]["content"][0]["content"]

    @property
    def text(self) -> str:
        return str(self.content[0]["text"])

    @property
    def code(self) -> str | None:
        error = self.event.data.get("error")
        return None if error is None else str(error["code"])


@dataclass
class Stage:
    host: Host
    agent: Agent
    model: Script
    trace: list[str] = field(default_factory=list)

    def note(self, what: str) -> None:
        self.trace.append(what)

    def tool(self, name: str, body: Callable[..., Any] | str = "ran", **extra: Any) -> None:
        self.host.tools.register(tool(name, body, **extra))

    async def turn(self, *replies: ModelReply | ToolCall, prompt: str = "go") -> list[Result]:
        """Prompt the agent and let it come to rest; a bare call stands for a reply with that call, then `OK`."""
        for reply in replies:
            self.model.replies += [calls(reply), OK] if isinstance(reply, ToolCall) else [reply]
        self.agent.followup(prompt)
        await self.agent.when_idle()
        return self.results

    async def one(self, name: str, args: Json = None, *, raw: str | None = None) -> Result:
        """The result of one prompt with one call."""
        return (await self.turn(call(name, args, raw=raw)))[-1]

    @property
    def results(self) -> list[Result]:
        return [Result(event) for event in self.agent.session.events if event.type == "tool/result"]

    @property
    def turn_ends(self) -> list[Json]:
        return [event.data["reason"] for event in self.agent.session.events if event.type == "turn/end"]

    @property
    def said(self) -> list[str]:
        """The texts of the messages that entered the conversation from outside the model."""
        return [e.data["content"][0]["text"] for e in self.agent.session.events if e.type == "user/message"]

    def names(self, agent: Agent | None = None) -> list[str]:
        return [schema["name"] for schema in self.host.tools.schemas((agent or self.agent).scope)]

    def observe(self) -> None:
        """Trace every stage of every call as `stage#id`; outermost if called before other listeners are added."""

        def on_event(session: Any, event: SessionEvent) -> None:
            named = event.data if event.type != "tool/result" else event.data["message"]["source"]
            call_id = named.get("callId") or named.get("subCallId") if event.type.startswith("tool/") else None
            self.note(event.type + (f"#{call_id}" if call_id else ""))

        async def pre(exec: Any, next: Any) -> Any:
            self.note(f"pre#{exec.call_id}")
            return await next()

        async def execute(exec: Any, next: Any) -> Any:
            self.note(f"exec#{exec.call_id}")
            return await next()

        async def post(exec: Any, result: Any, next: Any) -> Any:
            self.note(f"post#{exec.call_id}")
            return await next()

        on = self.host.on
        on("session/event", on_event)
        on("tools/pre-execute", pre)
        self.host.tools.guard(lambda exec: self.note(f"guard#{exec.call_id}"))
        on("tools/execute", execute)
        on("tools/post-execute", post)
        on("tools/result", lambda exec, result: self.note(f"emit#{exec.call_id}"))
        on("agent/turn-stopping", lambda stopping: self.note("turn-stopping"))
        on("agent/status", lambda change: self.note(f"status:{change.status}"))

    def stages(self, call_id: str) -> str:
        """The observed stages of one call: `call pre guard exec body post emit result`."""
        names = {"tool/call": "call", "tool/result": "result"}
        seen = [kind.removesuffix(f"#{call_id}") for kind in self.trace if kind.endswith(f"#{call_id}")]
        return " ".join(names.get(kind, kind) for kind in seen)


async def open_stage(**options: Any) -> Stage:
    model = Script()
    host = Host(HostOptions(**options))
    return Stage(host, await host.agents.create("a1", model), model)


def staged(**options: Any) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    """Run the test on a fresh stage, within a deadline, and check that nothing outlives the host."""

    def decorate(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        async def run(**arguments: Any) -> None:
            async with asyncio.timeout(DEADLINE_S):
                stage = await open_stage(**options)
                await test(stage, **arguments)
                await stage.host.close()
            assert len(asyncio.all_tasks()) == 1, "a task outlived the host"

        return as_test(test, run)

    return decorate


def as_test(test: Callable[..., Any], run: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A plain test, named like `test`, that runs `run` on a loop of its own; it asks for all but the first argument."""

    @functools.wraps(test)
    def wrapper(**arguments: Any) -> None:
        asyncio.run(run(**arguments))

    parameters = list(inspect.signature(test).parameters.values())[1:]
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapper
