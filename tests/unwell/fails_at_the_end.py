"""Ends with an error when its input has ended."""

import sys

from _body import Adapter

Adapter().run()
sys.exit(3)
