"""Decodes each piece it reads, although one may end inside of a character."""

import os

from _body import Adapter

adapter = Adapter()
text = ""
while piece := os.read(0, 1 << 26):
    text += piece.decode()
    *lines, text = text.split("\n")
    for line in lines:
        adapter.take(line.encode())
