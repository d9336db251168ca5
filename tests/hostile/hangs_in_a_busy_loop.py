"""Takes a request and computes for ever."""

from _wire import greet, read

greet()
read()
while True:
    pass
