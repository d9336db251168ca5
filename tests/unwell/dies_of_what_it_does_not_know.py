"""Ends where a method is new to it."""

import sys

from _body import Adapter


class Proud(Adapter):
    def unknown(self, id_):
        sys.exit("no such method")


Proud().run()
