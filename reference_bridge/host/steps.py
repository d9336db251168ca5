"""One model request: what it is made of, and how request and reply are logged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference_bridge.host.errors import ModelError
from reference_bridge.host.json_values import Json, freeze
from reference_bridge.host.messages import assistant_message, text_block
from reference_bridge.host.model import ModelAdapter, ModelFailure, ModelReply, ModelRequest, ToolCall
from reference_bridge.host.signals import AbortSignal

if TYPE_CHECKING:
    from reference_bridge.host.loop import Agent


@dataclass(frozen=True, slots=True)
class ModelRoute:
    """Which model an agent talks to; the names only label the log."""

    adapter: ModelAdapter | None
    provider: str
    model: str


@dataclass(slots=True)
class Assembly:
    """What goes into one request besides the conversation. Listeners may change it or answer with another."""

    tools: list[dict[str, Json]]
    """The catalogue, taken before the listeners of `system-prompt/assemble` are asked."""
    sections: list[str] = field(default_factory=list)
    """Parts of the system prompt, joined by blank lines."""

    @property
    def system(self) -> str:
        """The system prompt."""
        return "\n\n".join(section for section in self.sections if section)


@dataclass(frozen=True, slots=True)
class PromptContext:
    """For whom a prompt is assembled."""

    agent: Agent
    signal: AbortSignal


class Requests:
    """The model requests of one agent."""

    def __init__(self, agent: Agent, route: ModelRoute) -> None:
        self._agent = agent
        self._session = agent.session
        self._route = route
        self._header_logged = False

    async def ask(self, assembly: Assembly, position: dict[str, int], signal: AbortSignal) -> ModelReply:
        """Ask the model and log what it answered; raises `ModelError` where it failed.

        A reply that arrives after a cancel is dropped: nothing of it is logged or run.
        """
        append, route = self._session.append, self._route
        tools, system = freeze(assembly.tools), assembly.system
        self._log_request(tools, system)
        if route.adapter is None:
            raise ModelError(f'no adapter registered for provider "{route.provider}"', "NO_ADAPTER")
        request = ModelRequest(self._agent, tools, self._session.messages(), system)
        reply = await route.adapter.respond(request, signal)
        signal.throw_if_aborted()
        blocks = _blocks(reply)
        chunks = [append("assistant/chunk", {**position, "chunk": chunk}).seq for chunk in _chunks(reply, blocks)]
        if reply.finish == "error":
            failure = reply.failure or ModelFailure("the model gave no reason")
            raise ModelError(failure.message, failure.code)
        message = assistant_message(blocks, route.provider, route.model)
        append("assistant/message", {**position, "message": message}, surface_op="append", source_event_seqs=chunks)
        return reply

    def _log_request(self, tools: Json, system: str) -> None:
        """Log the header (model, system prompt, tools) and the route: the first time, and whenever they change."""
        config = {"provider": self._route.provider, "model": self._route.model}
        header: dict[str, Json] = {"config": config}
        if system:
            header["system"] = system
        if tools:
            header["tools"] = tools
        previous = self._session.latest("request/header").get("header")
        if not self._header_logged or previous != header:
            first = "initial" if previous is None else "resume"
            reason = "change" if self._header_logged else first
            self._session.append("request/header", {"header": header, "reason": reason})
            self._header_logged = True
        if self._session.latest("request/context") != config:
            self._session.append("request/context", config)


def _blocks(reply: ModelReply) -> list[dict[str, Json]]:
    text = [] if reply.text is None else [text_block(reply.text)]
    return text + [_call_block(call) for call in reply.calls]


def _call_block(call: ToolCall) -> dict[str, Json]:
    return {"type": "tool-call", "id": call.id, "name": call.name, "arguments": call.arguments_text}


def _chunks(reply: ModelReply, blocks: list[dict[str, Json]]) -> Iterator[dict[str, Json]]:
    """The reply as the stream of pieces that a streaming model would have sent."""
    for index, block in enumerate(blocks):
        yield {"type": "block-start", "index": index, "blockType": block["type"]}
        if block["type"] == "text":
            yield {"type": "text-delta", "index": index, "text": block["text"]}
        yield {"type": "block-end", "index": index, "block": block}
    finish: dict[str, Json] = {"kind": reply.finish or ("tool-calls" if reply.calls else "stop")}
    if reply.failure is not None:
        finish["failure"] = {"message": reply.failure.message, "code": reply.failure.code}
    yield {"type": "finish", "reason": finish}
