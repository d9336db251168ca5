"""Takes a line for whole when its buffer is full."""

import sys

from _body import Adapter

adapter = Adapter()
while line := sys.stdin.buffer.readline(1 << 20):
    adapter.take(line)
