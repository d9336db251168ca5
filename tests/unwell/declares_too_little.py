"""Does not declare what it has."""

from _body import Adapter


class Shy(Adapter):
    capabilities = ()


Shy().run()
