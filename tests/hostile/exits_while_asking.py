"""Asks the suite something and exits before it can be answered."""

import sys

from _wire import NATIVE, greet, read, send

greet()
read()
send(id="a", method="native.execute", params=NATIVE)
sys.exit(4)
