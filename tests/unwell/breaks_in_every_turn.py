"""Ends as soon as a stage opens."""

import sys

from _body import Adapter


class Fragile(Adapter):
    def prompt(self, text):
        sys.exit("\x1b[31mout of memory\x1b[0m")


Fragile().run()
