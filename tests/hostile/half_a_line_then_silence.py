"""Begins an answer, never ends it, and reads no more."""

from _wire import greet, raw, read, sleep

greet()
read()
raw(b'{"jsonrpc":"2.0","se')
sleep()
