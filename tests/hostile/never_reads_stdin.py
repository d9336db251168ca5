"""Answers the handshake unasked and never reads its input."""

from _wire import HELLO, send, sleep

send(id=1, result=HELLO)
sleep()
