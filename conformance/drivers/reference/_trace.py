"""What the reference notes without being asked: its log, its notices, its turns and steps."""

from __future__ import annotations

from typing import Any

from conformance.drivers.backend import Suite
from conformance.drivers.protocol import TraceKind, TraceNote
from conformance.drivers.reference._values import encode
from reference_bridge.host import Agent, Host, Notice, Session, SessionEvent


class Notes:
    """Sends trace notes to the suite."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite

    def send(self, kind: TraceKind, agent: str | None = None, call_id: str | None = None, **data: Any) -> None:
        """Note one thing."""
        self._suite.note(TraceNote(kind=kind, agent=agent, call_id=call_id, data=data))

    def follow(self, host: Host) -> None:
        """Note what the host logs and reports, and the agents that come and go."""
        host.on("session/event", self._logged)
        host.on("agent/start", lambda agent: self._agent("agent.created", agent))
        host.on("agent/end", lambda agent: self._agent("agent.disposed", agent))
        host.logger.on(self._notice)

    def _agent(self, kind: TraceKind, agent: Agent) -> None:
        self.send(kind, agent.id)

    def _notice(self, notice: Notice) -> None:
        self.send("notice", channel="logger", level=notice.level, text=notice.text)

    def _logged(self, session: Session, event: SessionEvent) -> None:
        agent, data = session.id, event.data
        if event.type == "tool/call":
            self.send("log.call", agent, data["callId"], name=data["name"], arguments=data["arguments"])
        elif event.type == "tool/result":
            self._result(agent, data)
        elif event.type == "user/message":
            self.send("log.user", agent, text=_text(data["content"]))
        elif event.type == "assistant/message":
            blocks = data["message"]["content"]
            calls = [
                {"id": block["id"], "name": block["name"], "arguments": block["arguments"]}
                for block in blocks
                if block["type"] == "tool-call"
            ]
            self.send("log.assistant", agent, text=_text(blocks), calls=calls)
        elif event.type == "turn/start":
            self.send("turn.start", agent, turn=data["turn"])
        elif event.type == "turn/end":
            self.send("turn.end", agent, turn=data["turn"], reason=data["reason"]["kind"])
        elif event.type == "step/start":
            self.send("step.start", agent, turn=data["turn"], step=data["step"])
        elif event.type == "step/end":
            self.send("step.end", agent, turn=data["turn"], step=data["step"])

    def _result(self, agent: str, data: Any) -> None:
        block = data["message"]["content"][0]
        more: dict[str, Any] = {}
        if "details" in (data.get("meta") or {}):
            more["details"] = encode(data["meta"]["details"])
        if "error" in data:
            more["code"] = data["error"]["code"]
        content, is_error = encode(block["content"]), block["isError"]
        self.send("log.result", agent, block["toolCallId"], content=content, isError=is_error, **more)


def _text(blocks: Any) -> str:
    return "".join(block["text"] for block in blocks if isinstance(block, dict) and block.get("type") == "text")
