"""Writes messages without line feeds."""

from _body import Adapter


class Endless(Adapter):
    def write(self, data):
        super().write(data.rstrip(b"\n"))


Endless().run()
