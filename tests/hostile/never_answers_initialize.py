"""Reads and never says a word."""

from _wire import read

while True:
    read()
