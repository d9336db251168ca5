"""Writes its messages where its logs belong."""

import sys

from _body import Adapter


class Mixed(Adapter):
    def write(self, data):
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()


Mixed().run()
