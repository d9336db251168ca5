"""Declares what is no capability."""

from _body import Adapter


class Careless(Adapter):
    capabilities = ("durable-log", "durable-lob")


Careless().run()
