"""Sends bytes that are no UTF-8 inside a string."""

from _wire import greet, line, raw, read, serve

greet()
raw(line(id=read()["id"], result={"returned": "@"}).replace(b"@", b"\xff\xfe"))
serve()
