"""Answers with a result and an error at once."""

from _wire import greet, read, send, serve

greet()
send(id=read()["id"], result={}, error={"code": 1, "message": "no"})
serve()
