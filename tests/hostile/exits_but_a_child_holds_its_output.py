"""Exits with status 5 while a child keeps its standard output open: its end never comes."""

import subprocess
import sys

from _wire import greet, read

subprocess.Popen(["sleep", "600"])
greet()
read()
sys.exit(5)
