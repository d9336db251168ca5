"""Logs more than anybody keeps."""

import sys

from _body import Adapter

sys.stderr.write("starting\n" + "x" * 99 * 1024 + "\n")
Adapter().run()
