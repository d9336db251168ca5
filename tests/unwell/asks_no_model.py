"""Answers a prompt by itself."""

from _body import Adapter


class Knowing(Adapter):
    def prompt(self, text):
        self.note("log.assistant", text="42", calls=[])


Knowing().run()
