"""`run_code`: the one tool through which a model calls the others from inside a program it wrote.

Such a call is a call like any other to policy and tool. It has a parent, no `tool/call` and no `tool/result` of its
own, and the log tells of it by `tool/code-dispatch-start` and `tool/code-dispatch`.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from reference_bridge.host.definitions import ToolDefinition, define_tool
from reference_bridge.host.errors import CODE_RUN_FAILED, HarnessError
from reference_bridge.host.json_values import UNDEFINED, Json, NotLosslessError, freeze, js_string, member
from reference_bridge.host.messages import plugin_message, text_block
from reference_bridge.host.pipeline import Step
from reference_bridge.host.registry import RUN_CODE
from reference_bridge.host.results import CallRequest, Execution, ToolResult
from reference_bridge.host.signals import AbortController, AbortSignal
from reference_bridge.host.tools import Tools

Binding: TypeAlias = Callable[[Json], Awaitable[Json]]
"""A tool as the program calls it: arguments in, value out; raises `SubCallError`."""


@dataclass(frozen=True, slots=True)
class CodeOutcome:
    """How a program ended."""

    value: Json = UNDEFINED
    logs: Sequence[str] = ()
    error: str | None = None
    """What it raised; its tool calls raise `SubCallError`."""
    error_kind: str = "exception"


class CodeRuntime(Protocol):
    """What runs programs. It decides on language and isolation."""

    async def run(self, program: str, tools: Mapping[str, Binding], signal: AbortSignal) -> CodeOutcome:
        """Run `program` to its end; stop early when `signal` aborts."""
        ...


class SubCallError(Exception):
    """A tool call inside a program failed or was denied; the text is the result's, without `Error: `."""


class CodeRunFailedError(HarnessError):
    """A program did not end well; what it printed before is part of the text."""

    name = "CodeRunFailedError"

    def __init__(self, outcome: CodeOutcome) -> None:
        printed = "\nCaptured output:\n" + "\n".join(outcome.logs) if outcome.logs else ""
        super().__init__(f"code run failed ({outcome.error_kind}): {outcome.error}{printed}", CODE_RUN_FAILED)


def run_code_tool(runtime: CodeRuntime, tools: Tools, pool_size: int) -> ToolDefinition:
    """The `run_code` tool of a host; at most `pool_size` of a program's calls overlap."""

    async def execute(args: Json, execution: Execution) -> Json:
        if not args["description"].strip():
            raise ValueError("invalid description: expected a non-empty string")
        calls = SubCalls(tools, execution, pool_size)
        visible = tools.schemas(execution.scope)
        bindings = {schema["name"]: calls.binding(schema["name"]) for schema in visible if schema["name"] != RUN_CODE}
        execution.signal.add_listener(calls.abort)
        try:
            outcome = await runtime.run(args["code"], bindings, calls.signal)
        finally:
            execution.signal.remove_listener(calls.abort)
            await calls.close()
        if outcome.error is not None:
            raise CodeRunFailedError(outcome)
        output: dict[str, Json] = {"logs": list(outcome.logs)}
        return output if outcome.value is UNDEFINED else {**output, "result": outcome.value}

    return define_tool(
        name=RUN_CODE,
        description="Run a program that calls the other tools; what it prints or returns is the result.",
        parameters={
            "code": {"type": "string", "required": True, "description": "The program."},
            "description": {
                "type": "string",
                "required": True,
                "description": "What the program does, in a few words.",
            },
        },
        execute=execute,
        render=_render,
    )


def _render(args: Json, output: Json) -> Json:
    shown = list(output["logs"])
    if "result" in output:
        result = output["result"]
        shown.append(result if isinstance(result, str) else json.dumps(result, indent=2, ensure_ascii=False))
    return [text_block("\n".join(shown) or "(run_code completed with no output)")]


@dataclass(slots=True)
class _SubCall:
    request: CallRequest
    answer: asyncio.Future[ToolResult]
    exclusive: bool = True
    step: Step | None = None
    """Where the call stands, once its body has ended or was denied."""


class SubCalls:
    """The calls of one program: started and committed in the order they are made, overlapping where they may."""

    def __init__(self, tools: Tools, execution: Execution, pool_size: int) -> None:
        self._tools = tools
        self._pipeline = tools.pipeline
        self._outer = execution
        self._pool_size = pool_size
        self._controller = AbortController()
        self._made = 0
        self._waiting: deque[_SubCall] = deque()
        self._started: deque[_SubCall] = deque()
        self._bodies: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._driver: asyncio.Task[None] | None = None

    @property
    def signal(self) -> AbortSignal:
        """Aborts with the turn, and when the program has ended."""
        return self._controller.signal

    def abort(self) -> None:
        """Pass the turn's abort on."""
        self._controller.abort(self._outer.signal.reason)

    def binding(self, name: str) -> Binding:
        """The tool `name` for the program."""

        async def call(arguments: Json = UNDEFINED) -> Json:
            if self.signal.aborted:
                raise SubCallError(f"run_code run is over ({js_string(self.signal.reason)}); {name} not dispatched")
            result = await self._result(name, arguments)
            if self.signal.aborted:
                raise SubCallError(f"run_code run is over ({js_string(self.signal.reason)}); {name} result discarded")
            if result.error is not None:
                raise SubCallError(js_string(result.error.message))
            return result.value

        return call

    async def close(self) -> None:
        """Start nothing more, and wait for what was started."""
        self._controller.abort("run_code settled")
        self._changed.set()
        if self._driver is not None:
            await self._driver

    async def _result(self, name: str, arguments: Json) -> ToolResult:
        try:
            arguments = freeze(arguments)
        except NotLosslessError:
            raise SubCallError(
                "tool arguments must be lossless JSON (call the tool with an arguments object, e.g. `{}`)"
            ) from None
        self._made += 1
        outer = self._outer
        request = CallRequest(
            f"{outer.call_id}:code:{self._made}",
            name,
            arguments,
            self.signal,
            agent=outer.agent,
            scope=outer.scope,
            parent=outer.token,
            root_call_id=outer.root_call_id,
        )
        sub_call = _SubCall(request, asyncio.get_running_loop().create_future())
        self._waiting.append(sub_call)
        self._changed.set()
        if self._driver is None:
            self._driver = asyncio.create_task(self._drive())
        return await sub_call.answer

    async def _drive(self) -> None:
        while not self.signal.aborted or self._waiting or self._started:
            if self._started and self._started[0].step is not None:
                await self._commit(self._started.popleft())
            elif self._waiting and self.signal.aborted:
                abandoned = self._waiting.popleft()
                reason = f"run_code run is over ({js_string(self.signal.reason)})"
                abandoned.answer.set_exception(SubCallError(f"{reason}; {abandoned.request.name} tool call abandoned"))
                # The program is over: nobody may be left to read it.
                abandoned.answer.exception()
            elif self._waiting and self._has_room_for(self._waiting[0]):
                await self._start(self._waiting.popleft())
            else:
                self._changed.clear()
                await self._changed.wait()

    def _has_room_for(self, sub_call: _SubCall) -> bool:
        sub_call.exclusive = not self._pipeline.is_parallel(sub_call.request)
        if sub_call.exclusive:
            return not self._started
        return len(self._bodies) < self._pool_size and not any(started.exclusive for started in self._started)

    async def _start(self, sub_call: _SubCall) -> None:
        self._started.append(sub_call)
        self._log("tool/code-dispatch-start", sub_call.request)
        step = await self._pipeline.prepare(sub_call.request)
        if step.stage != "dispatch":
            sub_call.step = step
            return

        async def run_body() -> None:
            try:
                sub_call.step = await self._pipeline.dispatch(step.execution)
            finally:
                self._bodies.discard(body)
                self._changed.set()

        body = asyncio.create_task(run_body())
        self._bodies.add(body)

    async def _commit(self, sub_call: _SubCall) -> None:
        assert sub_call.step is not None
        result = await self._pipeline.commit(sub_call.step)
        if not result.is_error and any(member(block, "type") == "image" for block in result.content):
            self._outer.defer_context(plugin_message(result.content, "tools-code-mode"))
        for context in result.additional_contexts:
            self._outer.defer_context(context)
        if result.concludes_turn:
            self._outer.conclude_turn()
        self._log("tool/code-dispatch", sub_call.request, {"isError": result.is_error, "content": result.content})
        if not sub_call.answer.done():
            sub_call.answer.set_result(result)

    def _log(self, type: str, request: CallRequest, more: Mapping[str, Json] | None = None) -> None:
        if request.agent is None:
            return
        data = {
            "rootCallId": request.root_call_id,
            "parentCallId": self._outer.call_id,
            "subCallId": request.call_id,
            "name": request.name,
            "arguments": request.arguments,
            **(more or {}),
        }
        request.agent.session.append(type, data)
