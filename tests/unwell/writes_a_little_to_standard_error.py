"""Logs two lines, one of which would move the cursor."""

import sys

from _body import Adapter

sys.stderr.write("\x1b[2Jstarting\nstarted\n")
Adapter().run()
