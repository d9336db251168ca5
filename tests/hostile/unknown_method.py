"""Asks the suite for something the protocol does not know."""

from _wire import greet, read, send, serve

greet()
read()
send(id="a", method="no.such", params={})
serve()
