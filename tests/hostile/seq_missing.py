"""Sends a message without a number."""

from _wire import greet, read, send, serve

greet()
send(id=read()["id"], result={}, seq=None)
serve()
