"""Reads all of its input before it answers any of it."""

import sys

from _body import Adapter

adapter = Adapter()
for line in sys.stdin.buffer.read().splitlines():
    adapter.take(line)
