"""Keeps its answers in a buffer that nobody flushes."""

import sys

from _body import Adapter


class Unflushed(Adapter):
    def write(self, data):
        sys.stdout.buffer.write(data)


Unflushed().run()
