"""Replaces what is not ASCII."""

from _body import Adapter


class Plain(Adapter):
    def prompt(self, text):
        super().prompt(text.encode("ascii", "replace").decode())


Plain().run()
