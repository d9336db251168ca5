"""Closes its standard output and goes on running."""

import os

from _wire import greet, read, sleep

greet()
read()
os.close(1)
sleep()
