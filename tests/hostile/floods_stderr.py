"""Writes 64 MiB to its error output before each answer, which is allowed."""

import sys

from _wire import greet, read, send

greet()
while True:
    at = read()["id"]
    sys.stderr.write("FIRST\n" + "all is well\n" * (64 * 1024 * 1024 // 12) + "LAST\n")
    sys.stderr.flush()
    send(id=at, result={})
