"""Begins a line and goes on for ever."""

from _wire import greet, raw, read

greet()
read()
while True:
    raw(b"x" * (1 << 20))
