"""Answers a request only when the next one comes, which is allowed."""

from _wire import greet, read, send, serve

greet()
before = read()["id"]
after = read()["id"]
send(id=before, result={"returned": "late"})
send(id=after, result={})
serve()
