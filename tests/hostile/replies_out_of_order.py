"""Answers the second request before the first, which is allowed."""

from _wire import greet, read, send, serve

greet()
first, second = read()["id"], read()["id"]
send(id=second, result={"returned": "second"})
send(id=first, result={"returned": "first"})
serve()
