"""Asks for lines of at most a megabyte."""

from _body import Adapter


class Narrow(Adapter):
    hello = {"limits": {"lineBytes": 1 << 20}}  # noqa: RUF012


Narrow().run()
