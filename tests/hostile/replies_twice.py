"""Answers one request two times."""

from _wire import greet, read, send, serve

greet()
at = read()["id"]
send(id=at, result={})
send(id=at, result={})
serve()
