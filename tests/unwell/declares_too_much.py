"""Declares what it lacks."""

from _body import Adapter


class Boasting(Adapter):
    capabilities = ("durable-log", "steer", "cancel")


Boasting().run()
