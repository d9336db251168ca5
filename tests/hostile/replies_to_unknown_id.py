"""Answers a request that nobody made."""

from _wire import greet, read, send, serve

greet()
read()
send(id=4711, result={})
serve()
