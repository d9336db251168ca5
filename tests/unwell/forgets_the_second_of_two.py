"""Handles the first message of what one read returns, and keeps the rest until more comes."""

import os

from _body import Adapter

adapter = Adapter()
held = b""
while piece := os.read(0, 1 << 20):
    held += piece
    line, feed, rest = held.partition(b"\n")
    if feed:
        held = rest
        adapter.take(line)
