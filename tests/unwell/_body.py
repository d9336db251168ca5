"""A small adapter that is well; each program beside it changes one thing."""

from __future__ import annotations

import json
import sys
from typing import Any

CREATE = "agent.create", "main"
"""There is one agent."""


class Adapter:
    """Reads lines, answers requests, and asks the model once for every prompt."""

    capabilities: tuple[str, ...] = ("durable-log",)
    hello: dict[str, Any] = {}  # noqa: RUF012 - what a program adds to the handshake

    def __init__(self) -> None:
        self.seq = 0
        self.texts: dict[str, str] = {}
        self.settling: list[Any] = []

    def write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def send(self, **members: Any) -> None:
        self.seq += 1
        self.write(json.dumps({"jsonrpc": "2.0", "seq": self.seq, **members}).encode() + b"\n")

    def note(self, kind: str, **data: Any) -> None:
        self.send(method="trace", params={"kind": kind, "agent": "main", "data": data})

    def run(self) -> None:
        for line in sys.stdin.buffer:
            self.take(line)

    def take(self, line: bytes) -> None:
        message = json.loads(line)
        if "method" in message:
            self.request(message["id"], message["method"], message.get("params", {}))
        else:
            self.reply(message)

    def request(self, id_: Any, method: str, params: Any) -> None:
        if method == "initialize":
            known = {"protocol": 1, "name": "unwell", "version": "1", "role": "bridge"}
            self.send(id=id_, result={**known, "capabilities": self.capabilities, **self.hello})
        elif method == "stage.open" and (params.get("natives") or params.get("policies") or params.get("services")):
            self.send(id=id_, error={"code": -32050, "message": "no", "data": {"capability": "native-tools"}})
        elif method in ("ping", "stage.open", "stage.close") or (method, params.get("agent")) == CREATE:
            self.send(id=id_, result={})
        elif method == "agent.prompt":
            self.send(id=id_, result={})
            self.prompt(params["text"])
        elif method == "agent.settle":
            self.settling.append(id_)
            self.settle()
        elif method.startswith("doctor."):
            self.unknown(id_)
        else:
            self.send(id=id_, error={"code": -32050, "message": "no", "data": {"capability": method}})

    def unknown(self, id_: Any) -> None:
        self.send(id=id_, error={"code": -32601, "message": "no such method"})

    def prompt(self, text: str) -> None:
        self.note("log.user", text=text)
        request = f"r{self.seq}"
        self.texts[request] = text
        messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
        params = {"agent": "main", "request": 1, "tools": [], "messages": messages}
        self.send(id=request, method="model.respond", params=params)

    def reply(self, message: Any) -> None:
        del self.texts[message["id"]]
        self.settle()

    def settle(self) -> None:
        while self.settling and not self.texts:
            self.send(id=self.settling.pop(), result={})


if __name__ == "__main__":
    Adapter().run()
