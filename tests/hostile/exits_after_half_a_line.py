"""Exits with status 6 in the middle of a message."""

import sys

from _wire import greet, raw, read

greet()
read()
raw(b'{"jsonrpc":"2.0","se')
sys.exit(6)
