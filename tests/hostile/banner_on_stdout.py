"""Greets its user on the stream that belongs to the protocol."""

from _wire import greet, serve

print("Welcome to hostile 1.0", flush=True)
greet()
serve()
