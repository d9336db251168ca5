"""A bridge small enough to read at a glance: one step at a time, blocks honoured, nothing else."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from typing import Any

from conformance.drivers.backend import Suite
from conformance.drivers.driver import Unsupported
from conformance.drivers.protocol import (
    AgentCreate,
    AgentPrompt,
    AgentSettle,
    Initialize,
    InitializeResult,
    Message,
    ModelRespond,
    NativeExecute,
    Nothing,
    Outcome,
    PackageExecute,
    PackageHandle,
    PackageLoad,
    PackageSpec,
    Ping,
    Record,
    RequestMessage,
    RequestTool,
    StageClose,
    StageClosed,
    StageOpen,
    TraceNote,
)


class TinyBridge:
    """Runs packages' tool_call handlers before each tool; the first that blocks wins."""

    honours_blocks = True
    capabilities: tuple[str, ...] = ("native-tools",)

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.natives: list[str] = []
        self.packages: list[PackageSpec] = []
        self._ids = itertools.count(1)

    async def handle(self, message: Message) -> Record:
        match message:
            case Initialize():
                return InitializeResult(
                    protocol=1, name="tiny", version="1", role="bridge", capabilities=list(self.capabilities)
                )
            case StageOpen():
                self.natives, self.packages = [native.name for native in message.natives], []
                return Nothing()
            case StageClose():
                return StageClosed()
            case PackageLoad():
                self.packages.append(message.package)
                self.note(
                    "instance.created", None, instance=message.package.name, package=message.package.name, role="shared"
                )
                return Outcome()
            case AgentCreate():
                return Outcome()
            case AgentPrompt():
                await self.turn(message.agent, message.text)
                return Outcome()
            case AgentSettle() | Ping():
                return Nothing()
        raise Unsupported(message.method)

    async def close(self) -> None:
        pass

    def note(self, kind: Any, agent: str | None, call_id: str | None = None, **data: Any) -> None:
        self.suite.note(TraceNote(kind=kind, agent=agent, call_id=call_id, data=data))

    async def turn(self, agent: str, text: str) -> None:
        messages = [RequestMessage(role="user", content=[{"type": "text", "text": text}])]
        names = [tool.name for package in self.packages for tool in package.tools] + self.natives
        for request in itertools.count(1):
            tools = [RequestTool(name=name) for name in names]
            answer = await self.suite.ask(ModelRespond(agent=agent, request=request, tools=tools, messages=messages))
            for call in answer.calls:
                self.note("log.call", agent, call.id, name=call.name, arguments=call.arguments)
                content, failed = await self.run(agent, call.id, call.name, json.loads(call.arguments))
                self.note("log.result", agent, call.id, content=content, isError=failed)
                messages = [*messages, RequestMessage(role="tool", content=content, call_id=call.id, is_error=failed)]
            if not answer.calls:
                return

    async def run(self, agent: str, call_id: str, name: str, arguments: dict[str, Any]) -> tuple[list[Any], bool]:
        for package in self.packages:
            for handler in (each for each in package.handlers if each.event == "tool_call"):
                payload = {"type": "tool_call", "toolName": name, "toolCallId": call_id, "input": arguments}
                invocation = f"i{next(self._ids)}"
                reply = await self.suite.ask(
                    PackageHandle(
                        package=package.name,
                        instance=package.name,
                        handler=handler.id,
                        event="tool_call",
                        payload=payload,
                        invocation=invocation,
                        agent=agent,
                    )
                )
                self.note(
                    "handler.exit", agent, call_id, invocation=invocation, instance=package.name, event="tool_call"
                )
                if self.honours_blocks and isinstance(reply.returns, dict) and reply.returns.get("block"):
                    return [{"type": "text", "text": reply.returns["reason"]}], True
                if reply.ops and name in self.natives:
                    return [{"type": "text", "text": f"the arguments of {name} may not be changed"}], True
        invocation = f"i{next(self._ids)}"
        if name in self.natives:
            answer = await self.suite.ask(
                NativeExecute(tool=name, call_id=call_id, arguments=arguments, invocation=invocation, agent=agent)
            )
            return [{"type": "text", "text": answer.text}], False
        owner = next(package.name for package in self.packages if name in [tool.name for tool in package.tools])
        reply = await self.suite.ask(
            PackageExecute(
                package=owner,
                instance=owner,
                tool=name,
                call_id=call_id,
                params=arguments,
                invocation=invocation,
                agent=agent,
            )
        )
        return reply.returns.get("content", []), False


class DeafBridge(TinyBridge):
    """Runs tools that were blocked."""

    honours_blocks = False


class BareBridge(TinyBridge):
    """Has no native tools, and says so."""

    capabilities = ()

    async def handle(self, message: Message) -> Record:
        if isinstance(message, StageOpen) and message.natives:
            raise Unsupported("native-tools")
        return await super().handle(message)


class BoastingBridge(BareBridge):
    """Has no native tools, and says that it has."""

    capabilities = ("native-tools",)


class ShyBridge(TinyBridge):
    """Has native tools, and does not say so."""

    capabilities = ()


class ClumsyBridge(TinyBridge):
    """Its own code breaks in the middle of a turn."""

    async def turn(self, agent: str, text: str) -> None:
        raise ZeroDivisionError("the host's own mistake")


def no_bridge(suite: Suite) -> TinyBridge:
    """Raise instead of making one."""
    raise RuntimeError("nobody is at home")


class SleepyBridge(TinyBridge):
    """Keeps the whole process busy in the middle of a turn, and lets nothing disturb it."""

    async def turn(self, agent: str, text: str) -> None:
        while True:
            try:
                time.sleep(60)  # noqa: ASYNC251 - it is what is wrong with it
            except Exception:
                continue


class LitteringBridge(TinyBridge):
    """Leaves a task behind."""

    def __init__(self, suite: Suite) -> None:
        super().__init__(suite)
        self.task = asyncio.ensure_future(self.linger())

    async def linger(self) -> None:
        await asyncio.Event().wait()
