"""What the operator puts on a stage: native tools, policy, answers to questions, the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from conformance.drivers.backend import Suite
from conformance.drivers.protocol import (
    ModelAnswer,
    ModelRespond,
    NativeAnswer,
    NativeExecute,
    NativeSpec,
    PolicySpec,
    RequestMessage,
    RequestTool,
)
from conformance.drivers.protocol import ToolCall as AnswerCall
from conformance.drivers.reference._invocations import Invocations
from conformance.drivers.reference._trace import Notes
from conformance.drivers.reference._values import decode, encode, encode_error, exception
from reference_bridge.host import (
    RUN_CODE,
    AbortSignal,
    Disposer,
    Execution,
    Host,
    ModelFailure,
    ModelReply,
    ModelRequest,
    Scope,
    ToolCall,
    ToolDefinition,
    plugin_message,
    text_block,
)

FINISHES = {"stop": "stop", "calls": "tool-calls", "length": "max-tokens", "error": "error", None: None}


class SuiteModel:
    """A model that says what the suite tells it to."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._requests = 0

    async def respond(self, request: ModelRequest, signal: AbortSignal) -> ModelReply:
        """Ask the suite for the next message."""
        self._requests += 1
        answer: ModelAnswer = await self._suite.ask(
            ModelRespond(
                agent=request.agent.id,
                request=self._requests,
                tools=[
                    RequestTool(
                        name=tool["name"], description=tool["description"], parameters=encode(tool["parameters"])
                    )
                    for tool in request.tools
                ],
                messages=[_message(message) for message in request.messages],
                system=request.system,
            )
        )
        failure = ModelFailure("the scripted model failed") if answer.finish == "error" else None
        calls = [_call(call) for call in answer.calls]
        return ModelReply(answer.text, calls, FINISHES[answer.finish], failure)  # type: ignore[arg-type]


class Natives:
    """Native tools whose bodies the suite plays."""

    def __init__(self, suite: Suite, notes: Notes, invocations: Invocations, host: Host) -> None:
        self._suite = suite
        self._notes = notes
        self._invocations = invocations
        self._host = host
        self._registered: dict[tuple[str, str | None], Callable[[], None]] = {}

    def register(self, spec: NativeSpec, scope: Scope | None) -> None:
        """Put a native tool on the host. Raises what the host raises."""
        if spec.reserved:
            # There is one such tool a host; it is shown where the host's mode presents it.
            self._host.tools.transport = self.definition(spec, RUN_CODE)
            self._registered[spec.name, spec.agent] = lambda: setattr(self._host.tools, "transport", None)
            return
        self._registered[spec.name, spec.agent] = self._host.tools.register(self.definition(spec, spec.name), scope)

    def unregister(self, name: str, agent: str | None) -> bool:
        """Take a native tool away; answers whether it was there."""
        dispose = self._registered.pop((name, agent), None)
        if dispose is not None:
            dispose()
        return dispose is not None

    def definition(self, spec: NativeSpec, name: str) -> ToolDefinition:
        """The tool as the host runs it."""

        async def execute(arguments: Any, execution: Execution) -> Any:
            agent = None if execution.agent is None else execution.agent.id
            invocation = self._invocations.open(agent)
            threw: dict[str, Any] = {}
            try:
                answer: NativeAnswer = await self._suite.ask(
                    NativeExecute(
                        tool=spec.name,
                        call_id=execution.call_id,
                        arguments=encode(arguments),
                        invocation=invocation.id,
                        agent=agent,
                        scope=spec.agent,
                    )
                )
                return self._carry_out(answer, execution)
            except Exception as error:
                threw["threw"] = encode_error(error)
                raise
            finally:
                self._invocations.close(invocation)
                self._notes.send("native.exit", agent, invocation=invocation.id, tool=spec.name, **threw)

        return ToolDefinition(
            name=name,
            description=spec.description,
            parameters=decode(spec.parameters),
            execute=execute,
            render=lambda arguments, value: value,
            is_concurrency_safe=(lambda arguments: True) if spec.parallel else None,
            timeout_ms=spec.timeout_ms,
        )

    def _carry_out(self, answer: NativeAnswer, execution: Execution) -> Any:
        if answer.throws is not msgspec.UNSET:
            raise exception(decode(answer.throws))
        if answer.conclude:
            execution.conclude_turn()
        if answer.defer is not None:
            execution.defer_context(plugin_message(answer.defer, "operator"))
        return [text_block(answer.text)] if answer.content is msgspec.UNSET else decode(answer.content)


class Policies:
    """The host's policy outside the bridge, as the operator sets it."""

    def __init__(self, notes: Notes, host: Host) -> None:
        self._notes = notes
        self._host = host
        self._specs: dict[str, PolicySpec] = {}
        self._listening: dict[str, Disposer] = {}

    def set(self, spec: PolicySpec) -> None:
        """Add a listener, or change what the one of that id answers, in its place."""
        before = self._specs.get(spec.id)
        self._specs[spec.id] = spec
        if before is not None and _place(before) == _place(spec):
            return
        if before is not None:
            self._listening[spec.id]()
        self._listening[spec.id] = self._listen(spec.id, _place(spec))

    def _listen(self, id: str, place: str) -> Disposer:
        if place == "guard":
            return self._host.tools.guard(lambda execution: self._guard(self._specs[id], execution))

        async def listener(execution: Execution, following: Any) -> Any:
            return await self._decide(self._specs[id], execution, following)

        return self._host.on("tools/pre-execute", listener, prepend=place == "before")

    async def _decide(self, spec: PolicySpec, execution: Execution, following: Any) -> Any:
        if not _applies(spec, execution):
            return await following()
        self._note(spec, execution, "enter")
        if spec.answer == "throw":
            raise RuntimeError(spec.reason or "policy failed")
        decision = None if spec.skip else await following()
        if spec.answer != "next":
            decision = {"kind": spec.answer}
            if spec.answer != "allow" and (spec.reason is not None or spec.answer == "deny"):
                decision["reason"] = spec.reason or "denied by policy"
        elif spec.skip:
            decision = {"kind": "allow"}
        self._note(spec, execution, "exit", decision=encode(decision))
        return decision

    def _guard(self, spec: PolicySpec, execution: Execution) -> str | None:
        if not _applies(spec, execution):
            return None
        self._note(spec, execution, "enter")
        if spec.answer == "guard-throw":
            raise RuntimeError(spec.reason or "a guard failed")
        reason = "denied by a guard" if spec.reason is None else spec.reason
        self._note(spec, execution, "exit", decision={"kind": "deny", "reason": reason})
        return reason

    def _note(self, spec: PolicySpec, execution: Execution, phase: str, **more: Any) -> None:
        agent = None if execution.agent is None else execution.agent.id
        self._notes.send(
            "policy",
            agent,
            execution.call_id,
            id=spec.id,
            phase=phase,
            tool=execution.name,
            arguments=encode(execution.arguments),
            **more,
        )


def _applies(spec: PolicySpec, execution: Execution) -> bool:
    return spec.tools is None or execution.name in spec.tools


def _place(spec: PolicySpec) -> str:
    return "guard" if spec.answer in ("guard", "guard-throw") else spec.place


def _call(call: AnswerCall) -> ToolCall:
    return ToolCall(call.id, call.name, call.arguments)


def _message(message: Any) -> RequestMessage:
    content = message["content"]
    if message["role"] == "user" and message["source"]["kind"] == "tool":
        block = content[0]
        return RequestMessage(
            role="tool", content=encode(block["content"]), call_id=block["toolCallId"], is_error=block["isError"]
        )
    return RequestMessage(role=message["role"], content=encode(content))
