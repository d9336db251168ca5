"""Answers the handshake without its role."""

from _wire import HELLO, read, send, serve

send(id=read()["id"], result={key: value for key, value in HELLO.items() if key != "role"})
serve()
