"""What the hostile adapters share: just enough of the protocol to do one thing wrong on purpose."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, NoReturn

HELLO = {"protocol": 1, "name": "hostile", "version": "1", "role": "bridge"}
NATIVE = {"tool": "t", "callId": "c", "arguments": {}, "invocation": "1"}
MARK = os.environ.get("HOSTILE_MARK", "")
"""A word by which the tests find every process of ours."""

_seq = 0


def raw(data: bytes) -> None:
    """Write these bytes to standard output."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def line(**members: Any) -> bytes:
    """One message, with the next number unless ``seq`` says another; ``seq=None`` leaves it out."""
    global _seq
    _seq += 1
    whole = {"jsonrpc": "2.0", "seq": _seq, **members}
    if whole["seq"] is None:
        del whole["seq"]
    return json.dumps(whole).encode() + b"\n"


def send(**members: Any) -> None:
    """Write one message."""
    raw(line(**members))


def read() -> dict[str, Any]:
    """Read the suite's next message; its end is ours."""
    text = sys.stdin.readline()
    if not text:
        sys.exit(0)
    message: dict[str, Any] = json.loads(text)
    return message


def greet() -> None:
    """Shake hands as one should."""
    send(id=read()["id"], result=HELLO)


def serve() -> NoReturn:
    """Answer everything as one should, until the end of input."""
    while True:
        message = read()
        if "method" in message:
            send(id=message["id"], result={})


def sleep() -> NoReturn:
    """Do nothing, whatever comes."""
    while True:
        time.sleep(60)
