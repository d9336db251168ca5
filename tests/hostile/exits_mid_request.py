"""Takes a request and exits with status 3 instead of answering."""

import sys

from _wire import greet, read

greet()
read()
print("out of memory", file=sys.stderr)
sys.exit(3)
