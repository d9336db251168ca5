"""Notes something of a kind the protocol does not know."""

from _wire import greet, read, send, serve

greet()
read()
send(method="trace", params={"kind": "gossip"})
serve()
