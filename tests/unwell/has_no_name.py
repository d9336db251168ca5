"""Does not say who it is."""

from _body import Adapter


class Nameless(Adapter):
    hello = {"name": " "}  # noqa: RUF012


Nameless().run()
