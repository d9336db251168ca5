"""Starts something and forgets it."""

import subprocess

from _body import Adapter

subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
Adapter().run()
