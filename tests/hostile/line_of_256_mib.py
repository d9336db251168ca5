"""Answers with one line of 256 MiB."""

from _wire import greet, raw, read, serve

greet()
read()
for _ in range(256):
    raw(b"x" * (1 << 20))
raw(b"\n")
serve()
