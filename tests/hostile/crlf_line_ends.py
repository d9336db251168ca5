"""Ends its lines as Windows does, which is allowed."""

from _wire import greet, line, raw, read

greet()
while True:
    raw(line(id=read()["id"], result={}).replace(b"\n", b"\r\n"))
