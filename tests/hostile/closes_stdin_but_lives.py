"""Closes its standard input with the handshake and goes on running."""

import os

from _wire import HELLO, read, send, sleep

at = read()["id"]
os.close(0)
send(id=at, result=HELLO)
sleep()
