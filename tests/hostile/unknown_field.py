"""Answers the handshake with a field that the protocol does not know."""

from _wire import HELLO, read, send, serve

send(id=read()["id"], result={**HELLO, "colour": "red"})
serve()
