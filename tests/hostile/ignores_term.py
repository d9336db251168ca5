"""Ignores the end of its input and TERM."""

import signal

from _wire import greet, sleep

signal.signal(signal.SIGTERM, signal.SIG_IGN)
greet()
sleep()
