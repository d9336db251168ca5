"""Speaks version 99 of the protocol."""

from _wire import HELLO, read, send, serve

send(id=read()["id"], result={**HELLO, "protocol": 99})
serve()
