"""Leaves a debugging print in its code."""

from _wire import greet, read, send, serve

greet()
at = read()["id"]
print("got here", flush=True)
send(id=at, result={})
serve()
