"""Writes blank lines between its messages, which is allowed."""

from _wire import greet, line, raw, read

raw(b"\n\n")
greet()
while True:
    raw(b"\n  \n" + line(id=read()["id"], result={}) + b"\n")
